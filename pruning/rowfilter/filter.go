// Package rowfilter evaluates a bound predicate over Arrow record batches: exactly, row by row, with SQL's three-valued
// logic. It is the last word on which rows a scan yields; everything that skips data is measured by it.
//
// Only rows for which the predicate is true count, so null and false need not be told apart: New moves every NOT down to
// the comparisons (De Morgan's laws hold in three-valued logic), and a comparison, negated or not, is true of no null. What
// remains is one bitmap of rows that every part narrows. A part looks at values only where rows are left.
//
// Values are taken from plain Arrow arrays, as package schema's ArrowType lists them; dictionaries and views are not known
// here. A valueTest is where another form of a column would enter.
package rowfilter

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/benthos-delta/benthos-delta/pruning"
)

// Filter evaluates one predicate over batches of one schema. It keeps scratch memory, a few bits for each row of the largest
// batch; one goroutine uses it at a time. Between calls it holds no batch.
type Filter struct {
	root    condition
	columns []column
	rows    []uint64
	spare   spare
}

// New prepares a predicate for batches of a schema. Columns are found by their paths' names, in any order and among others;
// one that is missing, or whose Arrow type is not that of its predicate type, is an Internal error. An Integer may be of any
// width, a Decimal of any precision.
func New(p *pruning.Bound, batches *arrow.Schema) (*Filter, error) {
	columns := make([]column, len(p.Columns))
	for i, c := range p.Columns {
		var err error
		if columns[i], err = findColumn(c, batches); err != nil {
			return nil, err
		}
	}
	root, err := compiler{columns}.condition(p.Root, false)
	if err != nil {
		return nil, err
	}
	return &Filter{root: root, columns: columns}, nil
}

// Match returns a bitmap with a bit for each row for which the predicate is true, lowest bit first, and their number. The
// batch is of New's schema; it is borrowed. The bitmap is valid until the next call; its bits beyond the last row are 0.
// Nothing is allocated unless a batch has more rows than any before.
func (f *Filter) Match(batch arrow.RecordBatch) (matches []uint64, count int64) {
	f.rows = allRows(f.rows, int(batch.NumRows()))
	if len(f.rows) == 0 {
		return f.rows, 0
	}
	for i := range f.columns {
		f.columns[i].load(batch)
	}
	f.spare.lent = 0
	f.root.narrow(f, f.rows)
	for i := range f.columns {
		f.columns[i].unload()
	}
	return f.rows, countRows(f.rows)
}
