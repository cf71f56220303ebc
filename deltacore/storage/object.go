package storage

import "context"

// Object is one object that is read many times. It is safe for concurrent use; the opener closes it when no read runs.
type Object interface {
	// ReadAt is as [Store].ReadAt. A store that can hold on to one state of an object does: later changes are not seen.
	ReadAt(ctx context.Context, buf []byte, off int64) (n int, err error)

	// Size is the object's size in bytes, -1 when the store would need a request to know it.
	Size() int64

	Close() error
}

// Opener is what a [Store] implements too where opening an object once makes its reads cheaper, or keeps them from
// mixing two states of it.
type Opener interface {
	// Open opens the object at path. A missing one is reported here or by the first ReadAt.
	Open(ctx context.Context, path string) (Object, error)
}

// OpenObject opens the object at path. Where the store is no [Opener] it costs nothing, and a missing object is
// reported by the first ReadAt.
func OpenObject(ctx context.Context, store Store, path string) (Object, error) {
	if o, ok := store.(Opener); ok {
		return o.Open(ctx, path)
	}
	return pathObject{store, path}, nil
}

// pathObject reads through its store by path.
type pathObject struct {
	store Store
	path  string
}

func (o pathObject) ReadAt(ctx context.Context, buf []byte, off int64) (int, error) {
	return o.store.ReadAt(ctx, o.path, buf, off)
}

func (o pathObject) Size() int64 { return -1 }

func (o pathObject) Close() error { return nil }

// objectReader streams an object. It reads as long as its context lasts.
type objectReader struct {
	Object
	ctx context.Context //nolint:containedctx // of the call that opened the stream: an io.Reader has none
	off int64
}

func (r *objectReader) Read(buf []byte) (int, error) {
	n, err := r.ReadAt(r.ctx, buf, r.off)
	r.off += int64(n)
	return n, err
}
