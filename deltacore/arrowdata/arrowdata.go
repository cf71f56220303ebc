// Package arrowdata is what packages that make arrays out of the buffers of others have in common: below the values, which
// are their matter.
package arrowdata

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
)

// Release releases all of a list.
func Release(list []arrow.ArrayData) {
	for _, d := range list {
		d.Release()
	}
}

// Retyped is d as another type of the same layout: nothing is copied. It borrows d; the caller releases the result.
func Retyped(typ arrow.DataType, d arrow.ArrayData) arrow.ArrayData {
	return array.NewData(typ, d.Len(), d.Buffers(), d.Children(), d.NullN(), d.Offset())
}

// Valid returns a test for the values that are not null. It is good as long as d is.
func Valid(d arrow.ArrayData) func(i int) bool {
	if d.NullN() == 0 || d.Buffers()[0] == nil {
		return func(int) bool { return true }
	}
	bits, offset := d.Buffers()[0].Bytes(), d.Offset()
	return func(i int) bool {
		i += offset
		return bits[i/8]&(1<<(i%8)) != 0
	}
}

// Bytes is the memory that the columns of a record keep alive, in bytes: the capacity of their buffers, which is up to twice
// what the values need.
func Bytes(record arrow.RecordBatch) (n int64) {
	for _, column := range record.Columns() {
		n += bytesOf(column.Data())
	}
	return n
}

func bytesOf(d arrow.ArrayData) (n int64) {
	for _, b := range d.Buffers() {
		if b != nil {
			n += int64(cap(b.Buf()))
		}
	}
	for _, child := range d.Children() {
		n += bytesOf(child)
	}
	return n
}
