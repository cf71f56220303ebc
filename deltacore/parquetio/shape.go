package parquetio

import (
	"encoding/binary"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"

	"github.com/benthos-delta/benthos-delta/deltacore/arrowdata"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// convertFunc makes the values of a leaf what is shown. It borrows d; the caller releases the result.
type convertFunc func(mem memory.Allocator, d arrow.ArrayData) (arrow.ArrayData, error)

func retype(typ arrow.DataType) convertFunc {
	return func(_ memory.Allocator, d arrow.ArrayData) (arrow.ArrayData, error) {
		return arrowdata.Retyped(typ, d), nil
	}
}

func toNull(_ memory.Allocator, d arrow.ArrayData) (arrow.ArrayData, error) {
	if d.NullN() != d.Len() {
		return nil, deltaerr.New(deltaerr.Corrupt, "a column of the type UNKNOWN has values that are not null")
	}
	return array.NewData(arrow.Null, d.Len(), []*memory.Buffer{nil}, nil, d.Len(), 0), nil
}

// decimalFrom returns the conversion of a physical type to a decimal, nil when there is none. width is the length of
// fixed-length values.
func decimalFrom(physical parquet.Type, width int, typ *arrow.Decimal128Type) convertFunc {
	switch physical {
	case parquet.Types.Int32:
		return decimalConversion(typ, func(d arrow.ArrayData, out []decimal128.Num) error {
			for i, v := range values(d, arrow.Int32Traits.CastFromBytes) {
				out[i] = decimal128.FromI64(int64(v))
			}
			return nil
		})
	case parquet.Types.Int64:
		return decimalConversion(typ, func(d arrow.ArrayData, out []decimal128.Num) error {
			for i, v := range values(d, arrow.Int64Traits.CastFromBytes) {
				out[i] = decimal128.FromI64(v)
			}
			return nil
		})
	case parquet.Types.FixedLenByteArray:
		return decimalConversion(typ, func(d arrow.ArrayData, out []decimal128.Num) error {
			return decimalsFromFixed(d, width, out)
		})
	case parquet.Types.ByteArray:
		return decimalConversion(typ, decimalsFromBinary)
	}
	return nil
}

func decimalConversion(typ *arrow.Decimal128Type, fill func(d arrow.ArrayData, out []decimal128.Num) error) convertFunc {
	return func(mem memory.Allocator, d arrow.ArrayData) (arrow.ArrayData, error) {
		buf := memory.NewResizableBuffer(mem)
		defer buf.Release()
		buf.Resize(d.Len() * arrow.Decimal128SizeBytes)
		numbers := arrow.Decimal128Traits.CastFromBytes(buf.Bytes())
		if err := fill(d, numbers); err != nil {
			return nil, err
		}
		nulls, err := validity(d)
		if err != nil {
			return nil, err
		}
		return array.NewData(typ, d.Len(), []*memory.Buffer{nulls, buf}, nil, d.NullN(), 0), nil
	}
}

// validity returns the bitmap of an array that begins at its buffers' begin, as those of arrow-go's reader do.
func validity(d arrow.ArrayData) (*memory.Buffer, error) {
	if d.Offset() != 0 {
		return nil, deltaerr.New(deltaerr.Internal, "an array of the Parquet reader has an offset")
	}
	if d.NullN() == 0 {
		return nil, nil
	}
	return d.Buffers()[0], nil
}

// values returns the fixed-width values of an array, garbage at nulls.
func values[T any](d arrow.ArrayData, cast func([]byte) []T) []T {
	if d.Len() == 0 {
		return nil
	}
	return cast(d.Buffers()[1].Bytes())[d.Offset() : d.Offset()+d.Len()]
}

func decimalsFromFixed(d arrow.ArrayData, width int, out []decimal128.Num) error {
	if d.Len() == 0 {
		return nil
	}
	data := d.Buffers()[1].Bytes()[d.Offset()*width:]
	valid := arrowdata.Valid(d)
	for i := range out {
		if !valid(i) {
			out[i] = decimal128.Num{}
			continue
		}
		v, err := bigEndian(data[i*width : (i+1)*width])
		if err != nil {
			return err
		}
		out[i] = v
	}
	return nil
}

func decimalsFromBinary(d arrow.ArrayData, out []decimal128.Num) error {
	if d.Len() == 0 {
		return nil
	}
	offsets := arrow.Int32Traits.CastFromBytes(d.Buffers()[1].Bytes())[d.Offset():]
	var data []byte
	if d.Buffers()[2] != nil {
		data = d.Buffers()[2].Bytes()
	}
	valid := arrowdata.Valid(d)
	for i := range out {
		if !valid(i) {
			out[i] = decimal128.Num{}
			continue
		}
		v, err := bigEndian(data[offsets[i]:offsets[i+1]])
		if err != nil {
			return err
		}
		out[i] = v
	}
	return nil
}

// bigEndian reads a two's complement number of any length, as long as its value fits 128 bits.
func bigEndian(b []byte) (decimal128.Num, error) {
	if len(b) == 0 {
		return decimal128.Num{}, deltaerr.New(deltaerr.Corrupt, "a decimal has no bytes")
	}
	sign := byte(int8(b[0]) >> 7)
	var wide [16]byte
	if cut := len(b) - len(wide); cut > 0 {
		for _, x := range b[:cut] {
			if x != sign {
				return decimal128.Num{}, tooWide(len(b))
			}
		}
		if b = b[cut:]; byte(int8(b[0])>>7) != sign {
			return decimal128.Num{}, tooWide(cut + len(b))
		}
	}
	for i := range len(wide) - len(b) {
		wide[i] = sign
	}
	copy(wide[len(wide)-len(b):], b)
	return decimal128.New(int64(binary.BigEndian.Uint64(wide[:8])), binary.BigEndian.Uint64(wide[8:])), nil
}

func tooWide(size int) error {
	return deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("a decimal of %d bytes has more than 38 digits", size))
}
