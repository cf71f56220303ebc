package datafile

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/arrowdata"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// run is a range of rows of an array.
type run struct{ from, to int }

// runs are ascending and do not overlap.
type runs []run

// runsOf makes runs of rows, counted from first.
func runsOf(first int64, rows []int64) runs {
	list := make(runs, 0, len(rows)/8+1)
	for _, row := range rows {
		at := int(row - first)
		if n := len(list); n > 0 && list[n-1].to == at {
			list[n-1].to++
			continue
		}
		list = append(list, run{at, at + 1})
	}
	return list
}

func (r runs) rows() (n int) {
	for _, x := range r {
		n += x.to - x.from
	}
	return n
}

// shifted is the same rows of an array that begins by rows later.
func (r runs) shifted(by int) runs {
	if by == 0 {
		return r
	}
	list := make(runs, len(r))
	for i, x := range r {
		list[i] = run{x.from + by, x.to + by}
	}
	return list
}

// gather copies rows of an array. It knows the layouts of parquetio.Field and costs two or three allocations an array,
// however many runs there are. It borrows d; the caller releases the result.
func gather(mem memory.Allocator, d arrow.ArrayData, rows runs) (arrow.ArrayData, error) {
	g := gatherer{mem: mem, rows: rows.shifted(d.Offset()), n: rows.rows()}
	switch t := d.DataType().(type) {
	case *arrow.NullType:
		return array.NewData(t, g.n, []*memory.Buffer{nil}, nil, g.n, 0), nil
	case *arrow.StructType:
		return g.structs(d)
	case *arrow.ListType, *arrow.MapType:
		return g.lists(d)
	case *arrow.StringType, *arrow.BinaryType:
		return g.bytes(d)
	case *arrow.FixedSizeBinaryType:
		return g.made(d, g.chunks(d.Buffers()[1], t.ByteWidth))
	case *arrow.BooleanType:
		return g.made(d, g.bits(d.Buffers()[1]))
	case arrow.FixedWidthDataType:
		if values := g.fixed(d.Buffers()[1], t.BitWidth()); values != nil {
			return g.made(d, values)
		}
	}
	return nil, deltaerr.New(deltaerr.Internal, fmt.Sprintf("rows of the type %s cannot be chosen", d.DataType()))
}

// gatherer copies the same rows of several buffers. Rows are counted from the beginning of a buffer.
type gatherer struct {
	mem  memory.Allocator
	rows runs
	n    int // rows in all
}

// made puts an array together. It takes over the buffers and children.
func (g gatherer) made(d arrow.ArrayData, buffers ...*memory.Buffer) (arrow.ArrayData, error) {
	return g.withChildren(d, nil, buffers...)
}

func (g gatherer) withChildren(d arrow.ArrayData, children []arrow.ArrayData, buffers ...*memory.Buffer) (arrow.ArrayData, error) {
	valid, nulls := g.validity(d)
	all := append([]*memory.Buffer{valid}, buffers...)
	out := array.NewData(d.DataType(), g.n, all, children, nulls, 0)
	for _, b := range all {
		if b != nil {
			b.Release()
		}
	}
	arrowdata.Release(children)
	return out, nil
}

func (g gatherer) validity(d arrow.ArrayData) (valid *memory.Buffer, nulls int) {
	if d.NullN() == 0 || d.Buffers()[0] == nil {
		return nil, 0
	}
	valid = g.bits(d.Buffers()[0])
	bits := valid.Bytes()
	for i := range g.n {
		nulls += int(^bits[i/8] >> (i % 8) & 1)
	}
	return valid, nulls
}

func (g gatherer) buffer(size int) *memory.Buffer {
	b := memory.NewResizableBuffer(g.mem)
	b.Resize(size)
	return b
}

func (g gatherer) bits(source *memory.Buffer) *memory.Buffer {
	out := g.buffer((g.n + 7) / 8)
	if g.n == 0 {
		return out
	}
	from, to := source.Bytes(), out.Bytes()
	var at int
	var word byte
	for _, r := range g.rows {
		for i := r.from; i < r.to; i++ {
			word |= from[i/8] >> (i % 8) & 1 << (at % 8)
			if at++; at%8 == 0 {
				to[at/8-1], word = word, 0
			}
		}
	}
	if at%8 != 0 {
		to[at/8] = word
	}
	return out
}

// fixed copies values of a width in bits; nil for a width that no type has.
func (g gatherer) fixed(source *memory.Buffer, bits int) *memory.Buffer {
	switch bits {
	case 8:
		return fixedValues[int8](g, source)
	case 16:
		return fixedValues[int16](g, source)
	case 32:
		return fixedValues[int32](g, source)
	case 64:
		return fixedValues[int64](g, source)
	case 128:
		return fixedValues[decimal128.Num](g, source)
	}
	return nil
}

func fixedValues[T arrow.FixedWidthType](g gatherer, source *memory.Buffer) *memory.Buffer {
	out, to := newValues[T](g.mem, g.n)
	if g.n == 0 {
		return out
	}
	from := arrow.GetData[T](source.Bytes())
	at := 0
	for _, r := range g.rows {
		at += copy(to[at:], from[r.from:r.to])
	}
	return out
}

// chunks copies values of a width in bytes.
func (g gatherer) chunks(source *memory.Buffer, width int) *memory.Buffer {
	out := g.buffer(g.n * width)
	at := 0
	for _, r := range g.rows {
		at += copy(out.Bytes()[at:], source.Bytes()[r.from*width:r.to*width])
	}
	return out
}

// offsets copies lengths as new offsets, and says which values they mean.
func (g gatherer) offsets(source *memory.Buffer) (out *memory.Buffer, values runs) {
	out = g.buffer(arrow.Int32Traits.BytesRequired(g.n + 1))
	to := arrow.Int32Traits.CastFromBytes(out.Bytes())
	to[0] = 0
	if g.n == 0 {
		return out, nil
	}
	from := arrow.Int32Traits.CastFromBytes(source.Bytes())
	at := 1
	values = make(runs, 0, len(g.rows))
	for _, r := range g.rows {
		shift := to[at-1] - from[r.from]
		for _, end := range from[r.from+1 : r.to+1] {
			to[at] = end + shift
			at++
		}
		if first, end := int(from[r.from]), int(from[r.to]); first < end {
			values = append(values, run{first, end})
		}
	}
	return out, values
}

func (g gatherer) bytes(d arrow.ArrayData) (arrow.ArrayData, error) {
	offsets, values := g.offsets(d.Buffers()[1])
	out := g.buffer(values.rows())
	to := out.Bytes()
	for _, v := range values {
		to = to[copy(to, d.Buffers()[2].Bytes()[v.from:v.to]):]
	}
	return g.made(d, offsets, out)
}

// lists are maps too: a map is a list of pairs.
func (g gatherer) lists(d arrow.ArrayData) (arrow.ArrayData, error) {
	offsets, values := g.offsets(d.Buffers()[1])
	child, err := gather(g.mem, d.Children()[0], values)
	if err != nil {
		offsets.Release()
		return nil, err
	}
	return g.withChildren(d, []arrow.ArrayData{child}, offsets)
}

func (g gatherer) structs(d arrow.ArrayData) (arrow.ArrayData, error) {
	children := make([]arrow.ArrayData, 0, len(d.Children()))
	for _, c := range d.Children() {
		child, err := gather(g.mem, c, g.rows)
		if err != nil {
			arrowdata.Release(children)
			return nil, err
		}
		children = append(children, child)
	}
	return g.withChildren(d, children)
}
