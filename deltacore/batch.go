package deltacore

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/benthos-delta/benthos-delta/deltacore/arrowdata"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
)

// Batch is a run of rows of one file. The receiver releases Record.
type Batch struct {
	Record   arrow.RecordBatch
	Task     *scanplan.FileTask
	FirstRow int64   // physical row of the first row in the file
	Index    []int64 // physical row of each row; nil when they are consecutive from FirstRow
	Last     bool    // nothing of the file comes after it. A file without rows has one such batch, of no rows

	// One number a row; nil unless ScanOptions.RowIDs.
	RowIDs, RowCommitVersions []int64
}

// PhysicalRow is the number in its file of a row of the batch.
func (b Batch) PhysicalRow(row int) int64 {
	if b.Index != nil {
		return b.Index[row]
	}
	return b.FirstRow + int64(row)
}

func (b Batch) release() {
	if b.Record != nil {
		b.Record.Release()
	}
}

// head returns the first n rows of b, which it takes over.
func (b Batch) head(n int64) Batch {
	whole := b.Record
	b.Record = whole.NewSlice(0, n)
	whole.Release()
	b.Last = false
	for _, numbers := range []*[]int64{&b.Index, &b.RowIDs, &b.RowCommitVersions} {
		if *numbers != nil {
			*numbers = (*numbers)[:n]
		}
	}
	return b
}

// bytes is what the budget is charged.
func (b Batch) bytes() int64 {
	return arrowdata.Bytes(b.Record) + 8*int64(len(b.Index)+len(b.RowIDs)+len(b.RowCommitVersions))
}
