package encode

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// ValueBytes estimates the bytes that the values of a record take in Arrow: of a slice its own ones, not those of the buffers
// that it is cut from.
func ValueBytes(record arrow.RecordBatch) int64 { return valueBytes(record, 0, record.NumRows()) }

func valueBytes(record arrow.RecordBatch, from, to int64) (n int64) {
	for _, column := range record.Columns() {
		n += arrayBytes(column, from, to)
	}
	return n
}

// arrayBytes is the size of elements from up to to, which count from the slice's first.
func arrayBytes(a arrow.Array, from, to int64) int64 {
	n := to - from
	if n <= 0 {
		return 0
	}
	bitmap := n / 8
	switch a := a.(type) {
	case *array.Struct:
		size := bitmap
		for i := range a.NumField() {
			size += arrayBytes(a.Field(i), from, to)
		}
		return size
	case array.ListLike:
		first, _ := a.ValueOffsets(int(from))
		_, last := a.ValueOffsets(int(to - 1))
		return bitmap + 4*n + arrayBytes(a.ListValues(), first, last)
	case binaryLike:
		last := int(to - 1)
		return bitmap + 4*n + a.ValueOffset64(last) + int64(a.ValueLen(last)) - a.ValueOffset64(int(from))
	default:
		return bitmap + n*fixedWidth(a.DataType())
	}
}

// binaryLike is text and bytes.
type binaryLike interface {
	ValueOffset64(i int) int64
	ValueLen(i int) int
}

// fixedWidth is the bytes of one value. Types without a fixed width are taken for a machine word.
func fixedWidth(t arrow.DataType) int64 {
	const word = 8
	if f, ok := t.(arrow.FixedWidthDataType); ok {
		return int64(max(f.BitWidth()/8, 1))
	}
	return word
}
