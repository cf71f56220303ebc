package ack

import (
	"context"
	"errors"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/benthos-delta/benthos-delta/input/feed"
)

// run is a payload of consecutive rows, numbered from 1, one or more in each message. A row is ten bytes.
type run struct {
	first    int64
	messages []int64 // rows of each
}

func (r run) Messages() int { return len(r.messages) }

func (r run) Tail(i int) (rows, bytes int64) {
	for _, n := range r.messages[i:] {
		rows += n
	}
	return rows, rows * 10
}

// upTo is a position behind row n. Test positions use the version as the row.
func upTo(n int64) feed.Position { return feed.Position{Version: n} }

// rows makes an item of n rows that begin at first, one a message.
func rows(first, n int64) Item[run] {
	r := run{first: first, messages: slices.Repeat([]int64{1}, int(n))}
	return Item[run]{Payload: r, Position: upTo(first + n - 1)}
}

func passed(n int64) Item[run] { return Item[run]{Position: upTo(n)} }

// bench is a tracker with a clock that stands still, fed from a queue.
type bench struct {
	t       *testing.T
	tracker *Tracker[run]
	in      chan Item[run]
	clock   time.Time
	moved   []int64
}

func newBench(t *testing.T, o Options) *bench {
	t.Helper()
	b := &bench{t: t, in: make(chan Item[run], 100), clock: time.Unix(0, 0)}
	o.Wait = func(n int) time.Duration { return time.Duration(n) * time.Second }
	o.Moved = func(p feed.Position) { b.moved = append(b.moved, p.Version) }
	b.tracker = New[run](o)
	b.tracker.now = func() time.Time { return b.clock }
	return b
}

func (b *bench) feed(items ...Item[run]) *bench {
	for _, i := range items {
		b.in <- i
	}
	return b
}

// next is Next, or nil where Next would wait.
func (b *bench) next() *Delivery[run] {
	b.t.Helper()
	for {
		d, s := b.tracker.step()
		switch {
		case d != nil && d.Payload.Messages() == 0:
			continue
		case d != nil:
			return d
		case !s.wants || len(b.in) == 0:
			return nil
		}
		item, more := <-b.in
		b.tracker.arrived(item, more)
	}
}

func (b *bench) mustNext(wantFirst int64, wantMessages ...int) *Delivery[run] {
	b.t.Helper()
	d := b.next()
	if d == nil {
		b.t.Fatalf("want the batch of row %d, got nothing", wantFirst)
	}
	if d.Payload.first != wantFirst || !slices.Equal(d.Messages, wantMessages) {
		b.t.Fatalf("want messages %v of the batch of row %d, got %v of %d", wantMessages, wantFirst, d.Messages, d.Payload.first)
	}
	return d
}

func (b *bench) wantNothing() {
	b.t.Helper()
	if d := b.next(); d != nil {
		b.t.Fatalf("want nothing to deliver, got the batch of row %d", d.Payload.first)
	}
}

func (b *bench) wantMoved(want ...int64) {
	b.t.Helper()
	if !slices.Equal(b.moved, want) {
		b.t.Fatalf("want positions %v, got %v", want, b.moved)
	}
}

func TestAcksOutOfOrderMoveThePositionOverWhatIsContiguous(t *testing.T) {
	b := newBench(t, Options{}).feed(rows(1, 2), rows(3, 2), rows(5, 2))
	first, second, third := b.mustNext(1), b.mustNext(3), b.mustNext(5)
	third.Ack()
	second.Ack()
	b.wantMoved()
	first.Ack()
	b.wantMoved(6)
}

func TestStartIsThePositionBeforeTheFirstRow(t *testing.T) {
	b := newBench(t, Options{})
	if _, ok := b.tracker.Position(); ok {
		t.Fatal("want no position before the start")
	}
	b.tracker.Start(upTo(0))
	b.wantMoved(0)
}

func TestProgressWithoutRowsMovesAtOnceWhenNothingIsInFlight(t *testing.T) {
	b := newBench(t, Options{}).feed(passed(3), passed(7))
	b.wantNothing()
	b.wantMoved(3, 7)
}

func TestProgressWithoutRowsMovesWithTheBatchBeforeIt(t *testing.T) {
	b := newBench(t, Options{}).feed(rows(1, 1), passed(5), passed(9))
	d := b.mustNext(1)
	b.wantNothing()
	b.wantMoved()
	d.Ack()
	b.wantMoved(9)
}

func TestPositionNeverGoesBack(t *testing.T) {
	b := newBench(t, Options{})
	b.tracker.Start(upTo(10))
	b.feed(rows(1, 1)).mustNext(1).Ack()
	b.wantMoved(10)
}

func TestPartialNackSendsOnlyTheFailedRowsAgain(t *testing.T) {
	b := newBench(t, Options{}).feed(rows(1, 5))
	out := b.mustNext(1).Nack([]int{3, 1, 3})
	if want := (Outcome{Rejected: 2}); out != want {
		t.Fatalf("want %v, got %v", want, out)
	}
	b.wantNothing()
	b.clock = b.clock.Add(time.Second)
	d := b.mustNext(1, 1, 3)
	if d.Attempt != 2 {
		t.Fatalf("want attempt 2, got %d", d.Attempt)
	}
	d.Nack([]int{3})
	b.clock = b.clock.Add(2 * time.Second)
	b.mustNext(1, 3).Ack()
	b.wantMoved(5)
}

func TestWholeNackSendsTheBatchAgainAfterAGrowingWait(t *testing.T) {
	b := newBench(t, Options{}).feed(rows(1, 2))
	b.mustNext(1).Nack(nil)
	b.clock = b.clock.Add(time.Second - 1)
	b.wantNothing()
	b.clock = b.clock.Add(1)
	b.mustNext(1).Nack(nil)
	b.clock = b.clock.Add(2*time.Second - 1)
	b.wantNothing()
	b.clock = b.clock.Add(1)
	b.mustNext(1).Ack()
	b.wantMoved(2)
}

func TestRejectedBatchesThatAreDueGoFirst(t *testing.T) {
	b := newBench(t, Options{}).feed(rows(1, 1), rows(2, 1), rows(3, 1))
	first, second := b.mustNext(1), b.mustNext(2)
	second.Nack(nil)
	first.Nack(nil)
	b.clock = b.clock.Add(time.Second)
	b.mustNext(1)
	b.mustNext(2)
	b.mustNext(3)
}

func TestNewBatchesPassRejectedOnesThatAreNotDue(t *testing.T) {
	b := newBench(t, Options{Rows: 3}).feed(rows(1, 1), rows(2, 1), rows(3, 1), rows(4, 1))
	b.mustNext(1).Nack(nil)
	b.mustNext(2).Ack()
	b.mustNext(3).Ack()
	b.wantNothing() // the rejected row holds the limit
	b.wantMoved()
	b.clock = b.clock.Add(time.Second)
	b.mustNext(1).Ack()
	b.wantMoved(3)
	b.mustNext(4)
}

func TestNothingPassesARejectedBatchWhereBatchesGoAlone(t *testing.T) {
	b := newBench(t, Options{Rows: 10, Alone: true}).feed(rows(1, 2), rows(3, 1), passed(9))
	first := b.mustNext(1)
	b.wantNothing()
	first.Nack([]int{1})
	b.wantNothing()
	b.clock = b.clock.Add(time.Second)
	b.mustNext(1, 1).Ack()
	b.mustNext(3).Ack()
	b.wantNothing()
	b.wantMoved(2, 3, 9)
}

func TestFailedMessagesThatWereNotDeliveredMeanTheWholeDelivery(t *testing.T) {
	b := newBench(t, Options{}).feed(rows(1, 3))
	b.mustNext(1).Nack([]int{1})
	b.clock = b.clock.Add(time.Second)
	b.mustNext(1, 1).Nack([]int{0, 2, 7, -1})
	b.clock = b.clock.Add(2 * time.Second)
	b.mustNext(1, 1)
}

func TestOnlyTheFirstAnswerCounts(t *testing.T) {
	b := newBench(t, Options{}).feed(rows(1, 2), rows(3, 1))
	d := b.mustNext(1)
	d.Nack([]int{0})
	d.Ack()
	if out := d.Nack(nil); out != (Outcome{}) {
		t.Fatalf("want a second nack to do nothing, got %v", out)
	}
	b.clock = b.clock.Add(time.Second)
	again := b.mustNext(1, 0)
	d.Ack() // an answer to the first hand-over is no answer to the second
	b.wantMoved()
	again.Ack()
	again.Nack(nil)
	b.wantMoved(2)
}

func TestDroppedRowsAreCountedAndPassed(t *testing.T) {
	b := newBench(t, Options{DropRejected: true}).feed(rows(1, 4), rows(5, 2))
	if got, want := b.mustNext(1).Nack([]int{2}), (Outcome{Rejected: 1, Dropped: 1}); got != want {
		t.Fatalf("want %v, got %v", want, got)
	}
	if got, want := b.mustNext(5).Nack(nil), (Outcome{Rejected: 2, Dropped: 2}); got != want {
		t.Fatalf("want %v, got %v", want, got)
	}
	b.wantMoved(4, 6)
}

func TestDeliveredCountsAcceptedRowsAlone(t *testing.T) {
	b := newBench(t, Options{}).feed(rows(1, 5), rows(6, 5), rows(11, 5))
	first, second, third := b.mustNext(1), b.mustNext(6), b.mustNext(11)
	third.Ack()
	second.Nack([]int{0, 4})
	first.Return(nil)
	if want, got := int64(3+5), b.tracker.Delivered(); want != got {
		t.Errorf("want %d, got %d", want, got)
	}
	dropping := newBench(t, Options{DropRejected: true}).feed(rows(1, 5))
	dropping.mustNext(1).Nack([]int{1})
	if want, got := int64(4), dropping.tracker.Delivered(); want != got {
		t.Errorf("dropped: want %d, got %d", want, got)
	}
}

func TestReturnWhileStoppingIsNoRejection(t *testing.T) {
	b := newBench(t, Options{DropRejected: true}).feed(rows(1, 2), rows(3, 2))
	first, second := b.mustNext(1), b.mustNext(3)
	first.Ack()
	second.Return([]int{1})
	b.wantMoved(2)
	b.clock = b.clock.Add(time.Second)
	b.mustNext(3, 1).Ack() // it is there for whoever goes on reading
	b.wantMoved(2, 4)
}

func TestLimitCountsTheSpanFromTheOldestUnresolvedRow(t *testing.T) {
	b := newBench(t, Options{Rows: 6}).feed(rows(1, 2), rows(3, 2), rows(5, 2), rows(7, 2))
	first, second, third := b.mustNext(1), b.mustNext(3), b.mustNext(5)
	second.Ack()
	third.Ack()
	b.wantNothing() // six rows from row 1 on, four of them resolved
	first.Ack()
	b.mustNext(7)
}

func TestPartialNackShortensTheSpan(t *testing.T) {
	b := newBench(t, Options{Rows: 4}).feed(rows(1, 4), rows(5, 3))
	b.mustNext(1).Nack([]int{3})
	b.clock = b.clock.Add(time.Second)
	b.mustNext(1, 3)
	b.mustNext(5)
	if got, _ := b.tracker.InFlight(); got != 4 {
		t.Fatalf("want 4 rows in flight, got %d", got)
	}
}

func TestLimitOfBytes(t *testing.T) {
	b := newBench(t, Options{Bytes: 35}).feed(rows(1, 2), rows(3, 1), rows(4, 1))
	first := b.mustNext(1)
	b.mustNext(3)
	b.wantNothing()
	first.Ack()
	b.mustNext(4)
}

func TestLargerBatchPassesAlone(t *testing.T) {
	b := newBench(t, Options{Rows: 3}).feed(rows(1, 2), rows(3, 9), rows(12, 1))
	first := b.mustNext(1)
	b.wantNothing()
	first.Ack()
	large := b.mustNext(3)
	b.wantNothing()
	large.Ack()
	b.mustNext(12)
}

func TestNextEndsWhenEverythingIsResolved(t *testing.T) {
	tracker := New[run](Options{Wait: func(int) time.Duration { return time.Millisecond }})
	in := make(chan Item[run], 1)
	in <- rows(1, 1)
	close(in)
	d, err := tracker.Next(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	answer := make(chan struct{})
	go func() { d.Nack(nil); close(answer) }()
	again, err := tracker.Next(t.Context(), in)
	if err != nil {
		t.Fatal(err)
	}
	<-answer
	again.Ack()
	for range 2 {
		if _, err := tracker.Next(t.Context(), in); !errors.Is(err, io.EOF) {
			t.Fatalf("want io.EOF, got %v", err)
		}
	}
}

func TestNextReturnsWhenItsContextEndsAndCanGoOn(t *testing.T) {
	tracker := New[run](Options{})
	in := make(chan Item[run])
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := tracker.Next(ctx, in); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("want the end of the context, got %v", err)
	}
	go func() { in <- rows(1, 1) }()
	if _, err := tracker.Next(t.Context(), in); err != nil {
		t.Fatal(err)
	}
}

func TestGrowingWaitDoublesToTenSeconds(t *testing.T) {
	for n, want := range map[int]time.Duration{
		1: 100 * time.Millisecond, 2: 200 * time.Millisecond, 5: 1600 * time.Millisecond, 8: 10 * time.Second, 1000: 10 * time.Second,
	} {
		for range 100 {
			if got := GrowingWait(n); got < want*3/4 || got > want*5/4 {
				t.Fatalf("want about %s before re-delivery %d, got %s", want, n, got)
			}
		}
	}
}

// TestConcurrentAnswersLoseNothing answers from many goroutines, some with rejections; it is for the race detector too.
func TestConcurrentAnswersLoseNothing(t *testing.T) {
	const batches, size = 300, 7
	var highest int64
	tracker := New[run](Options{
		Rows: 50, Wait: func(int) time.Duration { return 100 * time.Microsecond },
		Moved: func(p feed.Position) { highest = p.Version },
	})
	in := make(chan Item[run])
	go func() {
		defer close(in)
		for i := range int64(batches) {
			in <- rows(i*size+1, size)
		}
	}()
	var mu sync.Mutex
	delivered := map[int64]bool{}
	var answers sync.WaitGroup
	for {
		d, err := tracker.Next(t.Context(), in)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		answers.Go(func() { answerSome(d, &mu, delivered) })
	}
	answers.Wait()
	if len(delivered) != batches*size || highest != batches*size {
		t.Fatalf("want %d rows and the position behind them, got %d and %d", batches*size, len(delivered), highest)
	}
}

// answerSome rejects every third row at its first delivery.
func answerSome(d *Delivery[run], mu *sync.Mutex, delivered map[int64]bool) {
	messages := d.Messages
	if messages == nil {
		messages = []int{0, 1, 2, 3, 4, 5, 6}
	}
	var failed []int
	mu.Lock()
	for _, m := range messages {
		row := d.Payload.first + int64(m)
		if row%3 == 0 && d.Attempt == 1 {
			failed = append(failed, m)
			continue
		}
		delivered[row] = true
	}
	mu.Unlock()
	if len(failed) > 0 {
		d.Nack(failed)
		return
	}
	d.Ack()
}
