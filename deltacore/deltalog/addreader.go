package deltalog

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/exec"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// addReader decodes the adds of a checkpoint to which no commit refers. Several workers use it: seen is not written any
// more.
type addReader struct {
	reading

	log  Log
	seen fileSet
}

// addTask is one row group to read adds from.
type addTask struct {
	file  parquetFile
	group int
}

// adds streams the files of the checkpoint that r.seen does not name, a batch at a time.
func (b *base) adds(ctx context.Context, r addReader) iter.Seq2[[]ActiveFile, error] {
	l := r.log
	return func(yield func([]ActiveFile, error) bool) {
		if b.manifest != nil && !r.readManifest(ctx, *b.manifest, yield) {
			return
		}
		o := exec.Options[[]ActiveFile]{
			Workers: min(l.workers(), max(2, runtime.GOMAXPROCS(0))), Budget: l.Budget, Size: bytesOf,
		}
		for files, err := range exec.Ordered(ctx, b.addTasks(), o, r.read) {
			if !yield(files, err) || err != nil {
				return
			}
		}
	}
}

func (b *base) addTasks() iter.Seq2[addTask, error] {
	return func(yield func(addTask, error) bool) {
		for _, f := range b.files {
			for group := range f.groups {
				if !yield(addTask{f, group}, nil) {
					return
				}
			}
		}
	}
}

// bytesOf estimates what files hold in memory.
func bytesOf(files []ActiveFile) int64 {
	n := int64(0)
	for _, f := range files {
		n += int64(actionBytes + 2*len(f.Add.Path) + len(f.Add.Stats))
	}
	return n
}

func (r addReader) read(ctx context.Context, t addTask, emit func([]ActiveFile) error) error {
	file, err := r.log.open(ctx, &t.file)
	if err != nil {
		return addError(err, t)
	}
	err = r.readRowGroup(ctx, file, t.group, emit)
	if closing := file.Close(); err == nil {
		err = closing
	}
	return addError(err, t)
}

func addError(err error, t addTask) error {
	return deltaerr.Annotate(err, deltaerr.File(t.file.path), deltaerr.Phase("reading the checkpoint"))
}

func (r addReader) readRowGroup(ctx context.Context, file *parquetio.File, group int, emit func([]ActiveFile) error) error {
	leaves := r.leavesOf(file.Fields())
	if len(leaves) == 0 {
		return nil
	}
	d := addDecoder{addReader: r, stats: newStatistics(r.statistics)}
	for batch, err := range file.ReadRowGroup(ctx, group, leaves) {
		if err != nil {
			return err
		}
		files, err := d.decode(batch)
		batch.Release()
		if err != nil {
			return err
		}
		if len(files) == 0 {
			continue
		}
		if err := emit(files); err != nil {
			return err
		}
	}
	return nil
}

// leavesOf returns the leaf columns to read. Statistics are read as columns where all that are wanted have some.
func (r addReader) leavesOf(fields []parquetio.Field) []int {
	if r.omitStats {
		return leavesOf(fields, addPaths[1:]...)
	}
	if r.statistics == nil {
		return leavesOf(fields, addPaths...)
	}
	parsed, complete := r.statistics.parsedLeaves(fields)
	if _, hasText := fieldAt(fields, []string{"add", "stats"}); hasText && !complete {
		return leavesOf(fields, addPaths...)
	}
	leaves := append(leavesOf(fields, addPaths[1:]...), parsed...)
	slices.Sort(leaves)
	return slices.Compact(leaves)
}

// addDecoder decodes the batches of a row group.
type addDecoder struct {
	addReader

	values rowValues
	stats  *Statistics
	// of the batch at hand
	columns addColumns
	parsed  *statsColumns
	files   []ActiveFile
}

// decode returns the files of a batch, which it borrows.
func (d *addDecoder) decode(batch arrow.RecordBatch) (files []ActiveFile, err error) {
	if d.columns, err = bindAdds(batch); err != nil {
		return nil, err
	}
	d.parsed, d.files = d.statistics.bindStats(d.columns.add), nil
	rows := int(batch.NumRows())
	for row := range rows {
		if !d.columns.has(row) {
			continue
		}
		if d.files == nil && d.keep == nil {
			d.files = make([]ActiveFile, 0, rows-row)
		}
		if err := d.take(row); err != nil {
			return nil, err
		}
	}
	return d.files, nil
}

// take appends the file of a row if it is live and wanted. Texts are copied when that is known.
func (d *addDecoder) take(row int) error {
	f := ActiveFile{Add: d.columns.get(row, &d.values)}
	f.Location = storage.ResolvePath(d.log.Root, f.Add.Path)
	if d.seen.has(f.Location, f.Add.DeletionVector) {
		return nil
	}
	if d.stats != nil {
		d.setStats(row, f.Add.DeletionVector != nil)
	}
	wanted, err := d.decide(&f, d.stats)
	if err != nil || !wanted {
		return err
	}
	f.Add.Path = strings.Clone(f.Add.Path)
	f.Location = storage.ResolvePath(d.log.Root, f.Add.Path)
	if d.keep == nil {
		f.Add.Stats = d.columns.stats.get(row)
	}
	d.files = append(d.files, f)
	return nil
}

func (d *addDecoder) setStats(row int, vector bool) {
	if d.parsed != nil && d.columns.stats.column == nil {
		d.stats.at(d.parsed, row, vector)
		return
	}
	d.stats.of(d.columns.stats.borrow(row), vector)
}

// readManifest hands out the adds of a JSON manifest. It says whether to go on.
func (r addReader) readManifest(ctx context.Context, f File, yield func([]ActiveFile, error) bool) bool {
	var files []ActiveFile
	stats := newStatistics(r.statistics)
	err := r.scanManifest(ctx, f, func(add action.Add) error {
		file, wanted, err := r.take(add, stats)
		if err != nil || !wanted {
			return err
		}
		if files = append(files, file); len(files) < partActions {
			return nil
		}
		full := files
		files = nil
		if !yield(full, nil) {
			return errStopped
		}
		return nil
	})
	switch {
	case errors.Is(err, errStopped):
		return false
	case err != nil:
		yield(nil, deltaerr.Annotate(err, deltaerr.File(f.path())))
		return false
	}
	return len(files) == 0 || yield(files, nil)
}

// take is the file of an add; wanted is false when a commit after the checkpoint refers to it, too.
func (r addReader) take(add action.Add, stats *Statistics) (f ActiveFile, wanted bool, err error) {
	f = ActiveFile{Add: add, Location: storage.ResolvePath(r.log.Root, add.Path)}
	if r.seen.has(f.Location, add.DeletionVector) {
		return f, false, nil
	}
	if stats != nil {
		stats.of(add.Stats, add.DeletionVector != nil)
		f.Add.Stats = ""
	}
	wanted, err = r.decide(&f, stats)
	return f, wanted, err
}

func (r addReader) scanManifest(ctx context.Context, f File, visit func(action.Add) error) error {
	source, err := r.log.Store.Get(ctx, f.path())
	if err != nil {
		return err
	}
	defer source.Close()
	lines := action.NewScanner(source)
	if r.omitStats {
		lines.OmitStats()
	}
	return visitActions(lines, f, func(a action.Action) error {
		if a.Add == nil {
			return nil
		}
		return visit(*a.Add)
	})
}
