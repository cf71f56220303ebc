package rowfilter_test

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/bitutil"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/pruning"
)

// table is a batch with what is known about it without Arrow.
type table struct {
	batch   arrow.RecordBatch
	columns []pruning.Column
	cells   [][]cell // by column, then row
}

func (t table) row(i int) []cell {
	row := make([]cell, len(t.cells))
	for c, cells := range t.cells {
		row[c] = cells[i]
	}
	return row
}

// slice is the rows from low to high.
func (t table) slice(low, high int) table {
	s := table{batch: t.batch.NewSlice(int64(low), int64(high)), columns: t.columns}
	for _, cells := range t.cells {
		s.cells = append(s.cells, cells[low:high])
	}
	return s
}

// field is a column, or a struct with fields.
type field struct {
	name   string
	typ    pruning.Type
	fields []field
}

var types = []pruning.Type{
	{Kind: pruning.Boolean},
	{Kind: pruning.Integer, Bits: 8},
	{Kind: pruning.Integer, Bits: 16},
	{Kind: pruning.Integer, Bits: 32},
	{Kind: pruning.Integer, Bits: 64},
	{Kind: pruning.Float},
	{Kind: pruning.Double},
	{Kind: pruning.Decimal, Precision: 38, Scale: 3},
	{Kind: pruning.String},
	{Kind: pruning.Binary},
	{Kind: pruning.Date},
	{Kind: pruning.Timestamp},
	{Kind: pruning.TimestampNTZ},
	{Kind: pruning.Opaque},
}

func drawFields(r *rapid.T, depth int) []field {
	fields := make([]field, rapid.IntRange(1, 3).Draw(r, "fields"))
	for i := range fields {
		fields[i].name = fmt.Sprintf("f%d", i)
		if depth > 0 && rapid.IntRange(0, 2).Draw(r, "nested") == 0 {
			fields[i].fields = drawFields(r, depth-1)
		} else {
			fields[i].typ = rapid.SampledFrom(types).Draw(r, "type")
		}
	}
	return fields
}

// drawTable draws rows for fields. The caller releases the batch.
func drawTable(r *rapid.T, mem memory.Allocator, fields []field) table {
	b := builder{r, mem, rapid.SampledFrom([]int{0, 1, 5, 63, 64, 65, 130}).Draw(r, "rows")}
	var t table
	var arrays []arrow.Array
	for _, f := range fields {
		a, columns := b.field(f, nil)
		arrays = append(arrays, a)
		t.addColumns(columns)
	}
	t.batch = array.NewRecordBatch(schemaOf(fields, arrays), arrays, int64(b.rows))
	for _, a := range arrays {
		a.Release()
	}
	return t
}

type columnCells struct {
	pruning.Column
	cells []cell
}

func (t *table) addColumns(columns []columnCells) {
	for _, c := range columns {
		t.columns = append(t.columns, c.Column)
		t.cells = append(t.cells, c.cells)
	}
}

func schemaOf(fields []field, arrays []arrow.Array) *arrow.Schema {
	return arrow.NewSchema(arrowFields(fields, arrays), nil)
}

func arrowFields(fields []field, arrays []arrow.Array) []arrow.Field {
	var out []arrow.Field
	for i, f := range fields {
		out = append(out, arrow.Field{Name: f.name, Type: arrays[i].DataType(), Nullable: true})
	}
	return out
}

type builder struct {
	r    *rapid.T
	mem  memory.Allocator
	rows int
}

func (b builder) field(f field, path []string) (arrow.Array, []columnCells) {
	path = append(slices.Clone(path), f.name)
	if f.fields != nil {
		return b.structs(f, path)
	}
	cells := b.draw(f.typ, b.rows)
	return b.leaf(f.typ, cells), []columnCells{{pruning.Column{Path: path, Type: f.typ}, cells}}
}

func (b builder) draw(typ pruning.Type, n int) []cell {
	cells := make([]cell, n)
	nulls := rapid.IntRange(0, 2).Draw(b.r, "nulls")
	for i := range cells {
		if nulls == 0 || rapid.IntRange(0, 3).Draw(b.r, "null") >= nulls {
			v := values(typ).Draw(b.r, "value")
			cells[i] = &v
		}
	}
	return cells
}

// leaf makes an array that begins after some other values.
func (b builder) leaf(typ pruning.Type, cells []cell) arrow.Array {
	before := b.draw(typ, rapid.SampledFrom([]int{0, 0, 3, 8, 13}).Draw(b.r, "before"))
	build := array.NewBuilder(b.mem, arrowType(typ))
	defer build.Release()
	for _, c := range slices.Concat(before, cells) {
		if c == nil {
			build.AppendNull()
		} else {
			appendValue(build, *c)
		}
	}
	whole := build.NewArray()
	defer whole.Release()
	cut := array.NewSlice(whole, int64(len(before)), int64(whole.Len()))
	if cut.NullN() == 0 && typ.Kind != pruning.Opaque && rapid.Bool().Draw(b.r, "no bitmap") {
		defer cut.Release()
		return withoutBitmap(cut)
	}
	return cut
}

func withoutBitmap(a arrow.Array) arrow.Array {
	buffers := slices.Clone(a.Data().Buffers())
	buffers[0] = nil
	data := array.NewData(a.DataType(), a.Len(), buffers, nil, 0, a.Data().Offset())
	defer data.Release()
	return array.MakeFromData(data)
}

// structs hides values of its fields behind nulls of its own.
func (b builder) structs(f field, path []string) (arrow.Array, []columnCells) {
	skipped := rapid.SampledFrom([]int{0, 0, 5, 8}).Draw(b.r, "skipped")
	inner := builder{b.r, b.mem, b.rows + skipped}
	var arrays []arrow.Array
	var columns []columnCells
	for _, child := range f.fields {
		a, found := inner.field(child, path)
		defer a.Release()
		arrays, columns = append(arrays, a), append(columns, found...)
	}
	present := rapid.SliceOfN(rapid.Bool(), inner.rows, inner.rows).Draw(b.r, "present")
	for i := range columns {
		columns[i].cells = visible(columns[i].cells, present)[skipped:]
	}
	valid := b.bits(present)
	if valid != nil {
		defer valid.Release()
	}
	a, err := array.NewStructArrayWithFieldsAndNulls(arrays, arrowFields(f.fields, arrays), valid, array.UnknownNullCount, skipped)
	if err != nil {
		panic(err)
	}
	return a, columns
}

func visible(cells []cell, present []bool) []cell {
	out := slices.Clone(cells)
	for i := range out {
		if !present[i] {
			out[i] = nil
		}
	}
	return out
}

func (b builder) bits(set []bool) *memory.Buffer {
	buffer := memory.NewResizableBuffer(b.mem)
	buffer.Resize(int(bitutil.BytesForBits(int64(len(set)))))
	for i, s := range set {
		bitutil.SetBitTo(buffer.Bytes(), i, s)
	}
	return buffer
}

func arrowType(t pruning.Type) arrow.DataType {
	switch t.Kind {
	case pruning.Integer:
		return map[int]arrow.DataType{
			8: arrow.PrimitiveTypes.Int8, 16: arrow.PrimitiveTypes.Int16,
			32: arrow.PrimitiveTypes.Int32, 64: arrow.PrimitiveTypes.Int64,
		}[t.Bits]
	case pruning.Decimal:
		return &arrow.Decimal128Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}
	}
	return map[pruning.Kind]arrow.DataType{
		pruning.Boolean:      arrow.FixedWidthTypes.Boolean,
		pruning.Float:        arrow.PrimitiveTypes.Float32,
		pruning.Double:       arrow.PrimitiveTypes.Float64,
		pruning.String:       arrow.BinaryTypes.String,
		pruning.Binary:       arrow.BinaryTypes.Binary,
		pruning.Date:         arrow.FixedWidthTypes.Date32,
		pruning.Timestamp:    &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"},
		pruning.TimestampNTZ: &arrow.TimestampType{Unit: arrow.Microsecond},
		pruning.Opaque:       arrow.ListOf(arrow.PrimitiveTypes.Int8),
	}[t.Kind]
}

func appendValue(b array.Builder, v pruning.Value) {
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(v.Int != 0)
	case *array.Int8Builder:
		b.Append(int8(v.Int))
	case *array.Int16Builder:
		b.Append(int16(v.Int))
	case *array.Int32Builder:
		b.Append(int32(v.Int))
	case *array.Int64Builder:
		b.Append(v.Int)
	case *array.Date32Builder:
		b.Append(arrow.Date32(v.Int))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v.Int))
	default:
		appendWide(b, v)
	}
}

func appendWide(b array.Builder, v pruning.Value) {
	switch b := b.(type) {
	case *array.Float32Builder:
		b.Append(float32(v.Float))
	case *array.Float64Builder:
		b.Append(v.Float)
	case *array.Decimal128Builder:
		b.Append(decimal128.New(v.Decimal.High, v.Decimal.Low))
	case *array.StringBuilder:
		b.Append(v.Bytes)
	case *array.BinaryBuilder:
		b.Append([]byte(v.Bytes))
	case *array.ListBuilder:
		b.Append(true)
	default:
		panic("a new kind of column")
	}
}
