package parquetio

import (
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// ReadRowGroup yields the rows of one row group as record batches of at most BatchRows rows (fewer when rows are large)
// with the columns that hold the given leaves, in file order. A nested column holds only its chosen leaves; a map always
// has keys and values. With no leaves the batches have rows but no columns. The receiver releases each batch. Errors name
// the file and are deltaerr kinds; after one nothing follows.
func (f *File) ReadRowGroup(ctx context.Context, rowGroup int, leaves []int) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		if err := f.readRowGroup(ctx, rowGroup, leaves, func(b arrow.RecordBatch) bool { return yield(b, nil) }); err != nil {
			yield(nil, deltaerr.Annotate(err, deltaerr.File(f.path), deltaerr.Phase("reading row group %d", rowGroup)))
		}
	}
}

func (f *File) readRowGroup(ctx context.Context, rowGroup int, leaves []int, yield func(arrow.RecordBatch) bool) error {
	if rowGroup < 0 || rowGroup >= len(f.rowGroups) {
		return deltaerr.New(deltaerr.Internal, fmt.Sprintf("the file has %d row groups", len(f.rowGroups)))
	}
	p := f.project(leaves)
	if f.rowGroups[rowGroup].Rows == 0 {
		return nil
	}
	if len(p.columns) == 0 {
		return f.yieldBare(f.rowGroups[rowGroup].Rows, yield)
	}
	r := &groupReader{
		file: f, projection: p, source: source{ctx: ctx, file: f}, mem: newLedger(f.options.Allocator), want: f.rowGroups[rowGroup].Rows,
	}
	defer r.close()
	if err := r.failure(guard(func() error { return r.open(rowGroup) })); err != nil {
		return err
	}
	for {
		batch, err := r.next()
		if err != nil || batch == nil {
			return err
		}
		if !yield(batch) {
			return nil
		}
	}
}

// yieldBare gives out rows without columns.
func (f *File) yieldBare(rows int64, yield func(arrow.RecordBatch) bool) error {
	empty := arrow.NewSchema(nil, nil)
	for rows > 0 {
		n := min(rows, f.options.BatchRows)
		if !yield(array.NewRecordBatch(empty, nil, n)) {
			return nil
		}
		rows -= n
	}
	return nil
}

// groupReader reads the projected columns of one row group.
type groupReader struct {
	file       *File
	projection projection
	source     source
	mem        *ledger
	records    pqarrow.RecordReader
	want, read int64 // rows
	batch      int64 // rows that arrow-go is asked for at a time
	ended      bool  // the last batch had fewer: there is nothing behind it
}

// open runs under the guard.
func (r *groupReader) open(rowGroup int) error {
	var err error
	if r.projection, err = r.projection.inRowGroup(r.file.meta.RowGroup(rowGroup)); err != nil {
		return err
	}
	limits, err := r.projection.check(r.file, rowGroup)
	if err != nil {
		return err
	}
	r.source.pages = limits.pages
	reader, err := file.NewParquetReader(io.NewSectionReader(&r.source, 0, r.file.size),
		file.WithMetadata(r.projection.metadata(r.file, rowGroup)), file.WithReadProps(limits.properties()))
	if err != nil {
		return err
	}
	r.batch = min(limits.batchRows(r.file.options.BatchRows), r.want)
	props := pqarrow.ArrowReadProperties{BatchSize: r.batch, PreAllocBinaryData: true}
	arrowReader, err := pqarrow.NewFileReader(reader, props, r.mem)
	if err != nil {
		return err
	}
	r.records, err = arrowReader.GetRecordReader(r.source.ctx, nil, nil)
	return err
}

// next returns the next batch, nil after the last one.
func (r *groupReader) next() (batch arrow.RecordBatch, err error) {
	if err := r.source.ctx.Err(); err != nil {
		return nil, err
	}
	if r.ended { // asking once more costs the memory of a batch
		return nil, r.complete()
	}
	err = guard(func() error {
		record, err := r.records.Read()
		if err == io.EOF { //nolint:errorlint // a wrapped one is a failure
			return r.complete()
		}
		if err != nil {
			return err
		}
		if r.read += record.NumRows(); r.read > r.want {
			return r.complete()
		}
		r.ended = record.NumRows() < r.batch
		batch, err = r.projection.shape(r.mem, record)
		return err
	})
	if err = r.failure(err); err != nil || batch == nil {
		return nil, err // what there is of a batch goes with the ledger
	}
	for _, column := range batch.Columns() {
		r.mem.giveOut(column.Data())
	}
	return batch, nil
}

// complete compares the rows read with the footer's count.
func (r *groupReader) complete() error {
	if r.read == r.want {
		return nil
	}
	return deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("the pages hold %d rows, the footer says %d", r.read, r.want))
}

// failure prefers what the store said to what arrow-go made of it.
func (r *groupReader) failure(err error) error {
	if r.source.err != nil {
		return r.source.err
	}
	if err == nil {
		return nil
	}
	return corrupt("the pages cannot be decoded", err)
}

func (r *groupReader) close() {
	defer r.mem.close()
	if r.records == nil {
		return
	}
	_ = guard(func() error { // a reader that failed in the middle may fail again
		r.records.Release()
		return nil
	})
}

// shape makes the record that is given out. It borrows record.
func (p projection) shape(mem memory.Allocator, record arrow.RecordBatch) (arrow.RecordBatch, error) {
	columns := make([]arrow.Array, 0, len(p.columns))
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for i, n := range p.columns {
		d, err := n.shape(mem, record.Column(i).Data())
		if err != nil {
			return nil, err
		}
		columns = append(columns, array.MakeFromData(d))
		d.Release()
	}
	return array.NewRecordBatch(p.schema, columns, record.NumRows()), nil
}
