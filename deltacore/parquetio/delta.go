package parquetio

import (
	"encoding/binary"
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/parquet"
)

// maxMiniBlock is how many values are packed together at most: arrow-go makes room for as many as the page says. Writers
// take 32.
const maxMiniBlock = 1 << 16

// deltaSize checks what a page of count delta-encoded values says of itself, and returns the bytes that arrow-go
// allocates beside its allocator to decode it.
func deltaSize(page []byte, encoding parquet.Encoding, count int) (int64, error) {
	if count == 0 {
		return 0, nil
	}
	first := deltaRun{rest: page}
	if err := first.begin(count); err != nil {
		return 0, err
	}
	switch encoding {
	case parquet.Encodings.DeltaBinaryPacked:
		return int64(first.mini) * 16, nil
	case parquet.Encodings.DeltaLengthByteArray:
		return int64(count)*4 + int64(first.mini)*16, nil
	}
	prefixes, err := first.sum()
	if err != nil {
		return 0, err
	}
	second := deltaRun{rest: first.rest}
	if err := second.begin(count); err != nil {
		return 0, err
	}
	suffixes, err := second.sum()
	if err != nil {
		return 0, err
	}
	return prefixes + suffixes + int64(count)*8, nil
}

// deltaRun are numbers in the encoding DELTA_BINARY_PACKED.
type deltaRun struct {
	rest   []byte
	total  int
	minis  int // in a block
	mini   int // numbers in each
	number int64
}

var errDeltaEnd = errors.New("it ends in the middle")

// begin reads the header.
func (d *deltaRun) begin(count int) error {
	w := walker{rest: d.rest}
	var head [3]uint64
	for i := range head {
		v, err := w.varint()
		if err != nil {
			return errDeltaEnd
		}
		head[i] = v
	}
	number, err := w.zigzag()
	block, minis, total := head[0], head[1], head[2]
	switch {
	case err != nil:
		return errDeltaEnd
	case minis == 0 || block%minis != 0 || block/minis == 0 || block/minis > maxMiniBlock || block/minis%8 != 0 || minis > maxMiniBlock:
		return fmt.Errorf("it packs %d values in %d parts", block, minis)
	case total != uint64(count):
		return fmt.Errorf("it says that there are %d values, its levels %d", total, count)
	}
	d.rest, d.total, d.minis, d.mini, d.number = w.rest, count, int(minis), int(block/minis), number
	return nil
}

// sum adds the numbers up and goes behind them. They are lengths: none is negative.
func (d *deltaRun) sum() (sum int64, err error) {
	if sum, err = d.add(0); err != nil {
		return 0, err
	}
	for left := d.total - 1; left > 0; {
		w := walker{rest: d.rest}
		least, err := w.zigzag()
		if err != nil || len(w.rest) < d.minis {
			return 0, errDeltaEnd
		}
		widths := w.rest[:d.minis]
		d.rest = w.rest[d.minis:]
		for i := 0; i < d.minis && left > 0; i++ {
			n := min(left, d.mini)
			if sum, err = d.part(sum, least, partSize{n: n, width: int(widths[i])}); err != nil {
				return 0, err
			}
			left -= n
		}
	}
	return sum, nil
}

// partSize is how many numbers of a part are meant, and their bits.
type partSize struct{ n, width int }

func (d *deltaRun) part(sum, least int64, size partSize) (int64, error) {
	if size.width > 64 {
		return 0, fmt.Errorf("a number has %d bits", size.width)
	}
	r := bitReader{rest: d.rest}
	for range size.n {
		delta, ok := r.take(size.width)
		if !ok {
			return 0, errDeltaEnd
		}
		d.number = int64(int32(d.number + least + int64(delta)))
		var err error
		if sum, err = d.add(sum); err != nil {
			return 0, err
		}
	}
	d.rest = d.rest[min(len(d.rest), d.mini*size.width/8):]
	return sum, nil
}

func (d *deltaRun) add(sum int64) (int64, error) {
	if d.number < 0 {
		return 0, fmt.Errorf("a length is %d", d.number)
	}
	return sum + d.number, nil
}

// bitReader takes numbers off bytes, from the lowest bit on.
type bitReader struct {
	rest []byte
	used int // bits of rest
}

func (r *bitReader) take(width int) (uint64, bool) {
	if r.used+width > len(r.rest)*8 {
		return 0, false
	}
	if width == 0 {
		return 0, true
	}
	var word [16]byte
	copy(word[:], r.rest[r.used/8:])
	shift := r.used % 8
	v := binary.LittleEndian.Uint64(word[:]) >> shift
	if shift > 0 {
		v |= binary.LittleEndian.Uint64(word[8:]) << (64 - shift)
	}
	r.used += width
	return v & (1<<width - 1), true
}
