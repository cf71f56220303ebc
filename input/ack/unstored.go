package ack

import "github.com/benthos-delta/benthos-delta/input/feed"

// unstored is what is resolved and not stored yet, where the tracker is to wait for that: a restart now would deliver it again.
type unstored struct {
	batches []mark // oldest first
}

// mark is the place of a batch in the order, or of several that follow each other.
type mark struct {
	position feed.Position // behind it
	start    extent        // what was handed out before it
	several  bool
}

// add takes a batch that was resolved.
func (u *unstored) add(m mark) { u.batches = append(u.batches, m) }

// extend takes a batch that was resolved while positions cannot be stored, which may be so for days: it takes no more room.
func (u *unstored) extend(m mark) {
	if n := len(u.batches); n > 1 {
		u.batches[n-1].position, u.batches[n-1].several = m.position, true
		return
	}
	u.add(m)
}

// stored lets the batches at or before a position go.
func (u *unstored) stored(p feed.Position) {
	n := 0
	for n < len(u.batches) && u.batches[n].position.Compare(p) <= 0 {
		n++
	}
	u.batches = u.batches[n:]
}

// start is where the limits count from; false: from the oldest unresolved row. The oldest batch does not count, since it is
// being stored while the next ones are under way; of several together it is not known which ones are stored.
func (u *unstored) start() (extent, bool) {
	switch {
	case len(u.batches) > 0 && u.batches[0].several:
		return u.batches[0].start, true
	case len(u.batches) < 2:
		return extent{}, false
	}
	return u.batches[1].start, true
}

// resolved notes a batch that was resolved, and is to be stored.
func (t *Tracker[P]) resolved(m mark) {
	switch {
	case !t.options.Durable:
	case t.failing.Load():
		t.unstored.extend(m)
	default:
		t.unstored.add(m)
	}
}

// Stored tells that a position was stored.
func (t *Tracker[P]) Stored(p feed.Position) {
	t.mu.Lock()
	t.unstored.stored(p)
	t.mu.Unlock()
	t.failing.Store(false)
	t.poke()
}

// Failing tells that positions cannot be stored. Nothing waits for that until one is stored again: rows that may be delivered
// twice are better than none. It may be called from Moved.
func (t *Tracker[P]) Failing() {
	t.failing.Store(true)
	t.poke()
}

// waitsForStore says whether a batch would make more rows unstored than the limits and one batch allow.
func (t *Tracker[P]) waitsForStore(p P) bool {
	start, counts := t.unstored.start()
	if !counts || t.failing.Load() {
		return false
	}
	if t.options.Alone {
		return true
	}
	rows, bytes := p.Tail(0)
	rows += t.handed.rows - start.rows
	bytes += t.handed.bytes - start.bytes
	return !within(rows, t.options.Rows) || !within(bytes, t.options.Bytes)
}

// poke makes Next look at everything again.
func (t *Tracker[P]) poke() {
	select {
	case t.changed <- struct{}{}:
	default: // Next has not taken the last one yet, and will look at everything
	}
}
