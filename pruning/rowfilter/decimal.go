package rowfilter

import (
	"math/bits"

	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/benthos-delta/benthos-delta/pruning"
)

// compareDecimal tests unscaled values for =, < or <= a value of the same scale.
func compareDecimal(op pruning.Op, v pruning.Int128) valueTest {
	switch op {
	case pruning.Equal:
		return words[decimal128.Num]{func(values []decimal128.Num) uint64 { return decimalsEqual(values, v) }, 1}
	case pruning.Less:
		return words[decimal128.Num]{func(values []decimal128.Num) uint64 { return decimalsLess(values, v) }, 2}
	default:
		return words[decimal128.Num]{func(values []decimal128.Num) uint64 { return ^decimalsGreater(values, v) }, 2}
	}
}

func inDecimals(values []pruning.Value) valueTest {
	set := setOf(mapped(values, func(v pruning.Value) pruning.Int128 { return v.Decimal }))
	return members[decimal128.Num]{func(v decimal128.Num) bool {
		_, found := set[pruning.Int128{High: v.HighBits(), Low: v.LowBits()}]
		return found
	}}
}

func decimalsEqual(values []decimal128.Num, to pruning.Int128) uint64 {
	var passed uint64
	for i := len(values) - 1; i >= 0; i-- {
		v := values[i]
		passed = passed<<1 | bit(uint64(v.HighBits()^to.High)|(v.LowBits()^to.Low) == 0)
	}
	return passed
}

func decimalsLess(values []decimal128.Num, than pruning.Int128) uint64 {
	var passed uint64
	low, high := than.Low, ordered(than.High)
	for i := len(values) - 1; i >= 0; i-- {
		_, borrow := bits.Sub64(values[i].LowBits(), low, 0)
		_, borrow = bits.Sub64(ordered(values[i].HighBits()), high, borrow)
		passed = passed<<1 | borrow
	}
	return passed
}

func decimalsGreater(values []decimal128.Num, than pruning.Int128) uint64 {
	var passed uint64
	low, high := than.Low, ordered(than.High)
	for i := len(values) - 1; i >= 0; i-- {
		_, borrow := bits.Sub64(low, values[i].LowBits(), 0)
		_, borrow = bits.Sub64(high, ordered(values[i].HighBits()), borrow)
		passed = passed<<1 | borrow
	}
	return passed
}

// ordered returns an unsigned number that has v's place in the order.
func ordered(v int64) uint64 { return uint64(v) ^ 1<<63 }
