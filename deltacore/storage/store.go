// Package storage answers "which bytes are at this path?" for every place a table can live.
//
// A [Store] is rooted at a table. Its paths are relative to that root, '/'-separated, and already decoded: percent
// decoding of log paths happens once, in [ResolvePath] (protocol H1), and encoding for the wire inside a store. Stores
// know nothing of Delta. Every store passes the suite in storagetest.
package storage

import (
	"context"
	"io"
	"iter"
	"time"
)

// Entry describes one object.
type Entry struct {
	Path    string // relative to the store's root, '/'-separated, decoded
	Size    int64  // bytes
	ModTime time.Time
}

// Store reads the objects of one table. Implementations are safe for concurrent use. Missing objects are reported by an
// error that is fs.ErrNotExist, refused ones by fs.ErrPermission or a deltaerr Denied, and what may succeed later by a
// deltaerr Transient.
type Store interface {
	// List yields the objects directly inside the directory dir (relative, "" is the root, no trailing slash) whose name
	// is greater than startAfter by bytes. Sub-directories are not entered. The order is not promised: callers sort. A
	// directory that does not exist yields nothing on object stores and on local ones alike. The sequence is lazy and
	// ends after its first error.
	List(ctx context.Context, dir, startAfter string) iter.Seq2[Entry, error]

	// ReadAt fills buf from offset off. As with io.ReaderAt, n < len(buf) comes with an error, which is io.EOF only when
	// the object ends there.
	ReadAt(ctx context.Context, path string, buf []byte, off int64) (n int, err error)

	// Get opens the whole object for streaming. The caller closes it.
	Get(ctx context.Context, path string) (io.ReadCloser, error)

	// Stat describes the object. A directory is not an object.
	Stat(ctx context.Context, path string) (Entry, error)
}
