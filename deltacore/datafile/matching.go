package datafile

import (
	"cmp"
	"context"
	"errors"
	"math/bits"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/pruning/rowfilter"
)

// unitPlan is what one read of a unit needs. It belongs to one goroutine.
type unitPlan struct {
	output *plan
	where  *plan // of the predicate's columns; nil: all rows are wanted
	filter *rowfilter.Filter
	taken  []int // by column of the output, the one of the predicate that is the same; nil unless all are
}

func (r *Reader) unitPlan(file *parquetio.File, task scanplan.FileTask) (p *unitPlan, err error) {
	p = &unitPlan{}
	if p.output, err = r.plan(file, task, r.output); err != nil || r.where == nil {
		return p, err
	}
	if p.where, err = r.plan(file, task, *r.where); err != nil {
		return nil, err
	}
	p.filter, err = rowfilter.New(r.layout.Where, r.where.schema)
	p.taken = r.taken()
	return p, err
}

// taken finds the columns of the output among those of the predicate. Row ids are numbered when the output is read.
func (r *Reader) taken() []int {
	if r.layout.RowTracking != nil || r.layout.Without&LateMaterialisation != 0 {
		return nil
	}
	taken := []int{}
	for _, f := range r.output.schema.Fields() {
		i := slices.IndexFunc(r.where.schema.Fields(), f.Equal)
		if i < 0 {
			return nil
		}
		taken = append(taken, i)
	}
	return taken
}

// leaves are those of all columns.
func (p *unitPlan) leaves() []int {
	if p.where == nil {
		return p.output.leaves
	}
	return sortedUnique(slices.Concat(p.output.leaves, p.where.leaves))
}

func (p *unitPlan) release() {
	p.output.release()
	if p.where != nil {
		p.where.release()
	}
}

const (
	firstWindow = 1 << 16 // rows that are matched before the first of them are given out
	lastWindow  = 1 << 20
	closeRows   = 256 // rows between others that are decoded and dropped here: below, where they lie in one page, they are too
)

// readMatching reads the columns of the predicate first, and the others only where rows match. It goes on by windows, so that
// rows come out before all are looked at and that the marks of what matches take little memory.
func (f *File) readMatching(ctx context.Context, u Unit, p *unitPlan, yield func(Batch) bool) error {
	c, err := f.choose(ctx, u)
	if err != nil || len(c.rows) == 0 {
		return err
	}
	m := f.matching(ctx, u, p, yield)
	if err = m.run(c); !errors.Is(err, errWrongPages) {
		return err
	}
	f.unusable(scanplan.ByPage, 1)
	if m.given {
		return deltaerr.New(deltaerr.Corrupt, "the pages are not where the file's offset index says",
			deltaerr.Phase("reading row group %d", u.RowGroup))
	}
	return f.matching(ctx, u, p, yield).run(chosen{rows: f.fromStart(u)})
}

// errWrongPages ends a read whose page index does not fit the pages: rows have been chosen by it.
var errWrongPages = errors.New("the page index does not fit its pages")

// matching is one read of a unit.
type matching struct {
	*File
	ctx  context.Context //nolint:containedctx // of the read
	unit Unit
	plan *unitPlan

	window int64    // first row of the window, counted in the row group
	size   int64    // rows of it
	marks  []uint64 // which of them match
	count  int64    // how many

	given     bool
	collector collector

	pages *parquetio.RowGroupIndex // where those of the output are; nil: it has not been read
}

func (f *File) matching(ctx context.Context, u Unit, p *unitPlan, yield func(Batch) bool) *matching {
	return &matching{
		File: f, ctx: ctx, unit: u, plan: p, size: min(firstWindow, u.Rows),
		collector: collector{most: f.reader.batchRows(), yield: yield, mem: p.output.mem},
	}
}

func (m *matching) run(c chosen) error {
	c, err := m.search(m.ctx, m.unit, c)
	switch {
	case err != nil:
		return err
	case c.index != nil && c.index.Failed():
		return errWrongPages
	case len(c.rows) == 0:
		return nil
	}
	defer m.collector.release()
	if len(c.rows) > 1 {
		c.rows = c.rows.Merged(closeRows)
	}
	read := parquetio.Selection{RowGroup: m.unit.RowGroup, Leaves: m.plan.where.leaves, Rows: c.rows, Index: c.index}
	if c.rows.Rows() == m.unit.Rows {
		read.Rows = nil
	}
	for batch, err := range m.parquet.ReadRows(m.ctx, read) {
		if err != nil {
			return err
		}
		if c.index != nil && c.index.Failed() {
			batch.Record.Release()
			return errWrongPages
		}
		more, err := m.match(batch)
		batch.Record.Release()
		if err != nil || !more {
			return err
		}
	}
	if more, err := m.give(); err != nil || !more {
		return err
	}
	_, err = m.collector.flush()
	return err
}

// match marks the rows of a batch that match. It borrows the batch.
func (m *matching) match(batch parquetio.Batch) (more bool, err error) {
	if last := batch.Rows[len(batch.Rows)-1].To; last > m.window+m.size {
		if more, err := m.give(); err != nil || !more {
			return more, err
		}
		m.window = batch.Rows[0].From
		m.size = max(min(4*m.size, lastWindow), last-m.window)
	}
	p, rows, record := m.plan.where, m.live(batch.Rows), batch.Record
	switch {
	case rows.n == 0:
		return true, nil
	case int64(rows.n) < record.NumRows():
		if record, err = keepRows(p.mem, record, rows.runs); err != nil {
			return false, err
		}
	default:
		record.Retain()
	}
	defer record.Release()
	p.room.set(1) // what is too long for a batch is not cut here
	shown, err := p.convert(record)
	if err != nil {
		return false, err
	}
	defer shown.Release()
	matches, count := m.plan.filter.Match(shown)
	switch {
	case count == 0:
		return true, nil
	case m.plan.taken != nil:
		return m.giveMatches(shown, matches, rows)
	}
	m.mark(matches, rows)
	m.count += count
	return true, nil
}

// someRows are rows of a batch: where they stand in it, and in the file.
type someRows struct {
	runs  runs
	n     int
	first int64
	index []int64 // of each; nil when they are consecutive from first
}

func (r *someRows) row(i int) int64 {
	if r.index != nil {
		return r.index[i]
	}
	return r.first + int64(i)
}

// add puts a row behind the others.
func (r *someRows) add(at int, row int64) {
	if n := len(r.runs); n > 0 && r.runs[n-1].to == at {
		r.runs[n-1].to++
	} else {
		r.runs = append(r.runs, run{at, at + 1})
	}
	if r.n == 0 {
		r.first = row
	}
	if r.index == nil && row != r.first+int64(r.n) {
		for i := range r.n {
			r.index = append(r.index, r.first+int64(i))
		}
	}
	if r.index != nil {
		r.index = append(r.index, row)
	}
	r.n++
}

// batch takes over record, whose rows these are.
func (r *someRows) batch(record arrow.RecordBatch) Batch {
	return Batch{Record: record, FirstRow: r.first, Index: r.index}
}

// live are the rows of a batch that are not deleted.
func (m *matching) live(rows parquetio.Ranges) (out someRows) {
	at := 0
	for _, r := range rows {
		first, n := m.unit.FirstRow+r.From, r.To-r.From
		live, whole := m.deleted.Live(first, n)
		if whole && len(rows) == 1 {
			return someRows{runs: runs{{0, int(n)}}, n: int(n), first: first}
		}
		if whole {
			for row := range n {
				out.add(at+int(row), first+row)
			}
		}
		for _, row := range live {
			out.add(at+int(row-first), row)
		}
		at += int(n)
	}
	return out
}

func (m *matching) mark(matches []uint64, rows someRows) {
	if m.marks == nil {
		m.marks = make([]uint64, (m.size+63)/64)
	}
	first := m.unit.FirstRow + m.window
	eachBit(matches, func(i int) {
		at := rows.row(i) - first
		m.marks[at/64] |= 1 << (at % 64)
	})
}

func eachBit(words []uint64, f func(i int)) {
	for i, word := range words {
		for ; word != 0; word &= word - 1 {
			f(64*i + bits.TrailingZeros64(word))
		}
	}
}

// giveMatches gives out rows whose columns are all among those of the predicate. It borrows shown.
func (m *matching) giveMatches(shown arrow.RecordBatch, matches []uint64, rows someRows) (more bool, err error) {
	var matching someRows
	eachBit(matches, func(i int) { matching.add(i, rows.row(i)) })
	columns := make([]arrow.Array, len(m.plan.taken))
	for i, at := range m.plan.taken {
		columns[i] = shown.Column(at)
	}
	output := array.NewRecordBatch(m.plan.output.schema, columns, shown.NumRows())
	defer output.Release()
	kept, err := keepRows(m.plan.output.mem, output, matching.runs)
	if err != nil {
		return false, err
	}
	m.given = true
	return m.collector.add(matching.batch(kept))
}

// give reads the output's columns of the rows that match, and forgets the marks.
func (m *matching) give() (more bool, err error) {
	if m.count == 0 {
		return true, nil
	}
	defer func() { m.marks, m.count = nil, 0 }()
	read, err := m.selection()
	if err != nil {
		return false, err
	}
	m.given = true
	failed := read.Index != nil && read.Index.Failed()
	for batch, err := range m.parquet.ReadRows(m.ctx, read) {
		if err != nil {
			return false, err
		}
		more, err := m.giveMarked(batch)
		batch.Record.Release()
		if err != nil || !more {
			return false, err
		}
	}
	if read.Index != nil && read.Index.Failed() && !failed { // the rows are right all the same
		m.unusable(scanplan.ByPage, 1)
	}
	return true, nil
}

// selection is what has to be read of the output for the rows that are marked.
func (m *matching) selection() (parquetio.Selection, error) {
	s := parquetio.Selection{RowGroup: m.unit.RowGroup, Leaves: m.plan.output.leaves}
	eachBit(m.marks, func(i int) {
		row := m.window + int64(i)
		s.Rows = s.Rows.Append(row, row+1, closeRows)
	})
	if len(s.Leaves) == 0 || s.Rows.Rows() == m.unit.Rows || m.reader.layout.Without&LateMaterialisation != 0 {
		return s, nil
	}
	var err error
	s.Index, err = m.outputPages()
	return s, err
}

// outputPages reads where the pages of the output are, once.
func (m *matching) outputPages() (index *parquetio.RowGroupIndex, err error) {
	if m.pages == nil {
		m.pages, err = m.parquet.ReadIndex(m.ctx, parquetio.IndexRequest{RowGroup: m.unit.RowGroup, Leaves: m.plan.output.leaves})
		if err != nil {
			return nil, err
		}
		m.unusable(scanplan.ByPage, int64(m.pages.Unusable))
	}
	return m.pages, nil
}

// giveMarked gives out the rows of a batch that are marked. It borrows the batch.
func (m *matching) giveMarked(batch parquetio.Batch) (more bool, err error) {
	var rows someRows
	at := 0
	for _, r := range batch.Rows {
		for row := r.From; row < r.To; row++ {
			if mark := row - m.window; m.marks[mark/64]>>(mark%64)&1 == 1 {
				rows.add(at, m.unit.FirstRow+row)
			}
			at++
		}
	}
	record, mem := batch.Record, m.plan.output.mem
	switch {
	case rows.n == 0:
		return true, nil
	case int64(rows.n) == record.NumRows():
		record.Retain()
	default:
		if record, err = keepRows(mem, record, rows.runs); err != nil {
			return false, err
		}
	}
	defer record.Release()
	var failure error
	out := rowRange{yield: func(b Batch) bool {
		more, failure = m.collector.add(b)
		return more && failure == nil
	}}
	more, err = out.give(m.plan.output, record, rows.batch(nil))
	return more, cmp.Or(failure, err)
}

func (r *Reader) batchRows() int64 {
	if r.options.BatchRows > 0 {
		return r.options.BatchRows
	}
	return parquetio.DefaultBatchRows
}
