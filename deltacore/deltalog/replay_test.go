package deltalog

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

func TestReplayIgnoresRemoveOfOlderAdd(t *testing.T) {
	table := newTable()
	table.Commit(add("a"), add("b"))
	table.Commit(remove("a"))
	table.Commit(add("a"))
	l := newLog(table.Files())
	wantFiles(t, l, 0, "a", "b")
	wantFiles(t, l, 1, "b")
	wantFiles(t, l, 2, "a", "b")
}

// TestReplayAppliesRemovesOfACommitBeforeItsAdds covers A6.
func TestReplayAppliesRemovesOfACommitBeforeItsAdds(t *testing.T) {
	for _, lines := range [][]deltatest.Action{{add("a"), remove("a")}, {remove("a"), add("a")}} {
		table := newTable()
		table.Commit(add("a"))
		table.Commit(lines...)
		wantFiles(t, newLog(table.Files()), latest, "a")
	}
}

// TestReplayTellsVectorsOfAFileApart covers R2 and R3.
func TestReplayTellsVectorsOfAFileApart(t *testing.T) {
	table := newTable()
	table.Commit(deltatest.Add(file("a")))
	table.Commit(deltatest.Remove(file("a")), deltatest.Add(fileWith("a", "one")))
	table.Commit(deltatest.Remove(fileWith("a", "one")), deltatest.Add(fileWith("a", "two")))
	table.Commit(deltatest.Remove(fileWith("a", "one")))
	l := newLog(table.Files())
	wantFiles(t, l, 1, "a uone")
	wantFiles(t, l, 2, "a utwo")
	wantFiles(t, l, 3, "a utwo")
}

// TestVectorDescribedInTwoWaysIsRefused covers D5: one vector has one cardinality, whoever mentions it.
func TestVectorDescribedInTwoWaysIsRefused(t *testing.T) {
	damaged := fileWith("a", "vBn[lx{q8@P<9BNH/isA")
	damaged.DeletionVector.Cardinality++
	table := newTable()
	table.Commit(deltatest.Add(damaged))
	table.Commit(deltatest.Remove(fileWith("a", "vBn[lx{q8@P<9BNH/isA")))
	_, err := newLog(table.Files()).files(latest)
	want := "file deletion_vector_61d16c75-6994-46b7-a15b-8b538852e50e.bin: deletion vector mismatch"
	if deltaerr.KindOf(err) != deltaerr.Corrupt || !strings.Contains(err.Error(), want) {
		t.Fatalf("want a corrupt error with %q, got %v", want, err)
	}
}

// TestReplayComparesCanonicalPaths covers R4 and H1.
func TestReplayComparesCanonicalPaths(t *testing.T) {
	table := newTable()
	table.Commit(add("a%20b"), add("/lake/orders/c"), add("file:/lake/orders/d"), add("e"), add("/other/f"))
	table.Commit(remove("file:///lake/orders/a%20b"), remove("file:/lake/orders/c"), remove("/lake/orders/d"), remove("file:/other/f"))
	wantFiles(t, newLog(table.Files()), latest, "e")
}

// TestRecommitOfAFileReplacesItsAdd covers A5: the newer reference wins, and the file is there once.
func TestRecommitOfAFileReplacesItsAdd(t *testing.T) {
	table := newTable()
	table.Commit(add("a"))
	again := file("a")
	again.DataChange, again.Stats = false, `{"numRecords":3}`
	table.Commit(deltatest.Add(again))
	s, err := newLog(table.Files()).load(latest)
	if err != nil {
		t.Fatal(err)
	}
	files, err := Collect(context.Background(), s.Adds(context.Background()))
	if err != nil || files.Len() != 1 || files.At(0).Add.DataChange {
		t.Errorf("want the newer add alone, got %d, %v", files.Len(), err)
	}
}

// TestRepeatedActionsOfACommitAreCorrupt covers A5.
func TestRepeatedActionsOfACommitAreCorrupt(t *testing.T) {
	metadata := newTable().Metadata()
	protocol := action.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}
	for name, c := range map[string]struct {
		lines []deltatest.Action
		want  string
	}{
		"two adds":      {[]deltatest.Action{add("a"), add("b"), add("a")}, "the commit says twice that a is added"},
		"two removes":   {[]deltatest.Action{remove("a"), remove("a")}, "the commit says twice that a is removed"},
		"two spellings": {[]deltatest.Action{add("a"), add("/lake/orders/a")}, "the commit says twice that /lake/orders/a is added"},
		"two vectors":   {[]deltatest.Action{add("a"), deltatest.Add(fileWith("a", "one"))}, "the commit says twice that a is added"},
		"two metadata":  {[]deltatest.Action{deltatest.Metadata(metadata), deltatest.Metadata(metadata)}, "more than one metaData action"},
		"two protocols": {[]deltatest.Action{deltatest.Protocol(protocol), deltatest.Protocol(protocol)}, "more than one protocol action"},
		"one per parts": {slices.Concat(manyAdds(2*partActions), []deltatest.Action{add("f0")}), "the commit says twice that f0 is added"},
	} {
		table := newTable()
		table.Commit(add("x"))
		table.Commit(c.lines...)
		table.Commit(add("y"))
		l := newLog(table.Files())
		wantFiles(t, l, 0, "x")
		_, err := l.files(latest)
		wantError(t, err, "table file:///lake/orders, version 1, file _delta_log/00000000000000000001.json: ", c.want)
		if deltaerr.KindOf(err) != deltaerr.Corrupt {
			t.Errorf("%s: want Corrupt, got %v", name, deltaerr.KindOf(err))
		}
	}
}

func manyAdds(n int) []deltatest.Action {
	list := make([]deltatest.Action, n)
	for i := range list {
		list[i] = add(fmt.Sprintf("f%d", i))
	}
	return list
}

// TestCutCommitIsCorrupt covers L9: never a shorter commit.
func TestCutCommitIsCorrupt(t *testing.T) {
	table := newTable()
	table.Commit(add("a"))
	table.Commit(add("b"), add("c"))
	table.Truncate(commitPath(1), -10)
	l := newLog(table.Files())
	wantFiles(t, l, 0, "a")
	_, err := l.files(latest)
	wantError(t, err, "_delta_log/00000000000000000001.json")
	if deltaerr.KindOf(err) != deltaerr.Corrupt {
		t.Errorf("want Corrupt, got %v", err)
	}
}

// TestEmptyCommitIsACommit covers L9.
func TestEmptyCommitIsACommit(t *testing.T) {
	table := newTable()
	table.Commit(add("a"))
	table.CommitBytes(nil)
	table.Commit(add("b"))
	wantFiles(t, newLog(table.Files()), 1, "a")
	wantFiles(t, newLog(table.Files()), 2, "a", "b")
}

func TestAddsStopWhenTheConsumerStops(t *testing.T) {
	table := newTable()
	table.Commit(manyAdds(2000)...)
	table.Checkpoint()
	table.Commit(add("a"), add("b"))
	s, err := newLog(table.Files()).load(latest)
	if err != nil {
		t.Fatal(err)
	}
	for stop := range 4 {
		n := 0
		for _, err := range s.Adds(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			if n == stop {
				break
			}
			n++
		}
	}
}

func TestAddsEndWithTheContext(t *testing.T) {
	table := newTable()
	table.Commit(add("a"))
	s, err := newLog(table.Files()).load(latest)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var last error
	for _, err := range s.Adds(ctx) {
		last = err
	}
	if last == nil || deltaerr.Retryable(last) {
		t.Errorf("want the context's error, got %v", last)
	}
}

// history is a random table with, for each version, the files that are active by ascending replay.
type history struct {
	table *deltatest.Table
	want  [][]string
	based []int64 // versions with a checkpoint
}

// TestReplayFromAnyCheckpointEqualsReplayFromZero covers R1 to R4, A6, L3 and L7: whatever base is used, whatever the order
// of lines and listings, a version has the same files.
func TestReplayFromAnyCheckpointEqualsReplayFromZero(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		h := drawHistory(t)
		files := shuffled(h.table.Files())
		var bases []string
		for path := range files {
			if strings.Contains(path, "checkpoint") {
				bases = append(bases, path)
			}
		}
		all := newLog(files)
		fromZero := newLog(without(files, bases...))
		for version, want := range h.want {
			for _, l := range []*testLog{all, fromZero} {
				if got, err := l.files(int64(version)); err != nil || !slices.Equal(want, got) {
					t.Fatalf("version %d: want %v, got %v, %v", version, want, got, err)
				}
			}
		}
		for _, from := range h.based { // a log that was cleaned up to a checkpoint
			var cleaned []string
			for version := range from {
				cleaned = append(cleaned, commitPath(version))
			}
			l := newLog(without(files, cleaned...))
			for _, version := range []int{int(from), len(h.want) - 1} {
				if got, err := l.files(int64(version)); err != nil || !slices.Equal(h.want[version], got) {
					t.Fatalf("version %d from %d: want %v, got %v, %v", version, from, h.want[version], got, err)
				}
			}
		}
	})
}

func drawHistory(t *rapid.T) history {
	h := history{table: newTable()}
	live := map[string]action.Add{}
	for version := range rapid.IntRange(1, 6).Draw(t, "versions") {
		h.table.Commit(drawCommit(t, live)...)
		var want []string
		for path, a := range live {
			want = append(want, strings.TrimSpace(path+" "+a.DeletionVector.UniqueID()))
		}
		slices.Sort(want)
		h.want = append(h.want, want)
		switch rapid.IntRange(0, 5).Draw(t, "checkpoint") {
		case 0:
			h.table.Checkpoint()
		case 1:
			h.table.CheckpointParts(rapid.IntRange(1, 4).Draw(t, "parts"))
		default:
			continue
		}
		h.based = append(h.based, int64(version))
	}
	return h
}

// drawCommit changes live the way writers do: at most one add and one remove of a path (A5).
func drawCommit(t *rapid.T, live map[string]action.Add) []deltatest.Action {
	var lines []deltatest.Action
	for _, path := range []string{"a", "b", "c", "d"} {
		old, there := live[path]
		vector := rapid.SampledFrom([]string{"", "one", "two"}).Draw(t, "vector")
		fresh := fileWith(path, vector)
		same := there && fresh.DeletionVector.UniqueID() == old.DeletionVector.UniqueID()
		switch rapid.IntRange(0, 5).Draw(t, "change") {
		case 0: // add, over an older reference only when that is the same logical file
			if !there || same {
				lines = append(lines, deltatest.Add(fresh))
				live[path] = fresh
			}
		case 1: // replace
			if there {
				lines = append(lines, deltatest.Remove(old), deltatest.Add(fresh))
				live[path] = fresh
			}
		case 2: // remove
			if there {
				lines = append(lines, deltatest.Remove(old))
				delete(live, path)
			}
		case 3: // remove what is not there
			if !same {
				lines = append(lines, deltatest.Remove(fresh))
			}
		}
	}
	return lines
}
