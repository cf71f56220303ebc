package rowfilter

import (
	"github.com/benthos-delta/benthos-delta/pruning"
)

// The order of floats is Spark's: -0 equals 0, every NaN equals every NaN and is above all numbers. The processor's
// comparisons are false of NaN, which suits =, < and <= with a number on the right.

type float interface{ float32 | float64 }

// compareFloat tests for =, < or <=.
func compareFloat[T float](op pruning.Op, v T) valueTest {
	if v != v {
		return words[T]{compareNaN[T](op), 1}
	}
	switch op {
	case pruning.Equal:
		return words[T]{func(values []T) uint64 { return equal(values, v) }, 1}
	case pruning.Less:
		return words[T]{func(values []T) uint64 { return less(values, v) }, 1}
	default:
		return words[T]{func(values []T) uint64 { return lessEqual(values, v) }, 1}
	}
}

func compareNaN[T float](op pruning.Op) func(values []T) uint64 {
	switch op {
	case pruning.Equal:
		return nans[T]
	case pruning.Less:
		return func(values []T) uint64 { return ^nans(values) }
	default:
		return func([]T) uint64 { return ^uint64(0) }
	}
}

// inFloats tests for one of some values, which ascend. A map's equality is that of ==: of -0 and 0 too, but never of NaN.
func inFloats[T float](values []T) valueTest {
	last := values[len(values)-1]
	set, nan := setOf(values), last != last
	return members[T]{func(v T) bool {
		_, found := set[v]
		return found || nan && v != v
	}}
}

func equal[T float](values []T, to T) uint64 {
	var passed uint64
	for i := len(values) - 1; i >= 0; i-- {
		passed = passed<<1 | bit(values[i] == to)
	}
	return passed
}

func less[T float](values []T, than T) uint64 {
	var passed uint64
	for i := len(values) - 1; i >= 0; i-- {
		passed = passed<<1 | bit(values[i] < than)
	}
	return passed
}

func lessEqual[T float](values []T, than T) uint64 {
	var passed uint64
	for i := len(values) - 1; i >= 0; i-- {
		passed = passed<<1 | bit(values[i] <= than)
	}
	return passed
}

func nans[T float](values []T) uint64 {
	var passed uint64
	for i := len(values) - 1; i >= 0; i-- {
		passed = passed<<1 | bit(values[i] != values[i])
	}
	return passed
}
