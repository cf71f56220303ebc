package deltacore

import (
	"cmp"
	"context"
	"fmt"
	"iter"
	"sort"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/datafile"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltalog"
	"github.com/benthos-delta/benthos-delta/deltacore/dv"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// ScanOptions say what to read. The zero value reads everything.
type ScanOptions struct {
	Columns   []string           // none: all, in schema order
	RowsOnly  bool               // no columns at all: batches that only have a number of rows
	Limit     *int64             // rows, after Where; nil: all. 0 opens no file
	Where     *pruning.Predicate // rows that it is true for; nil: all
	BatchRows int64              // rows of the largest batch; 0: 8192
	From      *scanplan.Key      // resume: leave out the files before this one
	FromRow   int64              // and the rows of this one before this physical row
	RowIDs    bool               // give each row its id and commit version; the table must have row tracking on
	Skipped   *scanplan.Skipped  // counts what Where leaves out, of several scans; nil: each has its own

	// Explain is told of each file and row group that Where leaves out, by several goroutines: of files when the scan is planned,
	// of row groups as their file is opened or read. nil: nobody is told.
	Explain func(scanplan.Explanation)

	// How the work is divided changes neither the rows nor their order.
	TargetPartitions          int             // partitions wished for, up to scanplan.MostPartitions: units decoded at once; 0: GOMAXPROCS
	Repartitioning            scanplan.Policy // when files are cut, so that their row groups are read in parallel
	RepartitionMinSize        *int64          // bytes of all files from which they are cut; nil: 10 MiB
	FileReadsPerPartition     int             // files open at once, a partition; 0: 3
	PrefetchFilesPerPartition *int            // of those, how many are opened ahead; nil: 2
}

// The defaults of [ScanOptions].
const (
	DefaultRepartitionMinSize        = 10 << 20
	DefaultFileReadsPerPartition     = 3
	DefaultPrefetchFilesPerPartition = 2
)

// Scan is a planned read of one version, or of what one commit added. It can be run more than once, also at the same time.
type Scan struct {
	table   *Table
	options ScanOptions
	columns *schema.Struct
	hash    string // of columns
	arrow   *arrow.Schema
	reader  *datafile.Reader
	pruner  *scanplan.Pruner // nil: all files are kept
	skipped *scanplan.Skipped
	files   *deltalog.ActiveFiles
	first   int // of files: those before it are left out
}

// Scan plans a read: it checks that the version can be read, chooses the columns and lists the active files in canonical
// order, without those that hold no row for which Where is true. The list costs about 150 bytes of memory a file.
func (t *Table) Scan(ctx context.Context, o ScanOptions) (*Scan, error) {
	s, err := t.scan(ctx, o)
	return s, t.annotate(err)
}

func (t *Table) scan(ctx context.Context, o ScanOptions) (*Scan, error) {
	s, err := t.plan(o)
	if err != nil {
		return nil, err
	}
	check := func(f deltalog.ActiveFile) error { return t.checkLent(f, o) }
	wanted := deltalog.Selection{Keep: func(f deltalog.ActiveFile) (bool, error) { return true, check(f) }}
	if s.pruner != nil {
		wanted = s.pruner.Selection(check)
	}
	files, err := deltalog.Collect(ctx, t.snapshot.AddsFor(ctx, wanted))
	if err != nil {
		return nil, err
	}
	return s.of(files)
}

// of completes a scan with its files.
func (s *Scan) of(files *deltalog.ActiveFiles) (*Scan, error) {
	s.files = files
	if _, err := scanplan.Sum(s.sizes()); err != nil {
		return nil, deltaerr.Annotate(err, deltaerr.Phase("planning the scan"))
	}
	s.first = s.firstFrom(s.options.From)
	return s, nil
}

// plan makes a scan that has no files yet.
func (t *Table) plan(o ScanOptions) (*Scan, error) {
	if err := o.check(); err != nil {
		return nil, err
	}
	if err := t.CheckReadable(); err != nil {
		return nil, err
	}
	s := &Scan{table: t, options: o, skipped: cmp.Or(o.Skipped, new(scanplan.Skipped))}
	layout, err := t.layout(o)
	if err != nil {
		return nil, err
	}
	if o.RowIDs {
		if layout.RowTracking, err = t.rowTracking(); err != nil {
			return nil, err
		}
	}
	s.columns, s.hash = layout.Columns, layout.Columns.Hash()
	if s.arrow, err = schema.ArrowSchema(s.columns); err != nil {
		return nil, err
	}
	if err := s.bind(&layout); err != nil {
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

// checkLent refuses a file that this reader may not open, before anything is opened. The file's texts may be lent: an error
// has texts of its own.
func (t *Table) checkLent(f deltalog.ActiveFile, o ScanOptions) error {
	if t.check(f, o) == nil {
		return nil
	}
	f.Add.Path = strings.Clone(f.Add.Path)
	f.Location = storage.ResolvePath(t.uri, f.Add.Path)
	return t.check(f, o)
}

func (t *Table) check(f deltalog.ActiveFile, o ScanOptions) error {
	if err := t.checkFile(f); err != nil || !o.RowIDs {
		return err
	}
	return checkRowIDs(f)
}

// checkFile is where a table is kept from reading elsewhere (H2) and from vectors that it should not have (D10).
func (t *Table) checkFile(f deltalog.ActiveFile) error {
	if err := t.external.Allows(f.Location); err != nil {
		return deltaerr.Annotate(err, deltaerr.Phase("planning the scan"))
	}
	if f.Add.Size < 0 {
		return deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("the log says that the file has %d bytes", f.Add.Size),
			deltaerr.File(f.Location.Key()), deltaerr.Phase("planning the scan"))
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

// Files is the number of active files of the version, or of those that the commit added, that are to be read: [Scan.Skipped]
// counts the others, but not those before From.
func (s *Scan) Files() int { return s.files.Len() - s.first }

// Bytes is the size of those files.
func (s *Scan) Bytes() int64 { return s.input().Bytes }

// Tasks yields the files to read, in canonical order.
func (s *Scan) Tasks() iter.Seq[scanplan.FileTask] {
	return func(yield func(scanplan.FileTask) bool) {
		for i := s.first; i < s.files.Len(); i++ {
			if !yield(s.task(i)) {
				return
			}
		}
	}
}

func (s *Scan) task(i int) scanplan.FileTask {
	f := s.files.At(i)
	task := scanplan.FileTask{
		TableID: s.table.snapshot.Metadata.ID, Version: s.table.Version(), SchemaHash: s.hash,
		Key: keyOf(f), File: f.Location.Key(), Size: f.Add.Size,
		PartitionValues: f.Add.PartitionValues, DeletionVector: f.Add.DeletionVector,
		BaseRowID: f.Add.BaseRowID, DefaultRowCommitVersion: f.Add.DefaultRowCommitVersion,
	}
	if from := s.options.From; from != nil && task.Key == *from {
		task.StartRow = s.options.FromRow
	}
	return task
}

func keyOf(f deltalog.ActiveFile) scanplan.Key {
	return scanplan.Key{ModificationTime: f.Add.ModificationTime, Path: f.Add.Path}
}

// firstFrom is the number of the first file that is not before a key.
func (s *Scan) firstFrom(from *scanplan.Key) int {
	if from == nil {
		return 0
	}
	return sort.Search(s.files.Len(), func(i int) bool { return keyOf(s.files.At(i)).Compare(*from) >= 0 })
}

// sizes yields those of the files to read, in canonical order.
func (s *Scan) sizes() iter.Seq[int64] {
	return func(yield func(int64) bool) {
		for i := s.first; i < s.files.Len(); i++ {
			if !yield(s.files.SizeAt(i)) {
				return
			}
		}
	}
}

// From returns the scan without the files before a key, and without the rows of that file before a physical one, of at most
// limit rows (nil: all). It shares the list of files: nothing is planned again.
func (s *Scan) From(file scanplan.Key, row int64, limit *int64) *Scan {
	rest := *s
	rest.options.From, rest.options.FromRow, rest.options.Limit = &file, row, limit
	rest.first = rest.firstFrom(&file)
	return &rest
}
