package rowfilter

import (
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"
)

// words tests numbers in the order of their words, without looking at which rows are left in one.
type words[T arrow.FixedWidthType] struct {
	passed func(values []T) uint64 // of up to 64 values, the first one's bit is the lowest
	price  int
}

func (t words[T]) keep(a arrow.Array, rows []uint64, flip uint64) {
	values := arrow.GetValues[T](a.Data(), 1)
	for i, left := range rows {
		if left != 0 {
			rows[i] &= t.passed(values[64*i:min(64*i+64, len(values))]) ^ flip
		}
	}
}

func (t words[T]) cost() int { return t.price }

// members tests the numbers of the rows that are left, one by one.
type members[T arrow.FixedWidthType] struct{ has func(T) bool }

func (t members[T]) keep(a arrow.Array, rows []uint64, flip uint64) {
	values := arrow.GetValues[T](a.Data(), 1)
	for i, left := range rows {
		var passed uint64
		for rest := left; rest != 0; rest &= rest - 1 {
			passed |= bit(t.has(values[64*i+bits.TrailingZeros64(rest)])) << bits.TrailingZeros64(rest)
		}
		rows[i] &= passed ^ flip
	}
}

func (t members[T]) cost() int { return 8 }

// shortList is up to how many numbers are compared one by one.
const shortList = 8

// bit is 1 for true. The compiler makes no branch of it.
func bit(b bool) uint64 {
	if b {
		return 1
	}
	return 0
}
