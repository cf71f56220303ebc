package feed

import (
	"context"
	"iter"
	"sync"

	"github.com/benthos-delta/benthos-delta/deltacore"
)

// run is a read in progress that outlives the call that began it. All methods are for the goroutine of Next, except close.
type run struct {
	pull func() (deltacore.Batch, error, bool)
	stop func()

	guard  sync.Mutex // never held while something waits
	closed bool
	cancel context.CancelFunc // written by the goroutine of Next only
}

// begin returns the context of a new read, which keeps the values of ctx but not its end; false after close.
func (r *run) begin(ctx context.Context) (context.Context, bool) {
	own, cancel := context.WithCancel(context.WithoutCancel(ctx))
	r.guard.Lock()
	defer r.guard.Unlock()
	if r.closed {
		cancel()
		return own, false
	}
	r.cancel = cancel
	return own, true
}

// start begins to pull batches.
func (r *run) start(batches iter.Seq2[deltacore.Batch, error]) { r.pull, r.stop = iter.Pull2(batches) }

// next pulls one batch. When ctx ends meanwhile, the read is cancelled and interrupted is true; the batch may still be one.
func (r *run) next(ctx context.Context) (b deltacore.Batch, more, interrupted bool, err error) {
	release := r.until(ctx)
	b, err, more = r.pull()
	return b, more, !release(), err
}

// until cancels the read when ctx ends, unless release is called before; release says whether it came in time.
func (r *run) until(ctx context.Context) (release func() bool) {
	return context.AfterFunc(ctx, r.cancel)
}

// end waits until nothing is left running.
func (r *run) end() {
	if r.cancel != nil {
		r.cancel()
	}
	if r.stop != nil {
		r.stop()
	}
	r.pull, r.stop = nil, nil
}

// close cancels what runs and prevents another begin. Any goroutine may call it.
func (r *run) close() {
	r.guard.Lock()
	defer r.guard.Unlock()
	r.closed = true
	if r.cancel != nil {
		r.cancel()
	}
}

func (r *run) isClosed() bool {
	r.guard.Lock()
	defer r.guard.Unlock()
	return r.closed
}
