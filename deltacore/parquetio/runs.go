package parquetio

import (
	"encoding/binary"
	"errors"
	"math/bits"

	"github.com/apache/arrow-go/v18/parquet"
)

// runs are the levels of a page, or indexes of a dictionary: runs of one, and of some that are packed bit by bit.
type runs struct {
	bytes   []byte
	width   int    // bits of a level; 0: there are none
	count   int    // of levels
	highest uint64 // the level that stands for a value
	packed  bool   // in the encoding of old: one packed run without a head, from the highest bit on
}

var errLevels = errors.New("the levels of a page do not fit into it: damaged")

// cut takes the levels of a page of version 1 off its data.
func (r *runs) cut(data []byte, encoding parquet.Encoding) ([]byte, error) {
	if r.width == 0 {
		return data, nil
	}
	skip, size := 4, (r.count*r.width+7)/8
	switch r.packed = encoding == parquet.Encodings.BitPacked; {
	case r.packed:
		skip = 0
	case encoding != parquet.Encodings.RLE:
		return nil, errLevels
	default:
		if len(data) < skip {
			return nil, errLevels
		}
		size = int(binary.LittleEndian.Uint32(data))
	}
	if size > len(data)-skip {
		return nil, errLevels
	}
	r.bytes = data[skip : skip+size]
	return data[skip+size:], nil
}

// run is some of the levels: one level n times, or packed ones.
type run struct {
	n      int
	level  uint64
	packed []byte // nil for one level
}

// each calls f with the runs, and returns whether they are as many levels as there have to be. It does not look into packed
// ones.
func (r *runs) each(f func(run)) bool {
	if r.width == 0 || r.packed {
		return true
	}
	w := walker{rest: r.bytes}
	for left := r.count; left > 0; {
		head, err := w.varint()
		if err != nil || head>>1 == 0 || head>>1 >= 1<<31 {
			return false
		}
		next, size := run{n: min(left, int(head>>1))}, (r.width+7)/8
		if head&1 == 1 {
			groups := int(head >> 1)
			next.n = min(left, groups*8)
			if size = groups * r.width; size > len(w.rest) && groups == (left+7)/8 {
				size = (left*r.width + 7) / 8 // writers of old leave out what fills up the last group
			}
		}
		if size > len(w.rest) {
			return false
		}
		if head&1 == 1 {
			next.packed = w.rest[:size]
		} else {
			for i, b := range w.rest[:size] {
				next.level |= uint64(b) << (8 * i)
			}
		}
		w.rest = w.rest[size:]
		left -= next.n
		f(next)
	}
	return true
}

func (r *runs) fit() bool { return r.each(func(run) {}) }

// countHighest counts the levels that stand for a value.
func (r *runs) countHighest() (n int) {
	if r.width == 0 {
		return r.count
	}
	if r.packed {
		return r.countPacked()
	}
	r.each(func(next run) {
		if next.packed == nil {
			if next.level == r.highest {
				n += next.n
			}
			return
		}
		if r.width == 1 {
			n += setBits(next.packed, next.n)
			return
		}
		levels := bitReader{rest: next.packed}
		for range next.n {
			if level, _ := levels.take(r.width); level == r.highest {
				n++
			}
		}
	})
	return n
}

// beginsWith says whether the first of the levels is the given one.
func (r *runs) beginsWith(level uint64) (is bool) {
	if r.packed || r.count == 0 {
		return false
	}
	first := true
	r.each(func(next run) {
		if !first {
			return
		}
		first = false
		if next.packed != nil {
			levels := bitReader{rest: next.packed}
			next.level, _ = levels.take(r.width)
		}
		is = next.level == level
	})
	return is
}

// setBits counts the bits that are set among the first n.
func setBits(packed []byte, n int) (set int) {
	for _, b := range packed[:n/8] {
		set += bits.OnesCount8(b)
	}
	if n%8 > 0 {
		set += bits.OnesCount8(packed[n/8] << (8 - n%8))
	}
	return set
}

// countPacked counts in the encoding of old.
func (r *runs) countPacked() (n int) {
	for i := range r.count {
		var level uint64
		for bit := i * r.width; bit < (i+1)*r.width; bit++ {
			level = level<<1 | uint64(r.bytes[bit/8]>>(7-bit%8)&1)
		}
		if level == r.highest {
			n++
		}
	}
	return n
}
