package deltacore

import (
	"context"
	"iter"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/datafile"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/exec"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
)

// Batches yields the rows in canonical order. Nothing is left running or open when the loop has ended, however it ended.
// After an error there are no more batches.
func (s *Scan) Batches(ctx context.Context) iter.Seq2[Batch, error] {
	return s.limited(func(yield func(Batch, error) bool) { exec.Scoped(ctx, s.newRun().batches)(yield) })
}

// run is one execution of a scan: a first stage opens files ahead, a second reads their units in parallel. Both keep the
// canonical order.
type run struct {
	*Scan
	workers int
	cut     bool          // each row group is a unit of its own, else each file
	permits chan struct{} // a token for each file that is open
	decoded atomic.Int64  // rows of all files so far
}

func (s *Scan) newRun() *run {
	o, in := s.division(), s.input()
	r := &run{Scan: s, workers: max(1, o.Partitions(in)), cut: o.Cuts(in)}
	ahead := min(s.options.fileReads()-1, s.options.prefetch()) + 1
	if s.firstFileIsEnough() { // reading ahead would open files for nothing
		r.workers, ahead = 1, 1
	}
	r.permits = make(chan struct{}, s.openAtOnce(r.workers, ahead))
	return r
}

// firstFileIsEnough where that is likely.
func (s *Scan) firstFileIsEnough() bool {
	o := s.options
	return o.Limit != nil && o.Where == nil && *o.Limit <= max(o.BatchRows, parquetio.DefaultBatchRows)
}

func (r *run) batches(ctx context.Context) iter.Seq2[Batch, error] {
	units := exec.Ordered(ctx, r.permitted(ctx), exec.Options[unit]{
		Workers: cap(r.permits),
		Budget:  r.table.budget,
		Size:    unit.bytes,
		Discard: func(u unit) { _ = u.done() },
	}, r.open)
	return exec.Ordered(ctx, units, exec.Options[Batch]{
		Workers: r.workers,
		Budget:  r.table.budget,
		Size:    Batch.bytes,
		Discard: Batch.release,
	}, r.read)
}

// permitted yields each task when a file may be opened for it. Tasks get their permits in their order: the one whose rows
// are next never waits for one behind it. When the files so far have the rows of the limit, no other is opened.
func (r *run) permitted(ctx context.Context) iter.Seq2[*scanplan.FileTask, error] {
	return func(yield func(*scanplan.FileTask, error) bool) {
		for task := range r.Tasks() {
			select {
			case r.permits <- struct{}{}:
			case <-ctx.Done():
				yield(nil, ctx.Err())
				return
			}
			if r.enough() {
				<-r.permits
				return
			}
			if !yield(&task, nil) {
				return
			}
		}
	}
}

func (r *run) enough() bool { return r.options.Limit != nil && r.decoded.Load() >= *r.options.Limit }

// openFile is a file with its task, shared by its units.
type openFile struct {
	*datafile.File
	task   *scanplan.FileTask
	permit <-chan struct{}
	units  atomic.Int64 // not done yet
	held   int64        // charged while it is read
	budget *exec.Budget
}

// hold charges what the file takes, until it is closed. As long as its first unit waits that is charged for the unit.
func (f *openFile) hold() {
	f.held = f.Memory()
	f.budget.Hold(f.held)
}

// unit is what one worker reads. Who has it calls done.
type unit struct {
	file        *openFile
	groups      []datafile.Unit
	first, last bool // of the file
}

// open opens the file of a task and gives out its units: at least one, so that each file has an end.
func (r *run) open(ctx context.Context, task *scanplan.FileTask, emit func(unit) error) error {
	opened, err := r.reader.Open(ctx, *task)
	if err != nil {
		<-r.permits
		return r.table.annotate(damaged(err))
	}
	units := r.unitsOf(&openFile{File: opened, task: task, permit: r.permits, budget: r.table.budget})
	for i, u := range units {
		if err := emit(u); err != nil {
			for _, u := range units[i+1:] {
				_ = u.done()
			}
			return err
		}
	}
	return nil
}

func (r *run) unitsOf(f *openFile) []unit {
	groups := f.Units()
	n := 1
	if r.cut {
		n = max(1, len(groups))
	}
	f.units.Store(int64(n))
	units := make([]unit, n)
	for i := range units {
		units[i] = unit{file: f, groups: groups, first: i == 0, last: i == n-1}
		if n > 1 {
			units[i].groups = groups[i : i+1]
		}
	}
	return units
}

// bytes is what a unit holds before it is read: the first one stands for its file.
func (u unit) bytes() int64 {
	if !u.first {
		return 0
	}
	return u.file.Memory()
}

// done closes the file after its last unit.
func (u unit) done() error {
	if u.file.units.Add(-1) > 0 {
		return nil
	}
	err := u.file.Close()
	u.file.budget.Return(u.file.held)
	<-u.file.permit
	return err
}

// read gives out the rows of a unit.
func (r *run) read(ctx context.Context, u unit, emit func(Batch) error) (err error) {
	defer func() {
		if closing := u.done(); err == nil {
			err = r.table.annotate(closing)
		}
	}()
	if u.first {
		u.file.hold()
	}
	if u.last {
		return r.readLast(ctx, u, emit)
	}
	for b, err := range r.rows(ctx, u) {
		if err != nil {
			return err
		}
		if err := emit(b); err != nil {
			return err
		}
	}
	return nil
}

// readLast holds each batch back until it knows whether another one follows, so that the last one can say so. An error comes
// behind all rows before it.
func (r *run) readLast(ctx context.Context, u unit, emit func(Batch) error) error {
	held := Batch{Record: r.noRows(), Task: u.file.task, FirstRow: u.file.task.StartRow}
	defer func() { held.Record.Release() }()
	hand := func() error {
		held.Record.Retain() // the receiver's; ours goes with the replacement or the return
		return emit(held)
	}
	for b, failure := range r.rows(ctx, u) {
		if held.Record.NumRows() > 0 {
			if err := hand(); err != nil {
				b.release()
				return err
			}
		}
		if failure != nil {
			return failure
		}
		held.Record.Release()
		held = b
	}
	held.Last = true
	return hand()
}

// rows yields the batches of a unit, none of them marked as the last. It ends one batch behind the rows of the limit: that one
// says that there are more, and nobody gets it.
func (r *run) rows(ctx context.Context, u unit) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		before := int64(0)
		for _, group := range u.groups {
			for b, err := range u.file.Read(ctx, group) {
				if err != nil {
					yield(Batch{}, r.table.annotate(damaged(err)))
					return
				}
				n := b.Record.NumRows()
				r.decoded.Add(n)
				if !yield(Batch{
					Record: b.Record, Task: u.file.task, FirstRow: b.FirstRow, Index: b.Index,
					RowIDs: b.RowIDs, RowCommitVersions: b.RowCommitVersions,
				}, nil) || r.options.Limit != nil && before >= *r.options.Limit {
					return
				}
				before += n
			}
		}
	}
}

// damaged tells what can be done about a file whose bytes are wrong.
func damaged(err error) error {
	if deltaerr.KindOf(err) != deltaerr.Corrupt {
		return err
	}
	return deltaerr.Annotate(err, deltaerr.Hint("restore the file from a copy, or the table to a version without it"))
}

func (s *Scan) noRows() arrow.RecordBatch {
	b := array.NewRecordBuilder(memory.DefaultAllocator, s.arrow)
	defer b.Release()
	return b.NewRecordBatch()
}

// limited cuts the sequence after the wanted number of rows; no further file is opened then.
func (s *Scan) limited(batches iter.Seq2[Batch, error]) iter.Seq2[Batch, error] {
	if s.options.Limit == nil {
		return batches
	}
	return func(yield func(Batch, error) bool) {
		left := *s.options.Limit
		if left <= 0 {
			return
		}
		for b, err := range batches {
			if err == nil && b.Record.NumRows() > left {
				b = b.head(left)
			}
			if err == nil {
				left -= b.Record.NumRows()
			}
			if !yield(b, err) || left <= 0 {
				return
			}
		}
	}
}
