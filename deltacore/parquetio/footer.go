package parquetio

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

const (
	trailerSize = 8               // footer length and magic
	minFileSize = 4 + trailerSize // magic, empty footer, trailer
	maxFooter   = int64(64 << 20) // of a million column chunks; parsed it takes several times as much
	magic       = "PAR1"          //
	magicSecret = "PARE"          // the footer is encrypted
)

// tail fetches a file's footer from its end.
type tail struct {
	object storage.Object
	first  int64 // bytes read first
	stat   func(context.Context) (storage.Entry, error)
	kept   []byte // the end of the file as far as it has been read
}

// read returns the footer's bytes and the file's size. believed is what the log says of it, 0 when nothing. When the
// bytes do not look right the belief may be wrong, so the store is asked (protocol Q8).
func (t *tail) read(ctx context.Context, believed int64) ([]byte, int64, error) {
	if size := t.object.Size(); size >= 0 {
		footer, err := t.readSized(ctx, size)
		return footer, size, err
	}
	var failure error
	if believed > 0 {
		footer, err := t.readSized(ctx, believed)
		if err == nil || deltaerr.KindOf(err) != deltaerr.Corrupt {
			return footer, believed, err
		}
		failure = err
	}
	entry, err := t.stat(ctx)
	if err != nil {
		return nil, 0, err
	}
	if failure != nil && entry.Size == believed {
		return nil, 0, failure
	}
	footer, err := t.readSized(ctx, entry.Size)
	return footer, entry.Size, err
}

func (t *tail) readSized(ctx context.Context, size int64) ([]byte, error) {
	if size < minFileSize {
		return nil, deltaerr.New(deltaerr.Corrupt,
			fmt.Sprintf("a Parquet file has at least %d bytes, this one has %d", minFileSize, size))
	}
	end := make([]byte, min(size, max(t.first, trailerSize)))
	if err := t.readFull(ctx, end, size-int64(len(end))); err != nil {
		return nil, err
	}
	t.kept = end
	trailer := end[len(end)-trailerSize:]
	length, err := footerLength(trailer, size)
	if err != nil {
		return nil, err
	}
	end = end[:len(end)-trailerSize]
	if missing := length - int64(len(end)); missing > 0 {
		footer := make([]byte, length)
		copy(footer[missing:], end)
		return footer, t.readFull(ctx, footer[:missing], size-trailerSize-length)
	}
	return end[int64(len(end))-length:], nil
}

// footerLength checks the last eight bytes of a file.
func footerLength(trailer []byte, size int64) (int64, error) {
	length := int64(binary.LittleEndian.Uint32(trailer))
	switch found := string(trailer[4:]); {
	case found == magicSecret:
		return 0, deltaerr.New(deltaerr.Unsupported, "the file is encrypted", deltaerr.Hint("encrypted Parquet files cannot be read"))
	case found != magic:
		return 0, deltaerr.New(deltaerr.Corrupt,
			fmt.Sprintf("not a Parquet file, or cut short: it ends with %q instead of %q", found, magic))
	case length > size-minFileSize:
		return 0, deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("the footer claims %d bytes, the file has %d", length, size))
	case length > maxFooter:
		return 0, deltaerr.New(deltaerr.Unsupported, fmt.Sprintf("the footer has %d bytes, at most %d are read", length, maxFooter))
	}
	return length, nil
}

func (t *tail) readFull(ctx context.Context, buf []byte, off int64) error {
	n, err := t.object.ReadAt(ctx, buf, off)
	if n == len(buf) {
		return nil
	}
	if err == nil || errors.Is(err, io.EOF) {
		return tooShort(off+int64(n), off+int64(len(buf)))
	}
	return err
}

// tooShort says that the file ends before the bytes that should be there.
func tooShort(size, want int64) error {
	return deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("the file ends at byte %d, %d bytes are needed", size, want),
		deltaerr.Cause(io.ErrUnexpectedEOF))
}
