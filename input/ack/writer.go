package ack

import (
	"context"
	"sync"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

const (
	saveTime  = 10 * time.Second // for one save, so that a cache that hangs is asked again
	flushTime = 5 * time.Second  // for the last save, and everything else that Close waits for
	joinTime  = time.Second      // for a cache to notice that flushTime is over
)

// WriterOptions of a writer. The zero value saves each move.
type WriterOptions struct {
	// Interval is the shortest time from one save to the next; 0: a save follows each move, or the moves during the last save.
	Interval time.Duration
	// Wait is the time before a save is tried for the n-th time again, n = 1, 2, …; nil: GrowingWait.
	Wait func(n int) time.Duration
	// Saved receives each position that was stored, Failed each error that left one unstored. They must not call the writer;
	// nil: nobody.
	Saved  func(feed.Position)
	Failed func(error)
}

// Writer stores positions on a goroutine of its own, so that whoever moves one never waits for a cache. It stores the newest
// position that it was told, skips those between, and never goes back: only Begin does. A finished snapshot is stored at
// once, anything else when the interval has passed. What cannot be stored is tried again until Close.
//
// Everything is safe on any goroutine. Load comes first; then Begin, unless the run goes on where the stored position is;
// then Moved. The goroutine starts with the first position and ends with Close, which waits for it.
type Writer struct {
	store   *Store
	options WriterOptions
	wake    chan struct{} // holds a token when there is something new to look at
	done    chan struct{} // closed when the goroutine has ended

	mu        sync.Mutex
	cancel    context.CancelFunc // of everything the goroutine does; nil: it was not started
	closing   bool
	newest    feed.Position
	known     bool          // newest is set
	moves     int64         // number of the newest position
	stored    int64         // number of the one that is stored
	urgent    int64         // number of the newest one that the interval does not hold back
	settled   chan struct{} // closed, and replaced, when a save ended
	failure   error         // of the last save
	complaint bool          // a position that went back was reported
}

// NewWriter returns a writer. It needs no Close before its first position.
func NewWriter(s *Store, o WriterOptions) *Writer {
	if o.Wait == nil {
		o.Wait = GrowingWait
	}
	if o.Saved == nil {
		o.Saved = func(feed.Position) {}
	}
	if o.Failed == nil {
		o.Failed = func(error) {}
	}
	return &Writer{store: s, options: o, wake: make(chan struct{}, 1), done: make(chan struct{}), settled: make(chan struct{})}
}

// Load returns what is stored, as [Store.Load] does. The positions of Moved have to be behind it.
func (w *Writer) Load(ctx context.Context) (Record, bool, error) {
	r, found, err := w.store.Load(ctx)
	if err != nil || !found {
		return Record{}, false, err
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	if !w.known {
		w.newest, w.known = r.Position, true
	}
	return r, true, nil
}

// Begin stores where a run begins, even before what is stored, and returns when that is done. It tries until ctx ends, and
// returns the last error of the cache then.
func (w *Writer) Begin(ctx context.Context, p feed.Position) error {
	w.mu.Lock()
	taken := w.accept(p, true) //nolint:contextcheck // the goroutine that it may start outlives the call
	w.mu.Unlock()
	if !taken {
		return deltaerr.New(deltaerr.Internal, "the writer was closed", deltaerr.Phase("storing the position %s", p))
	}
	return w.Flush(ctx)
}

// Moved tells the highest position. It never blocks. A position that is not behind the last one is not stored, as one of
// another table is not: those of Begin are.
func (w *Writer) Moved(p feed.Position) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.known && p == w.newest:
	case w.known && (p.TableID != w.newest.TableID || p.Compare(w.newest) < 0):
		w.complain(p)
	default:
		w.accept(p, p.Phase == feed.PhaseSnapshot && p.Done)
	}
}

// complain reports, once, a position that would go back. It holds the lock: Failed must not call the writer.
func (w *Writer) complain(p feed.Position) {
	if w.complaint {
		return
	}
	w.complaint = true
	w.options.Failed(deltaerr.New(deltaerr.Internal, "the position went back to "+p.String(),
		deltaerr.Phase("storing what is behind %s", w.newest)))
}

// accept takes a position as the newest. After Close it is too late.
func (w *Writer) accept(p feed.Position, urgent bool) bool {
	if w.closing {
		return false
	}
	w.newest, w.known = p, true
	w.moves++
	if urgent {
		w.urgent = w.moves
	}
	w.start()
	return true
}

// start starts the goroutine or wakes it.
func (w *Writer) start() {
	if w.cancel == nil {
		ctx, cancel := context.WithCancel(context.Background())
		w.cancel = cancel
		go w.run(ctx)
	}
	w.poke()
}

func (w *Writer) poke() {
	select {
	case w.wake <- struct{}{}:
	default: // it has not taken the last one yet, and will look at everything
	}
}

// Flush stores the newest position now and returns when it is stored, else, when ctx or the writer ends, an error.
func (w *Writer) Flush(ctx context.Context) error {
	w.mu.Lock()
	target := w.moves
	if w.urgent < target && !w.closing {
		w.urgent = target
		w.poke()
	}
	w.mu.Unlock()
	for {
		stored, settled := w.progress()
		if stored >= target {
			return nil
		}
		select {
		case <-settled:
		case <-w.done:
			return w.shortfall()
		case <-ctx.Done():
			return deltaerr.Annotate(w.shortfall(), deltaerr.Cause(ctx.Err()))
		}
	}
}

func (w *Writer) progress() (stored int64, settled <-chan struct{}) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.stored, w.settled
}

// shortfall returns why the newest position is not stored; nil: it is.
func (w *Writer) shortfall() error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.stored == w.moves:
		return nil
	case w.failure != nil:
		return w.failure
	default:
		return deltaerr.New(deltaerr.Transient, "the cache gave no answer in time", deltaerr.Phase("storing the position %s", w.newest))
	}
}

// Close stores the newest position and waits until nothing is left running, for 5 s, whatever became of ctx: an error says
// that the newest position is not stored, so that rows behind the stored one will be read again. Later positions are not
// taken.
func (w *Writer) Close(ctx context.Context) error {
	w.mu.Lock()
	cancel := w.cancel
	w.closing = true
	w.poke()
	w.mu.Unlock()
	if cancel == nil {
		return nil
	}
	limit, release := context.WithTimeout(context.WithoutCancel(ctx), flushTime)
	defer release() // ends what the goroutine may still do, too
	context.AfterFunc(limit, cancel)
	join := time.NewTimer(flushTime + joinTime) // a cache that takes no notice of its context cannot be waited for
	defer join.Stop()
	select {
	case <-w.done:
	case <-join.C:
	}
	return w.shortfall()
}
