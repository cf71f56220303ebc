// Package ack answers how far a table has been delivered. It keeps every batch that was handed out until all its messages
// are resolved, sends rejected ones again, limits what is in flight, and yields the highest position behind which nothing is
// unresolved: that is the [Tracker]. It keeps that position where a restart finds it, whole even when a write was cut short:
// that is the [Store], to which a [Writer] brings it without making anybody wait. What a position means is feed's matter. It
// knows no Benthos; only the Writer starts a goroutine.
package ack

import (
	"context"
	"io"
	"sync"
	"sync/atomic"
	"time"

	"github.com/benthos-delta/benthos-delta/input/feed"
)

// Payload is what a batch is made of: messages, which may hold one row each or many. It is read only.
type Payload interface {
	// Messages is the number of messages; 0 for a position that moved without rows.
	Messages() int
	// Tail returns the rows and the bytes of message i and of those after it. Tail(0) is the whole.
	Tail(i int) (rows, bytes int64)
}

// Item is a batch with the position that is reached when all its rows are resolved. An item without messages is tracked
// like a batch that is resolved already.
type Item[P Payload] struct {
	Payload  P
	Position feed.Position
}

// Options of a tracker. The zero value sets no limit.
type Options struct {
	// Rows and Bytes limit the span from the oldest unresolved row to the newest one handed out, resolved or not; 0: no
	// limit. A batch larger than a limit passes when nothing else is unresolved.
	Rows, Bytes int64
	// Alone keeps a batch back until everything before it is resolved: no row overtakes one of an earlier batch.
	Alone bool
	// DropRejected passes rejected rows instead of sending them again.
	DropRejected bool
	// Durable counts the limits from the stored position, which Stored tells, and one batch: a process that is killed then
	// repeats no more than that.
	Durable bool
	// Wait is the time before rejected messages are sent for the n-th time again, n = 1, 2, …; nil: GrowingWait.
	Wait func(n int) time.Duration
	// Moved receives the highest position each time it moved, in order, from the goroutine that moved it. It must neither
	// block nor call the tracker; nil: nobody.
	Moved func(feed.Position)
}

// Tracker follows batches from hand-over to resolution. Next is called from one goroutine at a time; everything else is safe
// on any goroutine.
type Tracker[P Payload] struct {
	options Options
	changed chan struct{} // holds a token when something was resolved, rejected or stored since Next looked
	failing atomic.Bool   // positions cannot be stored at the moment

	mu       sync.Mutex
	queue    []*entry[P]   // handed out, oldest first; the first one is unresolved
	rejected waiting[P]    // those of queue that wait to be sent again, the next due first
	handed   extent        // everything ever handed out
	dropped  int64         // rows that were passed although they were rejected
	highest  feed.Position // behind it nothing is unresolved
	reached  bool          // highest is set
	held     *Item[P]      // arrived, and over the limit so far
	ended    bool          // no item arrives any more
	unstored unstored      // empty unless Durable
	now      func() time.Time
}

type extent struct{ rows, bytes int64 }

// entry is one batch. Once resolved, its payload is let go and only its place in the order remains.
type entry[P Payload] struct {
	payload  P
	position feed.Position
	start    extent // what was handed out before it
	left     []int  // unresolved messages, ascending; nil: all
	resolved bool
	sent     int // number of the last hand-over: an answer to an earlier one is void
	answered bool
	due      time.Time // when rejected
}

// New returns an empty tracker.
func New[P Payload](o Options) *Tracker[P] {
	if o.Wait == nil {
		o.Wait = GrowingWait
	}
	return &Tracker[P]{options: o, changed: make(chan struct{}, 1), now: time.Now}
}

// Next returns what is to be delivered next: rejected messages that are due, else batches from in, in their order, as far as
// the limits allow. Rejected messages that are not due hold nothing back: the limit bounds how much passes them. It blocks
// until there is something. After in was closed it returns io.EOF once everything is resolved; it returns the error of ctx
// when that ends first, and can be called again.
func (t *Tracker[P]) Next(ctx context.Context, in <-chan Item[P]) (*Delivery[P], error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		d, state := t.step()
		switch {
		case d != nil:
			return d, nil
		case state.finished:
			return nil, io.EOF
		}
		if err := t.await(ctx, in, state); err != nil {
			return nil, err
		}
	}
}

// state is what Next waits for when nothing can be delivered.
type state struct {
	finished bool
	wants    bool          // an item from the reader would help
	retry    time.Duration // until a rejected batch is due; 0: none waits
}

// step decides what comes next without waiting.
func (t *Tracker[P]) step() (*Delivery[P], state) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var retry time.Duration
	if len(t.rejected) > 0 {
		if retry = t.rejected[0].due.Sub(t.now()); retry <= 0 {
			return t.send(t.rejected.next()), state{}
		}
	}
	if t.held != nil && t.fits(t.held.Payload) {
		return t.admit(), state{}
	}
	return nil, state{
		wants:    t.held == nil && !t.ended,
		finished: t.held == nil && t.ended && len(t.queue) == 0,
		retry:    retry,
	}
}

func (t *Tracker[P]) await(ctx context.Context, in <-chan Item[P], s state) error {
	if !s.wants {
		in = nil
	}
	var due <-chan time.Time
	if s.retry > 0 {
		timer := time.NewTimer(s.retry)
		defer timer.Stop()
		due = timer.C
	}
	select {
	case item, more := <-in:
		t.arrived(item, more)
	case <-t.changed:
	case <-due:
	case <-ctx.Done():
	}
	return ctx.Err()
}

func (t *Tracker[P]) arrived(item Item[P], more bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !more {
		t.ended = true
		return
	}
	t.held = &item
}

// fits says whether a batch may be handed out now.
func (t *Tracker[P]) fits(p P) bool {
	switch {
	case p.Messages() == 0:
		return true
	case t.waitsForStore(p):
		return false
	case len(t.queue) == 0:
		return true
	case t.options.Alone:
		return false
	}
	span := t.span()
	rows, bytes := p.Tail(0)
	return within(span.rows+rows, t.options.Rows) && within(span.bytes+bytes, t.options.Bytes)
}

func within(n, limit int64) bool { return limit <= 0 || n <= limit }

// span is the extent from the oldest unresolved row to the newest one handed out.
func (t *Tracker[P]) span() extent {
	if len(t.queue) == 0 {
		return extent{}
	}
	oldest := t.queue[0]
	passed := extent{}
	if oldest.left != nil {
		rows, bytes := oldest.payload.Tail(0)
		rest, restBytes := oldest.payload.Tail(oldest.left[0])
		passed = extent{rows - rest, bytes - restBytes}
	}
	return extent{
		t.handed.rows - oldest.start.rows - passed.rows,
		t.handed.bytes - oldest.start.bytes - passed.bytes,
	}
}

// admit hands out the held item for the first time.
func (t *Tracker[P]) admit() *Delivery[P] {
	item := *t.held
	t.held = nil
	if item.Payload.Messages() == 0 {
		t.advance(item.Position)
		return &Delivery[P]{Payload: item.Payload}
	}
	e := &entry[P]{payload: item.Payload, position: item.Position, start: t.handed}
	rows, bytes := item.Payload.Tail(0)
	t.handed.rows += rows
	t.handed.bytes += bytes
	t.queue = append(t.queue, e)
	return t.send(e)
}

// advance moves the position without rows: at once when nothing is unresolved, else with the newest batch.
func (t *Tracker[P]) advance(p feed.Position) {
	if n := len(t.queue); n > 0 {
		t.queue[n-1].position = p
		return
	}
	t.reach(p)
}

// reach raises the highest position. It never goes back.
func (t *Tracker[P]) reach(p feed.Position) {
	if t.reached && p.Compare(t.highest) <= 0 {
		return
	}
	t.highest, t.reached = p, true
	if t.options.Moved != nil {
		t.options.Moved(p)
	}
}

func (t *Tracker[P]) send(e *entry[P]) *Delivery[P] {
	e.sent++
	e.answered = false
	return &Delivery[P]{Payload: e.payload, Messages: e.left, Attempt: e.sent, tracker: t, entry: e}
}

// release lets resolved batches go from the old end of the queue.
func (t *Tracker[P]) release() {
	n := 0
	for n < len(t.queue) && t.queue[n].resolved {
		n++
	}
	if n == 0 {
		return
	}
	last := t.queue[n-1].position
	for _, e := range t.queue[:n] {
		t.resolved(mark{position: e.position, start: e.start})
	}
	clear(t.queue[:n])
	t.queue = t.queue[n:]
	t.reach(last)
}

// Start sets the position that a run begins at. It does nothing once there is a position or a batch.
func (t *Tracker[P]) Start(p feed.Position) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if !t.reached && len(t.queue) == 0 {
		t.reach(p)
	}
}

// Position returns the highest position behind which nothing is unresolved; false before there is one.
func (t *Tracker[P]) Position() (feed.Position, bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.highest, t.reached
}

// Delivered returns the number of rows that were accepted: dropped ones do not count, nor does any that may be sent again.
func (t *Tracker[P]) Delivered() int64 {
	t.mu.Lock()
	defer t.mu.Unlock()
	rows := t.handed.rows - t.dropped
	for _, e := range t.queue {
		if !e.resolved {
			d := Delivery[P]{Payload: e.payload}
			rows -= d.rows(e.left)
		}
	}
	return rows
}

// InFlight returns the span from the oldest unresolved row to the newest one handed out.
func (t *Tracker[P]) InFlight() (rows, bytes int64) {
	t.mu.Lock()
	defer t.mu.Unlock()
	span := t.span()
	return span.rows, span.bytes
}
