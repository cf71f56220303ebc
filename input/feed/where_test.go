package feed

import (
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/go-json-experiment/json"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/pruning"
)

func where(t *testing.T, text string) deltacore.ScanOptions {
	t.Helper()
	if text == "" {
		return deltacore.ScanOptions{}
	}
	p, err := pruning.Parse(text)
	check(t, err)
	return deltacore.ScanOptions{Where: p}
}

// appendUnknown commits a file of which the log says nothing but that it is there.
func (g *grower) appendUnknown(rows int) {
	add := g.WriteFiles(deltatest.Rows(idColumn, g.rows(rows)...))[0]
	add.Stats = ""
	g.Commit(deltatest.Add(add))
}

// handedOut is what a source hands out up to now.
type handedOut struct {
	ids       []int64
	places    []Position // where each of them lies
	positions []Position // behind each event
}

func (f *followed) all() (h handedOut) {
	f.t.Helper()
	for {
		e, err := f.Next(f.t.Context())
		check(f.t, err)
		switch e := e.(type) {
		case Rows:
			h.take(e)
			h.positions = append(h.positions, e.Position)
		case Progress:
			h.positions = append(h.positions, e.Position)
		case CaughtUp:
			return h
		}
	}
}

func (h *handedOut) take(e Rows) {
	defer e.Record.Release()
	ids := e.Record.Column(0).(*array.Int64)
	for i := range ids.Len() {
		place := e.Position
		place.Row, place.FileDone, place.Done = e.FirstRow+int64(i), false, false
		if e.Index != nil {
			place.Row = e.Index[i]
		}
		h.ids, h.places = append(h.ids, ids.Value(i)), append(h.places, place)
	}
}

// stored is a position as it comes back from where positions are kept.
func stored(t *testing.T, p Position) *Position {
	t.Helper()
	text, err := json.Marshal(p)
	check(t, err)
	var back Position
	check(t, json.Unmarshal(text, &back))
	return &back
}

// TestCommitsWithoutAMatchAreNotReadAgain after a restart, whether the log shows that nothing matches or every file has to be
// read for it.
func TestCommitsWithoutAMatchAreNotReadAgain(t *testing.T) {
	const commits, checkpointed = 1000, 7 // that are behind the last checkpoint: they say which columns there are
	for name, grow := range map[string]func(*grower){
		"by statistics": func(g *grower) { g.Commit(deltatest.Add(g.WriteFiles(deltatest.Rows(idColumn, g.rows(1)...))[0])) },
		"by reading":    func(g *grower) { g.appendUnknown(1) },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGrower()
			config := Config{Scan: where(t, "id = 1 OR id > 1000000")}
			s := follow(t, g, config)
			first := s.all()
			for range commits {
				if grow(g); g.Version() == commits-checkpointed {
					g.Checkpoint()
				}
			}
			g.publish()
			check(t, s.Refresh(t.Context()))
			tail := s.all()
			last := tail.positions[len(tail.positions)-1]
			if len(tail.ids) > 0 || !slices.Equal(first.ids, []int64{1}) || !last.Done || last.Version != commits {
				t.Fatalf("want id 1 and the position behind version %d, got %v and %s", commits, first.ids, last)
			}
			l := newLedger(g)
			config.Resume, config.Open.Store = stored(t, last), l.Store
			again := follow(t, g, config)
			if h := again.all(); len(h.ids) != 0 {
				t.Errorf("want no rows, got %v", h.ids)
			}
			a := l.since()
			if a.commits > checkpointed || a.checkpoints > 1 || a.others > 0 {
				t.Errorf("want the commits behind the checkpoint read at most, and no file, got %+v", a)
			}
			grow(g)
			g.next = 1_000_001
			grow(g)
			g.publish()
			check(t, again.Refresh(t.Context()))
			if h := again.all(); !slices.Equal(h.ids, []int64{1_000_001}) {
				t.Errorf("want id 1000001, got %v", h.ids)
			}
			if a = l.since(); a.commits != 2 || a.lists != 1 {
				t.Errorf("want two commits and a listing, got %+v", a)
			}
		})
	}
}

// growing is a table that is followed with a predicate, first as it is, then as it has become.
func growing(t *testing.T, predicate string) (*grower, handedOut) {
	t.Helper()
	g := newGrower()
	g.Layout(deltatest.Parquet{RowGroupRows: 4, PageBytes: 1, BatchRows: 2, PageIndex: true, NoDictionary: true})
	g.append(9, 5)
	g.appendUnknown(7)
	g.publish()
	s := follow(t, g, Config{Scan: where(t, predicate)})
	h := s.all()
	g.append(6, 3, 8)
	g.describe()
	g.appendUnknown(10)
	g.append(4)
	check(t, s.Refresh(t.Context()))
	tail := s.all()
	h.ids, h.places, h.positions = append(h.ids, tail.ids...), append(h.places, tail.places...), append(h.positions, tail.positions...)
	return g, h
}

// TestPositionStaysValidWhenThePredicateChanges: what comes after it are the rows behind it for which the new one is true.
func TestPositionStaysValidWhenThePredicateChanges(t *testing.T) {
	predicates := map[string]func(int64) bool{
		"":                             func(int64) bool { return true },
		"id >= 12":                     func(id int64) bool { return id >= 12 },
		"id IN (2, 5, 11, 17, 33, 50)": func(id int64) bool { return slices.Contains([]int64{2, 5, 11, 17, 33, 50}, id) },
		"id < 0":                       func(int64) bool { return false },
		"NOT (id BETWEEN 4 AND 30)":    func(id int64) bool { return id < 4 || id > 30 },
	}
	g, all := growing(t, "")
	checked := 0
	for before := range predicates {
		_, h := growing(t, before)
		for _, p := range h.positions {
			for after, matches := range predicates {
				var ids []int64
				for i, place := range all.places {
					if p.Compare(place) < 0 && matches(all.ids[i]) {
						ids = append(ids, all.ids[i])
					}
				}
				o := where(t, after)
				o.TargetPartitions, o.Repartitioning = 2, scanplan.Always
				if got := follow(t, g, Config{Scan: o, Resume: stored(t, p)}).all(); !slices.Equal(ids, got.ids) {
					t.Errorf("from %s of %q on with %q: want %v, got %v", p, before, after, ids, got.ids)
				}
				checked++
			}
		}
	}
	if checked < 100 {
		t.Errorf("want a hundred positions, got %d", checked)
	}
}
