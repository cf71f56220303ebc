package pruning

import (
	"cmp"
	"strings"
)

// Value is one value, never null. Which field holds it is its kind's matter. The zero Value is no value.
type Value struct {
	Kind    Kind
	Int     int64   // Boolean, Integer, Date, Timestamp, TimestampNTZ
	Float   float64 // Float (exactly one of 32 bits), Double
	Decimal Int128  // Decimal: unscaled
	Bytes   string  // String, Binary
}

// Int128 is a two's complement number, the unscaled value of a decimal.
type Int128 struct {
	High int64
	Low  uint64
}

// Compare orders two values of one kind; decimals must have one scale. Booleans: false first. Floats: -0 equals 0, every NaN
// equals every NaN and is above all else.
func (v Value) Compare(other Value) int {
	switch v.Kind {
	case Float, Double:
		return compareFloats(v.Float, other.Float)
	case Decimal:
		return v.Decimal.compare(other.Decimal)
	case String, Binary:
		return strings.Compare(v.Bytes, other.Bytes)
	default:
		return cmp.Compare(v.Int, other.Int)
	}
}

// compareFloats is cmp.Compare with NaN at the other end.
func compareFloats(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	case a == b:
		return 0
	case a == a: // so it is b that is not a number
		return -1
	case b == b:
		return 1
	}
	return 0
}

func (i Int128) compare(other Int128) int {
	return cmp.Or(cmp.Compare(i.High, other.High), cmp.Compare(i.Low, other.Low))
}

// IsNaN tells whether v is a Float or Double that is not a number.
func (v Value) IsNaN() bool { return v.Float != v.Float }
