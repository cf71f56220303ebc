package deltalog

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

// anotherHistory is a table that was taken back to its first commits, restored with their times, and written on: each of its new
// commits is as long as the old one.
func (g *growing) anotherHistory(kept, commits int, at time.Time) {
	other := deltatest.New(deltatest.Columns("id long"), deltatest.Options{})
	for i := range commits {
		name := "f" + itoa(int64(i))
		if i >= kept {
			name = "g" + itoa(int64(i))
		}
		other.Commit(add(name))
	}
	for path := range g.table.Files() {
		g.memory.Delete(path)
	}
	for path, content := range other.Files() {
		for v := range commits {
			written := g.table.CommitTime(int64(v))
			if v >= kept {
				written = at.Add(time.Duration(v) * time.Second)
			}
			if path == commitPath(int64(v)) {
				g.memory.PutAt(path, content, written)
			}
		}
	}
	g.store.requests = nil
}

// waysToRead are snapshots of version 2 of a table, as they come about.
func waysToRead(t *testing.T, g *growing) map[string]*Snapshot {
	read := map[string]*Snapshot{"opened": g.open(t, 2)}
	for c, err := range g.open(t, 1).Commits(context.Background(), 2, 2) {
		if err != nil {
			t.Fatal(err)
		}
		read["a commit that was read"] = g.open(t, 1).At(c)
	}
	plain := *g.open(t, 2)
	plain.hash, plain.kept = "", nil
	hashed, err := plain.Hashed(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	read["hashed"] = hashed
	return read
}

// TestCommitIsToldFromAnotherOneOfTheSameLength however the version was read, and the range of versions that are others is known
// from the times at which their commits were written.
func TestCommitIsToldFromAnotherOneOfTheSameLength(t *testing.T) {
	for _, tt := range []struct {
		why         string
		kept, now   int
		at          time.Time
		first, last int64
	}{
		{"restored and written on", 1, 4, time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), 1, 2},
		{"all of it", 2, 3, time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), 2, 2},
		{"restored", 1, 1, time.Time{}, 1, 2},
		{"restored, and written on a little", 1, 2, time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), 1, 2},
		{"with times that say nothing", 0, 4, time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC), 2, 2},
	} {
		g := newGrowing(deltatest.Options{}, 5)
		read := waysToRead(t, g)
		g.anotherHistory(tt.kept, tt.now, tt.at)
		for way, s := range read {
			_, err := s.Look(context.Background())
			var lost *LostCommits
			if deltaerr.KindOf(err) != deltaerr.Unresumable || !errors.As(err, &lost) || lost.First != tt.first || lost.Last != tt.last || !lost.Others {
				t.Errorf("%s, %s: want %d to %d to be others, got %v", tt.why, way, tt.first, tt.last, err)
			}
		}
	}
}

// TestCopyIsKnownAgainByItsBytes, for one request once.
func TestCopyIsKnownAgainByItsBytes(t *testing.T) {
	g := newGrowing(deltatest.Options{}, 5)
	for way, s := range waysToRead(t, g) {
		for path, content := range g.table.Files() {
			g.memory.PutAt(path, content, time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC))
		}
		g.store.requests = nil
		seen, err := s.Look(context.Background())
		if err != nil || seen.Latest() != 4 {
			t.Fatalf("%s: want the same table, got %v", way, err)
		}
		g.wantRequests(t, "list "+name(2), "get "+name(2)+".json")
		if _, err := seen.Look(context.Background()); err != nil {
			t.Fatal(err)
		}
		g.wantRequests(t, "list "+name(2))
		g.publish()
	}
}

// TestCommitThatWasListedHalfWrittenAndReadWholeIsTheSame: its length is another one than it was listed with.
func TestCommitThatWasListedHalfWrittenAndReadWholeIsTheSame(t *testing.T) {
	g := newGrowing(deltatest.Options{}, 3)
	s := g.open(t, 1)
	s.Segment.later.commits[1].Size = 10
	for c, err := range s.Commits(context.Background(), 2, 2) {
		if err != nil {
			t.Fatal(err)
		}
		at := s.At(c)
		if _, err := at.Look(context.Background()); err != nil {
			t.Errorf("want the same commit, got %v", err)
		}
		if files, err := filesOf(at); err != nil || len(files) != 3 {
			t.Errorf("want its files, got %q, %v", files, err)
		}
	}
}

// TestHashIsOfTheBytesOfTheCommit however they are read; a commit that is gone has none.
func TestHashIsOfTheBytesOfTheCommit(t *testing.T) {
	g := newGrowing(deltatest.Options{}, 5)
	want, err := g.CommitHash(context.Background(), 2)
	if err != nil || len(want) != hashDigits || strings.Trim(want, "0123456789abcdef") != "" {
		t.Fatalf("want %d hex digits, got %q, %v", hashDigits, want, err)
	}
	for way, s := range waysToRead(t, g) {
		if s.CommitHash() != want {
			t.Errorf("%s: want %s, got %s", way, want, s.CommitHash())
		}
	}
	g.clean(3)
	if gone, err := g.CommitHash(context.Background(), 2); gone != "" || err != nil {
		t.Errorf("want none of a commit that is gone, got %q, %v", gone, err)
	}
}
