package exec

import (
	"context"
	"slices"
	"sync"
)

// queue carries the results of one task from its worker to the consumer.
//
// A result waits in it when the budget has room. When it has none, the worker offers it on direct, where the consumer
// takes it once this task is the head and nothing of it waits: so the head passes however full the budget is.
type queue[R any] struct {
	direct  chan item[R]
	changed chan struct{} // holds a token after a push

	mu      sync.Mutex
	waiting []item[R]

	made int // items numbered so far; the worker's
}

// item is a result with the bytes of the budget that it holds, or the end of the task.
type item[R any] struct {
	n      int // its number in the task, from 1
	result R
	size   int64
	end    bool
	err    error // what the task ended with
}

func newQueue[R any]() *queue[R] {
	return &queue[R]{direct: make(chan item[R]), changed: make(chan struct{}, 1)}
}

func (q *queue[R]) push(it item[R]) {
	q.mu.Lock()
	q.waiting = append(q.waiting, it)
	q.mu.Unlock()
	select {
	case q.changed <- struct{}{}:
	default: // the consumer has not looked since the last push
	}
}

func (q *queue[R]) pop() (it item[R], ok bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return it, false
	}
	it, q.waiting[0] = q.waiting[0], it
	q.waiting = q.waiting[1:]
	return it, true
}

// next waits for the next item. The end of ctx is an end of the task.
func (q *queue[R]) next(ctx context.Context) item[R] {
	for {
		if err := ctx.Err(); err != nil {
			return item[R]{end: true, err: err}
		}
		if it, ok := q.pop(); ok {
			return it
		}
		select {
		case it := <-q.direct:
			q.insert(it)
		case <-q.changed:
		case <-ctx.Done():
		}
	}
}

// number counts the items of the task. It is for the worker.
func (q *queue[R]) number() int {
	q.made++
	return q.made
}

// insert puts an item that came directly in its place: what was pushed before it may not have been looked at yet, and what
// comes after it may be there already.
func (q *queue[R]) insert(it item[R]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	at, _ := slices.BinarySearchFunc(q.waiting, it.n, func(w item[R], n int) int { return w.n - n })
	q.waiting = slices.Insert(q.waiting, at, it)
}
