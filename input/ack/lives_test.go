package ack

import (
	"context"
	"testing"

	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/input/feed"
)

// delivered is which rows reached their destination over all lives, and what must be so of every position that is stored.
type delivered struct {
	t    *rapid.T
	rows map[int64]bool
}

// note takes over what a life has delivered.
func (d *delivered) note(w *world) {
	for row := range w.done {
		d.rows[row] = true
	}
}

// checkUpTo checks that no row at or before a position is missing.
func (d *delivered) checkUpTo(p int64) {
	for row := int64(1); row <= p; row++ {
		if !d.rows[row] {
			d.t.Fatalf("position %d is stored and row %d is not delivered", p, row)
		}
	}
}

// begin makes the world of one life, which goes on behind a position.
func (l *life) begin(behind int64, durable bool) *world {
	w := newWorld(l.t)
	w.rows, w.given, w.position = behind, behind, behind
	for row := int64(1); row <= behind; row++ {
		w.done[row] = true
	}
	w.tracker.options.Durable = durable
	w.tracker.options.Moved = func(p feed.Position) {
		w.moved(p)
		l.writer.Moved(at(p.Version))
	}
	return w
}

// TestNoInterleavingOfLivesLosesARow runs tracker, writer and store over several lives of a process. Each goes on behind what
// is stored, delivers, is rejected, and is killed in the middle of a write, fails to write or is closed. What is stored never
// passes a row that is not delivered and never goes back, and the last life comes to the end.
func TestNoInterleavingOfLivesLosesARow(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values, total, stored := map[string][]byte{}, &delivered{t, map[int64]bool{}}, int64(0)
		lives := rapid.IntRange(1, 4).Draw(t, "lives")
		for n := range lives {
			last := n == lives-1
			kill := !last && rapid.Bool().Draw(t, "kill")
			l := newLife(t, values, kill)
			r, found, err := l.writer.Load(context.Background())
			p := r.Position
			if err != nil || p.Version < stored || !found && stored > 0 {
				t.Fatalf("want a position from %d on, got %v, %v, %v", stored, p, found, err)
			}
			total.checkUpTo(p.Version)
			l.saved = p
			w := l.begin(p.Version, !last && rapid.Bool().Draw(t, "durable"))
			if !found {
				l.writer.Moved(at(0))
			}
			t.Repeat(map[string]func(*rapid.T){
				"take": w.take, "ack": w.ack, "nack part": w.nackPart, "nack whole": w.nackWhole, "repeat": w.repeat, "wait": w.wait,
				"stored": func(*rapid.T) { w.tracker.Stored(l.newest()) },
			})
			if last {
				w.finish()
			}
			total.note(w)
			stored = l.stop(kill).Version
			total.checkUpTo(stored)
			if !kill && stored != w.position {
				t.Fatalf("want position %d stored at the end, got %d", w.position, stored)
			}
			if last {
				total.checkUpTo(w.rows)
			}
			values = l.cache.values
		}
	})
}

// newest is the position that was stored last.
func (l *life) newest() feed.Position {
	l.mu.Lock()
	defer l.mu.Unlock()
	return feed.Position{Version: l.saved.Version}
}
