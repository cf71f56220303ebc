package pruning

import (
	"math"
	"testing"
)

func TestValuesAscendInTheOrderOfTheirKind(t *testing.T) {
	float := func(f float64) Value { return Value{Kind: Double, Float: f} }
	decimal := func(high int64, low uint64) Value { return Value{Kind: Decimal, Decimal: Int128{high, low}} }
	text := func(s string) Value { return Value{Kind: String, Bytes: s} }
	for _, ascending := range [][]Value{
		{{Kind: Boolean}, {Kind: Boolean, Int: 1}},
		{{Kind: Integer, Int: math.MinInt64}, {Kind: Integer, Int: -1}, {Kind: Integer}, {Kind: Integer, Int: math.MaxInt64}},
		{float(math.Inf(-1)), float(-1), float(0), float(math.SmallestNonzeroFloat64), float(math.Inf(1)), float(math.NaN())},
		{decimal(math.MinInt64, 0), decimal(-1, 0), decimal(-1, math.MaxUint64), decimal(0, 0), decimal(0, math.MaxUint64), decimal(1, 0)},
		{text(""), text("A"), text("a"), text("aa"), text("b"), text("é"), text("\uffff"), text("\U00010000")},
	} {
		for i, a := range ascending {
			for j, b := range ascending {
				want := 0
				if i < j {
					want = -1
				} else if i > j {
					want = 1
				}
				if got := a.Compare(b); want != got {
					t.Errorf("%v and %v: want %d, got %d", a, b, want, got)
				}
			}
		}
	}
	if got := float(math.Copysign(0, -1)).Compare(float(0)); got != 0 {
		t.Errorf("-0 and 0: got %d", got)
	}
	if got := float(math.NaN()).Compare(float(-math.NaN())); got != 0 {
		t.Errorf("two NaNs: got %d", got)
	}
}
