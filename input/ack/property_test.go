package ack

import (
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/input/feed"
)

// world is a model of everything around a tracker: which rows reached their destination, and who still owes an answer.
type world struct {
	t        *rapid.T
	tracker  *Tracker[run]
	clock    time.Time
	rows     int64 // made so far
	given    int64 // handed out so far: the newest row
	limit    int64
	alone    bool
	done     map[int64]bool
	open     []*Delivery[run]
	answered []*Delivery[run]
	position int64
}

func newWorld(t *rapid.T) *world {
	w := &world{t: t, clock: time.Unix(0, 0), done: map[int64]bool{}, limit: rapid.Int64Range(1, 12).Draw(t, "limit")}
	w.alone = rapid.Bool().Draw(t, "alone")
	w.tracker = New[run](Options{
		Rows:  w.limit,
		Alone: w.alone,
		Wait:  func(n int) time.Duration { return time.Duration(n) * time.Second },
		Moved: w.moved,
	})
	w.tracker.now = func() time.Time { return w.clock }
	return w
}

// moved checks that nothing at or before the position is unresolved, and that it never goes back.
func (w *world) moved(p feed.Position) {
	if p.Version <= w.position {
		w.t.Fatalf("the position went from %d to %d", w.position, p.Version)
	}
	for row := w.position + 1; row <= min(p.Version, w.rows); row++ {
		if !w.done[row] {
			w.t.Fatalf("position %d is past row %d, which is not delivered", p.Version, row)
		}
	}
	w.position = p.Version
}

// oldest is the first row that is not delivered.
func (w *world) oldest() int64 {
	row := int64(1)
	for w.done[row] {
		row++
	}
	return row
}

func (w *world) take(t *rapid.T) {
	due := w.due()
	d, s := w.tracker.step()
	if due != (d != nil && d.Attempt > 1) {
		t.Fatalf("a rejected batch is due: %t; delivered was %+v", due, d)
	}
	if d == nil && s.wants {
		w.tracker.arrived(w.item(t), true)
		d, _ = w.tracker.step()
	}
	if d == nil {
		w.checkHeldBack()
		return
	}
	if d.Payload.Messages() == 0 {
		return
	}
	w.checkSpan(d)
	w.open = append(w.open, d)
}

// due says whether a rejected batch waits to be sent again and need not wait longer.
func (w *world) due() bool {
	return slices.ContainsFunc(w.tracker.queue, func(e *entry[run]) bool {
		return e.answered && !e.resolved && !e.due.After(w.clock)
	})
}

// checkHeldBack checks that only the limit keeps a new batch back: not what was rejected.
func (w *world) checkHeldBack() {
	if w.tracker.held == nil || w.alone && len(w.tracker.queue) > 0 || w.tracker.waitsForStore(w.tracker.held.Payload) {
		return
	}
	rows, _ := w.tracker.held.Payload.Tail(0)
	if span := w.rows - rows - w.oldest() + 1; span+rows <= w.limit {
		w.t.Fatalf("%d rows are held back; %d are in flight and the limit is %d", rows, span, w.limit)
	}
}

// item makes a batch of a few messages, or a position without rows.
func (w *world) item(t *rapid.T) Item[run] {
	r := run{first: w.rows + 1, messages: rapid.SliceOfN(rapid.Int64Range(1, 3), 0, 5).Draw(t, "messages")}
	rows, _ := r.Tail(0)
	w.rows += rows
	if rows == 0 { // a number of its own, so that positions stay ordered
		w.rows++
		w.done[w.rows] = true
	}
	return Item[run]{Payload: r, Position: upTo(w.rows)}
}

func (w *world) checkSpan(d *Delivery[run]) {
	rows, _ := d.Payload.Tail(0)
	last := d.Payload.first + rows - 1
	if d.Attempt > 1 || last <= w.given {
		return
	}
	w.given = last
	if w.alone && w.oldest() < d.Payload.first {
		w.t.Fatalf("row %d goes out before row %d is delivered", d.Payload.first, w.oldest())
	}
	inFlight, _ := w.tracker.InFlight()
	if inFlight > w.limit && w.oldest() < d.Payload.first {
		w.t.Fatalf("%d rows are in flight; the limit is %d", inFlight, w.limit)
	}
}

// pick removes a random open delivery.
func (w *world) pick(t *rapid.T) *Delivery[run] {
	if len(w.open) == 0 {
		t.Skip("nothing is open")
	}
	i := rapid.IntRange(0, len(w.open)-1).Draw(t, "delivery")
	d := w.open[i]
	w.open = slices.Delete(w.open, i, i+1)
	w.answered = append(w.answered, d)
	return d
}

// deliver notes that the rows of these messages arrived.
func (w *world) deliver(d *Delivery[run], except []int) {
	messages := d.Messages
	if messages == nil {
		messages = indexes(d.Payload.Messages())
	}
	all, _ := d.Payload.Tail(0)
	for _, m := range messages {
		if slices.Contains(except, m) {
			continue
		}
		from, _ := d.Payload.Tail(m)
		rest, _ := d.Payload.Tail(m + 1)
		for row := d.Payload.first + all - from; row < d.Payload.first+all-rest; row++ {
			w.done[row] = true
		}
	}
}

func indexes(n int) []int {
	out := make([]int, n)
	for i := range out {
		out[i] = i
	}
	return out
}

func (w *world) ack(t *rapid.T) {
	d := w.pick(t)
	w.deliver(d, nil)
	d.Ack()
}

func (w *world) nackPart(t *rapid.T) {
	d := w.pick(t)
	messages := d.Messages
	if messages == nil {
		messages = indexes(d.Payload.Messages())
	}
	failed := rapid.SliceOfNDistinct(rapid.SampledFrom(messages), 1, len(messages), rapid.ID).Draw(t, "failed")
	w.deliver(d, failed)
	if rapid.Bool().Draw(t, "stopping") {
		d.Return(failed)
		return
	}
	d.Nack(failed)
}

func (w *world) nackWhole(t *rapid.T) { w.pick(t).Nack(nil) }

// repeat answers something once more, which must change nothing.
func (w *world) repeat(t *rapid.T) {
	if len(w.answered) == 0 {
		t.Skip("nothing was answered")
	}
	rapid.SampledFrom(w.answered).Draw(t, "answered").Ack()
}

func (w *world) wait(t *rapid.T) {
	w.clock = w.clock.Add(time.Duration(rapid.IntRange(0, 3000).Draw(t, "ms")) * time.Millisecond)
}

// finish answers and delivers everything, and expects the position at the end.
func (w *world) finish() {
	w.tracker.mu.Lock()
	w.tracker.ended = true
	w.tracker.mu.Unlock()
	for range 10_000 {
		for _, d := range w.open {
			w.deliver(d, nil)
			d.Ack()
		}
		w.open = nil
		w.clock = w.clock.Add(time.Hour)
		d, s := w.tracker.step()
		if s.finished {
			break
		}
		if d != nil && d.Payload.Messages() > 0 {
			w.open = append(w.open, d)
		}
	}
	if w.position != w.rows || w.oldest() != w.rows+1 {
		w.t.Fatalf("want position %d and every row, got position %d and row %d missing", w.rows, w.position, w.oldest())
	}
}

func TestNoInterleavingLosesARowOrMovesPastOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		w := newWorld(t)
		t.Repeat(map[string]func(*rapid.T){
			"take": w.take, "ack": w.ack, "nack part": w.nackPart, "nack whole": w.nackWhole, "repeat": w.repeat, "wait": w.wait,
		})
		w.finish()
	})
}
