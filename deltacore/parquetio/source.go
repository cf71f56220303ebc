package parquetio

import (
	"context"
	"errors"
	"io"
)

// source gives arrow-go the bytes of a file. It lives as long as one read of a row group and belongs to one goroutine;
// arrow-go's readers have no context, so the source carries it.
type source struct {
	ctx   context.Context //nolint:containedctx // arrow-go's readers have none
	file  *File
	pages pageChecks
	err   error // the first failure: arrow-go does not pass all of them on
}

// ReadAt fills p or fails: what ends early is io.ErrUnexpectedEOF, since arrow-go takes io.EOF for a clean end.
func (s *source) ReadAt(p []byte, off int64) (int, error) {
	if s.err != nil {
		return 0, s.err
	}
	if s.err = s.ctx.Err(); s.err != nil {
		return 0, s.err
	}
	n, err := s.file.object.ReadAt(s.ctx, p, off)
	if n == len(p) {
		s.err = s.pages.see(off, p)
		return n, s.err
	}
	if err == nil || errors.Is(err, io.EOF) {
		err = tooShort(off+int64(n), off+int64(len(p)))
	}
	s.err = err
	return n, err
}
