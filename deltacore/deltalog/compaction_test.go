package deltalog

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

func compactionPath(first, last int64) string {
	return fmt.Sprintf("%s/%020d.%020d.compacted.json", logDir, first, last)
}

// compacted adds up the commits of two versions and those between: of each file, protocol and metadata the last word.
func compacted(files map[string][]byte, first, last int64) []byte {
	words := map[any]string{}
	for version := first; version <= last; version++ {
		for _, removes := range []bool{true, false} { // A6
			for line := range strings.Lines(string(files[commitPath(version)])) {
				a, err := action.NewScanner(strings.NewReader(line)).Next()
				f, isFile := fileActionOf(testRoot, a)
				switch {
				case errors.Is(err, io.EOF) || isFile && (f.add == nil) != removes:
				case isFile:
					words[f.fileKey] = line
				case a.Protocol != nil:
					words["protocol"] = line
				case a.Metadata != nil:
					words["metadata"] = line
				}
			}
		}
	}
	var text bytes.Buffer
	for _, line := range words {
		text.WriteString(strings.TrimSuffix(line, "\n") + "\n")
	}
	return text.Bytes()
}

// TestCompactionsAreChosenWithoutOverlap covers section 6.
func TestCompactionsAreChosenWithoutOverlap(t *testing.T) {
	for _, c := range []struct {
		why, names string
		at         int64
		want       string
	}{
		{"inside the tail", "0 1 2 3 4 5 c1 x2-4", latest, "x2-4"},
		{"the whole tail", "0 1 2 3 x0-3", latest, "x0-3"},
		{"above the version", "0 1 2 3 4 x1-4", 3, ""},
		{"begins in the checkpoint", "0 1 2 3 4 c2 x1-4 x2-3", latest, ""},
		{"several", "0 1 2 3 4 5 6 7 x0-2 x4-6", latest, "x0-2 x4-6"},
		{"the longest of those that overlap", "0 1 2 3 4 5 x0-2 x1-4 x2-3", latest, "x1-4"},
		{"those of a real table", "0 1 2 3 4 5 6 7 8 9 10 11 12 13 14 15 x0-5 x6-10 x6-15", latest, "x0-5 x6-15"},
		{"that spare nothing", "0 1 2 x1-1 x0-1", latest, ""},
		{"empty (L9)", "0 1 2 x0-2-", latest, ""},
	} {
		seg, err := choose(c.names, c.at)
		var got []string
		for _, x := range seg.Compactions {
			got = append(got, fmt.Sprintf("x%d-%d", x.First, x.Last))
		}
		if err != nil || strings.Join(got, " ") != c.want {
			t.Errorf("%s: want %q, got %q, %v", c.why, c.want, got, err)
		}
	}
	for _, names := range []string{"0 1 3 x0-3", "0 3 x1-2", "x0-3", "1 2 x0-2"} { // L5, L6
		if seg, err := choose(names, latest); err == nil {
			t.Errorf("%s: want an error, since commits are missing, got %v", names, short(seg))
		}
	}
}

// TestCompactionsChangeNothing covers section 6: with any of them, overlapping or not, a version has the same files,
// metadata and time as without.
func TestCompactionsChangeNothing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistory(t)
		plain := shuffled(h.table.Files())
		files := maps.Clone(plain)
		last := h.table.Version()
		for range rapid.IntRange(1, 3).Draw(t, "compactions") {
			from := rapid.Int64Range(0, last).Draw(t, "from")
			to := rapid.Int64Range(from, last).Draw(t, "to")
			files[compactionPath(from, to)] = compacted(plain, from, to)
		}
		l := newLog(files)
		for version, want := range h.want {
			if got, err := l.files(int64(version)); err != nil || !slices.Equal(want, got) {
				t.Fatalf("version %d: want %v, got %v, %v", version, want, got, err)
			}
		}
		if len(l.warnings) > 0 {
			t.Fatalf("got %q", l.warnings)
		}
	})
}

// TestCompactionsSpareRequests: ten times fewer, which is what they are for.
func TestCompactionsSpareRequests(t *testing.T) {
	table := newTable()
	table.Commit()
	var want []string
	for i := range 100 {
		want = append(want, "f"+v(int64(i)))
		table.Commit(add(want[i]), remove("x"+v(int64(i))))
	}
	m := table.Metadata()
	m.Name = "renamed"
	table.Commit(deltatest.Metadata(m))
	for from := int64(1); from < 100; from += 20 {
		table.Put(compactionPath(from, from+19), compacted(table.Files(), from, from+19))
	}
	l := newLog(table.Files())
	wantFiles(t, l, latest, want...)
	if got := l.store.count("get"); got != 1+2+5*2 || len(l.warnings) > 0 {
		t.Errorf("want the hint, two commits, and two files for each compaction, got %d: %q", got, l.warnings)
	}
	if s, err := l.load(latest); err != nil || s.Metadata.Name != "renamed" {
		t.Errorf("got %+v, %v", s, err)
	}
	if s, err := l.load(100); err != nil || s.Metadata.Name != "" {
		t.Errorf("got %+v, %v", s, err)
	}
}

// TestOddCompactionIsPassedOver covers section 6: the commits are the truth.
func TestOddCompactionIsPassedOver(t *testing.T) {
	table := newTable()
	table.Commit(add("a"))
	table.Commit(add("b"), remove("a"))
	table.Commit(add("c"), deltatest.Add(fileWith("d", "one")))
	table.Commit(deltatest.Remove(fileWith("d", "one")), deltatest.Add(fileWith("d", "two")))
	whole := compacted(table.Files(), 0, 3)
	lines := strings.SplitAfter(string(whole), "\n")
	other := newTable()
	other.Commit(add("a"))
	other.Commit(add("q"))
	for name, c := range map[string]struct {
		text []byte
		want string
	}{
		"cut":                        {whole[:len(whole)-9], "is cut"},
		"garbage":                    {[]byte("garbage"), "is not a JSON object"},
		"without a file of the last": {withoutLines(lines, `"two"`), "does not agree with the last commit"},
		"remove of the last is lost": {withoutLines(lines, `"one"`), "does not agree with the last commit"},
		"an add where a remove is":   {bytes.ReplaceAll(whole, []byte(`{"remove":`), []byte(`{"add":`)), "does not agree"},
		"a file twice":               {append(slices.Clone(whole), addLine("c")...), "it says two things about c"},
		"two metadata":               {append(slices.Clone(whole), metadataLine+"\n"+metadataLine...), "more than one metaData action"},
		"of another table":           {compacted(other.Files(), 0, 1), "does not agree with the last commit"},
		"without anything":           {[]byte("\n\n"), "does not agree with the last commit"},
	} {
		files := table.Files()
		files[compactionPath(0, 3)] = c.text
		l := newLog(files)
		wantFiles(t, l, latest, "b", "c", "d utwo")
		warned := strings.Join(l.warnings, " ")
		if len(l.warnings) != 1 || !strings.Contains(warned, compactionPath(0, 3)) || !strings.Contains(warned, c.want) {
			t.Errorf("%s: want a warning with %q, got %q", name, c.want, l.warnings)
		}
	}
}

func withoutLines(lines []string, holding string) []byte {
	var kept []string
	for _, line := range lines {
		if !strings.Contains(line, holding) {
			kept = append(kept, line)
		}
	}
	return []byte(strings.Join(kept, ""))
}

func TestVanishedCompactionIsPassedOver(t *testing.T) {
	table := newTable()
	table.Commit(add("a"))
	table.Commit(add("b"))
	table.Commit(add("c"))
	table.Put(compactionPath(0, 2), compacted(table.Files(), 0, 2))
	l := newLog(table.Files())
	l.store.before = func(request string) {
		if strings.HasPrefix(request, "get") {
			l.memory.Delete(compactionPath(0, 2))
		}
	}
	wantFiles(t, l, latest, "a", "b", "c")
}

// TestCommitUnderACompactionIsStillJudged: what a compaction says does not hide that its last commit is broken (L9).
func TestCommitUnderACompactionIsStillJudged(t *testing.T) {
	table := newTable()
	table.Commit(add("a"))
	table.Commit(add("b"))
	table.Commit(add("c"))
	table.Put(compactionPath(0, 2), compacted(table.Files(), 0, 2))
	table.Truncate(commitPath(2), -10)
	_, err := newLog(table.Files()).files(latest)
	wantError(t, err, "_delta_log/00000000000000000002.json")
}
