package limits_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/benthos-delta/benthos-delta/limits"
)

var update = flag.Bool("update", false, "rewrite what the trees of testdata/host are to lead to")

const trees = "../testdata/host"

// tree is a host in an archive: its files, what its calls return, and what they are to lead to.
type tree struct {
	host      limits.Host
	overrides limits.Overrides
	want      string
}

// setting of a tree, from the lines of its file "host".
func (t *tree) set(name, value string) error {
	n, err := strconv.ParseUint(value, 10, 64)
	count := func() int { return int(n) }
	switch name {
	case "cpus":
		t.host.CPUs = count
	case "gomaxprocs":
		t.host.MaxProcs = count
	case "descriptors":
		t.host.Descriptors = func() (uint64, error) { return n, nil }
		if value == "unlimited" {
			n, err = limits.Unlimited, nil
		} else if value == "unknown" {
			t.host.Descriptors, err = func() (uint64, error) { return 0, errors.New("the system has no such limit") }, nil
		}
	case "page":
		t.host.PageSize = n
	case "target_partitions":
		t.overrides.Target = int64(n)
	case "file_descriptors_per_partition":
		t.overrides.DescriptorsPerPartition = int64(n)
	case "memory_per_partition":
		t.overrides.MemoryPerPartition = int64(n)
	default:
		return fmt.Errorf("there is no setting %s", name)
	}
	return err
}

func readTree(tb testing.TB, archive *txtar.Archive) tree {
	tb.Helper()
	files := fstest.MapFS{}
	t := tree{host: limits.Host{
		Files: files, CPUs: func() int { return 32 }, MaxProcs: func() int { return 32 },
		Descriptors: func() (uint64, error) { return 4096, nil }, PageSize: 4096,
	}}
	for _, f := range archive.Files {
		switch f.Name {
		case "want":
			t.want = string(f.Data)
		case "host":
			for line := range strings.Lines(string(f.Data)) {
				name, value, _ := strings.Cut(strings.TrimSpace(line), " ")
				if err := t.set(name, value); err != nil {
					tb.Fatal(err)
				}
			}
		default:
			files[f.Name] = &fstest.MapFile{Data: f.Data}
		}
	}
	return t
}

// explain writes a decision a line for each thing that it names.
func explain(d limits.Decision) string {
	var b strings.Builder
	for _, s := range d.Signals {
		fmt.Fprintf(&b, "%s %d %s: %s", s.Name, s.Value, s.Unit, s.Source)
		if s.Note != "" {
			fmt.Fprintf(&b, " (%s)", s.Note)
		}
		b.WriteString("\n")
	}
	for _, a := range d.Absent {
		fmt.Fprintf(&b, "absent: %s %s\n", a.Source, a.Why)
	}
	for _, c := range d.Caps {
		fmt.Fprintf(&b, "cap %s %d: %s\n", c.Name, c.Value, c.Reason)
	}
	fmt.Fprintf(&b, "target %d: %s\n", d.Target, d.Reason)
	return b.String()
}

// Each tree of testdata/host is a host, whose comment says what is particular about it.
func TestTreesOfHostsLeadToTheirTarget(t *testing.T) {
	paths, err := filepath.Glob(trees + "/*.txtar")
	if err != nil || len(paths) == 0 {
		t.Fatalf("want trees in %s, got %v, %v", trees, paths, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			tree := readTree(t, archive)
			decision, err := limits.Decide(tree.host, tree.overrides)
			if err != nil {
				t.Fatal(err)
			}
			got := explain(decision)
			if *update {
				rewrite(t, path, archive, got)
			} else if got != tree.want {
				t.Errorf("%s\nwant\n%s\ngot\n%s", archive.Comment, tree.want, got)
			}
		})
	}
}

func rewrite(t *testing.T, path string, archive *txtar.Archive, want string) {
	t.Helper()
	for i, f := range archive.Files {
		if f.Name == "want" {
			archive.Files = append(archive.Files[:i], archive.Files[i+1:]...)
			break
		}
	}
	archive.Files = append(archive.Files, txtar.File{Name: "want", Data: []byte(want)})
	if err := os.WriteFile(path, txtar.Format(archive), 0o600); err != nil {
		t.Fatal(err)
	}
}

// vanishing is a tree in which one file is gone: when it is opened, or when it is read.
type vanishing struct {
	fs.FS
	name    string
	reading error // nil: gone when it is opened
}

func (v vanishing) Open(name string) (fs.File, error) {
	if name != v.name {
		return v.FS.Open(name)
	}
	if v.reading == nil {
		return nil, &fs.PathError{Op: "open", Path: name, Err: fs.ErrNotExist}
	}
	f, err := v.FS.Open(name)
	return unreadableFile{f, v.reading}, err
}

type unreadableFile struct {
	fs.File
	err error
}

func (f unreadableFile) Read([]byte) (int, error) { return 0, f.err }

func loadTree(tb testing.TB, name string) tree {
	tb.Helper()
	archive, err := txtar.ParseFile(filepath.Join(trees, name+".txtar"))
	if err != nil {
		tb.Fatal(err)
	}
	return readTree(tb, archive)
}

// A group can be removed, and a process moved, between two reads.
func TestFilesThatVanishBetweenReadsLeaveTheirSignalOut(t *testing.T) {
	const group = "sys/fs/cgroup/app/"
	for _, c := range []struct {
		file, absent string
		target       int
	}{
		{group + "memory.max", "/" + group + "memory.max", 32},
		{group + "memory.current", "/" + group + "memory.current", 32},
		{group + "memory.stat", "", 2}, // without it the cache in the usage is not counted as free
		{"proc/self/cgroup", "/proc/self/cgroup", 32},
		{"proc/self/mountinfo", "/proc/self/mountinfo", 32},
		{"proc/meminfo", "/proc/meminfo", 2},
	} {
		for _, reading := range []error{nil, errors.New("no such device")} {
			tree := loadTree(t, "v2_worked_example")
			tree.host.Files = vanishing{tree.host.Files, c.file, reading}
			d := tree.host.Signals().Decide(limits.Overrides{})
			if d.Target != c.target {
				t.Errorf("%s, %v: want target %d, got %d:\n%s", c.file, reading, c.target, d.Target, explain(d))
			}
			why := "is not there"
			if reading != nil {
				why = "cannot be read: no such device"
			}
			if c.absent != "" && !strings.Contains(explain(d), "absent: "+c.absent+" "+why) {
				t.Errorf("%s, %v: want %s to be called absent, got\n%s", c.file, reading, c.absent, explain(d))
			}
		}
	}
}

func TestEachFileThatVanishesLeavesAValidTarget(t *testing.T) {
	for _, name := range []string{"v1_worked_example", "v2_worked_example", "cpu_quota_v1", "cpu_quota_v2"} {
		err := fs.WalkDir(loadTree(t, name).host.Files, ".", func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			tree := loadTree(t, name)
			tree.host.Files = vanishing{tree.host.Files, path, nil}
			if got := tree.host.Signals().Decide(limits.Overrides{}).Target; got < 1 || got > 32 {
				t.Errorf("%s without %s: want a target from 1 to 32, got %d", name, path, got)
			}
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
}
