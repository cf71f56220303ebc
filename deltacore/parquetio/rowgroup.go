package parquetio

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// ReadRowGroup yields the rows of one row group as record batches of at most BatchRows rows (fewer when rows are large)
// with the columns that hold the given leaves, in file order. A nested column holds only its chosen leaves; a map always
// has keys and values. With no leaves the batches have rows but no columns. The receiver releases each batch. Errors name
// the file and are deltaerr kinds; after one nothing follows.
func (f *File) ReadRowGroup(ctx context.Context, rowGroup int, leaves []int) iter.Seq2[arrow.RecordBatch, error] {
	return func(yield func(arrow.RecordBatch, error) bool) {
		for b, err := range f.ReadRows(ctx, Selection{RowGroup: rowGroup, Leaves: leaves}) {
			if !yield(b.Record, err) {
				return
			}
		}
	}
}

// Selection says what of a row group is read.
type Selection struct {
	RowGroup int
	Leaves   []int
	Rows     Ranges         // nil: all
	Index    *RowGroupIndex // where pages are, nil: not known; then the pages of unwanted rows are read too
}

// Batch are some rows of a row group.
type Batch struct {
	Record arrow.RecordBatch
	Rows   Ranges // of the row group: those that Record has, in order
}

// ReadRows is as ReadRowGroup for some rows of a row group: only the pages that hold them are read where it is known which
// ones do. A batch may have rows from several places.
func (f *File) ReadRows(ctx context.Context, s Selection) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		if err := f.readRows(ctx, s, func(b Batch) bool { return yield(b, nil) }); err != nil {
			yield(Batch{}, deltaerr.Annotate(err, deltaerr.File(f.path), deltaerr.Phase("reading row group %d", s.RowGroup)))
		}
	}
}

func (f *File) readRows(ctx context.Context, s Selection, yield func(Batch) bool) error {
	if s.RowGroup < 0 || s.RowGroup >= len(f.rowGroups) {
		return deltaerr.New(deltaerr.Internal, fmt.Sprintf("the file has %d row groups", len(f.rowGroups)))
	}
	p, rows := f.project(s.Leaves), f.rowGroups[s.RowGroup].Rows
	g := groupRead{file: f, projection: p, group: s.RowGroup, memory: mostMemory(len(p.leaves)), yield: yield}
	if s.Rows == nil {
		g.rows, g.whole = g.rows.Append(0, rows, 0), true
	} else {
		g.rows, g.index = slices.Clone(s.Rows), s.Index
	}
	switch {
	case !g.rows.valid(rows):
		return deltaerr.New(deltaerr.Internal, fmt.Sprintf("the rows %v are not of a row group of %d", s.Rows, rows))
	case len(g.rows) == 0:
		return nil
	case len(p.columns) == 0:
		return f.yieldBare(ctx, g.rows, yield)
	}
	return g.run(ctx)
}

// yieldBare gives out rows without columns.
func (f *File) yieldBare(ctx context.Context, rows Ranges, yield func(Batch) bool) error {
	empty := arrow.NewSchema(nil, nil)
	for len(rows) > 0 && ctx.Err() == nil {
		some := rows.cut(f.options.BatchRows)
		if !yield(Batch{array.NewRecordBatch(empty, nil, some.Rows()), some}) {
			return nil
		}
	}
	return ctx.Err()
}

// groupRead is one read of a row group.
type groupRead struct {
	file       *File
	projection projection
	group      int
	rows       Ranges // still to be given out
	whole      bool   // they were all of the row group
	index      *RowGroupIndex
	memory     int64 // most that it may take
	yield      func(Batch) bool
}

// run gives out the rows. When those of a batch take too much memory, or pages are not where their index says, it begins anew
// behind the rows that have been given out: with smaller batches, or without the index.
func (g *groupRead) run(ctx context.Context) error {
	most := g.file.options.BatchRows
	for {
		r := &groupReader{
			groupRead: g, source: source{ctx: ctx, file: g.file}, mem: newLedger(g.file.options.Allocator, g.memory, len(g.projection.leaves)),
		}
		err := r.read(most)
		r.close()
		switch {
		case err != nil && r.mem.full:
			most = max(1, r.batch/smallerBatch)
		case errors.Is(err, errWrongIndex) && g.index != nil:
			g.index.discard()
			g.index = nil
		default:
			return err
		}
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
	pool   sync.Pool           // of buffers for arrow-go's decoders
	leaves []*leafReader       // of chunks
	byLeaf map[int]*leafReader // by leaf of the file
	batch  int64               // rows at a time
}

func (r *groupReader) read(mostRows int64) error {
	if err := r.failure(guard(somePages, func() error { return r.open(mostRows) })); err != nil {
		return err
	}
	for len(r.rows) > 0 {
		left := slices.Clone(r.rows)
		rows := left.cut(r.batch)
		batch, err := r.next(rows)
		if err != nil {
			return err
		}
		if r.rows = left; !r.yield(Batch{batch, rows}) {
			return nil
		}
	}
	if r.whole {
		return r.complete()
	}
	return nil
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
	r.batch = min(limits.batchRows(mostRows), r.rows.Rows())
	r.mem.oneRow = r.batch == 1
	r.pool.New = func() any { return memory.NewResizableBuffer(pageMemory{r.mem}) }
	r.chunks = p
	r.byLeaf = make(map[int]*leafReader, len(p.leaves))
	descriptions := p.descriptions()
	for i, c := range limits.chunks {
		r.mem.column = i
		if r.index != nil {
			if c.index = r.index.offsets(c); c.index != nil {
				c.ahead = limits.readAhead(pagesBuffer)
			}
		}
		leaf, err := newLeafReader(leafPlace{c, i, descriptions.Column(i), limits.rows},
			newPageStream(c, &r.source, r.mem, r.rows), r.mem, &r.pool)
		r.leaves, r.byLeaf[c.node.field.Leaf] = append(r.leaves, leaf), leaf
		if err != nil {
			return deltaerr.Annotate(corrupt(columnPages, err), deltaerr.Column(c.node.path))
		}
	}
	return nil
}

// next makes a batch of the next rows.
func (r *groupReader) next(rows Ranges) (arrow.RecordBatch, error) {
	if err := r.source.ctx.Err(); err != nil {
		return nil, err
	}
	defer r.releaseValues()
	for i, leaf := range r.leaves {
		r.mem.column = i
		err := guard(columnPages, func() error { return leaf.load(rows) })
		if err = r.failure(err); err != nil {
			return nil, deltaerr.Annotate(err, deltaerr.Column(leaf.node.path))
		}
	}
	var batch arrow.RecordBatch
	err := guard(somePages, func() (err error) {
		batch, err = r.assemble(int(rows.Rows()))
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
	if err == nil || errors.Is(err, errWrongIndex) {
		return err
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
