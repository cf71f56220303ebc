package feed

import (
	"context"
	"iter"
)

// life is what Close ends: every read and every request of a source. Any goroutine may call its methods.
type life struct {
	ctx context.Context //nolint:containedctx // it spans calls
	end context.CancelFunc
}

func newLife() life {
	ctx, cancel := context.WithCancel(context.Background())
	return life{ctx, cancel}
}

func (l life) ended() bool { return l.ctx.Err() != nil }

// within returns a context that ends with ctx and with the life; release lets it go.
func (l life) within(ctx context.Context) (own context.Context, release func()) {
	own, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(l.ctx, cancel)
	return own, func() {
		stop()
		cancel()
	}
}

// run is a sequence that is being pulled, across the calls of Next, whose goroutine alone uses it.
type run[T any] struct {
	pull   func() (T, error, bool)
	stop   func()
	cancel func()
}

func (r *run[T]) running() bool { return r.pull != nil }

// begin begins to pull what of makes, with the values of ctx but not its end.
func (r *run[T]) begin(ctx context.Context, l life, of func(context.Context) iter.Seq2[T, error]) {
	own, release := l.within(context.WithoutCancel(ctx))
	r.cancel = release
	r.pull, r.stop = iter.Pull2(of(own))
}

// next pulls one value. When ctx ends meanwhile, the sequence is cancelled and interrupted is true; there may still be a value.
func (r *run[T]) next(ctx context.Context) (v T, more, interrupted bool, err error) {
	release := context.AfterFunc(ctx, r.cancel)
	v, err, more = r.pull()
	return v, more, !release(), err
}

// end waits until nothing is left running.
func (r *run[T]) end() {
	if r.running() {
		r.cancel()
		r.stop()
	}
	*r = run[T]{}
}
