// Package dv answers which rows of a file are deleted: it finds, checks and decodes deletion vectors (protocol section 14).
//
// The bytes come from outside: sizes, checksums, cardinality and every bound are checked before a vector is returned, and a
// vector that does not hold exactly what its descriptor says is refused. What the rows mean is datafile's matter.
package dv

import (
	"math"
	"slices"

	"github.com/RoaringBitmap/roaring/v2"
)

// Vector is a set of physical row positions of one file. It is immutable and safe for concurrent use. A nil Vector is
// empty.
type Vector struct {
	parts []part // ascending by high
	count int64
}

// part holds the positions that share their upper 32 bits.
type part struct {
	high   uint32
	bitmap *roaring.Bitmap
}

// Cardinality is the number of positions.
func (v *Vector) Cardinality() int64 {
	if v == nil {
		return 0
	}
	return v.count
}

// Memory is what the vector takes in memory, in bytes.
func (v *Vector) Memory() (n int64) {
	if v == nil {
		return 0
	}
	for _, p := range v.parts {
		n += int64(p.bitmap.GetSizeInBytes())
	}
	return n
}

// Max is the greatest position, -1 for an empty vector.
func (v *Vector) Max() int64 {
	if v.Cardinality() == 0 {
		return -1
	}
	last := v.parts[len(v.parts)-1]
	return int64(last.high)<<32 | int64(last.bitmap.Maximum())
}

// Count is the number of positions in [first, first+n).
func (v *Vector) Count(first, n int64) int64 {
	if n <= 0 {
		return 0
	}
	return v.below(first+n) - v.below(first)
}

// below is the number of positions less than end.
func (v *Vector) below(end int64) (count int64) {
	if v == nil {
		return 0
	}
	for _, p := range v.parts {
		switch last := end - 1 - int64(p.high)<<32; {
		case last < 0:
			return count
		case last >= math.MaxUint32:
			count += int64(p.bitmap.GetCardinality())
		default:
			count += int64(p.bitmap.Rank(uint32(last)))
		}
	}
	return count
}

// Live returns the positions in [first, first+n) that are not in the vector, ascending. whole is true when that is all of
// them: then live is nil and nothing is allocated.
func (v *Vector) Live(first, n int64) (live []int64, whole bool) {
	deleted := v.within(first, n)
	if len(deleted) == 0 {
		return nil, true
	}
	live = make([]int64, 0, n-int64(len(deleted)))
	for row := first; row < first+n; row++ {
		if len(deleted) > 0 && deleted[0] == row {
			deleted = deleted[1:]
			continue
		}
		live = append(live, row)
	}
	return live, false
}

// within lists the positions of the vector in [first, first+n), ascending.
func (v *Vector) within(first, n int64) []int64 {
	if v == nil {
		return nil
	}
	var rows []int64
	start, _ := slices.BinarySearchFunc(v.parts, uint32(first>>32), func(p part, high uint32) int {
		return int(int64(p.high) - int64(high))
	})
	for _, p := range v.parts[start:] {
		base := int64(p.high) << 32
		if base >= first+n {
			break
		}
		it := p.bitmap.Iterator()
		if first > base {
			it.AdvanceIfNeeded(uint32(min(first-base, math.MaxUint32)))
		}
		for it.HasNext() {
			row := base | int64(it.Next())
			if row >= first+n {
				return rows
			}
			rows = append(rows, row)
		}
	}
	return rows
}
