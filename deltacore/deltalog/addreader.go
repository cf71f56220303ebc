package deltalog

import (
	"context"
	"errors"
	"iter"
	"runtime"

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
	log       Log
	seen      fileSet
	omitStats bool
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
	paths := addPaths
	if r.omitStats {
		paths = paths[1:]
	}
	leaves := leavesOf(file.Fields(), paths...)
	if len(leaves) == 0 {
		return nil
	}
	for batch, err := range file.ReadRowGroup(ctx, group, leaves) {
		if err != nil {
			return err
		}
		files, err := r.decode(batch)
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

// decode returns the files of a batch, which it borrows.
func (r addReader) decode(batch arrow.RecordBatch) ([]ActiveFile, error) {
	columns, err := bindAdds(batch)
	if err != nil {
		return nil, err
	}
	var files []ActiveFile
	var values rowValues
	rows := int(batch.NumRows())
	for row := range rows {
		if !columns.has(row) {
			continue
		}
		if files == nil {
			files = make([]ActiveFile, 0, rows-row)
		}
		files = r.keep(files, columns.get(row, &values))
	}
	return files, nil
}

// keep appends the file unless a commit after the checkpoint refers to it.
func (r addReader) keep(files []ActiveFile, add action.Add) []ActiveFile {
	location := storage.ResolvePath(r.log.Root, add.Path)
	if r.seen.has(location, add.DeletionVector) {
		return files
	}
	return append(files, ActiveFile{add, location})
}

// readManifest hands out the adds of a JSON manifest. It says whether to go on.
func (r addReader) readManifest(ctx context.Context, f File, yield func([]ActiveFile, error) bool) bool {
	var files []ActiveFile
	err := r.scanManifest(ctx, f, func(add action.Add) error {
		if files = r.keep(files, add); len(files) < partActions {
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
