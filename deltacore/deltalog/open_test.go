package deltalog

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

// cleaning is a table of the versions 0 to 5 and a checkpoint of version 3 that is only there once the log was cleaned: the
// commits up to it are gone then.
func cleaning() (l *testLog, clean func()) {
	table := newTable()
	table.Commit(add("a"), add("b"))
	table.Commit(add("c"))
	table.Commit(remove("a"), add("d"))
	table.Commit(add("e"))
	table.Checkpoint()
	table.Commit(remove("b"), add("a"))
	table.Commit(add("f"))
	l = logOf(table)
	checkpoint := table.Files()[deltatest.CheckpointPath(3)]
	l.memory.Delete(deltatest.CheckpointPath(3))
	l.memory.Delete(deltatest.HintPath)
	return l, func() {
		l.memory.Put(deltatest.CheckpointPath(3), checkpoint)
		for version := range int64(3) {
			l.memory.Delete(commitPath(version))
		}
	}
}

var cleanedFiles = []string{"a", "c", "d", "e", "f"}

// TestLogThatIsCleanedWhileItIsOpenedIsListedAgain covers RV8.
func TestLogThatIsCleanedWhileItIsOpenedIsListedAgain(t *testing.T) {
	at, version := after(5), int64(5)
	for name, w := range map[string]Which{"the latest": {}, "a version": {Version: &version}, "a time": {Timestamp: &at}} {
		l, clean := cleaning()
		l.store.before = func(request string) {
			if strings.HasPrefix(request, "get 0") {
				clean()
			}
		}
		s, err := l.Open(context.Background(), w)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got, err := filesOf(s); err != nil || !slices.Equal(cleanedFiles, got) {
			t.Errorf("%s: want %v, got %v, %v", name, cleanedFiles, got, err)
		}
		if got := l.store.count("list"); got != 2 {
			t.Errorf("%s: want the log listed twice, got %d", name, got)
		}
	}
}

// TestVersionThatIsCleanedAwayWhileItIsOpenedIsNamed covers RV8, then RV1.
func TestVersionThatIsCleanedAwayWhileItIsOpenedIsNamed(t *testing.T) {
	l, clean := cleaning()
	l.store.before = func(request string) {
		if strings.HasPrefix(request, "get 0") {
			clean()
		}
	}
	at := int64(1)
	_, err := l.Open(context.Background(), Which{Version: &at})
	wantError(t, err, "table file:///lake/orders", "version 1 can no longer be rebuilt: the earliest version that can is 3")
	if deltaerr.KindOf(err) != deltaerr.NotFound {
		t.Errorf("want NotFound, got %v", err)
	}
}

// TestFileThatStaysGoneIsNamed: the log is listed again once, not for ever.
func TestFileThatStaysGoneIsNamed(t *testing.T) {
	l, _ := cleaning()
	l.store.before = func(request string) {
		if request == "get "+v(0)+".json" {
			l.memory.Delete(commitPath(0))
		} else if strings.HasPrefix(request, "list") {
			l.memory.Put(commitPath(0), []byte(addLine("a")))
		}
	}
	_, err := l.Open(context.Background(), Which{})
	wantError(t, err, "_delta_log/00000000000000000000.json", "try again")
	if got := l.store.count("list"); got != 2 {
		t.Errorf("want two listings, got %d", got)
	}
}

// TestReplayGoesOnFromANewerCheckpoint covers RV8 for a snapshot that is open: whenever the log is cleaned while its files
// are streamed, they come out once each, or the error says to try again.
func TestReplayGoesOnFromANewerCheckpoint(t *testing.T) {
	for seen := range len(cleanedFiles) + 1 {
		l, clean := cleaning()
		l.Workers = 1
		s, err := l.load(latest)
		if err != nil {
			t.Fatal(err)
		}
		s.kept = nil
		if seen == 0 {
			clean()
		}
		var got []string
		for f, err := range s.Adds(context.Background()) {
			if err != nil {
				t.Fatalf("cleaned after %d files: %v", seen, err)
			}
			if got = append(got, f.Location.Path); len(got) == seen {
				clean()
			}
		}
		if slices.Sort(got); !slices.Equal(cleanedFiles, got) {
			t.Errorf("cleaned after %d files: want %v, got %v", seen, cleanedFiles, got)
		}
	}
}

// TestReplayGoesOnWhenItsCheckpointIsReplaced covers RV8: the checkpoint is removed after a newer one was written.
func TestReplayGoesOnWhenItsCheckpointIsReplaced(t *testing.T) {
	table := newTable()
	table.Commit(manyAdds(40)...)
	table.Checkpoint()
	table.Commit(remove("f1"), add("g"))
	l := logOf(table)
	s, err := l.load(latest)
	if err != nil {
		t.Fatal(err)
	}
	want, err := filesOf(s)
	if err != nil {
		t.Fatal(err)
	}
	table.Checkpoint()
	table.CopyTo(l.memory.PutAt)
	l.memory.Delete(deltatest.CheckpointPath(0))
	l.memory.Delete(commitPath(0))
	for i := range s.base.opened.files { // as if too large to be kept
		s.base.opened.files[i].data, s.base.opened.files[i].keep = nil, false
	}
	if got, err := filesOf(s); err != nil || !slices.Equal(want, got) {
		t.Errorf("want %v, got %v, %v", want, got, err)
	}
	l.memory.Delete(deltatest.CheckpointPath(1))
	_, err = filesOf(s)
	wantError(t, err, "version 1")
	if deltaerr.KindOf(err) == deltaerr.Internal {
		t.Errorf("got %v", err)
	}
}

func TestOpenIsFindAndLoad(t *testing.T) {
	table := newTable()
	for i := range 3 {
		table.Commit(add(fmt.Sprint("f", i)))
	}
	l := logOf(table)
	for at := range int64(3) {
		s, err := l.Open(context.Background(), Which{Version: &at})
		if err != nil || s.Version != at {
			t.Errorf("want version %d, got %+v, %v", at, s, err)
		}
	}
	at := int64(-1)
	_, err := l.Open(context.Background(), Which{Version: &at})
	wantError(t, err, "version -1 does not exist")
}
