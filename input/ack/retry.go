package ack

import (
	"container/heap"
	"math/rand/v2"
	"time"
)

// The first re-delivery comes soon, since most rejections pass; a message that can never succeed costs one every 10 s.
const (
	firstWait = 100 * time.Millisecond
	longest   = 10 * time.Second
)

// GrowingWait doubles from 100 ms to 10 s and varies by a quarter, so that what was rejected together spreads out.
func GrowingWait(n int) time.Duration {
	wait := longest
	if n < 8 { // 100 ms << 7 is past the longest
		wait = min(firstWait<<max(n-1, 0), longest)
	}
	return wait - wait/4 + rand.N(wait/2)
}

// next removes the batch that is due next.
func (w *waiting[P]) next() *entry[P] {
	return heap.Pop(w).(*entry[P]) //nolint:forcetypeassert // it holds nothing else
}

// waiting is a heap of rejected batches, the next due first; those due together in the order they were handed out.
type waiting[P Payload] []*entry[P]

func (w waiting[P]) Len() int { return len(w) }

func (w waiting[P]) Less(i, j int) bool {
	if !w[i].due.Equal(w[j].due) {
		return w[i].due.Before(w[j].due)
	}
	return w[i].start.rows < w[j].start.rows
}

func (w waiting[P]) Swap(i, j int) { w[i], w[j] = w[j], w[i] }

func (w *waiting[P]) Push(x any) { *w = append(*w, x.(*entry[P])) } //nolint:forcetypeassert // it holds nothing else

func (w *waiting[P]) Pop() any {
	old := *w
	last := len(old) - 1
	e := old[last]
	old[last] = nil
	*w = old[:last]
	return e
}
