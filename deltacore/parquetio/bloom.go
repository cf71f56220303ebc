package parquetio

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/cespare/xxhash/v2"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

const (
	bloomBlock    = 32
	maxBloom      = 8 << 20  // of which all is read
	mostBloom     = 1 << 30  // of which single blocks are read
	bloomAtOnce   = 64 << 10 // bytes that are read with the header
	bloomRequests = 8        // single blocks that are read before all of it is
	mostRequests  = 64       // single blocks that are read of one that is not read whole; it knows no more then
)

// Bloom is a bloom filter of a column chunk. It belongs to one goroutine.
type Bloom struct {
	file  *File
	off   int64  // of its bits
	size  int64  // bytes
	bits  []byte // as many as have been read from the beginning
	reads int    // of single blocks
}

// Bloom finds the bloom filter of a leaf in a row group; nil when there is none. wrong says why one that is there is not to be
// used; err is that of the store.
func (f *File) Bloom(ctx context.Context, rowGroup, leaf int) (b *Bloom, wrong, err error) {
	c := f.meta.RowGroups[rowGroup].Columns[leaf]
	if c.MetaData == nil || c.CryptoMetadata != nil || c.MetaData.BloomFilterOffset == nil {
		return nil, nil, nil
	}
	off := *c.MetaData.BloomFilterOffset
	room := f.size - trailerSize - off
	if off < 4 || room <= 0 {
		return nil, fmt.Errorf("a bloom filter begins at byte %d of %d", off, f.size), nil
	}
	if n := c.MetaData.BloomFilterLength; n != nil && *n > 0 {
		room = min(room, int64(*n))
	}
	head := make([]byte, min(room, bloomAtOnce))
	if err := f.readFull(ctx, head, off); err != nil {
		return nil, nil, deltaerr.Annotate(err, deltaerr.File(f.path), deltaerr.Phase("reading a bloom filter"))
	}
	size, rest, wrong := parseBloomHeader(head)
	if wrong != nil {
		return nil, wrong, nil
	}
	used := int64(len(head) - len(rest))
	if size > room-used {
		return nil, fmt.Errorf("a bloom filter of %d bytes has room for %d", size, room-used), nil
	}
	return &Bloom{file: f, off: off + used, size: size, bits: rest[:min(size, int64(len(rest)))]}, nil, nil
}

var errBloom = errors.New("a bloom filter is of a kind that is not known")

// parseBloomHeader reads a BloomFilterHeader of parquet.thrift.
func parseBloomHeader(b []byte) (size int64, rest []byte, err error) {
	w := &walker{rest: b, budget: freeCost}
	known := [5]bool{}
	err = w.fields(0, func(id int64, wire byte) (bool, error) {
		switch {
		case id == 1 && wire == wireI32:
			v, err := w.zigzag()
			size, known[1] = v, true
			return true, err
		case id >= 2 && id <= 4 && wire == wireStruct: // unions, of which the first is the only one
			return true, w.fields(1, func(which int64, _ byte) (bool, error) {
				known[id] = which == 1
				return false, nil
			})
		}
		return false, nil
	})
	switch {
	case err != nil:
		return 0, nil, err
	case !known[1] || !known[2] || !known[3] || !known[4]:
		return 0, nil, errBloom
	case size < bloomBlock || size%bloomBlock != 0 || size > mostBloom:
		return 0, nil, fmt.Errorf("a bloom filter has %d bytes", size)
	}
	return size, w.rest, nil
}

// MayHold says whether a value may be in the column chunk, by its bytes in the encoding PLAIN without the length of byte arrays.
// However many values are asked for, it makes no more than 64 requests.
func (b *Bloom) MayHold(ctx context.Context, plain []byte) (bool, error) {
	hash := xxhash.Sum64(plain)
	block := int64((hash >> 32) * uint64(b.size/bloomBlock) >> 32)
	bits, err := b.block(ctx, block*bloomBlock)
	return err != nil || bits == nil || inBlock(bits, uint32(hash)), err
}

// block returns a block of the filter; nil when no more are read.
func (b *Bloom) block(ctx context.Context, at int64) ([]byte, error) {
	switch {
	case at+bloomBlock <= int64(len(b.bits)):
		return b.bits[at : at+bloomBlock], nil
	case b.reads >= bloomRequests && b.size <= maxBloom:
		all := make([]byte, b.size)
		if err := b.file.readFull(ctx, all, b.off); err != nil {
			return nil, err
		}
		b.bits = all
		return all[at : at+bloomBlock], nil
	case b.reads >= mostRequests:
		return nil, nil
	}
	b.reads++
	one := make([]byte, bloomBlock)
	return one, b.file.readFull(ctx, one, b.off+at)
}

var bloomSalt = [8]uint32{0x47b6137b, 0x44974d91, 0x8824ad5b, 0xa2b7289d, 0x705495c7, 0x2df1424b, 0x9efc4947, 0x5c6bfb31}

// inBlock looks for the eight bits of a value.
func inBlock(block []byte, key uint32) bool {
	for i, salt := range bloomSalt {
		if binary.LittleEndian.Uint32(block[4*i:])&(1<<(key*salt>>27)) == 0 {
			return false
		}
	}
	return true
}

// HasBloom says whether the footer names a bloom filter.
func (f *File) HasBloom(rowGroup, leaf int) bool {
	c := f.meta.RowGroups[rowGroup].Columns[leaf]
	return c.MetaData != nil && c.CryptoMetadata == nil && c.MetaData.BloomFilterOffset != nil
}
