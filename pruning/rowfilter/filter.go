// Package rowfilter evaluates a bound predicate over Arrow record batches: exactly, row by row, with SQL's three-valued
// logic. It is the last word on which rows a scan yields; everything that skips data is measured by it.
package rowfilter

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/benthos-delta/benthos-delta/pruning"
)

// Filter evaluates one predicate over batches of one schema. It keeps scratch memory: one goroutine uses it at a time.
type Filter struct{}

// New prepares a predicate for batches of a schema. Columns are found by their paths' names, in any order and among others;
// one that is missing, or whose Arrow type is not that of its predicate type, is an Internal error.
func New(p *pruning.Bound, batches *arrow.Schema) (*Filter, error) { panic("stub") }

// Match returns a bitmap with a bit for each row for which the predicate is true, lowest bit first, and their number. It is
// valid until the next call. Bits beyond the last row are 0.
func (f *Filter) Match(batch arrow.RecordBatch) (matches []uint64, count int64) { panic("stub") }
