package rowfilter_test

import (
	"math"
	"slices"
	"strings"

	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/pruning"
)

// values has the values of a type that literals and columns are drawn from: near each other, and at the ends.
func values(t pruning.Type) *rapid.Generator[pruning.Value] {
	return rapid.Custom(func(r *rapid.T) pruning.Value {
		v := pruning.Value{Kind: t.Kind}
		switch t.Kind {
		case pruning.Boolean:
			v.Int = rapid.Int64Range(0, 1).Draw(r, "boolean")
		case pruning.Float, pruning.Double:
			v.Float = rapid.SampledFrom(floats).Draw(r, "float")
		case pruning.Decimal:
			v.Decimal = rapid.SampledFrom(decimals).Draw(r, "decimal")
		case pruning.String, pruning.Binary:
			v.Bytes = rapid.SampledFrom(texts).Draw(r, "text")
		default:
			v.Int = integers(t).Draw(r, "integer")
		}
		return v
	})
}

var (
	floats = []float64{
		math.NaN(), math.Float64frombits(0xfff8_0000_0000_0001), math.Copysign(0, -1), 0, 1.5, -1.5, 2, 1 << 20,
		math.Inf(1), math.Inf(-1), math.MaxFloat32, math.SmallestNonzeroFloat32,
	}
	decimals = []pruning.Int128{
		{},
		{Low: 1},
		{Low: 2},
		{High: -1, Low: math.MaxUint64},
		{High: -1},
		{High: -1, Low: 5},
		{High: 1},
		{High: 1, Low: 5},
		{Low: math.MaxUint64},
		{Low: 1 << 63},
		{High: math.MaxInt64, Low: math.MaxUint64},
		{High: math.MinInt64},
	}
	texts = []string{
		"", "a", "ab", "abc", "abd", "b", "ba", "bab", "a\x00", "\x00", "é", "éa", "€", "\U0001f600", "A",
		strings.Repeat("ab", 20), strings.Repeat("ab", 20) + "c",
	}
)

func integers(t pruning.Type) *rapid.Generator[int64] {
	bits := map[pruning.Kind]int{pruning.Date: 32, pruning.Integer: t.Bits}[t.Kind]
	if bits == 0 {
		bits = 64
	}
	low, high := int64(math.MinInt64)>>(64-bits), int64(math.MaxInt64)>>(64-bits)
	return rapid.OneOf(
		rapid.Int64Range(-3, 3), rapid.Int64Range(-100, 100),
		rapid.SampledFrom([]int64{low, low + 1, high - 1, high}), rapid.Int64Range(low, high))
}

// tree draws a predicate over columns.
func tree(r *rapid.T, columns []pruning.Column, depth int) pruning.Node {
	if depth == 0 || rapid.IntRange(0, 3).Draw(r, "shape") == 0 {
		return leaf(r, columns)
	}
	switch rapid.IntRange(0, 2).Draw(r, "node") {
	case 0:
		return pruning.Not{Part: tree(r, columns, depth-1)}
	case 1:
		return pruning.And{Parts: trees(r, columns, depth-1)}
	default:
		return pruning.Or{Parts: trees(r, columns, depth-1)}
	}
}

func trees(r *rapid.T, columns []pruning.Column, depth int) []pruning.Node {
	parts := make([]pruning.Node, rapid.IntRange(0, 3).Draw(r, "parts"))
	for i := range parts {
		parts[i] = tree(r, columns, depth)
	}
	return parts
}

func leaf(r *rapid.T, columns []pruning.Column) pruning.Node {
	if rapid.IntRange(0, 9).Draw(r, "constant") == 0 {
		return pruning.Constant{Truth: rapid.SampledFrom([]pruning.Truth{pruning.Null, pruning.False, pruning.True}).Draw(r, "truth")}
	}
	column := rapid.IntRange(0, len(columns)-1).Draw(r, "column")
	return columnLeaf(r, column, columns[column].Type)
}

func columnLeaf(r *rapid.T, column int, typ pruning.Type) pruning.Node {
	shape := rapid.IntRange(0, 9).Draw(r, "leaf")
	switch {
	case shape == 0 || typ.Kind == pruning.Opaque:
		return pruning.IsNull{Column: column}
	case shape == 1:
		return pruning.Known{Column: column, Truth: rapid.SampledFrom([]pruning.Truth{pruning.False, pruning.True}).Draw(r, "truth")}
	case shape <= 4:
		return pruning.In{Column: column, Values: list(r, typ), HasNull: rapid.IntRange(0, 4).Draw(r, "null") == 0}
	case shape <= 6 && typ.Kind == pruning.String:
		return pruning.Like{Column: column, Pattern: pattern(rapid.StringMatching(`[ab%_é]{0,4}`).Draw(r, "pattern"))}
	default:
		return pruning.Compare{Column: column, Op: pruning.Op(rapid.IntRange(0, 5).Draw(r, "op")), Value: values(typ).Draw(r, "literal")}
	}
}

// list ascends without repetition, as Bind leaves it.
func list(r *rapid.T, typ pruning.Type) []pruning.Value {
	size := rapid.SampledFrom([]int{0, 1, 3, 12, 40}).Draw(r, "size")
	drawn := rapid.SliceOfN(values(typ), size, size).Draw(r, "list")
	slices.SortFunc(drawn, order)
	return slices.CompactFunc(drawn, func(a, b pruning.Value) bool { return order(a, b) == 0 })
}

func pattern(text string) pruning.Pattern {
	p, err := pruning.NewPattern(text, pruning.DefaultEscape)
	if err != nil {
		panic(err)
	}
	return p
}
