package rowfilter

import (
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/benthos-delta/benthos-delta/pruning"
)

// texts are the values of a string or binary array. They are compared by bytes.
type texts struct {
	offsets []int32 // one more than values
	bytes   []byte
}

func textsOf(data arrow.ArrayData) texts {
	t := texts{offsets: arrow.GetOffsets[int32](data, 1)}
	if b := data.Buffers()[2]; b != nil {
		t.bytes = b.Bytes()
	}
	return t
}

func (t texts) at(i int) []byte { return t.bytes[t.offsets[i]:t.offsets[i+1]] }

// textTest tests the values of the rows that are left.
type textTest struct {
	passed func(t texts, first int, left uint64) uint64 // of the rows first + n for the bits n that are left
	price  int
}

func (t textTest) keep(a arrow.Array, rows []uint64, flip uint64) {
	values := textsOf(a.Data())
	for i, left := range rows {
		if left != 0 {
			rows[i] &= t.passed(values, 64*i, left) ^ flip
		}
	}
}

func (t textTest) cost() int { return t.price }

// compareText tests for =, < or <=.
func compareText(op pruning.Op, v string) valueTest {
	switch op {
	case pruning.Equal:
		return textTest{func(t texts, first int, left uint64) uint64 { return t.equal(v, first, left) }, 4}
	case pruning.Less:
		return textTest{func(t texts, first int, left uint64) uint64 { return t.less(v, first, left) }, 8}
	default:
		return textTest{func(t texts, first int, left uint64) uint64 { return ^t.greater(v, first, left) }, 8}
	}
}

func inTexts(values []string) valueTest {
	set := setOf(values)
	return textTest{func(t texts, first int, left uint64) uint64 { return t.in(set, first, left) }, 24}
}

// likeTest needs the pattern's own matcher only when more than a prefix is asked for.
func likeTest(p pruning.Pattern) valueTest {
	if p.IsPrefix() {
		return textTest{func(t texts, first int, left uint64) uint64 { return t.begin(p.Prefix, first, left) }, 5}
	}
	return textTest{func(t texts, first int, left uint64) uint64 { return t.like(p, first, left) }, 32}
}

func (t texts) equal(v string, first int, left uint64) uint64 {
	var passed uint64
	for ; left != 0; left &= left - 1 {
		passed |= bit(string(t.at(first+bits.TrailingZeros64(left))) == v) << bits.TrailingZeros64(left)
	}
	return passed
}

func (t texts) less(v string, first int, left uint64) uint64 {
	var passed uint64
	for ; left != 0; left &= left - 1 {
		passed |= bit(string(t.at(first+bits.TrailingZeros64(left))) < v) << bits.TrailingZeros64(left)
	}
	return passed
}

func (t texts) greater(v string, first int, left uint64) uint64 {
	var passed uint64
	for ; left != 0; left &= left - 1 {
		passed |= bit(string(t.at(first+bits.TrailingZeros64(left))) > v) << bits.TrailingZeros64(left)
	}
	return passed
}

func (t texts) begin(prefix string, first int, left uint64) uint64 {
	var passed uint64
	for ; left != 0; left &= left - 1 {
		v := t.at(first + bits.TrailingZeros64(left))
		passed |= bit(len(v) >= len(prefix) && string(v[:len(prefix)]) == prefix) << bits.TrailingZeros64(left)
	}
	return passed
}

func (t texts) like(p pruning.Pattern, first int, left uint64) uint64 {
	var passed uint64
	for left = t.begin(p.Prefix, first, left); left != 0; left &= left - 1 {
		passed |= bit(p.Match(t.at(first+bits.TrailingZeros64(left)))) << bits.TrailingZeros64(left)
	}
	return passed
}

func (t texts) in(set map[string]struct{}, first int, left uint64) uint64 {
	var passed uint64
	for ; left != 0; left &= left - 1 {
		_, found := set[string(t.at(first+bits.TrailingZeros64(left)))]
		passed |= bit(found) << bits.TrailingZeros64(left)
	}
	return passed
}
