package storage

import (
	"context"
	"errors"
	"io"
	"io/fs"
	"iter"
	"os"
	"path/filepath"
	"syscall"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// local is the store of a directory. Symbolic links are followed wherever they lead, as all readers of local tables do:
// tables are spread over disks by links, and who may write them into a table may write its rows as well. Only paths are
// kept inside: one that leaves the root by ".." is refused. Pipes, sockets and devices are no objects.
type local struct{ root string }

// NewLocal returns the store of a local directory, which need not exist. It is an [Opener]: an open object is a file
// descriptor, so it reads one state even when the path is replaced meanwhile.
func NewLocal(root URI) (Store, error) {
	if root.Scheme != SchemeFile {
		return nil, deltaerr.New(deltaerr.Internal, "a local store needs a file: URI", deltaerr.Table(root.String()))
	}
	return local{root.Path}, nil
}

// listChunk is how many directory entries are held at once.
const listChunk = 256

func (s local) List(ctx context.Context, dir, startAfter string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for d, err := range s.readDir(ctx, dir) {
			if err != nil {
				yield(Entry{}, err)
				return
			}
			if d.IsDir() || d.Name() <= startAfter {
				continue
			}
			e, err := s.Stat(ctx, joinPath(dir, d.Name()))
			if errors.Is(err, fs.ErrNotExist) {
				continue // removed meanwhile, a link to nothing, or no regular file
			}
			if !yield(e, err) || err != nil {
				return
			}
		}
	}
}

// readDir yields what a directory holds, in no order; nothing when there is no directory.
func (s local) readDir(ctx context.Context, dir string) iter.Seq2[fs.DirEntry, error] {
	return func(yield func(fs.DirEntry, error) bool) {
		f, err := s.openDir(ctx, dir)
		if errors.Is(err, fs.ErrNotExist) {
			return
		}
		if err != nil {
			yield(nil, err)
			return
		}
		defer f.Close()
		for {
			found, err := f.ReadDir(listChunk)
			for _, d := range found {
				if !yield(d, nil) {
					return
				}
			}
			if err == io.EOF {
				return
			}
			if err != nil {
				yield(nil, localError(dirName(dir), err))
				return
			}
		}
	}
}

func (s local) openDir(ctx context.Context, dir string) (*os.File, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if dir != "" && !isClean(dir) {
		return nil, uncleanPath(dir)
	}
	name := s.name(dir)
	if info, err := os.Stat(name); err != nil {
		return nil, localError(dirName(dir), err)
	} else if !info.IsDir() {
		return nil, notFound(dir, "it is no directory")
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, localError(dirName(dir), err)
	}
	return f, nil
}

func (s local) ReadAt(ctx context.Context, path string, buf []byte, off int64) (int, error) {
	o, err := s.Open(ctx, path)
	if err != nil {
		return 0, err
	}
	defer o.Close()
	return o.ReadAt(ctx, buf, off)
}

func (s local) Get(ctx context.Context, path string) (io.ReadCloser, error) {
	o, err := s.Open(ctx, path)
	if err != nil {
		return nil, err
	}
	return &objectReader{Object: o, ctx: ctx}, nil
}

func (s local) Stat(ctx context.Context, path string) (Entry, error) {
	if err := ctx.Err(); err != nil {
		return Entry{}, err
	}
	if !isClean(path) {
		return Entry{}, uncleanPath(path)
	}
	info, err := os.Stat(s.name(path))
	switch {
	case err != nil:
		return Entry{}, localError(path, err)
	case info.IsDir():
		return Entry{}, notFound(path, "a directory stands in its place")
	case !info.Mode().IsRegular():
		return Entry{}, notFound(path, "it is no regular file")
	}
	return Entry{Path: path, Size: info.Size(), ModTime: info.ModTime()}, nil
}

// Open implements [Opener]. It looks before it opens: opening a pipe would block.
func (s local) Open(ctx context.Context, path string) (Object, error) {
	if _, err := s.Stat(ctx, path); err != nil {
		return nil, err
	}
	f, err := os.Open(s.name(path))
	if err != nil {
		return nil, localError(path, err)
	}
	info, err := f.Stat()
	if err != nil {
		f.Close()
		return nil, localError(path, err)
	}
	return localObject{f, path, info.Size()}, nil
}

func (s local) name(path string) string { return filepath.Join(s.root, filepath.FromSlash(path)) }

type localObject struct {
	file *os.File
	path string
	size int64
}

func (o localObject) ReadAt(ctx context.Context, buf []byte, off int64) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, negativeOffset(o.path)
	}
	n, err := o.file.ReadAt(buf, off)
	if err != nil && err != io.EOF { //nolint:errorlint // the bare io.EOF: a wrapped one is no end
		err = localError(o.path, err)
	}
	return n, err
}

func (o localObject) Size() int64 { return o.size }

func (o localObject) Close() error { return o.file.Close() }

// localError names the path instead of the machine's own and says what a caller can do.
func localError(path string, err error) error {
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return notFound(path, "")
	case errors.Is(err, syscall.ENOTDIR), errors.Is(err, syscall.ENAMETOOLONG), errors.Is(err, syscall.ELOOP):
		return notFound(path, err.Error())
	case errors.Is(err, fs.ErrPermission):
		return deltaerr.New(deltaerr.Denied, "", deltaerr.File(path), deltaerr.Cause(err),
			deltaerr.Hint("give the user of this process the right to read it"))
	case errors.Is(err, fs.ErrClosed):
		return deltaerr.New(deltaerr.Internal, "", deltaerr.File(path), deltaerr.Cause(err))
	default: // the device or the limits of the process: another try may succeed
		return deltaerr.New(deltaerr.Transient, "", deltaerr.File(path), deltaerr.Cause(err))
	}
}

// dirName names a directory in messages.
func dirName(dir string) string {
	if dir == "" {
		return "."
	}
	return dir + "/"
}
