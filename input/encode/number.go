package encode

import (
	"math"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// voids is a column without values: its arrays are null in every row.
type voids struct{}

func (voids) bind(arr arrow.Array) (bool, error) {
	_, ok := arr.(*array.Null)
	return ok, nil
}
func (voids) unbind()                                  {}
func (voids) append(dst []byte, _ int) ([]byte, error) { return append(dst, "null"...), nil }
func (voids) value(int) (any, error)                   { return nil, nil }

type booleans struct {
	bitmap []byte
	offset int
}

func (b *booleans) bind(arr arrow.Array) (bool, error) {
	a, ok := arr.(*array.Boolean)
	if ok {
		b.bitmap, b.offset = a.Data().Buffers()[1].Bytes(), a.Data().Offset()
	}
	return ok, nil
}

func (b *booleans) unbind() { b.bitmap = nil }

func (b *booleans) append(dst []byte, i int) ([]byte, error) {
	return strconv.AppendBool(dst, bitutil.BitIsSet(b.bitmap, b.offset+i)), nil
}

func (b *booleans) value(i int) (any, error) { return bitutil.BitIsSet(b.bitmap, b.offset+i), nil }

// integers is a column of whole numbers, quoted where values.int64 asks for it.
type integers[T int8 | int16 | int32 | int64] struct {
	values []T
	quoted bool
}

func (n *integers[T]) bind(arr arrow.Array) (bool, error) {
	a, ok := arr.(interface{ Values() []T })
	if ok {
		n.values = a.Values()
	}
	return ok, nil
}

func (n *integers[T]) unbind() { n.values = nil }

func (n *integers[T]) append(dst []byte, i int) ([]byte, error) {
	if !n.quoted {
		return strconv.AppendInt(dst, int64(n.values[i]), 10), nil
	}
	dst = strconv.AppendInt(append(dst, '"'), int64(n.values[i]), 10)
	return append(dst, '"'), nil
}

func (n *integers[T]) value(i int) (any, error) {
	if n.quoted {
		return strconv.FormatInt(int64(n.values[i]), 10), nil
	}
	return int64(n.values[i]), nil
}

// floats is a column of floating point numbers of 32 or 64 bits.
type floats[T float32 | float64] struct {
	values    []T
	bits      int
	nonFinite string
	at        *place
}

func (f *floats[T]) bind(arr arrow.Array) (bool, error) {
	a, ok := arr.(interface{ Values() []T })
	if ok {
		f.values = a.Values()
	}
	return ok, nil
}

func (f *floats[T]) unbind() { f.values = nil }

func (f *floats[T]) append(dst []byte, i int) ([]byte, error) {
	x := float64(f.values[i])
	if !finite(x) {
		return f.appendNonFinite(dst, x)
	}
	return appendFloat(dst, x, f.bits), nil
}

func (f *floats[T]) appendNonFinite(dst []byte, x float64) ([]byte, error) {
	switch f.nonFinite {
	case "string":
		return append(append(append(dst, '"'), nonFiniteName(x)...), '"'), nil
	case "null":
		return append(dst, "null"...), nil
	}
	return dst, f.refused(x)
}

func (f *floats[T]) value(i int) (any, error) {
	x := float64(f.values[i])
	switch {
	case finite(x):
		return f.values[i], nil
	case f.nonFinite == "string":
		return nonFiniteName(x), nil
	case f.nonFinite == "null":
		return nil, nil
	}
	return nil, f.refused(x)
}

func (f *floats[T]) refused(x float64) error {
	return f.at.fail(deltaerr.Config, "a value is "+nonFiniteName(x)+" and values.non_finite is fail",
		deltaerr.Hint("set values.non_finite to string or null"))
}

func finite(x float64) bool { return !math.IsNaN(x) && !math.IsInf(x, 0) }

func nonFiniteName(x float64) string {
	switch {
	case math.IsNaN(x):
		return "NaN"
	case x > 0:
		return "Infinity"
	}
	return "-Infinity"
}

// appendFloat adds the shortest text that reads back as the finite x at 32 or 64 bits, in the form of encoding/json.
func appendFloat(dst []byte, x float64, bits int) []byte {
	if out, ok := appendShortDecimal(dst, x, bits); ok {
		return out
	}
	abs := math.Abs(x)
	small, large := abs < 1e-6, abs >= 1e21
	if bits == 32 {
		small, large = float32(abs) < 1e-6, float32(abs) >= 1e21
	}
	if abs == 0 || !small && !large {
		return strconv.AppendFloat(dst, x, 'f', -1, bits)
	}
	dst = strconv.AppendFloat(dst, x, 'e', -1, bits)
	if n := len(dst); dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' { // e-09 is written e-9
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// appendShortDecimal is the fast path for numbers with up to four decimals and few digits, the common ones in tables:
// |x| = n/10⁴ for a whole n. It is exact. The division rounds correctly, so n/10⁴ reads back as |x|; and among decimals
// of at most 15 digits (6 at 32 bits) no two read back as the same number, so once trailing zeros are gone none is shorter.
// (At 32 bits the quotient is rounded twice, which is harmless: a quotient that is no tie itself is further from the
// nearest tie between two such numbers than the first rounding moves it.)
func appendShortDecimal(dst []byte, x float64, bits int) ([]byte, bool) {
	abs := math.Abs(x)
	scaled := abs*1e4 + 0.5
	if !(scaled < 1e15) {
		return dst, false
	}
	n := uint64(scaled)
	back := float64(n) / 1e4
	if bits == 32 {
		back = shortFloat32(n, back)
	}
	if back != abs {
		return dst, false
	}
	if math.Signbit(x) {
		dst = append(dst, '-')
	}
	dst = strconv.AppendUint(dst, n/1e4, 10)
	if fraction := uint32(n % 1e4); fraction != 0 {
		dst = appendFraction(dst, fraction)
	}
	return dst, true
}

// shortFloat32 rounds the quotient to 32 bits; NaN where n/10⁴ has more than 6 digits or more than 9 before the point.
func shortFloat32(n uint64, quotient float64) float64 {
	if n >= 1e13 {
		return math.NaN()
	}
	for n >= 1e6 && n%10 == 0 {
		n /= 10
	}
	if n >= 1e6 {
		return math.NaN()
	}
	return float64(float32(quotient))
}

// appendFraction adds a point and the four digits of a fraction that is not zero, without trailing zeros.
func appendFraction(dst []byte, fraction uint32) []byte {
	dst = append(dst, '.', digit(fraction/1000), digit(fraction/100), digit(fraction/10), digit(fraction))
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// digit is the last decimal digit of n.
func digit(n uint32) byte { return '0' + byte(n%10) }
