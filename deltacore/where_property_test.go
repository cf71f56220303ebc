package deltacore_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/datafile"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// predicatesPerTable are drawn in each of rapid's checks, so that go test compares 500 and -rapid.checks=4000 compares 20,000.
const predicatesPerTable = 5

// level is one way to skip, alone, and why something is skipped then.
type level struct {
	name   string
	by     deltacore.Skipping
	reason scanplan.Reason
}

// uncounted skip for no reason of their own: they read less of what the other levels keep.
var uncounted = []level{
	{"late materialisation", deltacore.Skipping{Levels: datafile.LateMaterialisation}, scanplan.ByVector},
	{"searches", deltacore.Skipping{Levels: datafile.Searches}, scanplan.ByVector},
}

var levels = []level{
	{"partition values", deltacore.Skipping{Partitions: true}, scanplan.ByPartition},
	{"statistics of files", deltacore.Skipping{Statistics: true}, scanplan.ByStatistics},
	{"row groups", deltacore.Skipping{Levels: datafile.RowGroupStatistics}, scanplan.ByRowGroup},
	{"pages", deltacore.Skipping{Levels: datafile.ColumnIndex}, scanplan.ByPage},
	{"bloom filters", deltacore.Skipping{Levels: datafile.BloomFilters}, scanplan.ByBloom},
	{"dictionaries", deltacore.Skipping{Levels: datafile.Dictionaries}, scanplan.ByDictionary},
	{"vectors", deltacore.Skipping{}, scanplan.ByVector},
}

var everything = deltacore.Skipping{Partitions: true, Statistics: true, Levels: datafile.AllLevels}

// tally is what a run of the property has seen.
type tally struct {
	tables, predicates, rows, matches int64
	none, some, all                   int64 // predicates by the rows that matched
	skipped                           map[string]scanplan.SkipCount
}

// TestWhereGivesTheRowsOfAnExactFilter: a scan with a predicate gives the rows of one without for which the predicate is true,
// with the same numbers and in the same order, whichever ways to skip are taken, and however the work is divided.
func TestWhereGivesTheRowsOfAnExactFilter(t *testing.T) {
	seen := tally{skipped: map[string]scanplan.SkipCount{}}
	rapid.Check(t, func(rt *rapid.T) {
		mem := &counted{Allocator: deltatest.Overwriting{Allocator: memory.NewGoAllocator()}}
		table := drawRandomTable(rt)
		c := newComparison(rt, table, mem)
		c.seen = &seen
		for range predicatesPerTable {
			c.compare(rt, c.draw(rapid.IntRange(0, 3).Draw(rt, "depth")))
		}
		if held := mem.bytes.Load(); held != 0 {
			rt.Fatalf("%d bytes are still held", held)
		}
	})
	t.Log(seen)
	if !t.Failed() {
		seen.check(t)
	}
}

// counted is an allocator that knows how much is held.
type counted struct {
	memory.Allocator
	bytes atomic.Int64
}

func (c *counted) Allocate(size int) []byte {
	c.bytes.Add(int64(size))
	return c.Allocator.Allocate(size)
}

func (c *counted) Reallocate(size int, b []byte) []byte {
	c.bytes.Add(int64(size - len(b)))
	return c.Allocator.Reallocate(size, b)
}

func (c *counted) Free(b []byte) {
	c.bytes.Add(-int64(len(b)))
	c.Allocator.Free(b)
}

func (s tally) String() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%d predicates on %d tables (none, some, all rows: %d, %d, %d), %d of %d rows match",
		s.predicates, s.tables, s.none, s.some, s.all, s.matches, s.rows)
	for _, l := range levels {
		fmt.Fprintf(&b, "\n%s alone: %+v", l.name, s.skipped[l.name])
	}
	return b.String()
}

// check wants every level to have skipped something: otherwise nothing is proved of it. A few predicates may miss one.
func (s tally) check(t *testing.T) {
	t.Helper()
	if s.predicates < 500 {
		return
	}
	for _, l := range levels {
		if s.skipped[l.name] == (scanplan.SkipCount{}) {
			t.Errorf("%s skipped nothing", l.name)
		}
	}
	if s.none == 0 || s.some == 0 || s.all == 0 {
		t.Errorf("want predicates that no row, some and all rows match, got %d, %d, %d", s.none, s.some, s.all)
	}
}

// comparison compares the scans of one table.
type comparison struct {
	conditions
	table  *deltacore.Table
	rows   []placedRow
	values []map[string]any
	told   []string
	seen   *tally
}

func newComparison(rt *rapid.T, source *randomTable, mem memory.Allocator) *comparison {
	store := storage.NewMemory()
	source.CopyTo(store.PutAt)
	table, err := deltacore.Open(context.Background(), at, deltacore.Options{Store: store, Allocator: mem, FooterReadSize: 512})
	if err != nil {
		rt.Fatalf("%v\n%s", err, strings.Join(source.told, "\n"))
	}
	c := &comparison{table: table, told: source.told}
	all, err := table.Scan(context.Background(), deltacore.ScanOptions{TargetPartitions: 1})
	if err != nil {
		rt.Fatal(err)
	}
	got := everythingOf(context.Background(), all)
	if got.err != "" {
		rt.Fatalf("%s\n%s", got.err, strings.Join(c.told, "\n"))
	}
	c.rows = got.rows
	if c.values, err = valuesOf(c.rows); err != nil {
		rt.Fatal(err)
	}
	c.conditions = conditionsFor(source, source.columns, c.values)
	for i := range c.pools {
		c.pools[i].widen(source)
	}
	return c
}

func (c *comparison) compare(rt *rapid.T, drawn condition) {
	where, err := pruning.Parse(drawn.text)
	if err != nil {
		rt.Fatalf("%s: %v", drawn.text, err)
	}
	want := drawn.matching(c.rows, c.values)
	c.count(want)
	for _, l := range slices.Concat(levels, uncounted) {
		skipped := c.same(rt, l, deltacore.ScanOptions{Where: where, TargetPartitions: 1}, want)
		c.seen.add(l, skipped.By[l.reason])
	}
	anySize := int64(0)
	for _, o := range []deltacore.ScanOptions{
		{TargetPartitions: 1},
		{TargetPartitions: 3, Repartitioning: scanplan.Always, RepartitionMinSize: &anySize, BatchRows: int64(1 + c.below(40))},
	} {
		o.Where = where
		c.same(rt, level{"everything", everything, 0}, o, want)
	}
	c.some(rt, where, want)
}

// same wants a scan to give these rows. It returns what was skipped.
func (c *comparison) same(rt *rapid.T, l level, o deltacore.ScanOptions, want []placedRow) scanplan.SkippedCounts {
	scan, err := c.table.ScanSkipping(context.Background(), o, l.by)
	if err != nil {
		rt.Fatalf("%s: %v\n%s", o.Where, err, strings.Join(c.told, "\n"))
	}
	got := everythingOf(context.Background(), scan)
	if difference := (told{rows: want, ends: got.ends}).difference(got); difference != "" {
		rt.Fatalf("%s, by %s, %d partitions: want %d rows, got %d; %s\n%s",
			o.Where, l.name, o.TargetPartitions, len(want), len(got.rows), difference, strings.Join(c.told, "\n"))
	}
	return scan.Skipped()
}

// some reads only a part of the rows, from a place on or up to a number, or only some of their columns.
func (c *comparison) some(rt *rapid.T, where *pruning.Predicate, want []placedRow) {
	o := deltacore.ScanOptions{Where: where, TargetPartitions: 1 + c.below(3)}
	if len(c.rows) > 0 && c.below(2) == 0 {
		from := oneOf(c, c.rows...)
		o.From, o.FromRow = &from.key, from.row
		want = slices.DeleteFunc(slices.Clone(want), func(r placedRow) bool {
			order := r.key.Compare(from.key)
			return order < 0 || order == 0 && r.row < from.row
		})
	}
	if c.below(2) == 0 {
		limit := int64(c.below(len(want) + 2))
		o.Limit, want = &limit, want[:min(limit, int64(len(want)))]
	}
	c.same(rt, level{"everything", everything, 0}, o, want)
	c.projected(rt, o, want)
}

// projected reads no column, or one that the predicate need not name.
func (c *comparison) projected(rt *rapid.T, o deltacore.ScanOptions, want []placedRow) {
	if o.RowsOnly = c.below(2) == 0; !o.RowsOnly {
		o.Columns = []string{"list"}
	}
	scan, err := c.table.Scan(context.Background(), o)
	if err != nil {
		rt.Fatal(err)
	}
	i := 0
	for b, err := range scan.Batches(context.Background()) {
		if err != nil {
			rt.Fatalf("%s: %v", o.Where, err)
		}
		for row := range int(b.Record.NumRows()) {
			if i >= len(want) || b.Task.Key != want[i].key || b.PhysicalRow(row) != want[i].row {
				rt.Fatalf("%s of %v: row %d of %d is another one: %s row %d\n%s", o.Where, o.Columns, i, len(want), b.Task.Key.Path, b.PhysicalRow(row), strings.Join(c.told, "\n"))
			}
			i++
		}
		b.Record.Release()
	}
	if i != len(want) {
		rt.Fatalf("%s of %v: want %d rows, got %d\n%s", o.Where, o.Columns, len(want), i, strings.Join(c.told, "\n"))
	}
}

func (c *comparison) count(want []placedRow) {
	s := c.seen
	if s.predicates%predicatesPerTable == 0 {
		s.tables++
	}
	s.predicates++
	s.rows += int64(len(c.rows))
	s.matches += int64(len(want))
	switch len(want) {
	case 0:
		s.none++
	case len(c.rows):
		s.all++
	default:
		s.some++
	}
}

func (s *tally) add(l level, more scanplan.SkipCount) {
	n := s.skipped[l.name]
	s.skipped[l.name] = scanplan.SkipCount{Files: n.Files + more.Files, RowGroups: n.RowGroups + more.RowGroups, Pages: n.Pages + more.Pages}
}
