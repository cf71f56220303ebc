package datafile

import (
	"context"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/dv"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
)

// vector loads the deletion vector of a task; nil when it has none. Its positions are rows of the file, counted across row
// groups (D8): one that is not shows that the vector belongs to another file (D5).
func (r *Reader) vector(ctx context.Context, file *parquetio.File, task scanplan.FileTask) (*dv.Vector, error) {
	if task.DeletionVector == nil {
		return nil, nil
	}
	v, err := dv.Load(ctx, r.store, r.layout.Root, *task.DeletionVector)
	if err != nil {
		return nil, err
	}
	if v.Max() >= file.NumRows() {
		return nil, deltaerr.New(deltaerr.Corrupt, fmt.Sprintf(
			"invalid row index: the deletion vector deletes row %d of a file of %d rows", v.Max(), file.NumRows()))
	}
	return v, nil
}

// keepRows returns the rows of a batch that starts with physical row first, reduced to those listed. Runs of rows are
// copied as slices: deleted rows are few and scattered in practice. It borrows record; the caller releases the result.
func keepRows(mem memory.Allocator, record arrow.RecordBatch, first int64, rows []int64) (arrow.RecordBatch, error) {
	runs := runsOf(first, rows)
	columns := make([]arrow.Array, 0, record.NumCols())
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for _, column := range record.Columns() {
		kept, err := keepRuns(mem, column, runs)
		if err != nil {
			return nil, err
		}
		columns = append(columns, kept)
	}
	return array.NewRecordBatch(record.Schema(), columns, int64(len(rows))), nil
}

// run is a range of offsets in a batch.
type run struct{ from, to int64 }

func runsOf(first int64, rows []int64) []run {
	var runs []run
	for _, row := range rows {
		at := row - first
		if n := len(runs); n > 0 && runs[n-1].to == at {
			runs[n-1].to++
			continue
		}
		runs = append(runs, run{at, at + 1})
	}
	return runs
}

func keepRuns(mem memory.Allocator, column arrow.Array, runs []run) (arrow.Array, error) {
	slices := make([]arrow.Array, len(runs))
	for i, r := range runs {
		slices[i] = array.NewSlice(column, r.from, r.to)
		defer slices[i].Release()
	}
	return array.Concatenate(slices, mem)
}
