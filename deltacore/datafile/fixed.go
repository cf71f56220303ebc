package datafile

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/arrowdata"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// each converts values of a fixed width one by one. ok is false for a value that the type cannot hold exactly; that is an
// error unless it stands, as garbage, at a null. The arrays of parquetio have no offset.
func each[In, Out arrow.FixedWidthType](typ arrow.DataType, one func(In) (v Out, ok bool)) converter {
	return func(mem memory.Allocator, d arrow.ArrayData) (arrow.ArrayData, error) {
		in := arrow.GetValues[In](d, 1)
		buf, out := newValues[Out](mem, d.Len())
		defer buf.Release()
		exact := true
		for i, v := range in {
			var ok bool
			out[i], ok = one(v)
			exact = exact && ok
		}
		if !exact {
			if err := firstInexact(d, typ, one); err != nil {
				return nil, err
			}
		}
		return fixedData(typ, d, buf), nil
	}
}

func firstInexact[In, Out arrow.FixedWidthType](d arrow.ArrayData, typ arrow.DataType, one func(In) (Out, bool)) error {
	valid := arrowdata.Valid(d)
	for i, v := range arrow.GetValues[In](d, 1) {
		if _, ok := one(v); !ok && valid(i) {
			return doesNotFit(fmt.Sprint(v), typ)
		}
	}
	return nil
}

func doesNotFit(value string, typ arrow.DataType) error {
	return deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("the value %s of the file does not fit the column's type %s", value, typ))
}

// newValues allocates room for n values. The caller releases the buffer.
func newValues[T arrow.FixedWidthType](mem memory.Allocator, n int) (*memory.Buffer, []T) {
	var zero T
	buf := memory.NewResizableBuffer(mem)
	buf.Resize(n * len(arrow.GetBytes([]T{zero})))
	if n == 0 {
		return buf, nil
	}
	return buf, arrow.GetData[T](buf.Bytes())
}

// fixedData is d with other values: the nulls stay.
func fixedData(typ arrow.DataType, d arrow.ArrayData, values *memory.Buffer) arrow.ArrayData {
	return array.NewData(typ, d.Len(), []*memory.Buffer{bitmap(d), values}, nil, d.NullN(), 0)
}

// bitmap is the validity of d, nil when there are no nulls.
func bitmap(d arrow.ArrayData) *memory.Buffer {
	if d.NullN() == 0 {
		return nil
	}
	return d.Buffers()[0]
}
