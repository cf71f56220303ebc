package feed

import (
	"context"
	"sync"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// watch is what Refresh and Next share. Its methods may be called from any goroutine.
type watch struct {
	looking sync.Mutex // held during a look

	mu     sync.Mutex
	table  *deltacore.Table // the version that was read last, or is being read: what comes after it is looked for
	latest int64            // highest version seen
	blank  int64            // the newest version when the log was looked at last, if its commit had no byte; else -1
	found  time.Time        // when blank was found first
	grace  time.Duration    // between two looks that find blank
	empty  int64            // a version that had none in two looks; -1: none
	lost   error            // why there is nothing to follow any more
	over   bool             // nobody will look any more
	news   chan struct{}    // closed when latest or lost changed

	done         int64 // the last version handed out as a whole; -1: none
	whole        bool  // the version of table is handed out
	files, bytes int64 // left of it
}

func (w *watch) start(t *deltacore.Table, p Position) {
	w.table, w.blank, w.empty, w.news = t, blankOf(t), -1, make(chan struct{})
	w.found, w.grace = time.Now(), blankGrace
	if p.Done || p.Phase == PhaseSnapshot {
		w.empty = p.Version
	}
	w.latest = w.settledIn(t)
	w.done, w.whole = p.Version-1, p.Version > t.Version()
	w.handedOut(p)
}

// blankOf is the newest version that is known, if its commit has no byte: a writer may be about to fill it. Else it is -1.
func blankOf(t *deltacore.Table) int64 {
	newest := t.Snapshot().Segment.Commit
	if ahead := t.Ahead(); len(ahead) > 0 {
		newest = &ahead[len(ahead)-1]
	}
	if newest != nil && newest.Size == 0 && newest.Version == t.Latest() {
		return newest.Version
	}
	return -1
}

// settled is the newest version that can be gone on to. A commit without a byte is one (L9) when another one is behind it, or
// when a look finds it so that comes a while after the one that found it first.
func (w *watch) settled(t *deltacore.Table) int64 {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.settledIn(t)
}

// foundBlank notes the newest version without a byte that a look has found, -1 where there is none.
func (w *watch) foundBlank(version int64) {
	switch {
	case version != w.blank:
		w.blank, w.found = version, time.Now()
	case version >= 0 && time.Since(w.found) >= w.grace:
		w.empty = version
	}
}

func (w *watch) settledIn(t *deltacore.Table) int64 {
	if blank := blankOf(t); blank >= 0 && blank != w.empty {
		return blank - 1
	}
	return t.Latest()
}

const blankGrace = 10 * time.Second

// sight is what is known of the table at one moment.
type sight struct {
	table  *deltacore.Table // to go on from
	latest int64            // highest version seen
	lost   error            // why there is nothing to follow any more
	over   bool             // nobody will look any more
	news   <-chan struct{}  // closed when any of this is out of date
}

func (w *watch) state() sight {
	w.mu.Lock()
	defer w.mu.Unlock()
	return sight{w.table, w.latest, w.lost, w.over, w.news}
}

// look asks the log what is new.
func (w *watch) look(ctx context.Context) error {
	w.looking.Lock()
	defer w.looking.Unlock()
	before := w.state().table
	seen, err := before.Look(ctx)
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case err == nil:
		w.note(before, seen)
	case ctx.Err() == nil && !deltaerr.Retryable(err):
		w.lost = err
		w.tell()
	}
	return err
}

// note notes what a look from a table has found. Where Next has moved on meanwhile it is only told that there is more.
func (w *watch) note(before, seen *deltacore.Table) {
	if w.table == before {
		w.table = seen
	}
	w.foundBlank(blankOf(seen))
	if latest := w.settledIn(seen); w.lost != nil || latest > w.latest {
		w.latest, w.lost = max(w.latest, latest), nil
		w.tell()
	}
}

// finish notes that nobody will look any more.
func (w *watch) finish() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.over = true
	w.tell()
}

func (w *watch) tell() {
	close(w.news)
	w.news = make(chan struct{})
}

// moveTo sets the version that is read now.
func (w *watch) moveTo(t *deltacore.Table) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.table.Version() != t.Version() {
		w.whole, w.files, w.bytes = false, 0, 0
	}
	w.table = t
	w.latest = max(w.latest, w.settledIn(t))
}

// handedOut notes a position behind which reading goes on.
func (w *watch) handedOut(p Position) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if p.Done {
		w.done, w.whole, w.files, w.bytes = p.Version, w.table.Version() <= p.Version, 0, 0
	}
}

// left notes what is left of the version that is read.
func (w *watch) left(files, bytes int64) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.files, w.bytes = files, bytes
}

func (w *watch) lag() Lag {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := Lag{Version: w.done, Latest: w.latest, Files: w.files, Bytes: w.bytes}
	if w.whole {
		if ahead := w.table.Ahead(); len(ahead) > 0 && ahead[0].Version <= w.latest {
			l.Oldest = ahead[0].ModTime
		}
		return l
	}
	l.Oldest = w.table.Timestamp()
	return l
}

// join waits until no look is in progress.
func (w *watch) join() {
	w.looking.Lock()
	defer w.looking.Unlock()
}
