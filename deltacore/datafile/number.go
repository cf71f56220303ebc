package datafile

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/arrowdata"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// bindInteger accepts INT32 of any width for all integer types, since writers may leave the annotation out; a value that
// does not fit is refused. INT64 is a long and nothing else.
func bindInteger(f parquetio.Field, out arrow.DataType) (converter, bool) {
	switch f.Type.ID() {
	case arrow.INT64:
		return nil, out.ID() == arrow.INT64
	case arrow.UINT32:
		return each(out, func(v uint32) (int64, bool) { return int64(v), true }), out.ID() == arrow.INT64
	case arrow.INT32:
	default:
		return nil, false
	}
	switch out.ID() {
	case arrow.INT8:
		return each(out, func(v int32) (int8, bool) { return int8(v), int32(int8(v)) == v }), true
	case arrow.INT16:
		return each(out, func(v int32) (int16, bool) { return int16(v), int32(int16(v)) == v }), true
	case arrow.INT64:
		return each(out, func(v int32) (int64, bool) { return int64(v), true }), true
	}
	return nil, true
}

// bindDouble: floats and integers of up to 32 bits are exact as doubles.
func bindDouble(f parquetio.Field, out arrow.DataType) (converter, bool) {
	switch f.Type.ID() {
	case arrow.FLOAT64:
		return nil, true
	case arrow.FLOAT32:
		return each(out, func(v float32) (float64, bool) { return float64(v), true }), true
	case arrow.INT32:
		return each(out, func(v int32) (float64, bool) { return float64(v), true }), true
	}
	return nil, false
}

// wholeDigits is the number of digits before the point that a decimal needs to stand over an integer column of a file:
// those of the widest integer that its annotation allows.
func wholeDigits(f parquetio.Field) int {
	switch {
	case f.Logical == "INT(8,true)":
		return 3
	case f.Logical == "INT(16,true)":
		return 5
	case f.Type.ID() == arrow.INT32:
		return 10
	default:
		return 20
	}
}

func bindDecimal(f parquetio.Field, d schema.Decimal, out arrow.DataType) (converter, bool) {
	whole := d.Precision - d.Scale
	factor := decimal128.GetScaleMultiplier(d.Scale)
	scaled := func(v int64) (decimal128.Num, bool) {
		n := decimal128.FromI64(v)
		return n.Mul(factor), fits(n, int32(whole)) // an annotation is a promise that a file may break
	}
	switch t := f.Type.(type) {
	case *arrow.Int32Type:
		return each(out, func(v int32) (decimal128.Num, bool) { return scaled(int64(v)) }), whole >= wholeDigits(f)
	case *arrow.Int64Type:
		return each(out, scaled), whole >= wholeDigits(f)
	case *arrow.Decimal128Type:
		return rescale(t, d, out)
	}
	return nil, false
}

// rescale widens a decimal: neither the digits before the point nor those behind it may become fewer.
func rescale(from *arrow.Decimal128Type, to schema.Decimal, out arrow.DataType) (converter, bool) {
	more := to.Scale - int(from.Scale)
	if more < 0 || to.Precision-to.Scale < int(from.Precision-from.Scale) {
		return nil, false
	}
	if more == 0 {
		return func(_ memory.Allocator, d arrow.ArrayData) (arrow.ArrayData, error) {
			if err := checkDigits(d, from); err != nil {
				return nil, err
			}
			return arrowdata.Retyped(out, d), nil
		}, true
	}
	factor := decimal128.GetScaleMultiplier(more)
	return each(out, func(v decimal128.Num) (decimal128.Num, bool) { return v.Mul(factor), fits(v, from.Precision) }), true
}

// checkDigits refuses values of more digits than the column of the file has: nobody can say what was meant.
func checkDigits(d arrow.ArrayData, typ *arrow.Decimal128Type) error {
	limit := int64(math.MaxInt64)
	if typ.Precision <= 18 {
		limit = int64(decimal128.GetScaleMultiplier(int(typ.Precision)).LowBits())
	}
	valid := arrowdata.Valid(d)
	for i, v := range arrow.GetValues[decimal128.Num](d, 1) {
		if low := int64(v.LowBits()); v.HighBits() == low>>63 && low < limit && low > -limit {
			continue
		}
		if valid(i) && !fits(v, typ.Precision) {
			return tooManyDigits(v, typ)
		}
	}
	return nil
}

func tooManyDigits(v decimal128.Num, typ *arrow.Decimal128Type) error {
	return deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("the value %s has more digits than DECIMAL(%d,%d)",
		v.ToString(typ.Scale), typ.Precision, typ.Scale))
}

// fits says whether v has at most precision digits.
func fits(v decimal128.Num, precision int32) bool {
	return v.HighBits() != math.MinInt64 && v.FitsInPrecision(precision)
}
