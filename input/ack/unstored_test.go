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
