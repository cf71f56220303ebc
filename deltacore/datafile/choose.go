package datafile

import (
	"context"
	"slices"
	"sort"

	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// excludes says whether the footer shows that no row of a row group matches, and tells of it.
func (f *File) excludes(group int) bool {
	l := f.reader.layout
	if l.Where == nil || l.Without&RowGroupStatistics != 0 {
		return false
	}
	chunks, wrong := f.chunks(group)
	f.unusable(scanplan.ByRowGroup, wrong)
	d := l.Where.Decide(evidence{file: f, columns: chunks})
	if d.Skip {
		f.skip(group, scanplan.ByRowGroup, scanplan.Statement(d.Because))
	}
	return d.Skip
}

// skip tells of a row group that is not read.
func (f *File) skip(group int, r scanplan.Reason, because string) {
	l := f.reader.layout
	l.Skipped.Add(r, 0, 1, 0)
	if l.Explain != nil {
		l.Explain(scanplan.Explanation{File: f.task.File, RowGroup: group, Reason: r, Because: because})
	}
}

// chosen are the rows of a unit that may match.
type chosen struct {
	rows  parquetio.Ranges
	index *parquetio.RowGroupIndex // where the pages of the predicate's columns are
}

// choose asks everything but the values which rows of a unit may match. What the footer says has been asked before.
func (f *File) choose(ctx context.Context, u Unit) (chosen, error) {
	c := chosen{rows: f.fromStart(u)}
	chunks, _ := f.chunks(u.RowGroup)
	if f.reader.layout.Without&RowGroupStatistics != 0 {
		chunks = f.onlyRows(u, chunks)
	}
	values := &held{ctx: ctx, file: f, group: u.RowGroup, lists: map[int]*valueList{}}
	if out, err := f.excludedByValues(chunks, values); err != nil || out {
		return chosen{}, err
	}
	if f.reader.layout.Without&ColumnIndex != 0 {
		return c, nil
	}
	return f.choosePages(ctx, u, pageChoice{chunks: chunks, values: values, chosen: c})
}

// fromStart are the rows of a unit that the task wants.
func (f *File) fromStart(u Unit) (rows parquetio.Ranges) {
	return rows.Append(max(0, f.task.StartRow-u.FirstRow), u.Rows, 0)
}

// onlyRows forgets what statistics say.
func (f *File) onlyRows(u Unit, chunks []pruning.Bounds) []pruning.Bounds {
	for i, s := range f.sources {
		if s.always == nil {
			chunks[i] = pruning.Bounds{Rows: pruning.Exactly(u.Rows)}
		}
	}
	return chunks
}

// excludedByValues asks bloom filters and dictionaries, if a no of them would exclude the row group.
func (f *File) excludedByValues(chunks []pruning.Bounds, values *held) (bool, error) {
	where := f.reader.layout.Where
	known := evidence{file: f, columns: chunks, held: values}
	if !where.Decide(known).Skip {
		return false, nil
	}
	values.asking = true
	d := where.Decide(known)
	if values.err != nil {
		return false, values.err
	}
	if d.Skip {
		f.skip(values.group, values.last, scanplan.Statement(d.Because))
	}
	return d.Skip, nil
}

// pageChoice is what is known before the pages are looked at.
type pageChoice struct {
	chosen
	chunks []pruning.Bounds
	values *held
}

// columnPages is what is known about each page of a column.
type columnPages struct {
	first  []int64
	bounds []pruning.Bounds
}

// at is the page of a row.
func (p columnPages) at(row int64) int {
	return sort.Search(len(p.first), func(i int) bool { return p.first[i] > row }) - 1
}

// choosePages leaves out rows by the column index. Columns have pages of their own, so the rows are cut wherever a page of one
// begins.
func (f *File) choosePages(ctx context.Context, u Unit, p pageChoice) (chosen, error) {
	var err error
	if p.index, err = f.parquet.ReadIndex(ctx, parquetio.IndexRequest{RowGroup: u.RowGroup, Leaves: f.sourceLeaves(), Bounds: true}); err != nil {
		return chosen{}, err
	}
	f.unusable(scanplan.ByPage, int64(p.index.Unusable))
	pages, cuts := f.pages(p.index)
	if len(cuts) == 0 {
		return p.chosen, nil
	}
	cuts = append(cuts, u.Rows)
	slices.Sort(cuts)
	cuts = slices.Compact(cuts)
	var kept parquetio.Ranges
	skipped := int64(0)
	known := evidence{file: f, columns: slices.Clone(p.chunks)}
	if p.values.asking { // what has been read is used again
		known.held = p.values
	}
	for i, from := range cuts[:len(cuts)-1] {
		to := cuts[i+1]
		for column, of := range pages {
			if of.first != nil {
				known.columns[column] = of.bounds[of.at(from)]
			}
		}
		if f.reader.layout.Where.Decide(known).Skip {
			skipped++
			continue
		}
		kept = kept.Append(from, to, 0)
	}
	if p.values.err != nil {
		return chosen{}, p.values.err
	}
	f.countPages(u.RowGroup, kept, skipped)
	p.rows = f.withLive(u, within(p.rows, kept))
	return p.chosen, nil
}

// withLive leaves out runs of which no row is left.
func (f *File) withLive(u Unit, rows parquetio.Ranges) parquetio.Ranges {
	return slices.DeleteFunc(rows, func(r parquetio.Range) bool {
		return f.deleted.Count(u.FirstRow+r.From, r.To-r.From) == r.To-r.From
	})
}

// countPages counts pages that are not read. Where none is, parts of the predicate exclude some each.
func (f *File) countPages(group int, kept parquetio.Ranges, skipped int64) {
	if len(kept) == 0 {
		f.skip(group, scanplan.ByPage, f.reader.layout.Where.Text)
		return
	}
	f.reader.layout.Skipped.Add(scanplan.ByPage, 0, 0, skipped)
}

// within is what two lists of rows have in common; the first has at most one entry.
func within(one, rows parquetio.Ranges) parquetio.Ranges {
	if len(one) == 0 {
		return nil
	}
	return rows.Within(one[0].From, one[0].To)
}

// pages is what the index says of each column of the predicate, and the first rows of all those pages.
func (f *File) pages(index *parquetio.RowGroupIndex) (list []columnPages, cuts []int64) {
	list = make([]columnPages, len(f.sources))
	for i, s := range f.sources {
		if s.leaf < 0 {
			continue
		}
		b, first, err := f.parquet.PageBounds(index, s.leaf)
		if err != nil {
			f.unusable(scanplan.ByPage, 1)
		}
		if len(first) == 0 {
			b.Release()
			continue
		}
		bounds, wrong := s.bounds(f.mem(), b)
		f.unusable(scanplan.ByPage, wrong)
		list[i] = columnPages{first, bounds}
		cuts = append(cuts, first...)
	}
	return list, cuts
}

// sourceLeaves are the leaves of the predicate's columns of which something may be known.
func (f *File) sourceLeaves() (leaves []int) {
	for _, s := range f.sources {
		if s.leaf >= 0 {
			leaves = append(leaves, s.leaf)
		}
	}
	return sortedUnique(leaves)
}
