package main

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

func TestBackfillExampleEndsAndGoesOnUnderTheSamePosition(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, operations string
		flags            []string
	}{
		{"the rows that exist", "read", nil},
		{"commit by commit", "insert", []string{"-s", "input.delta_lake.start_version=0"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := newGrowing(t)
			e := newExample(t, "backfill", g.dir)
			first := e.start(c.flags...)
			first.ended()
			wantRows(t, g.all(), first.out.lines())

			g.commit(3)
			night := e.start(c.flags...)
			night.ended()
			wantRows(t, growingRows(g.rows-3, g.rows), night.out.lines())

			g.commit(4)
			e.env = append(e.env, "UNTIL=forever")
			rest := e.start(c.flags...)
			rest.rows(4)
			g.commit(2, 1)
			rest.rows(7)
			rest.stop()
			wantRows(t, growingRows(g.rows-7, g.rows), rest.out.lines())
		})
	}
}

// The commands of the example's header read the history of the sample table, which has an update and a delete.
func TestBackfillExampleReadsTheHistoryOfTheSampleTable(t *testing.T) {
	t.Parallel()
	e := newExample(t, "backfill", filepath.Join(moduleRoot(t), "testdata", "tables", "orders"))
	p := e.start("-s", "input.delta_lake.start_version=0", "-s", "input.delta_lake.on_rewrite=emit")
	p.ended()
	ids := map[string]bool{}
	for _, row := range p.out.lines() {
		id, _, _ := strings.Cut(row, ",")
		ids[id] = true
	}
	if len(ids) < 1000 {
		t.Errorf("want every order, got %d", len(ids))
	}
}

func TestDeduplicateExampleDeliversARowOnceThoughItComesAgain(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	e := newExample(t, "deduplicate", g.dir)
	run := func(flags ...string) {
		t.Helper()
		p := e.start(append([]string{"-s", "input.delta_lake.start_version=0"}, flags...)...)
		p.deliveredAll(g)
		g.commit(3, 2)
		p.deliveredAll(g)
		p.caughtUp(g.table.Version())
		p.stop()
	}
	run()
	e.loosePositions()
	run()
	e.loosePositions()
	run("-s", "input.delta_lake.batch_rows=4") // batches with rows of both kinds
	wantRows(t, g.all(), e.delivered())
}

// A killed process may have delivered a batch without noting it: that one alone comes twice.
func TestDeduplicateExampleRepeatsOneBatchAfterACrash(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	for range 20 {
		g.commit(10, 10)
	}
	const batch = 4
	e := newExample(t, "deduplicate", g.dir)
	flags := []string{
		"-s", "input.delta_lake.start_version=0", "-s", "input.delta_lake.batch_rows=4", "-s", "input.delta_lake.checkpoint_limit=4",
	}
	kills := 0
	for rows := 50; rows < g.rows; rows += 150 {
		p := e.start(flags...)
		p.until("some more rows", func() bool { return len(e.delivered()) >= rows })
		p.kill()
		e.loosePositions()
		kills++
	}
	p := e.start(flags...)
	p.deliveredAll(g)
	p.caughtUp(g.table.Version())
	p.stop()
	wantRows(t, g.all(), distinct(e.delivered()))
	if got, most := len(e.delivered()), g.rows+kills*batch; got > most {
		t.Errorf("want at most %d rows after %d kills, got %d", most, kills, got)
	}
}

func distinct(rows []string) []string { return slices.Compact(slices.Sorted(slices.Values(rows))) }

// deliveredAll waits until the file of the example has every row of the table.
func (p *process) deliveredAll(g *growing) {
	p.t.Helper()
	p.until("all rows", func() bool { return len(distinct(p.delivered())) == g.rows })
}

// loosePositions removes what is stored of how far the example came.
func (e *example) loosePositions() {
	e.t.Helper()
	stored, err := filepath.Glob(filepath.Join(e.dir, "positions", "*"))
	if err != nil || len(stored) == 0 {
		e.t.Fatalf("want stored positions, got %v, %v", stored, err)
	}
	for _, path := range stored {
		if err := os.Remove(path); err != nil {
			e.t.Fatal(err)
		}
	}
}

// delivered are the lines of the file that the example writes.
func (e *example) delivered() []string {
	text, err := os.ReadFile(filepath.Join(e.dir, "out.ndjson"))
	if err != nil {
		return nil // not yet
	}
	lines := strings.Split(string(text), "\n")
	return lines[:len(lines)-1]
}
