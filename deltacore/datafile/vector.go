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
	d := *task.DeletionVector
	if d.Cardinality > file.NumRows() {
		return nil, deltaerr.New(deltaerr.Corrupt, fmt.Sprintf(
			"invalid cardinality: the deletion vector deletes %d rows of a file of %d", d.Cardinality, file.NumRows()))
	}
	v, err := dv.Load(ctx, r.store, r.layout.Root, d)
	if err != nil {
		phase := deltaerr.Phase("reading the deletion vector of %q", task.File)
		if d.Offset != nil {
			phase = deltaerr.Phase("reading the deletion vector of %q at byte %d", task.File, *d.Offset)
		}
		return nil, deltaerr.Annotate(err, phase)
	}
	if v.Max() >= file.NumRows() {
		return nil, deltaerr.New(deltaerr.Corrupt, fmt.Sprintf(
			"invalid row index: the deletion vector deletes row %d of a file of %d rows", v.Max(), file.NumRows()))
	}
	return v, nil
}

// keepRows returns some rows of a batch as it was read. It borrows record; the caller releases the result.
func keepRows(mem memory.Allocator, record arrow.RecordBatch, kept runs) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, 0, record.NumCols())
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for _, column := range record.Columns() {
		d, err := gather(mem, column.Data(), kept)
		if err != nil {
			return nil, err
		}
		columns = append(columns, array.MakeFromData(d))
		d.Release()
	}
	return array.NewRecordBatch(record.Schema(), columns, int64(kept.rows())), nil
}
