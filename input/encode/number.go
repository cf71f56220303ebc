package encode

import (
	"math"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/jsonform"
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
	return jsonform.AppendFloat(dst, x, f.bits), nil
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
