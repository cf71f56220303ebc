// Package exec runs tasks in parallel and hands out their results in task order, within a byte budget. It is generic
// and knows no Delta. It is the only package under deltacore that starts goroutines.
package exec

import (
	"context"
	"fmt"
	"iter"
	"runtime/debug"
	"sync"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// Options of one run. Only Workers is required.
type Options[R any] struct {
	Workers int           // tasks that run at once, at least 1
	Budget  *Budget       // bounds the bytes of results that wait to be handed out; nil: one waiting result a worker
	Size    func(R) int64 // bytes that a result holds until it is handed out; nil: 0. At least 64 are counted
	Discard func(R)       // releases a result that will not be handed out (cancel, error, early stop); nil: nothing to release
}

// Ordered runs run for every task, up to Workers at once, and yields the results in task order and, within a task, in
// the order emitted. Nothing starts before the sequence is ranged over.
//
// The task whose results are next (the head) can always pass one result, however large and however full the budget is:
// that is what keeps two chained runs on one budget, and a result wider than the whole budget, from a deadlock. The first error in
// task order ends the sequence after the results before it; the others are cancelled. Stopping the iteration early
// cancels everything, and the call returns only when no goroutine of it is left. Tasks are pulled by the runner's own
// goroutine, one at a time, never more than Workers ahead of the head. The end of ctx ends the sequence with its error.
//
// Every task that was pulled is given to run, after a cancellation too: what a task owns is run's to release. run calls
// emit from its own goroutine and not after it returned. emit takes ownership of its result in every case; its error
// means that nobody waits for more, and run returns it. A panic in run or in tasks becomes a deltaerr Internal with the
// stack in its cause.
//
// A pull in progress is waited for: tasks that block must end with ctx. When they come from another run, put both into
// one [Scoped], so that leaving the loop cancels both before it waits.
func Ordered[T, R any](
	ctx context.Context, tasks iter.Seq2[T, error], o Options[R],
	run func(ctx context.Context, task T, emit func(R) error) error,
) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		r := newRunner[T](o, run)
		defer r.discardWaiting()
		defer r.group.Wait()
		defer cancel()
		r.group.Go(func() { r.pull(ctx, tasks) })
		if err := r.handOut(ctx, yield); err != nil {
			cancel()
			var none R
			yield(none, err)
		}
	}
}

// Scoped yields what the sequence of build yields. The context that build gets ends as soon as the loop is left or an
// error was yielded, even while a part of the sequence waits for another part.
func Scoped[R any](ctx context.Context, build func(ctx context.Context) iter.Seq2[R, error]) iter.Seq2[R, error] {
	return func(yield func(R, error) bool) {
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		build(ctx)(func(result R, err error) (more bool) {
			defer func() {
				if !more { // after a panic of the loop's body too
					cancel()
				}
			}()
			return yield(result, err) && err == nil
		})
	}
}

// runner is one iteration of an [Ordered].
type runner[T, R any] struct {
	Options[R]
	run func(ctx context.Context, task T, emit func(R) error) error

	group   sync.WaitGroup
	running chan struct{}  // a token for each task that runs
	pulled  chan struct{}  // a token for each task that was pulled and is not yet passed: the head and Workers ahead of it
	order   chan *queue[R] // the pulled tasks; never full; closed by pull
	head    *queue[R]
	pullErr error // what ended the tasks; set before order is closed
}

func newRunner[T, R any](
	o Options[R], run func(ctx context.Context, task T, emit func(R) error) error,
) *runner[T, R] {
	o.Workers = max(o.Workers, 1)
	if o.Budget == nil {
		o.Budget, o.Size = NewBudget(int64(o.Workers)*minCharge), nil
	}
	return &runner[T, R]{
		Options: o,
		run:     run,
		running: make(chan struct{}, o.Workers),
		pulled:  make(chan struct{}, o.Workers+1),
		order:   make(chan *queue[R], o.Workers+1),
	}
}

// pull starts the tasks in order.
func (r *runner[T, R]) pull(ctx context.Context, tasks iter.Seq2[T, error]) {
	defer close(r.order)
	r.pullErr = errExited
	r.pullErr = guard("pulling a task", func() error {
		if err := r.admit(ctx); err != nil {
			return err
		}
		for task, err := range tasks {
			if err != nil {
				return err
			}
			r.start(ctx, task)
			if err := r.admit(ctx); err != nil {
				return err
			}
		}
		return ctx.Err() // tasks may have ended because of it
	})
}

// admit waits until one more task may be pulled and run.
func (r *runner[T, R]) admit(ctx context.Context) error {
	for _, tokens := range []chan struct{}{r.pulled, r.running} {
		select {
		case tokens <- struct{}{}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

func (r *runner[T, R]) start(ctx context.Context, task T) {
	q := newQueue[R]()
	r.order <- q
	r.group.Go(func() {
		end := item[R]{end: true, err: errExited}
		defer func() {
			<-r.running
			end.n = q.number()
			q.push(end)
		}()
		end.err = guard("running a task", func() error {
			return r.run(ctx, task, func(result R) error { return r.emit(ctx, q, result) })
		})
	})
}

// emit passes a result to the consumer as soon as the budget has room or the consumer waits for it.
func (r *runner[T, R]) emit(ctx context.Context, q *queue[R], result R) error {
	if err := ctx.Err(); err != nil {
		r.discard(result)
		return err
	}
	it := item[R]{n: q.number(), result: result, size: r.charge(result)}
	c := r.Budget.take(it.size)
	if c == nil {
		q.push(it)
		return nil
	}
	select {
	case <-c.granted:
		q.push(it)
		return nil
	case q.direct <- item[R]{n: it.n, result: result}:
		r.Budget.withdraw(c)
		return nil
	case <-ctx.Done():
		r.Budget.withdraw(c)
		r.discard(result)
		return ctx.Err()
	}
}

// handOut yields every result and returns the error that ends the sequence; nil after a stop as well.
func (r *runner[T, R]) handOut(ctx context.Context, yield func(R, error) bool) error {
	for r.head = range r.order {
		for {
			it := r.head.next(ctx)
			if it.err != nil {
				return it.err
			}
			if it.end {
				break
			}
			r.Budget.release(it.size)
			if !yield(it.result, nil) {
				return nil
			}
		}
		<-r.pulled
	}
	return r.pullErr
}

// discardWaiting releases what was not handed out. Nothing runs any more.
func (r *runner[T, R]) discardWaiting() {
	if r.head != nil {
		r.discardQueue(r.head)
	}
	for q := range r.order {
		r.discardQueue(q)
	}
}

func (r *runner[T, R]) discardQueue(q *queue[R]) {
	for it, ok := q.pop(); ok; it, ok = q.pop() {
		if !it.end {
			r.Budget.release(it.size)
			r.discard(it.result)
		}
	}
}

func (r *runner[T, R]) discard(result R) {
	if r.Discard != nil {
		r.Discard(result)
	}
}

func (r *runner[T, R]) charge(result R) int64 {
	if r.Size == nil {
		return minCharge
	}
	return max(r.Size(result), minCharge)
}

// errExited is what a call ends with that never returns: its goroutine was ended by runtime.Goexit.
var errExited = deltaerr.New(deltaerr.Internal, "the goroutine of a task exited")

// guard calls f and makes an Internal error of a panic.
func guard(phase string, f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = deltaerr.New(deltaerr.Internal, "the program panicked", deltaerr.Phase("%s", phase),
				deltaerr.Cause(fmt.Errorf("%v\n\n%s", p, debug.Stack())),
				deltaerr.Hint("this is a bug: report it with the lines above"))
		}
	}()
	return f()
}
