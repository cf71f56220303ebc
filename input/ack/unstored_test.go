package ack

import "testing"

// moved is what is not stored by itself here: Stored tells it.
func newDurableBench(t *testing.T, o Options) *bench {
	t.Helper()
	o.Durable = true
	return newBench(t, o)
}

// TestDurableTrackerWaitsUntilPositionsAreStored: the limit counts from the stored position and one batch.
func TestDurableTrackerWaitsUntilPositionsAreStored(t *testing.T) {
	b := newDurableBench(t, Options{Rows: 6}).feed(rows(1, 2), rows(3, 2), rows(5, 2), rows(7, 2), rows(9, 2), rows(11, 2))
	for first := int64(1); first <= 7; first += 2 { // each is acknowledged at once
		b.mustNext(first).Ack()
	}
	b.wantNothing() // two rows of the batch that is being stored, and six
	b.tracker.Stored(upTo(2))
	b.mustNext(9).Ack()
	b.wantNothing()
	b.tracker.Stored(upTo(10))
	b.mustNext(11)
	b.wantMoved(2, 4, 6, 8, 10)
}

func TestDurableTrackerDoesNotWaitForOneBatch(t *testing.T) {
	b := newDurableBench(t, Options{Rows: 1, Alone: true}).feed(rows(1, 9), rows(10, 9), rows(19, 9))
	b.mustNext(1).Ack()
	b.mustNext(10).Ack() // while the first one is being stored
	b.wantNothing()
	b.tracker.Stored(upTo(9))
	b.mustNext(19)
}

func TestDurableTrackerDoesNotWaitForACacheThatFails(t *testing.T) {
	b := newDurableBench(t, Options{Rows: 2}).feed(rows(1, 1), rows(2, 1), rows(3, 1), rows(4, 1), rows(5, 1))
	for first := int64(1); first <= 3; first++ {
		b.mustNext(first).Ack()
	}
	b.wantNothing()
	b.tracker.Failing()
	b.mustNext(4).Ack()
	b.tracker.Stored(upTo(1))
	b.wantNothing()
	b.tracker.Stored(upTo(4))
	b.mustNext(5)
}

// TestEndIsNotHeldUpByWhatIsNotStored: Close stores that.
func TestEndIsNotHeldUpByWhatIsNotStored(t *testing.T) {
	b := newDurableBench(t, Options{Rows: 1}).feed(rows(1, 1), rows(2, 1))
	b.mustNext(1).Ack()
	b.mustNext(2).Ack()
	b.tracker.arrived(Item[run]{}, false)
	if _, s := b.tracker.step(); !s.finished {
		t.Error("want the end")
	}
}

// TestWhatIsUnstoredTakesNoRoomWhileTheCacheIsDown for however long that is, and counts when it is there again.
func TestWhatIsUnstoredTakesNoRoomWhileTheCacheIsDown(t *testing.T) {
	const rows = 10
	tr := New[run](Options{Durable: true, Rows: rows})
	next := int64(1)
	deliver := func() bool {
		tr.arrived(Item[run]{Payload: run{first: next, messages: []int64{1}}, Position: upTo(next)}, true)
		d, _ := tr.step()
		if d == nil {
			return false
		}
		next++
		d.Ack()
		return true
	}
	deliver()
	tr.Failing()
	for range 100_000 {
		if !deliver() {
			t.Fatalf("want nothing to wait for a cache that is down, but row %d does", next)
		}
	}
	if n := len(tr.unstored.batches); n > 2 {
		t.Errorf("want it noted in one place, got %d", n)
	}
	half := next / 2
	tr.Stored(upTo(half))
	if deliver() {
		t.Error("want a row to wait until what came while the cache was down is stored")
	}
	tr.Stored(upTo(next - 1))
	for range rows + 1 { // the oldest batch does not count
		if !deliver() {
			t.Fatalf("want the limit from the stored position on, but row %d waits", next)
		}
	}
	if deliver() {
		t.Error("want the limit to count again")
	}
}
