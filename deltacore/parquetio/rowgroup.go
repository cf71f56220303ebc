package parquetio

import (
	"context"
	"fmt"
	"io"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/parquet/file"

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
	g := groupRead{
		file: f, projection: p, group: rowGroup, rows: f.rowGroups[rowGroup].Rows, memory: mostMemory(len(p.leaves)), yield: yield,
	}
	return g.run(ctx)
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

// groupRead is one read of a row group.
type groupRead struct {
	file       *File
	projection projection
	group      int
	rows       int64 // of the row group
	given      int64 // rows
	memory     int64 // most that it may take
	yield      func(arrow.RecordBatch) bool
}

// run gives out the rows. When those of a batch take too much memory it begins anew with smaller batches, behind the rows
// that have been given out.
func (g *groupRead) run(ctx context.Context) error {
	most := g.file.options.BatchRows
	for {
		r := &groupReader{
			groupRead: g, source: source{ctx: ctx, file: g.file}, mem: newLedger(g.file.options.Allocator, g.memory, len(g.projection.leaves)),
		}
		err := r.read(most)
		if r.close(); err == nil || !r.mem.full {
			return err
		}
		most = max(1, r.batch/smallerBatch)
	}
}

// smallerBatch is by how much the batches get smaller.
const smallerBatch = 4

// groupReader reads the projected columns of one row group.
type groupReader struct {
	*groupRead

	chunks projection // the projection as this row group needs it
	source source
	mem    *ledger
	leaves []*leafReader       // of chunks
	byLeaf map[int]*leafReader // by leaf of the file
	done   int64               // rows
	batch  int64               // rows at a time
}

func (r *groupReader) read(mostRows int64) error {
	if err := r.failure(guard(somePages, func() error { return r.open(mostRows) })); err != nil {
		return err
	}
	for r.done < r.rows {
		skip := r.done < r.given
		end := r.rows
		if skip {
			end = r.given
		}
		n := min(r.batch, end-r.done)
		batch, err := r.next(n, skip)
		if err != nil {
			return err
		}
		if r.done += n; skip {
			continue
		}
		r.given = r.done
		if !r.yield(batch) {
			return nil
		}
	}
	return r.complete()
}

const (
	somePages   = "the pages"
	columnPages = "the pages of the column"
)

// open runs under the guard.
func (r *groupReader) open(mostRows int64) error {
	p, err := r.projection.inRowGroup(r.file.meta.RowGroup(r.group))
	if err != nil {
		return err
	}
	limits, err := p.check(r.file, r.group)
	if err != nil {
		return err
	}
	r.source.pages = limits.pages
	meta := p.metadata(r.file, r.group)
	reader, err := file.NewParquetReader(io.NewSectionReader(&r.source, 0, r.file.size),
		file.WithMetadata(meta), file.WithReadProps(limits.properties(pageMemory{r.mem})))
	if err != nil {
		return err
	}
	r.batch = min(limits.batchRows(mostRows), r.rows)
	r.mem.oneRow = r.batch == 1
	r.chunks = p
	r.byLeaf = make(map[int]*leafReader, len(p.leaves))
	group := reader.RowGroup(0) // asking again costs the look at all columns
	for i, n := range p.leaves {
		r.mem.column = i
		leaf := newLeafReader(n, reader, i, r.mem)
		r.leaves, r.byLeaf[n.field.Leaf] = append(r.leaves, leaf), leaf
		pages, err := group.GetColumnPageReader(i)
		if err == nil {
			err = leaf.begin(pages, meta.RowGroups[0].Columns[i].MetaData.TotalUncompressedSize, r.rows)
		}
		if err != nil {
			return deltaerr.Annotate(corrupt(columnPages, err), deltaerr.Column(n.path))
		}
	}
	return nil
}

// next reads n rows and makes a batch of them, or only passes over them.
func (r *groupReader) next(n int64, skip bool) (arrow.RecordBatch, error) {
	if err := r.source.ctx.Err(); err != nil {
		return nil, err
	}
	defer r.releaseValues()
	for i, leaf := range r.leaves {
		r.mem.column = i
		err := guard(columnPages, func() error { return leaf.load(n) })
		if err = r.failure(err); err != nil {
			return nil, deltaerr.Annotate(err, deltaerr.Column(leaf.node.path))
		}
	}
	if skip {
		return nil, nil
	}
	var batch arrow.RecordBatch
	err := guard(somePages, func() (err error) {
		batch, err = r.assemble(int(n))
		return err
	})
	if err != nil {
		return nil, err // what there is of a batch goes with the ledger
	}
	for _, column := range batch.Columns() {
		r.mem.giveOut(column.Data())
	}
	return batch, nil
}

func (r *groupReader) releaseValues() {
	for _, leaf := range r.leaves {
		leaf.release()
	}
}

// complete looks for rows that the footer does not know of.
func (r *groupReader) complete() error {
	for i, leaf := range r.leaves {
		r.mem.column = i
		err := guard(columnPages, leaf.end)
		if err = r.failure(err); err != nil {
			return deltaerr.Annotate(err, deltaerr.Column(leaf.node.path))
		}
	}
	return nil
}

// failure prefers what the store said to what arrow-go made of it.
func (r *groupReader) failure(err error) error {
	if r.source.err != nil {
		return r.source.err
	}
	if err == nil {
		return nil
	}
	return corrupt(columnPages, err)
}

func (r *groupReader) close() {
	defer r.mem.close()
	for _, leaf := range r.leaves {
		_ = guard(columnPages, func() error { // a reader that failed in the middle may fail again
			leaf.close()
			return nil
		})
	}
}
