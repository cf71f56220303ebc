package datafile

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/variant"
)

// scalarReader binds a leaf that is a typed_value to the array of a batch.
type scalarReader func(a arrow.Array) scalarWriter

// scalarWriter writes the value of row i, which is not null.
type scalarWriter func(w *variant.Writer, i int) error

// scalars makes a reader of what writes a single value.
func scalars[A interface{ Value(int) T }, T any](write func(w *variant.Writer, v T) error) scalarReader {
	return func(a arrow.Array) scalarWriter {
		values := a.(A)
		return func(w *variant.Writer, i int) error { return write(w, values.Value(i)) }
	}
}

var (
	int32Scalars = scalars[*array.Int32](func(w *variant.Writer, v int32) error { return w.Int(int64(v)) })
	int64Scalars = scalars[*array.Int64]((*variant.Writer).Int)
)

// scalarReaders is the specification's table of the types that values may be shredded to.
var scalarReaders = map[string]scalarReader{
	"BOOLEAN":                       scalars[*array.Boolean]((*variant.Writer).Bool),
	"INT32":                         int32Scalars,
	"INT32 INT(8,true)":             int32Scalars,
	"INT32 INT(16,true)":            int32Scalars,
	"INT32 INT(32,true)":            int32Scalars,
	"INT64":                         int64Scalars,
	"INT64 INT(64,true)":            int64Scalars,
	"FLOAT":                         scalars[*array.Float32]((*variant.Writer).Float),
	"DOUBLE":                        scalars[*array.Float64]((*variant.Writer).Double),
	"INT32 DATE":                    scalars[*array.Date32](func(w *variant.Writer, v arrow.Date32) error { return w.Date(int32(v)) }),
	"INT64 TIME(MICROS,false)":      scalars[*array.Time64](func(w *variant.Writer, v arrow.Time64) error { return w.Time(int64(v)) }),
	"INT64 TIMESTAMP(MICROS,true)":  timestampScalars(variant.TimestampForm{Zone: true}),
	"INT64 TIMESTAMP(MICROS,false)": timestampScalars(variant.TimestampForm{}),
	"INT64 TIMESTAMP(NANOS,true)":   timestampScalars(variant.TimestampForm{Zone: true, Nanos: true}),
	"INT64 TIMESTAMP(NANOS,false)":  timestampScalars(variant.TimestampForm{Nanos: true}),
	"BYTE_ARRAY":                    scalars[*array.Binary]((*variant.Writer).Binary),
	"BYTE_ARRAY STRING":             stringScalars,
	"FIXED_LEN_BYTE_ARRAY UUID":     scalars[*array.FixedSizeBinary](func(w *variant.Writer, v []byte) error { return w.UUID([16]byte(v)) }),
}

// scalarReaderOf returns nil for types that no variant has.
func scalarReaderOf(f parquetio.Field) scalarReader {
	if t, ok := f.Type.(*arrow.Decimal128Type); ok {
		return decimalScalars(t)
	}
	if t, ok := f.Type.(*arrow.FixedSizeBinaryType); ok && t.ByteWidth != len([16]byte{}) {
		return nil
	}
	return scalarReaders[strings.TrimSpace(f.Physical+" "+f.Logical)]
}

func timestampScalars(form variant.TimestampForm) scalarReader {
	return scalars[*array.Timestamp](func(w *variant.Writer, v arrow.Timestamp) error { return w.Timestamp(int64(v), form) })
}

func stringScalars(a arrow.Array) scalarWriter {
	values := a.(*array.String)
	return func(w *variant.Writer, i int) error { return w.String([]byte(values.Value(i))) }
}

func decimalScalars(typ *arrow.Decimal128Type) scalarReader {
	return func(a arrow.Array) scalarWriter {
		values := a.(*array.Decimal128)
		return func(w *variant.Writer, i int) error {
			v := values.Value(i)
			if !fits(v, typ.Precision) {
				return tooManyDigits(v, typ)
			}
			return w.Decimal(variant.Decimal{High: v.HighBits(), Low: v.LowBits(), Scale: int(typ.Scale)})
		}
	}
}
