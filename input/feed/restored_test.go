package feed

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltalog"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// history is a table of one row a commit that may be restored to an older version and written on. A commit that takes the place
// of another one is as long as that; it was written a day later for each time that the table was restored.
type history struct {
	*grower
	ids      []int64    // of the row of each version
	paths    [][]string // that each version brought
	restored int
}

func newHistory(commits int) *history {
	h := &history{grower: &grower{Table: deltatest.New(idColumn, deltatest.Options{}), store: storage.NewMemory(), next: 100}}
	for range commits {
		h.write()
	}
	return h
}

// write commits a row.
func (h *history) write() {
	id := h.next
	h.next++
	before := h.Files()
	h.Append(deltatest.Rows(idColumn, fmt.Sprintf(`{"id": %d}`, id)))
	var paths []string
	h.CopyTo(func(path string, content []byte, modified time.Time) {
		if _, there := before[path]; !there {
			h.store.PutAt(path, content, modified.Add(time.Duration(h.restored)*24*time.Hour))
			paths = append(paths, path)
		}
	})
	h.ids, h.paths = append(h.ids, int64(id)), append(h.paths, paths)
}

// restore takes the table back to so many commits.
func (h *history) restore(commits int) {
	for _, paths := range h.paths[commits:] {
		for _, path := range paths {
			h.store.Delete(path)
		}
	}
	h.restored++
	h.ids, h.paths = slices.Clone(h.ids[:commits]), slices.Clone(h.paths[:commits])
	h.Table = deltatest.New(idColumn, deltatest.Options{})
	for range commits {
		h.Commit()
	}
	for range 100 * h.restored {
		h.WriteFiles(deltatest.Rows(idColumn, `{"id": 0}`)) // so that no file gets a name again
	}
}

// reader follows a history, over restarts, until its error stays.
type reader struct {
	t      *testing.T
	h      *history
	config Config
	source *followed
	got    map[int64]bool
	newest []int64 // of the version that was loaded last
	err    error
}

func (r *reader) restart() {
	if r.source != nil {
		check(r.t, r.source.Close())
	}
	if r.source, r.err = tryFollow(r.t, r.h.grower, r.config); r.err != nil {
		r.source = nil
	}
}

// read looks, and takes so many events, or all there are. What may pass is tried again.
func (r *reader) read(events int) {
	_ = r.source.Refresh(r.t.Context()) // Next says what it found
	for range events {
		if r.waits() {
			return
		}
		e, err := r.source.Next(r.t.Context())
		if errors.Is(err, io.EOF) {
			return
		}
		if deltaerr.Retryable(err) {
			_ = r.source.Refresh(r.t.Context())
			continue
		}
		if r.err = err; err != nil {
			return
		}
		if p, moved := positionOf(e); moved {
			r.config.Resume = &p
		}
		if e, ok := e.(Rows); ok {
			r.take(e)
		}
		if _, end := e.(CaughtUp); end {
			return
		}
	}
}

// waits says whether Next would wait.
func (r *reader) waits() bool {
	f := r.source.Source.(*follower)
	select {
	case <-f.news:
		return false
	default:
		return f.state == waiting
	}
}

func (r *reader) take(e Rows) {
	ids := e.Record.Column(0).(*array.Int64).Int64Values()
	if e.First {
		r.newest = nil
	}
	r.newest = append(r.newest, ids...)
	for _, id := range ids {
		r.got[id] = true
	}
	e.Record.Release()
}

// wantTold fails unless the error says which versions are others, and every further attempt does.
func (r *reader) wantTold(t rapid.TB) {
	wantTakenBack(t, r.err)
	for range 4 {
		r.h.write()
		if r.restart(); deltaerr.KindOf(r.err) != deltaerr.Unresumable {
			t.Fatalf("want it to stay so at version %d, got %v", r.h.Version(), r.err)
		}
	}
}

func wantTakenBack(t rapid.TB, err error) {
	var lost *deltalog.LostCommits
	if deltaerr.KindOf(err) != deltaerr.Unresumable || !errors.As(err, &lost) || !lost.Others || lost.First > lost.Last {
		t.Fatalf("want to be told what is lost, got %v", err)
	}
}

// wantAll fails unless all rows of the table were handed out.
func (r *reader) wantAll(t *rapid.T) {
	if r.config.Follow.Mode == Reload && !slices.Equal(r.h.ids, r.newest) {
		t.Fatalf("want the rows %v in the end, got %v", r.h.ids, r.newest)
	}
	for _, id := range r.h.ids {
		if !r.got[id] {
			t.Fatalf("row %d of %v is lost", id, r.h.ids)
		}
	}
}

// TestNoRestoredTableLosesRowsUnnoticed: whenever a table is restored and written on, beside a source or while there is none,
// all its rows are handed out, or every attempt to go on says which are not.
func TestNoRestoredTableLosesRowsUnnoticed(t *testing.T) {
	rapid.Check(t, func(d *rapid.T) {
		h := newHistory(rapid.IntRange(1, 4).Draw(d, "commits"))
		r := &reader{t: t, h: h, got: map[int64]bool{}, config: Config{Follow: Follow{
			Mode: rapid.SampledFrom([]Mode{Append, Reload}).Draw(d, "mode"),
		}}}
		r.restart()
		r.read(rapid.IntRange(1, 9).Draw(d, "first events")) // where a run begins is stored before its first row
		for range rapid.IntRange(1, 12).Draw(d, "steps") {
			switch rapid.SampledFrom([]string{"write", "write", "read", "restart", "restore"}).Draw(d, "step") {
			case "write":
				h.write()
			case "read":
				r.read(rapid.IntRange(1, 9).Draw(d, "events"))
			case "restart":
				r.restart()
			case "restore":
				h.restore(rapid.IntRange(1, len(h.ids)).Draw(d, "kept"))
				if r.read(0); rapid.Bool().Draw(d, "down") {
					r.restart()
				}
			}
			if r.err != nil {
				break
			}
		}
		for range 2 {
			if r.err == nil {
				r.read(1000)
			}
			if r.err != nil { // of what was read ahead, maybe
				wantTakenBack(d, r.err)
				r.restart()
			}
			if r.err == nil {
				r.read(1000)
			}
			if r.err != nil {
				r.wantTold(d)
				return
			}
			r.wantAll(d)
			r.restart()
		}
		if r.source != nil {
			check(t, r.source.Close())
		}
	})
}

// TestCopiedTableIsGoneOnWith: all its files have other times.
func TestCopiedTableIsGoneOnWith(t *testing.T) {
	for _, mode := range []Mode{Append, Reload} {
		h := newHistory(3)
		r := &reader{t: t, h: h, got: map[int64]bool{}, config: Config{Follow: Follow{Mode: mode}}}
		for days := range 3 {
			if r.restart(); r.err == nil {
				r.read(1000)
			}
			check(t, r.err)
			h.CopyTo(func(path string, content []byte, modified time.Time) {
				h.store.PutAt(path, content, modified.Add(time.Duration(1+days)*24*time.Hour))
			})
			r.read(1000)
			h.write()
		}
		r.read(1000)
		check(t, r.err)
		if len(r.got) != len(h.ids) {
			t.Errorf("%s: want %d rows, got %d", mode, len(h.ids), len(r.got))
		}
	}
}

// TestPositionThatDoesNotKnowItsCommitIsGoneOnFrom, as one of an older release, and knows it then.
func TestPositionThatDoesNotKnowItsCommitIsGoneOnFrom(t *testing.T) {
	h := newHistory(3)
	behind := behindVersion(h.grower, 1)
	s := follow(t, h.grower, Config{Resume: &behind})
	e, err := s.Next(t.Context())
	check(t, err)
	if p := e.(Planned).Position; p.Commit == "" {
		t.Errorf("want the position to know the commit, got %v", p)
	}
	h.Checkpoint()
	h.publish()
	behind.Commit = "0123456789abcdef"
	h.store.Delete(deltatest.CommitPath(0))
	h.store.Delete(deltatest.CommitPath(1))
	want(t, []string{"planned 0 files of tail 1", "insert 102-102 of tail 2", "version done of tail 2", "caught up with 2 of 2"},
		follow(t, h.grower, Config{Resume: &behind}).upToNow())
}

// TestPositionOfAVersionThatDoesNotExistIsRefusedUnlessItIsWaitedFor.
func TestPositionOfAVersionThatDoesNotExistIsRefusedUnlessItIsWaitedFor(t *testing.T) {
	g := newGrower()
	waits := beginningOf(g, 8)
	done := waits
	done.Done, done.FileDone = true, true
	inside := waits
	inside.Commit = "0123456789abcdef"
	time8 := g.CommitTime(8)
	for _, follow := range []Follow{{UntilCaughtUp: true}, {UntilCaughtUp: true, StartTimestamp: &time8}} {
		for p, refused := range map[Position]bool{waits: false, done: true, inside: true} {
			if _, err := tryFollow(t, g, Config{Resume: &p, Follow: follow}); (deltaerr.KindOf(err) == deltaerr.Unresumable) != refused {
				t.Errorf("%v: want it refused: %v, got %v", p, refused, err)
			}
		}
	}
}

// beginningOf is the position before a version of the tail of which nothing was read.
func beginningOf(g *grower, version int64) Position {
	return Position{TableID: g.Metadata().ID, Version: version, Phase: PhaseTail, Part: PartAdd, Row: -1}
}

// TestCommitsOfARestoredTableAreNotReadOnAsThoseOfTheOldOne: a long backlog is being read when the table is restored.
func TestCommitsOfARestoredTableAreNotReadOnAsThoseOfTheOldOne(t *testing.T) {
	h := newHistory(60)
	start := int64(0)
	r := &reader{t: t, h: h, got: map[int64]bool{}, config: Config{Follow: Follow{StartVersion: &start}}}
	r.restart()
	r.read(10)
	h.restore(2)
	for h.Version() < 70 {
		h.write()
	}
	r.read(1000)
	r.wantTold(t)
}
