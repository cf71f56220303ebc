package schema

import (
	"encoding/binary"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// Repeat returns an array of n times the value, which has been parsed as t. The caller releases it. It allocates the
// array and nothing else, so a value of text costs n times its length; what would need more than 2 GiB is Unsupported.
func (v PartitionValue) Repeat(mem memory.Allocator, t Type, n int) (arrow.Array, error) {
	dt, err := ArrowType(t)
	if err != nil {
		return nil, err
	}
	if v.Null || dt.ID() == arrow.NULL {
		return array.MakeArrayOfNull(mem, dt, n), nil
	}
	switch dt.ID() {
	case arrow.STRING, arrow.BINARY:
		if len(v.Text) > math.MaxInt32/max(n, 1) {
			return nil, deltaerr.New(deltaerr.Unsupported,
				fmt.Sprintf("a partition value of %d bytes is too long for batches of %d rows", len(v.Text), n))
		}
		return repeatText(mem, dt, v.Text, n), nil
	case arrow.BOOL:
		return repeatBool(mem, v.Bool, n), nil
	}
	one := v.appendFixed(nil, dt)
	if len(one) == 0 {
		return nil, deltaerr.New(deltaerr.Internal, fmt.Sprintf("type %s has no partition values", t))
	}
	return repeatFixed(mem, dt, one, n), nil
}

// appendFixed appends the value as it lies in an Arrow buffer, or nothing for types of no fixed width.
func (v PartitionValue) appendFixed(b []byte, dt arrow.DataType) []byte {
	switch dt.ID() {
	case arrow.INT8:
		return append(b, byte(v.Int))
	case arrow.INT16:
		return binary.NativeEndian.AppendUint16(b, uint16(v.Int))
	case arrow.INT32, arrow.DATE32:
		return binary.NativeEndian.AppendUint32(b, uint32(v.Int))
	case arrow.INT64, arrow.TIMESTAMP:
		return binary.NativeEndian.AppendUint64(b, uint64(v.Int))
	case arrow.FLOAT32:
		return binary.NativeEndian.AppendUint32(b, math.Float32bits(float32(v.Float)))
	case arrow.FLOAT64:
		return binary.NativeEndian.AppendUint64(b, math.Float64bits(v.Float))
	case arrow.DECIMAL128:
		return append(b, arrow.Decimal128Traits.CastToBytes([]decimal128.Num{v.Decimal})...)
	}
	return b
}

func repeatFixed(mem memory.Allocator, dt arrow.DataType, one []byte, n int) arrow.Array {
	values := newBuffer(mem, n*len(one))
	fill(values.Bytes(), one)
	return finish(dt, n, nil, values)
}

func repeatBool(mem memory.Allocator, value bool, n int) arrow.Array {
	bits := newBuffer(mem, int(bitutil.BytesForBits(int64(n))))
	var one byte
	if value {
		one = 0xFF
	}
	fill(bits.Bytes(), []byte{one})
	return finish(arrow.FixedWidthTypes.Boolean, n, nil, bits)
}

func repeatText(mem memory.Allocator, dt arrow.DataType, text string, n int) arrow.Array {
	offsets := newBuffer(mem, (n+1)*arrow.Int32SizeBytes)
	ends := arrow.Int32Traits.CastFromBytes(offsets.Bytes())
	for i := range ends {
		ends[i] = int32(i * len(text))
	}
	values := newBuffer(mem, n*len(text))
	fill(values.Bytes(), []byte(text))
	return finish(dt, n, nil, offsets, values)
}

func newBuffer(mem memory.Allocator, size int) *memory.Buffer {
	b := memory.NewResizableBuffer(mem)
	b.Resize(size)
	return b
}

// fill writes one over and over; the length of dst is a multiple of its length.
func fill(dst, one []byte) {
	for done := copy(dst, one); done < len(dst); {
		done += copy(dst[done:], dst[:done])
	}
}

// finish makes an array without nulls of the buffers and gives them up.
func finish(dt arrow.DataType, n int, buffers ...*memory.Buffer) arrow.Array {
	data := array.NewData(dt, n, buffers, nil, 0, 0)
	defer data.Release()
	for _, b := range buffers {
		if b != nil {
			b.Release()
		}
	}
	return array.MakeFromData(data)
}
