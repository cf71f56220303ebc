package parquetio

import (
	"context"
	"errors"
	"io"
)

// source reads the bytes of a file. It lives as long as one read of a row group and belongs to one goroutine; what calls it
// is called by arrow-go, which passes no context on, so the source carries it.
type source struct {
	ctx  context.Context //nolint:containedctx // arrow-go's readers have none
	file *File
	err  error // the first failure: arrow-go does not pass all of them on
}

// ReadAt fills p or fails: what ends early is io.ErrUnexpectedEOF.
func (s *source) ReadAt(p []byte, off int64) error {
	if s.err == nil {
		s.err = s.ctx.Err()
	}
	if s.err == nil {
		s.err = s.file.readFull(s.ctx, p, off)
	}
	return s.err
}

// readFull reads bytes of the file: those at its end are known since the footer was read.
func (f *File) readFull(ctx context.Context, p []byte, off int64) error {
	if n := f.size - off; off >= f.size-int64(len(f.tail)) && n >= int64(len(p)) {
		copy(p, f.tail[off-(f.size-int64(len(f.tail))):])
		return nil
	}
	n, err := f.object.ReadAt(ctx, p, off)
	if n == len(p) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return tooShort(off+int64(n), off+int64(len(p)))
	}
	return err
}
