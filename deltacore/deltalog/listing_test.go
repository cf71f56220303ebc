package deltalog

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// namesOf makes a listing out of short names: "3" is commit 3, "c3" a classic checkpoint, "u3" one with a UUID, "p3:2/5"
// part 2 of 5, "x0-4" a compaction; a trailing "-" means 0 bytes.
func namesOf(short string) map[string]File {
	files := map[string]File{}
	for _, s := range strings.Fields(short) {
		s, empty := strings.CutSuffix(s, "-")
		f := File{Size: 1, ModTime: time.UnixMilli(int64(len(files)))}
		if empty {
			f.Size = 0
		}
		switch s[0] {
		case 'c':
			f.Version = number(s[1:])
			f.Name = v(f.Version) + ".checkpoint.parquet"
		case 'u':
			f.Version = number(s[1:])
			f.Name = v(f.Version) + ".checkpoint." + someUUID + ".json"
		case 'x':
			first, last, _ := strings.Cut(s[1:], "-")
			f.Version = number(first)
			f.Name = v(f.Version) + "." + v(number(last)) + ".compacted.json"
		case 'p':
			version, of, _ := strings.Cut(s[1:], ":")
			part, parts, _ := strings.Cut(of, "/")
			f.Version = number(version)
			f.Name = fmt.Sprintf("%s.checkpoint.%010d.%010d.parquet", v(f.Version), number(part), number(parts))
		default:
			f.Version = number(s)
			f.Name = v(f.Version) + ".json"
		}
		files[f.Name] = f
	}
	return files
}

func number(s string) (n int64) {
	if _, err := fmt.Sscan(s, &n); err != nil {
		panic(err)
	}
	return n
}

// short is the inverse of namesOf for a segment.
func short(s Segment) string {
	var list []string
	if c := s.Checkpoint; c != nil {
		text := map[CheckpointKind]string{Classic: "c", MultiPart: "p", UUID: "u"}[c.Kind] + itoa(c.Version)
		if c.Kind == MultiPart {
			text += ":" + itoa(int64(len(c.Files)))
		}
		list = append(list, text)
	}
	for _, f := range s.Commits {
		list = append(list, itoa(f.Version))
	}
	return strings.Join(list, " ")
}

const latest = -1

func choose(names string, at int64) (Segment, error) {
	if at == latest {
		return newListing(namesOf(names)).choose(nil)
	}
	return newListing(namesOf(names)).choose(&at)
}

// TestSegmentIsChosen covers L4 to L8 and T1.
func TestSegmentIsChosen(t *testing.T) {
	for _, c := range []struct {
		why, names string
		at         int64
		want       string
	}{
		{"commits only", "0 1 2", latest, "0 1 2"},
		{"an earlier version", "0 1 2", 1, "0 1"},
		{"commits after a checkpoint", "0 1 2 3 c2", latest, "c2 3"},
		{"a checkpoint at the version", "0 1 2 3 c2", 2, "c2"},
		{"a version below the checkpoint", "0 1 2 3 c2", 1, "0 1"},
		{"the newest of several checkpoints", "0 1 2 3 4 c1 c3", latest, "c3 4"},
		{"the newest at or below the version", "0 1 2 3 4 c1 c3", 2, "c1 2"},
		{"a gap before the checkpoint (L5)", "0 3 4 c3", latest, "c3 4"},
		{"a cleaned log", "5 6 7 c5", latest, "c5 6 7"},
		{"a checkpoint without its commit (L4)", "c5", latest, "c5"},
		{"a checkpoint above the last commit", "0 1 2 c5", latest, "c5"},
		{"uuid before multi-part before classic (L7)", "c3 p3:1/2 p3:2/2 u3", latest, "u3"},
		{"multi-part before classic (L7)", "c3 p3:1/2 p3:2/2", latest, "p3:2"},
		{"more parts before fewer (L7)", "p3:1/2 p3:2/2 p3:1/1 p3:1/3 p3:2/3 p3:3/3", latest, "p3:3"},
		{"a newer classic before an older uuid", "u2 3 c3", latest, "c3"},
		{"an incomplete checkpoint (L8)", "0 1 2 3 c1 p3:1/2", latest, "c1 2 3"},
		{"parts of different counts do not mix (L8)", "0 1 p1:1/2 p1:2/3 p1:3/3", latest, "0 1"},
		{"a billion parts", "0 1 p1:1/1000000000", latest, "0 1"},
		{"an empty checkpoint (L9)", "0 1 2 c2-", latest, "0 1 2"},
		{"an empty part (L9)", "0 1 p1:1/2 p1:2/2-", latest, "0 1"},
		{"an empty commit (L9)", "0 1- 2", latest, "0 1 2"},
	} {
		seg, err := choose(c.names, c.at)
		if err != nil || short(seg) != c.want {
			t.Errorf("%s: want %q, got %q, %v", c.why, c.want, short(seg), err)
		}
	}
}

// TestMissingVersionsAreExplained covers L5, L6, L12, T1 and RV1.
func TestMissingVersionsAreExplained(t *testing.T) {
	for _, c := range []struct {
		names string
		at    int64
		kind  deltaerr.Kind
		want  string
	}{
		{"", latest, deltaerr.NotFound, "not a Delta table: _delta_log is missing or has no commits (check the location)"},
		{
			"0 1 2", 7, deltaerr.NotFound,
			"version 7 does not exist: the latest version is 2 (versions that can be read: 0 to 2)",
		},
		{
			"9 10 c9", 0, deltaerr.NotFound,
			"version 0 can no longer be rebuilt: the earliest version that can is 9, older log files were removed " +
				"(delta.logRetentionDuration) (versions that can be read: 9 to 10)",
		},
		{
			"0 1 2 4 5", latest, deltaerr.Corrupt,
			"file _delta_log/00000000000000000003.json: versions are not contiguous: [2, 4]: the commit of version 3 is missing " +
				"(versions that can be read: 0 to 2)",
		},
		{
			"0 1 2 4 5", 3, deltaerr.Corrupt,
			"file _delta_log/00000000000000000003.json: versions are not contiguous: [2, 4]: the commit of version 3 is missing " +
				"(versions that can be read: 0 to 2)",
		},
		{
			"0 1 4 5 6 c5 8 c10", 4, deltaerr.Corrupt,
			"file _delta_log/00000000000000000002.json: versions are not contiguous: [1, 4]: the commit of version 2 is missing " +
				"(versions that can be read: 0 to 1, 5 to 6, 10)",
		},
		{
			"10 11 13 c10", latest, deltaerr.Corrupt,
			"file _delta_log/00000000000000000012.json: versions are not contiguous: [11, 13]: the commit of version 12 is missing " +
				"(versions that can be read: 10 to 11)",
		},
		{
			"6 7 p6:1/3 p6:3/3", latest, deltaerr.Corrupt,
			"version 7: the log is truncated: its first commit is _delta_log/00000000000000000006.json and there is no complete " +
				"checkpoint: _delta_log/00000000000000000006.checkpoint.0000000002.0000000003.parquet is missing or empty " +
				"(2 of 3 parts are there) (restore the missing files of _delta_log)",
		},
		{
			"c6-", latest, deltaerr.Corrupt,
			"the log has no commits and no usable checkpoint: _delta_log/00000000000000000006.checkpoint.parquet has 0 bytes " +
				"(restore the missing files of _delta_log)",
		},
	} {
		_, err := choose(c.names, c.at)
		if err == nil || err.Error() != c.want || deltaerr.KindOf(err) != c.kind {
			t.Errorf("%q at %d:\nwant %v %s\ngot  %v %v", c.names, c.at, c.kind, c.want, deltaerr.KindOf(err), err)
		}
	}
}

func TestSegmentListsCheckpoints(t *testing.T) {
	seg, err := choose("0 1 2 3 4 5 c1 c3 u3 p4:1/2 c5", 4)
	if want := []int64{1, 3}; err != nil || !slices.Equal(want, seg.Checkpoints) {
		t.Errorf("want %v, got %v, %v", want, seg.Checkpoints, err)
	}
}

func TestSegmentTimeIsThatOfTheVersionsCommit(t *testing.T) {
	for names, want := range map[string]int64{"0 1 2": 2, "0 1 2 c2": 2, "1 2 c3": 2} {
		seg, err := choose(names, latest)
		if err != nil || seg.Modified.UnixMilli() != want {
			t.Errorf("%q: want %d, got %d, %v", names, want, seg.Modified.UnixMilli(), err)
		}
	}
}

// TestReadableVersionsAreExactlyThoseThatCanBeChosen checks the list in messages against the choice itself.
func TestReadableVersionsAreExactlyThoseThatCanBeChosen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var names []string
		for version := range int64(10) {
			for _, form := range []string{"%d", "c%d", "u%d", "p%d:1/2", "p%d:2/2"} {
				if rapid.IntRange(0, 9).Draw(t, "there") < 3 || form == "%d" && rapid.Bool().Draw(t, "commit") {
					names = append(names, fmt.Sprintf(form, version))
				}
			}
		}
		s := newListing(namesOf(strings.Join(names, " ")))
		can := map[int64]bool{}
		for _, p := range s.readable() {
			for version := p.first; version <= p.last; version++ {
				can[version] = true
			}
		}
		for at := range int64(11) {
			if _, err := s.choose(&at); (err == nil) != can[at] {
				t.Fatalf("%v: version %d: readable %v, choice %v", names, at, can[at], err)
			}
		}
	})
}
