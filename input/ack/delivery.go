package ack

import (
	"container/heap"
	"slices"
)

// Delivery is one hand-over of a batch or of what is left of it. It is answered once, by Ack, Nack or Return; answers after
// the first do nothing. A delivery without messages is resolved already.
type Delivery[P Payload] struct {
	Payload  P
	Messages []int // the messages to deliver, ascending; nil: all. Read only
	Attempt  int   // 1 for the first hand-over

	tracker *Tracker[P]
	entry   *entry[P]
}

// Outcome says what an answer did, in rows.
type Outcome struct {
	Rejected int64 // rows that were refused
	Dropped  int64 // those of them that are passed for good
}

// Ack resolves every message of the delivery.
func (d *Delivery[P]) Ack() { d.answer(nil, resolve) }

// Nack rejects the failed messages of the delivery (indexes into the payload, in any order) and resolves its others; none
// named means all failed. Rejected messages are handed out again after a wait, or passed if the tracker drops them.
func (d *Delivery[P]) Nack(failed []int) Outcome { return d.answer(failed, reject) }

// Return is a Nack that is no verdict, because delivery was given up while stopping: nothing counts as rejected, nothing is
// dropped, and the position stays before what is left.
func (d *Delivery[P]) Return(failed []int) { d.answer(failed, giveBack) }

type verdict int

const (
	resolve verdict = iota
	reject
	giveBack
)

func (d *Delivery[P]) answer(failed []int, v verdict) (o Outcome) {
	t, e := d.tracker, d.entry
	if e == nil {
		return Outcome{}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if e.sent != d.Attempt || e.answered {
		return Outcome{}
	}
	e.answered = true
	left := d.left(failed)
	if v == reject {
		o.Rejected = d.rows(left)
	}
	switch {
	case v == resolve:
		e.resolve()
	case v == reject && t.options.DropRejected:
		o.Dropped = o.Rejected
		t.dropped += o.Dropped
		e.resolve()
	default:
		e.left = left
		t.again(e)
	}
	t.release()
	t.poke()
	return o
}

// resolve lets the payload go: only the place in the order is still needed.
func (e *entry[P]) resolve() {
	var none P
	e.payload, e.left, e.resolved = none, nil, true
}

// left returns which messages stay unresolved: the failed ones that are part of the delivery, or all of it.
func (d *Delivery[P]) left(failed []int) []int {
	if len(failed) == 0 {
		return d.Messages
	}
	part := make([]int, 0, len(failed))
	for _, m := range failed {
		if d.has(m) {
			part = append(part, m)
		}
	}
	slices.Sort(part)
	part = slices.Compact(part)
	if len(part) == 0 {
		return d.Messages
	}
	return part
}

func (d *Delivery[P]) has(message int) bool {
	if d.Messages == nil {
		return message >= 0 && message < d.Payload.Messages()
	}
	_, found := slices.BinarySearch(d.Messages, message)
	return found
}

// rows counts the rows of the given messages, nil meaning all.
func (d *Delivery[P]) rows(messages []int) int64 {
	if messages == nil {
		rows, _ := d.Payload.Tail(0)
		return rows
	}
	var n int64
	for _, m := range messages {
		from, _ := d.Payload.Tail(m)
		rest, _ := d.Payload.Tail(m + 1)
		n += from - rest
	}
	return n
}

// again queues what is left of a batch to be sent once more.
func (t *Tracker[P]) again(e *entry[P]) {
	e.due = t.now().Add(t.options.Wait(e.sent))
	heap.Push(&t.rejected, e)
}
