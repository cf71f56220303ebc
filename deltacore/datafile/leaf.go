package datafile

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/arrowdata"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// bindLeaf chooses the conversion of a leaf by protocol sections 17 and 16. ok is false for a pair that is in neither.
func bindLeaf(f parquetio.Field, w wantedField) (convert converter, ok bool) {
	if d, isDecimal := w.Type.(schema.Decimal); isDecimal {
		return bindDecimal(f, d, w.out)
	}
	switch w.Type {
	case schema.Type(schema.String), schema.Type(schema.Binary):
		return bindBytes(f, w)
	case schema.Type(schema.Byte), schema.Type(schema.Short), schema.Type(schema.Integer), schema.Type(schema.Long):
		return bindInteger(f, w.out)
	case schema.Type(schema.Double):
		return bindDouble(f, w.out)
	case schema.Type(schema.Timestamp):
		return bindTimestamp(f, w)
	case schema.Type(schema.TimestampNTZ):
		if f.Type.ID() == arrow.DATE32 {
			return w.from.calendar.rebaseDates().then(datesToMicros(w.out)), true
		}
		return bindTimestamp(f, w)
	case schema.Type(schema.Date):
		return w.from.calendar.rebaseDates(), f.Type.ID() == arrow.DATE32
	default: // boolean and float have one form
		return nil, arrow.TypeEqual(f.Type, w.out)
	}
}

// bindBytes: a byte array may carry any annotation that does not make it a number, and its bytes are kept as they are,
// valid UTF-8 or not.
func bindBytes(f parquetio.Field, w wantedField) (converter, bool) {
	switch t := f.Type.(type) {
	case *arrow.FixedSizeBinaryType:
		plain := f.Physical == "FIXED_LEN_BYTE_ARRAY" && (f.Logical == "" || f.Logical == "UUID")
		return fixedToBinary(w, t.ByteWidth), plain && w.out.ID() == arrow.BINARY
	case *arrow.StringType, *arrow.BinaryType:
		if t.ID() == w.out.ID() {
			return nil, !isNumber(f)
		}
		return retype(w.out), !isNumber(f)
	}
	return nil, false
}

func isNumber(f parquetio.Field) bool { return strings.HasPrefix(f.Logical, "DECIMAL") }

// retype is for types of the same layout: nothing is copied.
func retype(typ arrow.DataType) converter {
	return func(_ memory.Allocator, d arrow.ArrayData) (arrow.ArrayData, error) {
		return arrowdata.Retyped(typ, d), nil
	}
}

// fixedToBinary gives values of one width offsets.
func fixedToBinary(w wantedField, width int) converter {
	return func(mem memory.Allocator, d arrow.ArrayData) (arrow.ArrayData, error) {
		if err := w.from.room.check(d.Len() * width); err != nil {
			return nil, err
		}
		offsets := memory.NewResizableBuffer(mem)
		defer offsets.Release()
		offsets.Resize(arrow.Int32Traits.BytesRequired(d.Len() + 1))
		ends := arrow.Int32Traits.CastFromBytes(offsets.Bytes())
		for i := range ends {
			ends[i] = int32(i * width)
		}
		return array.NewData(w.out, d.Len(), []*memory.Buffer{bitmap(d), offsets, d.Buffers()[1]}, nil, d.NullN(), 0), nil
	}
}
