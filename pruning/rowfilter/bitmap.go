package rowfilter

import (
	"encoding/binary"
	"math/bits"
)

// bitmap is an Arrow bitmap that begins inside a byte.
type bitmap struct {
	bytes  []byte
	offset int // of the first row, in bits
}

// word returns the bits of rows 64i to 64i+63; those beyond the bitmap's bytes are 0.
func (b bitmap) word(i int) uint64 {
	at := b.offset + 64*i
	rest := b.bytes[at/8:]
	shift := at % 8
	if len(rest) > 8 {
		return binary.LittleEndian.Uint64(rest)>>shift | uint64(rest[8])<<(64-shift)
	}
	var padded [8]byte
	copy(padded[:], rest)
	return binary.LittleEndian.Uint64(padded[:]) >> shift
}

// allRows returns a bitmap of n rows, all in it, in the memory of buf where that suffices.
func allRows(buf []uint64, n int) []uint64 {
	rows := resized(buf, (n+63)/64)
	for i := range rows {
		rows[i] = ^uint64(0)
	}
	if n%64 != 0 {
		rows[len(rows)-1] >>= 64 - n%64
	}
	return rows
}

func resized(buf []uint64, words int) []uint64 {
	if cap(buf) < words {
		return make([]uint64, words)
	}
	return buf[:words]
}

func countRows(rows []uint64) int64 {
	var n int
	for _, w := range rows {
		n += bits.OnesCount64(w)
	}
	return int64(n)
}

func anyRow(rows []uint64) bool {
	for _, w := range rows {
		if w != 0 {
			return true
		}
	}
	return false
}

// spare is a stack of bitmaps: its depth is that of the predicate, not its length.
type spare struct {
	bitmaps [][]uint64
	lent    int
}

// lend returns a copy of rows, to be given back in reverse order.
func (s *spare) lend(rows []uint64) []uint64 {
	if s.lent == len(s.bitmaps) {
		s.bitmaps = append(s.bitmaps, nil)
	}
	b := resized(s.bitmaps[s.lent], len(rows))
	s.bitmaps[s.lent] = b
	s.lent++
	copy(b, rows)
	return b
}

func (s *spare) giveBack() { s.lent-- }
