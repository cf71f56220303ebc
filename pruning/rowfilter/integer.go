package rowfilter

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/benthos-delta/benthos-delta/pruning"
)

// integerPlan is an integer test for a column of any width: a list of values, ascending, or a range.
type integerPlan struct {
	values    []int64
	low, high int64
}

// compareInteger returns the plan of =, < or <=.
func compareInteger(op pruning.Op, v int64) integerPlan {
	switch {
	case op == pruning.Equal:
		return integerPlan{low: v, high: v}
	case op == pruning.LessEqual:
		return integerPlan{low: math.MinInt64, high: v}
	case v == math.MinInt64:
		return integerPlan{values: []int64{}}
	default:
		return integerPlan{low: math.MinInt64, high: v - 1}
	}
}

// inIntegers returns the plan of IN; the values ascend without repetition.
func inIntegers(values []int64) integerPlan {
	low, high := values[0], values[len(values)-1]
	if uint64(high)-uint64(low) == uint64(len(values)-1) {
		return integerPlan{low: low, high: high}
	}
	return integerPlan{values: values}
}

// integer is what Arrow arrays of integers, dates and timestamps consist of.
type integer interface{ int8 | int16 | int32 | int64 }

// ofWidth returns the plan's test for an Arrow type. Literals beyond the type's range do no harm: all is compared as int64.
func ofWidth(t arrow.DataType, p integerPlan) valueTest {
	switch t.ID() {
	case arrow.INT8:
		return integerTest[int8](p)
	case arrow.INT16:
		return integerTest[int16](p)
	case arrow.INT32, arrow.DATE32:
		return integerTest[int32](p)
	default:
		return integerTest[int64](p)
	}
}

func integerTest[T integer](p integerPlan) valueTest {
	switch {
	case p.values == nil:
		low, span := p.low, uint64(p.high)-uint64(p.low)
		return words[T]{func(values []T) uint64 { return within(values, low, span) }, 1}
	case len(p.values) <= shortList:
		return words[T]{func(values []T) uint64 { return among(values, p.values) }, len(p.values)}
	default:
		set := newIntegers(p.values)
		return members[T]{func(v T) bool { return set.has(int64(v)) }}
	}
}

// within has no branches: a value is in a range when its distance from the low end, as an unsigned number, is.
func within[T integer](values []T, low int64, span uint64) uint64 {
	var passed uint64
	for i := len(values) - 1; i >= 0; i-- {
		passed = passed<<1 | bit(uint64(int64(values[i])-low) <= span)
	}
	return passed
}

func among[T integer](values []T, wanted []int64) uint64 {
	var passed uint64
	for _, w := range wanted {
		passed |= within(values, w, 0)
	}
	return passed
}
