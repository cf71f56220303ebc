package parquetio

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/golang/snappy"
	"github.com/klauspost/compress/zstd"
)

// arrow-go's codecs let the packed bytes decide how much is unpacked: a Snappy block of ten bytes may ask for four
// gigabytes. Here the page header decides, whose numbers have been checked. There is one table of codecs in a process,
// so these replace arrow-go's; they only refuse more.
func init() {
	for c, decode := range map[compress.Compression]decodeFunc{
		compress.Codecs.Snappy: decodeSnappy,
		compress.Codecs.Zstd:   decodeZstd,
		compress.Codecs.Gzip:   decodeInto,
		compress.Codecs.Brotli: decodeInto,
	} {
		compress.RegisterCodec(c, boundedCodec{builtIn[streamingCodec](c), decode})
	}
	raw := rawLZ4{builtIn[compress.ErrorCodec](compress.Codecs.Lz4Raw)}
	compress.RegisterCodec(compress.Codecs.Lz4Raw, raw)
	compress.RegisterCodec(compress.Codecs.Lz4, hadoopLZ4{raw})
}

// builtIn returns a codec of arrow-go, which has all that are asked for.
func builtIn[C compress.Codec](c compress.Compression) C {
	codec, err := compress.GetCodec(c)
	if err != nil {
		panic(err)
	}
	typed, ok := codec.(C)
	if !ok {
		panic(fmt.Sprintf("the codec %s of arrow-go is a %T", c, codec))
	}
	return typed
}

type streamingCodec interface {
	compress.StreamingCodec
	compress.ErrorCodec
}

// decodeFunc unpacks src into dst, which has the size that the page header says.
type decodeFunc func(base compress.ErrorCodec, dst, src []byte) ([]byte, error)

type boundedCodec struct {
	streamingCodec
	decode decodeFunc
}

// Decode panics where DecodeWithError fails.
func (c boundedCodec) Decode(dst, src []byte) []byte { return mustDecode(c, dst, src) }

func mustDecode(c compress.ErrorCodec, dst, src []byte) []byte {
	out, err := c.DecodeWithError(dst, src)
	if err != nil {
		panic(err)
	}
	return out
}

// DecodeWithError unpacks len(dst) bytes, neither more nor fewer.
func (c boundedCodec) DecodeWithError(dst, src []byte) ([]byte, error) {
	out, err := c.decode(c.streamingCodec, dst, src)
	switch {
	case err != nil:
		return nil, err
	case len(out) != len(dst):
		return nil, fmt.Errorf("%d bytes are unpacked for a page of %d", len(out), len(dst))
	case len(out) > 0 && &out[0] != &dst[0]: // arrow-go goes on with dst
		copy(dst, out)
	}
	return dst, nil
}

// decodeSnappy unpacks with another decoder than arrow-go's, which knows an extension of the format: there a copy of offset 0
// repeats the one before. In a Parquet file that is damage.
func decodeSnappy(_ compress.ErrorCodec, dst, src []byte) ([]byte, error) {
	if n, used := binary.Uvarint(src); used > 0 && n > uint64(len(dst)) {
		return nil, fmt.Errorf("a Snappy block of %d bytes for a page of %d", n, len(dst))
	}
	return snappy.Decode(dst, src)
}

// decodeInto is for codecs that stop at the end of a dst that is not nil.
func decodeInto(base compress.ErrorCodec, dst, src []byte) ([]byte, error) {
	if dst == nil {
		dst = []byte{}
	}
	return base.DecodeWithError(dst, src)
}

var zstdDecoder = func() *zstd.Decoder {
	d, err := zstd.NewReader(nil, zstd.WithDecoderConcurrency(0), zstd.WithDecodeAllCapLimit(true))
	if err != nil {
		panic(err) // the options are constants
	}
	return d
}()

func decodeZstd(_ compress.ErrorCodec, dst, src []byte) ([]byte, error) {
	return zstdDecoder.DecodeAll(src, dst[:0:len(dst)])
}

// rawLZ4 keeps an empty dst from the assembler of the LZ4 package, which writes to it.
type rawLZ4 struct{ compress.ErrorCodec }

// DecodeWithError unpacks at most len(dst) bytes.
func (c rawLZ4) DecodeWithError(dst, src []byte) ([]byte, error) {
	if len(dst) > 0 {
		return c.ErrorCodec.DecodeWithError(dst, src)
	}
	if len(src) > 1 { // one byte is the empty block
		return nil, fmt.Errorf("an LZ4 block of %d bytes for an empty page", len(src))
	}
	return dst, nil
}

// Decode panics where DecodeWithError fails.
func (c rawLZ4) Decode(dst, src []byte) []byte { return mustDecode(c, dst, src) }

// hadoopLZ4 is the codec LZ4 of the Parquet specification: blocks in Hadoop's framing. Some writers left the framing out
// (protocol Q3).
type hadoopLZ4 struct{ rawLZ4 }

// DecodeWithError unpacks at most len(dst) bytes.
func (c hadoopLZ4) DecodeWithError(dst, src []byte) ([]byte, error) {
	if err := c.decodeFramed(dst, src); err == nil {
		return dst, nil
	}
	return c.rawLZ4.DecodeWithError(dst, src)
}

// Decode panics where DecodeWithError fails.
func (c hadoopLZ4) Decode(dst, src []byte) []byte { return mustDecode(c, dst, src) }

var errNotFramed = errors.New("no Hadoop framing")

// decodeFramed reads blocks of an unpacked size and one or more chunks, each a packed size and its bytes.
func (c hadoopLZ4) decodeFramed(dst, src []byte) error {
	for len(src) > 0 {
		size, rest, ok := uint32At(src)
		if !ok || size > len(dst) {
			return errNotFramed
		}
		block := dst[:size]
		dst, src = dst[size:], rest
		for len(block) > 0 {
			packed, rest, ok := uint32At(src)
			if !ok || packed > len(rest) {
				return errNotFramed
			}
			out, err := c.rawLZ4.DecodeWithError(block, rest[:packed])
			if err != nil || len(out) == 0 {
				return errNotFramed
			}
			block, src = block[len(out):], rest[packed:]
		}
	}
	if len(dst) > 0 {
		return errNotFramed
	}
	return nil
}

func uint32At(b []byte) (v int, rest []byte, ok bool) {
	if len(b) < 4 {
		return 0, nil, false
	}
	return int(binary.BigEndian.Uint32(b)), b[4:], true
}
