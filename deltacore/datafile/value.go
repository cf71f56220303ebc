package datafile

import (
	"encoding/binary"
	"math"
	"math/big"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// valueAt is an entry of an array of the table's form, as predicates compare it; no value where it is null.
func valueAt(a arrow.Array, i int, kind pruning.Kind) pruning.Value {
	v := lentValue(a, i, kind)
	v.Bytes = strings.Clone(v.Bytes)
	return v
}

// lentValue is as valueAt, but it is gone with the array.
func lentValue(a arrow.Array, i int, kind pruning.Kind) (v pruning.Value) {
	if a.IsNull(i) {
		return v
	}
	switch a := a.(type) {
	case *array.Boolean:
		if a.Value(i) {
			v.Int = 1
		}
	case *array.Int8:
		v.Int = int64(a.Value(i))
	case *array.Int16:
		v.Int = int64(a.Value(i))
	case *array.Int32:
		v.Int = int64(a.Value(i))
	case *array.Int64:
		v.Int = a.Value(i)
	case *array.Date32:
		v.Int = int64(a.Value(i))
	case *array.Timestamp:
		v.Int = int64(a.Value(i))
	case *array.Float32:
		v.Float = float64(a.Value(i))
	case *array.Float64:
		v.Float = a.Value(i)
	case *array.Decimal128:
		v.Decimal = pruning.Int128{High: a.Value(i).HighBits(), Low: a.Value(i).LowBits()}
	case *array.String:
		v.Bytes = a.Value(i)
	case *array.Binary:
		v.Bytes = string(a.Value(i))
	default:
		return v
	}
	v.Kind = kind
	return v
}

// stored is how a file stores a value: its bytes in the encoding PLAIN, without the length of byte arrays.
type stored struct {
	bytes []byte
	none  bool // no value of the file can become the value
	open  bool // several may, or it is not known which
}

// storedAs turns the conversions of bindLeaf around.
func storedAs(f parquetio.Field, v pruning.Value, t pruning.Type) stored {
	switch v.Kind {
	case pruning.String, pruning.Binary:
		return storedBytes(f, v)
	case pruning.Float, pruning.Double:
		return storedFloat(f, v)
	case pruning.Decimal:
		return storedDecimal(f, v, t.Scale)
	case pruning.Integer:
		return storedInteger(f, v.Int)
	case pruning.Date:
		return storedInteger(f, v.Int)
	case pruning.Timestamp, pruning.TimestampNTZ:
		return storedTime(f, v.Int)
	}
	return stored{open: true}
}

func storedBytes(f parquetio.Field, v pruning.Value) stored {
	switch t := f.Type.(type) {
	case *arrow.FixedSizeBinaryType:
		return stored{bytes: []byte(v.Bytes), none: len(v.Bytes) != t.ByteWidth}
	case *arrow.StringType, *arrow.BinaryType:
		return stored{bytes: []byte(v.Bytes)}
	}
	return stored{open: true}
}

// storedInteger knows INT32 and INT64, with and without sign.
func storedInteger(f parquetio.Field, v int64) stored {
	switch f.Type.ID() {
	case arrow.INT32, arrow.DATE32:
		return stored{bytes: binary.LittleEndian.AppendUint32(nil, uint32(v)), none: int64(int32(v)) != v}
	case arrow.UINT32:
		return stored{bytes: binary.LittleEndian.AppendUint32(nil, uint32(v)), none: int64(uint32(v)) != v}
	case arrow.INT64, arrow.TIMESTAMP:
		return stored{bytes: binary.LittleEndian.AppendUint64(nil, uint64(v))}
	}
	return stored{open: true}
}

// storedFloat leaves the two zeros and the many NaNs open.
func storedFloat(f parquetio.Field, v pruning.Value) stored {
	switch f.Type.ID() {
	case arrow.INT32:
		n := int64(v.Float)
		s := storedInteger(f, n)
		s.none = s.none || float64(n) != v.Float
		return s
	case arrow.FLOAT32:
		one := float32(v.Float)
		return stored{
			bytes: binary.LittleEndian.AppendUint32(nil, math.Float32bits(one)), none: float64(one) != v.Float && !v.IsNaN(),
			open: v.Float == 0 || v.IsNaN(),
		}
	case arrow.FLOAT64:
		return stored{bytes: binary.LittleEndian.AppendUint64(nil, math.Float64bits(v.Float)), open: v.Float == 0 || v.IsNaN()}
	}
	return stored{open: true}
}

// storedTime knows that what is finer than a microsecond was floored: then several values become one.
func storedTime(f parquetio.Field, micros int64) stored {
	switch t := f.Type.(type) {
	case *arrow.Int64Type:
		return storedInteger(f, micros)
	case *arrow.Date32Type:
		days := schema.FloorDiv(micros, schema.MicrosPerDay)
		s := storedInteger(f, days)
		s.none = s.none || days*schema.MicrosPerDay != micros
		return s
	case *arrow.TimestampType:
		switch t.Unit {
		case arrow.Microsecond:
			return storedInteger(f, micros)
		case arrow.Millisecond:
			s := storedInteger(f, schema.FloorDiv(micros, 1000))
			s.none = schema.FloorDiv(micros, 1000)*1000 != micros
			return s
		}
	}
	return stored{open: true}
}

// storedDecimal leaves byte arrays open: they may have leading bytes that say nothing.
func storedDecimal(f parquetio.Field, v pruning.Value, scale int) stored {
	less := scale
	if d, ok := f.Type.(*arrow.Decimal128Type); ok {
		less -= int(d.Scale)
	} else if id := f.Type.ID(); id != arrow.INT32 && id != arrow.INT64 {
		return stored{open: true}
	}
	if less < 0 {
		return stored{open: true}
	}
	unscaled := decimal128.New(v.Decimal.High, v.Decimal.Low).BigInt()
	quotient, rest := new(big.Int).QuoRem(unscaled, decimal128.GetScaleMultiplier(less).BigInt(), new(big.Int))
	if rest.Sign() != 0 {
		return stored{none: true}
	}
	switch f.Physical {
	case "INT32":
		n := quotient.Int64()
		return stored{bytes: binary.LittleEndian.AppendUint32(nil, uint32(n)), none: !quotient.IsInt64() || int64(int32(n)) != n}
	case "INT64":
		return stored{bytes: binary.LittleEndian.AppendUint64(nil, uint64(quotient.Int64())), none: !quotient.IsInt64()}
	}
	return stored{open: true}
}
