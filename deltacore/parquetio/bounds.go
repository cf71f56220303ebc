package parquetio

import (
	"cmp"
	"encoding/binary"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
)

// Bounds are what a file says about the values of a leaf in pieces of a row group: of all of it, or of each page. Nothing of
// it has been compared with the values. The receiver releases them.
type Bounds struct {
	Min, Max arrow.Array // of the leaf's Field.Type, one entry a piece, null where not known; nil: nowhere known
	Rows     []int64     // of each piece
	Nulls    []int64     // rows without a value, be it that a struct around it is null; Unknown
	NaNs     []int64     // Unknown
}

// Unknown is a count that is not known.
const Unknown = -1

// Release gives the arrays back.
func (b Bounds) Release() {
	if b.Min != nil {
		b.Min.Release()
	}
	if b.Max != nil {
		b.Max.Release()
	}
}

// unknownBounds know how many rows the pieces have.
func unknownBounds(rows ...int64) Bounds {
	b := Bounds{Rows: rows}
	for range rows {
		b.Nulls, b.NaNs = append(b.Nulls, Unknown), append(b.NaNs, Unknown)
	}
	return b
}

// leaf returns a leaf outside lists and maps, nil for another.
func (f *File) leaf(leaf int) *node {
	for _, n := range f.columns {
		for _, l := range n.appendLeaves(nil) {
			if l.field.Leaf == leaf && l.levels.rep == 0 {
				return l
			}
		}
	}
	return nil
}

// ChunkBounds returns what the footer says about a leaf in a row group: one piece. The error says why what is there is not to
// be used; then the bounds know less, or nothing.
func (f *File) ChunkBounds(rowGroup, leaf int) (Bounds, error) {
	rows := f.rowGroups[rowGroup].Rows
	n, c := f.leaf(leaf), f.meta.RowGroups[rowGroup].Columns[leaf].MetaData
	b := unknownBounds(rows)
	if n == nil || c == nil {
		return b, nil
	}
	if c.NumValues != rows {
		return b, fmt.Errorf("the column chunk has %d values for %d rows", c.NumValues, rows)
	}
	if n.levels.def == 0 {
		b.Nulls[0] = 0
	}
	s := c.Statistics
	if s == nil {
		return b, nil
	}
	if nulls := s.NullCount; nulls != nil {
		if *nulls < 0 || *nulls > rows || n.levels.def == 0 && *nulls > 0 {
			return b, fmt.Errorf("%d of %d values are null", *nulls, rows)
		}
		b.Nulls[0] = *nulls
	}
	var wrong error
	if isFloat(n) && s.NanCount != nil {
		if b.NaNs[0], wrong = *s.NanCount, checkNaNs(*s.NanCount, rows, b.Nulls[0]); wrong != nil {
			b.NaNs[0] = Unknown
		}
	}
	if !f.hasOrder(n) {
		return b, wrong
	}
	b, err := b.with(f, n, extremes{[][]byte{s.MinValue}, [][]byte{s.MaxValue}})
	return b, cmp.Or(err, wrong)
}

// extremes are the least and greatest values of some pieces, as the file has them.
type extremes struct{ least, greatest [][]byte }

// with adds the least and greatest values. One that is not of the leaf's form throws all of them away.
func (b Bounds) with(f *File, n *node, e extremes) (Bounds, error) {
	lower, err := f.plainValues(n, e.least)
	if err != nil {
		return b, err
	}
	upper, err := f.plainValues(n, e.greatest)
	if err != nil {
		lower.Release()
		return b, err
	}
	b.Min, b.Max = lower, upper
	return b, nil
}

func isFloat(n *node) bool {
	return n.leaf.inFile == parquet.Types.Float || n.leaf.inFile == parquet.Types.Double
}

func checkNaNs(nans, values, nulls int64) error {
	if nans < 0 || nans > values-max(0, nulls) {
		return fmt.Errorf("%d of %d values are not numbers, %d null", nans, values, nulls)
	}
	return nil
}

// hasOrder says whether the bounds of a leaf are those of the order in which its values are compared: the one that the file
// declares for its type, and not that of old (a footer without orders; INT96) or one of numbers without sign.
func (f *File) hasOrder(n *node) bool {
	orders, leaf := f.meta.ColumnOrders, n.field.Leaf
	switch {
	case leaf >= len(orders) || orders[leaf] == nil || orders[leaf].TYPE_ORDER == nil:
		return false
	case n.leaf.inFile == parquet.Types.Int96 || n.field.Type.ID() == arrow.NULL:
		return false
	case strings.HasPrefix(n.field.Logical, "INT(") && strings.HasSuffix(n.field.Logical, ",false)"):
		return false
	case strings.HasPrefix(n.field.Logical, "DECIMAL") && n.field.Type.ID() != arrow.DECIMAL128:
		return false
	case n.field.Logical == "INTERVAL" || n.field.Logical == "FLOAT16":
		return false
	}
	return true
}

// plainValues makes an array of values in the encoding PLAIN, without the length of byte arrays. nil stands for no value.
func (f *File) plainValues(n *node, values [][]byte) (out arrow.Array, err error) {
	for _, v := range values {
		if err := checkPlain(n, v); v != nil && err != nil {
			return nil, err
		}
	}
	err = guard("the statistics", func() error {
		d, err := plainData(f.options.Allocator, n, values)
		if err != nil {
			return err
		}
		defer d.Release()
		if n.leaf.convert == nil {
			out = array.MakeFromData(d)
			return nil
		}
		shown, err := n.leaf.convert(f.options.Allocator, d)
		if err != nil {
			return err
		}
		defer shown.Release()
		out = array.MakeFromData(shown)
		return nil
	})
	return out, err
}

var errPlain = errors.New("a value of the statistics has another size than the column's type")

// checkPlain compares the size of a value with that of its type.
func checkPlain(n *node, v []byte) error {
	width := len(v)
	switch n.leaf.inFile {
	case parquet.Types.Boolean:
		width = 1
		if len(v) == 1 && v[0] > 1 {
			return errPlain
		}
	case parquet.Types.Int32, parquet.Types.Float:
		width = 4
	case parquet.Types.Int64, parquet.Types.Double:
		width = 8
	case parquet.Types.FixedLenByteArray:
		width = n.leaf.length
	}
	if len(v) != width || width == 0 && n.field.Type.ID() == arrow.DECIMAL128 {
		return errPlain
	}
	return nil
}

// plainData is for values that have been checked.
func plainData(mem memory.Allocator, n *node, values [][]byte) (arrow.ArrayData, error) {
	typ := readType(n.leaf)
	if typ.ID() == arrow.BOOL {
		b := array.NewBooleanBuilder(mem)
		defer b.Release()
		for _, v := range values {
			if v == nil {
				b.AppendNull()
				continue
			}
			b.Append(v[0] == 1)
		}
		a := b.NewArray()
		defer a.Release()
		a.Data().Retain()
		return a.Data(), nil
	}
	width := 0
	if fixed, ok := typ.(arrow.FixedWidthDataType); ok {
		width = fixed.BitWidth() / 8
	}
	size := 0
	for _, v := range values {
		if size += max(width, len(v)); size > maxInt32 {
			return nil, errPlain
		}
	}
	p := plainBuilder{mem: mem, width: width, n: len(values)}
	return p.build(typ, values, size), nil
}

// plainBuilder puts values of a width, or of any (0), one behind the other.
type plainBuilder struct {
	mem      memory.Allocator
	width, n int
}

func (p plainBuilder) build(typ arrow.DataType, values [][]byte, size int) arrow.ArrayData {
	valid, offsets, data := p.buffer((p.n+7)/8), p.buffer(4*(p.n+1)), p.buffer(size)
	defer func() {
		valid.Release()
		offsets.Release()
		data.Release()
	}()
	at, nulls := 0, 0
	for i, v := range values {
		if v == nil {
			nulls++
		} else {
			valid.Bytes()[i/8] |= 1 << (i % 8)
		}
		copy(data.Bytes()[at:], v)
		at += max(p.width, len(v))
		binary.LittleEndian.PutUint32(offsets.Bytes()[4*(i+1):], uint32(at))
	}
	buffers := []*memory.Buffer{valid, data}
	if p.width == 0 {
		buffers = []*memory.Buffer{valid, offsets, data}
	}
	if nulls == 0 {
		buffers[0] = nil
	}
	return array.NewData(typ, p.n, buffers, nil, nulls, 0)
}

func (p plainBuilder) buffer(size int) *memory.Buffer {
	b := memory.NewResizableBuffer(p.mem)
	b.Resize(size)
	clear(b.Bytes())
	return b
}

// PageBounds returns what the column index says about a leaf in each page of a row group, and the first row of each page.
// Without an index there is no piece. Errors are those of ChunkBounds.
func (f *File) PageBounds(x *RowGroupIndex, leaf int) (b Bounds, first []int64, wrong error) {
	entry, n := x.leaves[leaf], f.leaf(leaf)
	if n == nil || entry.columns == nil || entry.offsets == nil {
		return Bounds{}, nil, nil
	}
	columns, offsets := entry.columns, entry.offsets
	if err := columns.check(len(offsets.pages)); err != nil {
		return Bounds{}, nil, err
	}
	for i := range offsets.pages {
		from, to := offsets.rows(i)
		first, b.Rows = append(first, from), append(b.Rows, to-from)
	}
	b = unknownBounds(b.Rows...)
	for i := range b.Rows {
		if err := columns.page(i, n, &b); err != nil {
			return Bounds{}, nil, err
		}
	}
	if !f.hasOrder(n) {
		return b, first, nil
	}
	b, err := b.with(f, n, extremes{columns.present(columns.min), columns.present(columns.max)})
	return b, first, err
}

// page notes the counts of a page.
func (x *columnIndex) page(i int, n *node, b *Bounds) error {
	rows := b.Rows[i]
	if n.levels.def == 0 {
		b.Nulls[i] = 0
	}
	if x.nulls != nil {
		b.Nulls[i] = x.nulls[i]
	}
	nulls := b.Nulls[i]
	switch {
	case nulls > rows || nulls < 0 && x.nulls != nil || n.levels.def == 0 && nulls > 0:
		return fmt.Errorf("%d of %d values of page %d are null", nulls, rows, i)
	case x.empty[i] && nulls != Unknown && nulls != rows, !x.empty[i] && nulls == rows:
		return fmt.Errorf("the column index says of page %d that all and that %d of %d values are null", i, nulls, rows)
	case x.empty[i]:
		b.Nulls[i] = rows
	}
	if x.nans != nil && isFloat(n) {
		b.NaNs[i] = x.nans[i]
		return checkNaNs(x.nans[i], rows, b.Nulls[i])
	}
	return nil
}

// present leaves out the bounds of pages that have none.
func (x *columnIndex) present(values [][]byte) [][]byte {
	out := slices.Clone(values)
	for i, empty := range x.empty {
		if empty {
			out[i] = nil
		} else if out[i] == nil {
			out[i] = []byte{}
		}
	}
	return out
}
