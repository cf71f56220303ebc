package datafile

import (
	"context"
	"fmt"
	"iter"
	"sync"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/dv"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// File is an opened task: its footer and deletion vector are in memory, its columns are matched to the table's. It is safe
// for concurrent use.
type File struct {
	reader  *Reader
	task    scanplan.FileTask
	parquet *parquetio.File
	deleted *dv.Vector
	sources []source // of the columns of the predicate
	units   []Unit

	mu    sync.Mutex
	plans []*unitPlan // that no read uses now
}

// Unit is a row group of a task, the least that is read alone.
type Unit struct {
	RowGroup int   // its number in the file
	FirstRow int64 // physical row of its first row in the file
	Rows     int64 // with those that are deleted or lie before the task's StartRow
	Bytes    int64 // compressed size of the columns that are read
	Offset   int64 // where in the file it begins, which decides whose range it is in
}

// Open reads what has to be known of a task's file before its rows: the footer and the deletion vector. Errors name the file
// and, where there is one, the column. A file that is gone is NotFound (RV2). The caller closes the file.
func (r *Reader) Open(ctx context.Context, task scanplan.FileTask) (*File, error) {
	parquet, err := parquetio.Open(ctx, r.store, task.File, task.Size, r.options)
	if err != nil {
		return nil, annotate(err, task)
	}
	f := &File{reader: r, task: task, parquet: parquet}
	if err := f.prepare(ctx); err != nil {
		_ = f.Close() // what failed before says more
		return nil, annotate(err, task)
	}
	return f, nil
}

func annotate(err error, task scanplan.FileTask) error {
	attrs := []deltaerr.Attr{deltaerr.File(task.File), deltaerr.Version(task.Version)}
	if storage.IsGone(err) {
		attrs = append(attrs, deltaerr.Hint(
			"it may have been removed by VACUUM (delta.deletedFileRetentionDuration) or deleted manually"))
	}
	return deltaerr.Annotate(err, attrs...)
}

func (f *File) prepare(ctx context.Context) (err error) {
	if f.deleted, err = f.reader.vector(ctx, f.parquet, f.task); err != nil {
		return err
	}
	p, err := f.reader.unitPlan(f.parquet, f.task)
	if err != nil {
		return err
	}
	f.plans = append(f.plans, p)
	if f.reader.where != nil {
		f.sources = f.reader.sources(f)
	}
	f.units, err = f.findUnits(p.leaves())
	return err
}

// findUnits lists the row groups that the task owns and that have a row to read.
func (f *File) findUnits(leaves []int) ([]Unit, error) {
	var units []Unit
	for i, group := range f.parquet.RowGroups() {
		first, end := max(group.FirstRow, f.task.StartRow), group.FirstRow+group.Rows
		if first >= end {
			continue
		}
		owned, err := f.owns(group)
		if err != nil {
			return nil, deltaerr.Annotate(err, deltaerr.Phase("looking for row group %d", i))
		}
		switch {
		case !owned:
		case f.deleted.Count(first, end-first) == end-first:
			f.skip(i, scanplan.ByVector, "")
		case f.excludes(i):
		default:
			units = append(units, Unit{i, group.FirstRow, group.Rows, f.parquet.ChunkBytes(i, leaves), group.Offset})
		}
	}
	return units, nil
}

// owns checks the offset that decides, whether the task has a range or not: the answer does not depend on how it is read.
func (f *File) owns(group parquetio.RowGroup) (bool, error) {
	switch size := f.parquet.Size(); {
	case group.Offset == parquetio.NoOffset:
		return false, deltaerr.New(deltaerr.Corrupt, "the footer does not say where the first column begins")
	case group.Offset < 0 || group.Offset >= size:
		return false, deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("the first column begins at byte %d of a file of %d bytes",
			group.Offset, size))
	}
	return f.task.Owns(group.Offset), nil
}

// Memory is about what the open file takes in memory, in bytes: its footer and its vector.
func (f *File) Memory() int64 { return f.parquet.Memory() + f.deleted.Memory() }

// Units lists what there is to read, in file order. Do not change it.
func (f *File) Units() []Unit { return f.units }

// Read yields the rows of a unit from the task's StartRow on, in file order. After an error nothing follows. Different units
// can be read at the same time.
func (f *File) Read(ctx context.Context, u Unit) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		if err := f.read(ctx, u, func(b Batch) bool { return yield(b, nil) }); err != nil {
			yield(Batch{}, annotate(err, f.task))
		}
	}
}

func (f *File) read(ctx context.Context, u Unit, yield func(Batch) bool) error {
	p, err := f.takePlan()
	if err != nil {
		return err
	}
	defer f.putPlan(p)
	if f.reader.where != nil {
		return f.readMatching(ctx, u, p, yield)
	}
	rows := rowRange{from: f.task.StartRow, deleted: f.deleted, yield: yield}
	next := u.FirstRow
	for record, err := range f.parquet.ReadRowGroup(ctx, u.RowGroup, p.output.leaves) {
		if err != nil {
			return err
		}
		more, err := rows.take(p.output, record, next)
		next += record.NumRows()
		record.Release()
		if err != nil || !more {
			return err
		}
	}
	return nil
}

// takePlan returns a plan for one read: its converters and constants belong to one goroutine.
func (f *File) takePlan() (*unitPlan, error) {
	if p := f.idlePlan(); p != nil {
		return p, nil
	}
	return f.reader.unitPlan(f.parquet, f.task)
}

func (f *File) idlePlan() *unitPlan {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(f.plans)
	if n == 0 {
		return nil
	}
	p := f.plans[n-1]
	f.plans = f.plans[:n-1]
	return p
}

func (f *File) putPlan(p *unitPlan) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.plans = append(f.plans, p)
}

// Close ends the use of the file, when no read runs. Batches that were given out stay valid.
func (f *File) Close() error {
	for _, p := range f.plans {
		p.release()
	}
	return annotate(f.parquet.Close(), f.task)
}
