// Package datafile turns one task into logical record batches: the file's columns are matched to the table's, converted
// without loss, missing ones are null and partition columns come from the log.
//
// What a file may hold for a type of the table is the table of protocol section 17 and, for types that were widened
// since, of section 16; it is decided from the file alone (TW2). Everything else is a Corrupt error that names file,
// column and both types (TW3), and so is a null where the table has none (S5). How the bytes are read is parquetio's
// matter, which files and rows are read scanplan's.
package datafile

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/dv"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// Layout is what is the same for all files of a scan.
type Layout struct {
	Root             storage.URI    // of the table, to find deletion vectors
	Columns          *schema.Struct // the output, in order
	PartitionColumns []string       // names of the table's partition columns, as its schema spells them
	Mapping          schema.Mapping // how columns are found in files; "" is MapByDisplayName
	RowTracking      *RowTracking   // nil: row ids are not wanted
}

// Batch is a run of consecutive live rows of one file. The receiver releases Record.
type Batch struct {
	Record   arrow.RecordBatch // columns of Layout.Columns
	FirstRow int64             // physical row of the first row in the file, before vector and filter
	Index    []int64           // physical row of each row; nil when they are consecutive from FirstRow

	// One number a row; nil unless the layout has RowTracking.
	RowIDs, RowCommitVersions []int64
}

// Reader reads the files of one scan. It is safe for concurrent use.
type Reader struct {
	store     storage.Store
	options   parquetio.Options
	layout    Layout
	columns   []schema.Field
	partition []bool // by column: its value comes from the log
	schema    *arrow.Schema
}

// NewReader checks that every column of the layout can be read. Columns of a type that cannot are Unsupported errors.
func NewReader(store storage.Store, layout Layout, o parquetio.Options) (*Reader, error) {
	out, err := schema.ArrowSchema(layout.Columns)
	if err != nil {
		return nil, err
	}
	r := &Reader{store: store, options: o, layout: layout, columns: layout.Columns.Fields, schema: out}
	isPartition := make(map[string]bool, len(layout.PartitionColumns))
	for _, name := range layout.PartitionColumns {
		isPartition[name] = true
	}
	for _, c := range r.columns {
		r.partition = append(r.partition, isPartition[c.Name])
	}
	return r, nil
}

// Read yields the rows of a task from its StartRow on, in file order. Errors name the file and, where there is one, the
// column; after one nothing follows. A file that is gone is NotFound (RV2).
func (r *Reader) Read(ctx context.Context, task scanplan.FileTask) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		err := r.read(ctx, task, func(b Batch) bool { return yield(b, nil) })
		if err == nil {
			return
		}
		attrs := []deltaerr.Attr{deltaerr.File(task.File), deltaerr.Version(task.Version)}
		if storage.IsGone(err) {
			attrs = append(attrs, deltaerr.Hint(
				"it may have been removed by VACUUM (delta.deletedFileRetentionDuration) or deleted manually"))
		}
		yield(Batch{}, deltaerr.Annotate(err, attrs...))
	}
}

func (r *Reader) read(ctx context.Context, task scanplan.FileTask, yield func(Batch) bool) error {
	file, err := parquetio.Open(ctx, r.store, task.File, task.Size, r.options)
	if err != nil {
		return err
	}
	err = r.readFile(ctx, file, task, yield)
	if closing := file.Close(); err == nil {
		err = closing
	}
	return err
}

func (r *Reader) readFile(ctx context.Context, file *parquetio.File, task scanplan.FileTask, yield func(Batch) bool) error {
	deleted, err := r.vector(ctx, file, task)
	if err != nil {
		return err
	}
	p, err := r.plan(file, task)
	if err != nil {
		return err
	}
	defer p.release()
	return readRows(ctx, file, p, rowRange{from: task.StartRow, deleted: deleted, yield: yield})
}

// rowRange says which rows of a file are wanted, and by whom.
type rowRange struct {
	from    int64 // first physical row
	deleted *dv.Vector
	yield   func(Batch) bool
}

func readRows(ctx context.Context, file *parquetio.File, p *plan, rows rowRange) error {
	for i, group := range file.RowGroups() {
		if group.FirstRow+group.Rows <= rows.from || rows.deleted.Count(group.FirstRow, group.Rows) == group.Rows {
			continue
		}
		next := group.FirstRow
		for record, err := range file.ReadRowGroup(ctx, i, p.leaves) {
			if err != nil {
				return err
			}
			more, err := rows.take(p, record, next)
			next += record.NumRows()
			record.Release()
			if err != nil || !more {
				return err
			}
		}
	}
	return nil
}

// take gives out the wanted rows of a physical batch that begins with row first. The others are not looked at: a row that
// is deleted may hold what no row of the table may. It borrows record.
func (r rowRange) take(p *plan, record arrow.RecordBatch, first int64) (more bool, err error) {
	skip := max(0, r.from-first)
	if skip >= record.NumRows() {
		return true, nil
	}
	b := Batch{FirstRow: first + skip}
	live, whole := r.deleted.Live(b.FirstRow, record.NumRows()-skip)
	switch {
	case !whole && len(live) == 0:
		return true, nil
	case !whole:
		b.FirstRow, b.Index = live[0], live
		record, err = keepRows(p.mem, record, runsOf(first, live))
	case skip > 0:
		record, err = keepRows(p.mem, record, runs{{int(skip), int(record.NumRows())}})
	default:
		record.Retain()
	}
	if err != nil {
		return false, err
	}
	defer record.Release()
	return r.give(p, record, b)
}

// give makes the rows of b of those of record. When one batch cannot hold them they come in two. It borrows record.
func (r rowRange) give(p *plan, record arrow.RecordBatch, b Batch) (more bool, err error) {
	n := record.NumRows()
	p.room.set(n)
	if b.Record, err = p.convert(record); err != nil {
		if n > 1 && errors.Is(err, errBatchTooLong) {
			return r.giveHalves(p, record, b)
		}
		return false, err
	}
	if err := p.number(&b, record); err != nil {
		b.Record.Release()
		return false, err
	}
	return r.yield(b), nil
}

func (r rowRange) giveHalves(p *plan, record arrow.RecordBatch, b Batch) (more bool, err error) {
	n := int(record.NumRows())
	more = true
	for _, part := range []run{{0, n / 2}, {n / 2, n}} {
		if !more || err != nil {
			break
		}
		half, failure := keepRows(p.mem, record, runs{part})
		if failure != nil {
			return false, failure
		}
		of := Batch{FirstRow: b.row(part.from)}
		if b.Index != nil {
			of.Index = b.Index[part.from:part.to]
		}
		more, err = r.give(p, half, of)
		half.Release()
	}
	return more, err
}

// errBatchTooLong is the cause of the error of a converter that may succeed with fewer rows.
var errBatchTooLong = errors.New("a batch cannot hold them")

// room is what the values of a column that are made here may take in the present batch.
type room struct{ size int }

// maxBatchValues is the room in a batch of more than one row. One row may take what an array can hold.
var maxBatchValues = 256 << 20

func (r *room) set(rows int64) {
	if r.size = maxBatchValues; rows == 1 {
		r.size = math.MaxInt32
	}
}

func (r *room) check(size int) error {
	if size <= r.size {
		return nil
	}
	return deltaerr.New(deltaerr.Unsupported, fmt.Sprintf("the values have %d bytes", size), deltaerr.Cause(errBatchTooLong))
}
