package feed

import (
	"context"
	"sync"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// watch is what Refresh and Next share. Its methods may be called from any goroutine.
type watch struct {
	looking sync.Mutex // held during a look

	mu     sync.Mutex
	table  *deltacore.Table // the version that was read last, or is being read: what comes after it is looked for
	latest int64            // highest version seen
	lost   error            // why there is nothing to follow any more
	over   bool             // nobody will look any more
	news   chan struct{}    // closed when latest or lost changed

	done         int64 // the last version handed out as a whole; -1: none
	whole        bool  // the version of table is handed out
	files, bytes int64 // left of it
}

func (w *watch) start(t *deltacore.Table, p Position) {
	w.table, w.latest, w.news = t, t.Latest(), make(chan struct{})
	w.done, w.whole = p.Version-1, p.Version > t.Version()
	w.handedOut(p)
}

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
		w.found(before, seen)
	case ctx.Err() == nil && !deltaerr.Retryable(err):
		w.lost = err
		w.tell()
	}
	return err
}

// found notes what a look from a table has found. Where Next has moved on meanwhile it is only told that there is more.
func (w *watch) found(before, seen *deltacore.Table) {
	if w.table == before {
		w.table = seen
	}
	if w.lost != nil || seen.Latest() > w.latest {
		w.latest, w.lost = max(w.latest, seen.Latest()), nil
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
	w.latest = max(w.latest, t.Latest())
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
		if ahead := w.table.Ahead(); len(ahead) > 0 {
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
