package rowfilter_test

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/pruning"
	"github.com/benthos-delta/benthos-delta/pruning/rowfilter"
)

// Batches of one schema follow each other through one filter, whole and cut, with more and fewer rows.
func TestMatchKeepsTheRowsForWhichThePredicateIsTrue(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		defer mem.AssertSize(r, 0)
		fields := drawFields(r, 2)
		first := drawTable(r, mem, fields)
		defer first.batch.Release()
		root := tree(r, first.columns, 4)
		filter := newFilter(r, root, first)
		wantMatches(r, filter, root, first)
		second := drawTable(r, mem, fields)
		defer second.batch.Release()
		wantMatches(r, filter, root, second)
		low := rapid.IntRange(0, len(second.cells[0])).Draw(r, "low")
		cut := second.slice(low, rapid.IntRange(low, len(second.cells[0])).Draw(r, "high"))
		defer cut.batch.Release()
		wantMatches(r, filter, root, cut)
		wantMatches(r, filter, root, first)
	})
}

// Each leaf and its negation, for each type.
func TestMatchEvaluatesEachTypeExactly(t *testing.T) {
	for _, typ := range types {
		t.Run(fmt.Sprintf("kind %d of %d bits", typ.Kind, typ.Bits), func(t *testing.T) {
			rapid.Check(t, func(r *rapid.T) {
				mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
				defer mem.AssertSize(r, 0)
				rows := drawTable(r, mem, []field{{name: "v", typ: typ}})
				defer rows.batch.Release()
				root := columnLeaf(r, 0, typ)
				wantMatches(r, newFilter(r, root, rows), root, rows)
				root = pruning.Not{Part: root}
				wantMatches(r, newFilter(r, root, rows), root, rows)
			})
		})
	}
}

func TestMatchDoesNotAllocateAfterTheFirstBatch(t *testing.T) {
	of := wholeTable(t)
	root := pruning.Or{Parts: []pruning.Node{
		pruning.And{Parts: everyLeaf(of.columns)},
		pruning.Not{Part: pruning.Or{Parts: everyLeaf(of.columns)}},
		pruning.Or{Parts: everyLeaf(of.columns)},
	}}
	filter := newFilter(t, root, of)
	if allocations := testing.AllocsPerRun(10, func() { filter.Match(of.batch) }); allocations != 0 {
		t.Errorf("want no allocations, got %v", allocations)
	}
}

// wholeTable has a column of each type.
func wholeTable(t *testing.T) table {
	var fields []field
	for i, typ := range types {
		fields = append(fields, field{name: fmt.Sprint("v", i), typ: typ})
	}
	of := rapid.Custom(func(r *rapid.T) table {
		return drawTable(r, memory.DefaultAllocator, []field{{name: "s", fields: fields}})
	}).Filter(func(t table) bool { return t.batch.NumRows() > 64 }).Example(1)
	t.Cleanup(of.batch.Release)
	return of
}

// everyLeaf is one of each kind of node for each column.
func everyLeaf(columns []pruning.Column) []pruning.Node {
	var leaves []pruning.Node
	for i, c := range columns {
		leaves = append(leaves, pruning.IsNull{Column: i}, pruning.Known{Column: i, Truth: pruning.True})
		if c.Type.Kind == pruning.Opaque {
			continue
		}
		v := values(c.Type).Example(3)
		leaves = append(leaves, pruning.Compare{Column: i, Op: pruning.Less, Value: v}, pruning.In{Column: i, Values: []pruning.Value{v}})
		if c.Type.Kind == pruning.String {
			leaves = append(leaves, pruning.Like{Column: i, Pattern: pattern("a_b%")}, pruning.Like{Column: i, Pattern: pattern("a%")})
		}
	}
	return leaves
}

type failer interface {
	Helper()
	Fatalf(format string, args ...any)
}

func newFilter(t failer, root pruning.Node, of table) *rowfilter.Filter {
	t.Helper()
	filter, err := rowfilter.New(&pruning.Bound{Root: root, Columns: of.columns}, of.batch.Schema())
	if err != nil {
		t.Fatalf("%v", err)
	}
	return filter
}

func wantMatches(t failer, filter *rowfilter.Filter, root pruning.Node, of table) {
	t.Helper()
	matches, count := filter.Match(of.batch)
	var want int64
	for i := range 64 * len(matches) {
		wanted := i < int(of.batch.NumRows()) && truth(root, of.row(i)) == pruning.True
		if got := matches[i/64]>>(i%64)&1 != 0; wanted != got {
			t.Fatalf("row %d of %d: want %v, got %v of %#v", i, of.batch.NumRows(), wanted, got, root)
		}
		if wanted {
			want++
		}
	}
	if want != count {
		t.Fatalf("want %d rows, got %d", want, count)
	}
}
