package deltalog

import (
	"context"
	"io"
	"iter"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// parquetFile is a Parquet file of a checkpoint. Small ones are fetched whole and kept, since a checkpoint has dozens of
// column chunks of a few bytes; the others are opened again when their adds are wanted.
type parquetFile struct {
	path   string // relative to the table root
	size   int64  // as the log says
	keep   bool
	data   []byte // nil: not kept
	opened bool
	groups int // row groups, once opened
	rows   int64
}

const batchRows = 4096 // of a checkpoint decoded at once

// markKept marks the leading files that fit into limit bytes together.
func markKept(files []parquetFile, limit int64) []parquetFile {
	for i, f := range files {
		if f.size <= 0 || f.size > limit {
			break
		}
		files[i].keep = true
		limit -= f.size
	}
	return files
}

// open opens the file; the caller closes it. A file to keep is fetched here first.
func (l Log) open(ctx context.Context, f *parquetFile) (*parquetio.File, error) {
	if f.keep && f.data == nil {
		if err := l.fetch(ctx, f); err != nil {
			return nil, err
		}
	}
	store, o := l.Store, l.Parquet
	if f.data != nil {
		store = wholeFile{store, f.data}
	}
	if o.BatchRows == 0 || o.BatchRows > batchRows {
		o.BatchRows = batchRows
	}
	file, err := parquetio.Open(ctx, store, f.path, f.size, o)
	if err != nil {
		return nil, err
	}
	if groups, rows := len(file.RowGroups()), file.NumRows(); !f.opened {
		f.opened, f.groups, f.rows = true, groups, rows
	} else if groups != f.groups || rows != f.rows {
		_ = file.Close()
		return nil, deltaerr.New(deltaerr.Transient, "the checkpoint was replaced while it was read", deltaerr.File(f.path))
	}
	return file, nil
}

// fetch reads the whole file. One that is larger than the log says is not kept.
func (l Log) fetch(ctx context.Context, f *parquetFile) error {
	r, err := l.Store.Get(ctx, f.path)
	if err != nil {
		return err
	}
	defer r.Close()
	data, err := io.ReadAll(io.LimitReader(r, f.size+1))
	if err != nil {
		return err
	}
	if int64(len(data)) <= f.size {
		f.data = data
	}
	return nil
}

// wholeFile is a store in which every path leads to the same bytes.
type wholeFile struct {
	storage.Store
	data []byte
}

// Open implements [storage.Opener].
func (w wholeFile) Open(context.Context, string) (storage.Object, error) {
	return wholeObject(w.data), nil
}

type wholeObject []byte

func (o wholeObject) ReadAt(_ context.Context, buf []byte, off int64) (int, error) {
	if off < 0 || off > int64(len(o)) {
		return 0, io.EOF
	}
	n := copy(buf, o[off:])
	if n < len(buf) {
		return n, io.EOF
	}
	return n, nil
}

func (o wholeObject) Size() int64 { return int64(len(o)) }

func (o wholeObject) Close() error { return nil }

// openedFile is a file of a checkpoint with what it says about the table.
type openedFile struct {
	file     parquetFile
	protocol *action.Protocol
	metadata *action.Metadata
	sidecars []action.Sidecar
}

// openWithHead opens a file of the checkpoint and reads protocol, metadata and sidecars.
func (l Log) openWithHead(ctx context.Context, f parquetFile, emit func(openedFile) error) error {
	r := openedFile{file: f}
	file, err := l.open(ctx, &r.file)
	if err != nil {
		return deltaerr.Annotate(err, deltaerr.File(f.path))
	}
	err = r.readHeads(ctx, file)
	if closing := file.Close(); err == nil {
		err = closing
	}
	if err != nil {
		return deltaerr.Annotate(err, deltaerr.File(f.path))
	}
	return emit(r)
}

// openSidecar makes sure that a sidecar is there and has a footer.
func (l Log) openSidecar(ctx context.Context, f parquetFile, emit func(parquetFile) error) error {
	file, err := l.open(ctx, &f)
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		return deltaerr.Annotate(err, deltaerr.File(f.path))
	}
	return emit(f)
}

// readHeads looks through the row groups, and where no sidecar can be (C2) no further than to protocol and metadata.
func (r *openedFile) readHeads(ctx context.Context, file *parquetio.File) error {
	_, all := findField(file.Fields(), "sidecar.path")
	leaves := leavesOf(file.Fields(), headPaths...)
	if len(leaves) == 0 {
		return nil
	}
	for group := range file.RowGroups() {
		for batch, err := range file.ReadRowGroup(ctx, group, leaves) {
			if err != nil {
				return err
			}
			columns, err := bindHeads(batch)
			if err == nil {
				r.take(columns, int(batch.NumRows()))
			}
			batch.Release()
			if err != nil {
				return err
			}
			if !all && r.protocol != nil && r.metadata != nil {
				return nil
			}
		}
	}
	return nil
}

func (r *openedFile) take(columns headColumns, rows int) {
	for row := range rows {
		if p := columns.protocol.get(row); p != nil {
			r.protocol = p
		}
		if m := columns.metadata.get(row); m != nil {
			r.metadata = m
		}
		if s := columns.sidecar.get(row); s != nil {
			r.sidecars = append(r.sidecars, *s)
		}
	}
}

func each[T any](list []T) iter.Seq2[T, error] {
	return func(yield func(T, error) bool) {
		for _, v := range list {
			if !yield(v, nil) {
				return
			}
		}
	}
}
