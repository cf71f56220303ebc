package deltacore

import (
	"context"
	"iter"
	"runtime"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/datafile"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltalog"
	"github.com/benthos-delta/benthos-delta/deltacore/dv"
	"github.com/benthos-delta/benthos-delta/deltacore/exec"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// ScanOptions say what to read. The zero value reads everything.
type ScanOptions struct {
	Columns   []string      // none: all, in schema order
	RowsOnly  bool          // no columns at all: batches that only have a number of rows
	Limit     *int64        // rows; nil: all. 0 opens no file
	BatchRows int64         // rows of the largest batch; 0: 8192
	Workers   int           // files decoded at once; 0: GOMAXPROCS
	From      *scanplan.Key // resume: leave out the files before this one
	FromRow   int64         // and the rows of this one before this physical row
	RowIDs    bool          // give each row its id and commit version; the table must have row tracking on
}

// Scan is a planned read of one version, or of what one commit added. It can be run more than once, also at the same time.
type Scan struct {
	table   *Table
	options ScanOptions
	columns *schema.Struct
	arrow   *arrow.Schema
	reader  *datafile.Reader
	files   *deltalog.ActiveFiles
}

// Scan plans a read: it checks that the version can be read, chooses the columns and lists the active files in canonical
// order. The list costs about 150 bytes of memory a file.
func (t *Table) Scan(ctx context.Context, o ScanOptions) (*Scan, error) {
	s, err := t.scan(ctx, o)
	return s, t.annotate(err)
}

func (t *Table) scan(ctx context.Context, o ScanOptions) (*Scan, error) {
	s, err := t.plan(o)
	if err != nil {
		return nil, err
	}
	s.files, err = deltalog.Collect(ctx, t.readable(t.snapshot.AddsWithoutStats(ctx), o))
	if err != nil {
		return nil, err
	}
	return s, nil
}

// plan makes a scan that has no files yet.
func (t *Table) plan(o ScanOptions) (*Scan, error) {
	if err := t.CheckReadable(); err != nil {
		return nil, err
	}
	s := &Scan{table: t, options: o}
	layout, err := t.layout(o)
	if err != nil {
		return nil, err
	}
	if o.RowIDs {
		if layout.RowTracking, err = t.rowTracking(); err != nil {
			return nil, err
		}
	}
	s.columns = layout.Columns
	if s.arrow, err = schema.ArrowSchema(s.columns); err != nil {
		return nil, err
	}
	parquet := t.parquet
	parquet.BatchRows = o.BatchRows
	s.reader, err = datafile.NewReader(t.store, layout, parquet)
	return s, err
}

// layout chooses the columns and checks what the schema says about finding and widening them.
func (t *Table) layout(o ScanOptions) (datafile.Layout, error) {
	m := t.snapshot.Metadata
	l := datafile.Layout{Root: t.uri, Columns: &schema.Struct{}}
	all, err := t.Schema()
	if err != nil {
		return l, err
	}
	if l.PartitionColumns, err = all.PartitionNames(m.PartitionColumns); err != nil {
		return l, err
	}
	if l.Mapping, err = action.ColumnMapping(t.snapshot.Protocol, m); err != nil {
		return l, err
	}
	if err := l.Mapping.Check(all); err != nil {
		return l, err
	}
	if !o.RowsOnly {
		if l.Columns, err = all.Select(o.Columns); err != nil {
			return l, err
		}
	}
	return l, schema.CheckTypeChanges(l.Columns)
}

// readable passes files that this reader may open. What cannot be read is refused before anything is opened.
func (t *Table) readable(files iter.Seq2[deltalog.ActiveFile, error], o ScanOptions) iter.Seq2[deltalog.ActiveFile, error] {
	return func(yield func(deltalog.ActiveFile, error) bool) {
		for f, err := range files {
			if err == nil {
				err = t.checkFile(f)
			}
			if err == nil && o.RowIDs {
				err = checkRowIDs(f)
			}
			if !yield(f, err) || err != nil {
				return
			}
		}
	}
}

// checkFile is where a table is kept from reading elsewhere (H2) and from vectors that it should not have (D10).
func (t *Table) checkFile(f deltalog.ActiveFile) error {
	if err := t.external.Allows(f.Location); err != nil {
		return deltaerr.Annotate(err, deltaerr.Phase("planning the scan"))
	}
	vector := f.Add.DeletionVector
	if vector == nil {
		return nil
	}
	if !t.snapshot.Protocol.HasReaderFeature(action.DeletionVectorsFeature) {
		return deltaerr.New(deltaerr.Corrupt, "the file has a deletion vector, but the protocol lacks the feature deletionVectors",
			deltaerr.File(f.Location.Key()), deltaerr.Phase("planning the scan"))
	}
	location, err := dv.Locate(t.uri, *vector)
	if err == nil {
		err = t.external.Allows(location)
	}
	return deltaerr.Annotate(err, deltaerr.File(f.Location.Key()), deltaerr.Phase("planning the scan"))
}

// Columns is the schema of the batches.
func (s *Scan) Columns() *schema.Struct { return s.columns }

// ArrowSchema is the Arrow form of Columns.
func (s *Scan) ArrowSchema() *arrow.Schema { return s.arrow }

// Files is the number of active files of the version, or of those that the commit added.
func (s *Scan) Files() int { return s.files.Len() }

// Bytes is the size of those files.
func (s *Scan) Bytes() int64 { return s.files.Bytes() }

// Tasks yields the files to read, in canonical order.
func (s *Scan) Tasks() iter.Seq[scanplan.FileTask] {
	metadata := s.table.snapshot.Metadata
	hash := s.columns.Hash()
	return func(yield func(scanplan.FileTask) bool) {
		for i := range s.files.Len() {
			f := s.files.At(i)
			task := scanplan.FileTask{
				TableID: metadata.ID, Version: s.table.Version(), SchemaHash: hash,
				Key:  scanplan.Key{ModificationTime: f.Add.ModificationTime, Path: f.Add.Path},
				File: f.Location.Key(), Size: f.Add.Size,
				PartitionValues: f.Add.PartitionValues, DeletionVector: f.Add.DeletionVector,
				BaseRowID: f.Add.BaseRowID, DefaultRowCommitVersion: f.Add.DefaultRowCommitVersion,
			}
			if resumed, wanted := s.resume(task); wanted && !yield(resumed) {
				return
			}
		}
	}
}

// resume applies the position that a scan continues from.
func (s *Scan) resume(task scanplan.FileTask) (scanplan.FileTask, bool) {
	from := s.options.From
	if from == nil {
		return task, true
	}
	order := task.Key.Compare(*from)
	if order == 0 {
		task.StartRow = s.options.FromRow
	}
	return task, order >= 0
}

// Batch is a run of rows of one file. The receiver releases Record.
type Batch struct {
	Record   arrow.RecordBatch
	Task     *scanplan.FileTask
	FirstRow int64   // physical row of the first row in the file
	Index    []int64 // physical row of each row; nil when they are consecutive from FirstRow
	Last     bool    // nothing of the file comes after it. A file without rows has one such batch, of no rows

	// One number a row; nil unless ScanOptions.RowIDs.
	RowIDs, RowCommitVersions []int64
}

// PhysicalRow is the number in its file of a row of the batch.
func (b Batch) PhysicalRow(row int) int64 {
	if b.Index != nil {
		return b.Index[row]
	}
	return b.FirstRow + int64(row)
}

// From returns the scan without the files before a key, and without the rows of that file before a physical one, of at most
// limit rows (nil: all). It shares the list of files: nothing is planned again.
func (s *Scan) From(file scanplan.Key, row int64, limit *int64) *Scan {
	rest := *s
	rest.options.From, rest.options.FromRow, rest.options.Limit = &file, row, limit
	return &rest
}

// Batches yields the rows in canonical order. Nothing is left running when the loop has ended, however it ended. After an
// error there are no more batches.
func (s *Scan) Batches(ctx context.Context) iter.Seq2[Batch, error] {
	o := exec.Options[Batch]{
		Workers: s.workers(),
		Budget:  s.table.budget,
		Size:    Batch.bytes,
		Discard: func(b Batch) { b.Record.Release() },
	}
	tasks := func(yield func(scanplan.FileTask, error) bool) {
		for t := range s.Tasks() {
			if !yield(t, nil) {
				return
			}
		}
	}
	return s.limited(exec.Ordered(ctx, tasks, o, s.readFile))
}

// workers is one where the first file is likely to be enough for the limit: reading ahead would open files for nothing.
func (s *Scan) workers() int {
	o := s.options
	switch {
	case o.Limit != nil && *o.Limit <= max(o.BatchRows, parquetio.DefaultBatchRows):
		return 1
	case o.Workers > 0:
		return o.Workers
	default:
		return runtime.GOMAXPROCS(0)
	}
}

// readFile holds each batch back until it knows whether another one follows, so that the last one can say so.
func (s *Scan) readFile(ctx context.Context, task scanplan.FileTask, emit func(Batch) error) error {
	held := Batch{Record: s.noRows(), Task: &task, FirstRow: task.StartRow}
	defer func() { held.Record.Release() }()
	hand := func() error {
		held.Record.Retain() // the receiver's; ours goes with the replacement or the return
		return emit(held)
	}
	for b, err := range s.reader.Read(ctx, task) {
		if err != nil {
			return s.table.annotate(damaged(err))
		}
		if held.Record.NumRows() > 0 {
			err = hand()
		}
		held.Record.Release()
		held = Batch{
			Record: b.Record, Task: &task, FirstRow: b.FirstRow, Index: b.Index,
			RowIDs: b.RowIDs, RowCommitVersions: b.RowCommitVersions,
		}
		if err != nil {
			return err
		}
	}
	held.Last = true
	return hand()
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

// head returns the first n rows of b, which it takes over.
func (b Batch) head(n int64) Batch {
	whole := b.Record
	b.Record = whole.NewSlice(0, n)
	whole.Release()
	b.Last = false
	for _, numbers := range []*[]int64{&b.Index, &b.RowIDs, &b.RowCommitVersions} {
		if *numbers != nil {
			*numbers = (*numbers)[:n]
		}
	}
	return b
}

// bytes is what the budget is charged.
func (b Batch) bytes() int64 {
	return RecordBytes(b.Record) + 8*int64(len(b.Index)+len(b.RowIDs)+len(b.RowCommitVersions))
}

// RecordBytes is the memory that the columns of a record keep alive, in bytes: the capacity of their buffers, which is up to
// twice what the values need.
func RecordBytes(record arrow.RecordBatch) int64 {
	var n int64
	for _, column := range record.Columns() {
		n += arrayBytes(column.Data())
	}
	return n
}

func arrayBytes(d arrow.ArrayData) int64 {
	var n int64
	for _, b := range d.Buffers() {
		if b != nil {
			n += int64(b.Cap())
		}
	}
	for _, child := range d.Children() {
		n += arrayBytes(child)
	}
	return n
}
