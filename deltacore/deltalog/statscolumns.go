package deltalog

import (
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// parsedName is the struct of a checkpoint that holds statistics as columns (C5).
const parsedName = "stats_parsed"

// parsedLeaves returns the leaf columns of a checkpoint that hold the statistics of the form's leaves. ok is false where
// there is a leaf of which it has none: JSON may have more.
func (f *statsForm) parsedLeaves(fields []parquetio.Field) (leaves []int, ok bool) {
	ok = true
	for _, l := range f.leaves {
		found := len(leaves)
		for _, name := range []string{leastName, greatestName, nullsName} {
			leaves = append(leaves, leafAt(fields, append([]string{"add", parsedName, name}, l.Path...))...)
		}
		ok = ok && len(leaves) > found
	}
	for _, name := range []string{rowsName, tightName} {
		leaves = append(leaves, leafAt(fields, []string{"add", parsedName, name})...)
	}
	return leaves, ok
}

// leafAt returns the leaf column of a path, if it leads to one.
func leafAt(fields []parquetio.Field, path []string) []int {
	f, ok := fieldAt(fields, path)
	if !ok || f.Leaf < 0 {
		return nil
	}
	return []int{f.Leaf}
}

// statsColumns are the columns of parsed statistics in one batch.
type statsColumns struct {
	types       []pruning.Type
	rows, tight nestedColumn
	leaves      []leafColumns
}

type leafColumns struct{ least, greatest, nulls nestedColumn }

// bindStats finds the columns in the batch of a checkpoint; nil where it has none.
func (f *statsForm) bindStats(add group) *statsColumns {
	_, parsed := add.member(parsedName)
	if f == nil || isMissing(parsed) {
		return nil
	}
	c := &statsColumns{rows: nestedAt(parsed, rowsName), tight: nestedAt(parsed, tightName)}
	for _, l := range f.leaves {
		at := func(name string) nestedColumn { return nestedAt(parsed, append([]string{name}, l.Path...)...) }
		c.types = append(c.types, l.Type)
		c.leaves = append(c.leaves, leafColumns{at(leastName), at(greatestName), at(nullsName)})
	}
	return c
}

// read takes the facts from a row. It says whether something in there cannot be used.
func (c *statsColumns) read(row int, f *statsFacts) (odd bool) {
	f.rows, odd = c.rows.count(row)
	if !c.tight.null(row) { // ST6: absent is true
		tight, is := c.tight.column.(*array.Boolean)
		f.tight = is && tight.Value(row)
	}
	for i, columns := range c.leaves {
		l, t := &f.leaves[i], c.types[i]
		var wrong [3]bool
		if hasBounds(t) {
			l.least, wrong[0] = columns.least.value(t, row)
			l.greatest, wrong[1] = columns.greatest.value(t, row)
		}
		l.nulls, wrong[2] = columns.nulls.count(row)
		odd = odd || wrong[0] || wrong[1] || wrong[2]
	}
	return odd
}

// nestedColumn is a column with the structs around it; where one of those is null, so is the value.
type nestedColumn struct {
	around []arrow.Array
	column arrow.Array // nil: missing
}

// nestedAt finds a column below a struct by exact names.
func nestedAt(column arrow.Array, path ...string) nestedColumn {
	c := nestedColumn{column: column}
	for _, name := range path {
		s, is := c.column.(*array.Struct)
		if !is {
			return nestedColumn{}
		}
		i, found := s.DataType().(*arrow.StructType).FieldIdx(name) //nolint:forcetypeassert // of an array.Struct
		if !found {
			return nestedColumn{}
		}
		c.around, c.column = append(c.around, s), s.Field(i)
	}
	return c
}

func (c nestedColumn) null(row int) bool {
	if c.column == nil || c.column.IsNull(row) {
		return true
	}
	for _, s := range c.around {
		if s.IsNull(row) {
			return true
		}
	}
	return false
}

// count reads a count; -1 is none.
func (c nestedColumn) count(row int) (n int64, odd bool) {
	if c.null(row) {
		return -1, false
	}
	switch column := c.column.(type) {
	case *array.Int64:
		n = column.Value(row)
	case *array.Int32:
		n = int64(column.Value(row))
	case *array.Struct: // of the members of a struct
		return -1, false
	default:
		return -1, true
	}
	if n < 0 {
		return -1, true
	}
	return n, false
}

// value reads a value as one of a leaf's type. The checkpoint may be older than the type (TW4), so that the column is of a
// narrower one. The zero Value is none; odd is one that is there but cannot be used. Text is that of the batch.
func (c nestedColumn) value(t pruning.Type, row int) (v pruning.Value, odd bool) {
	if c.null(row) {
		return v, false
	}
	ok := false
	switch v.Kind = t.Kind; t.Kind {
	case pruning.Integer:
		v.Int, ok = integerAt(c.column, row)
		ok = ok && v.Int == v.Int<<(64-t.Bits)>>(64-t.Bits)
	case pruning.Float, pruning.Double:
		v.Float, ok = floatAt(c.column, row, t.Kind)
	case pruning.Decimal:
		v.Decimal, ok = decimalAt(c.column, row, t)
	case pruning.String:
		v.Bytes, ok = textAt(c.column, row)
	case pruning.Date:
		v.Int, ok = dateAt(c.column, row)
	case pruning.Timestamp, pruning.TimestampNTZ:
		v.Int, ok = instantAt(c.column, row, t.Kind)
	}
	if !ok {
		return pruning.Value{}, true
	}
	return v, false
}

func integerAt(column arrow.Array, row int) (int64, bool) {
	switch c := column.(type) {
	case *array.Int64:
		return c.Value(row), true
	case *array.Int32:
		return int64(c.Value(row)), true
	case *array.Int16:
		return int64(c.Value(row)), true
	case *array.Int8:
		return int64(c.Value(row)), true
	}
	return 0, false
}

func floatAt(column arrow.Array, row int, k pruning.Kind) (float64, bool) {
	switch c := column.(type) {
	case *array.Float32:
		return float64(c.Value(row)), true
	case *array.Float64:
		f := c.Value(row)
		return f, k == pruning.Double || f == float64(float32(f))
	}
	n, ok := integerAt(column, row) // a widened one, of at most 32 bits
	return float64(n), ok && k == pruning.Double && n == int64(int32(n))
}

func decimalAt(column arrow.Array, row int, t pruning.Type) (pruning.Int128, bool) {
	var n decimal128.Num
	scale := 0
	if c, is := column.(*array.Decimal128); is {
		n, scale = c.Value(row), int(c.DataType().(*arrow.Decimal128Type).Scale) //nolint:forcetypeassert // of an array.Decimal128
	} else {
		integer, ok := integerAt(column, row)
		if !ok {
			return pruning.Int128{}, false
		}
		n = decimal128.FromI64(integer)
	}
	room := t.Precision - (t.Scale - scale) // digits before it is brought to the scale
	if scale < 0 || scale > t.Scale || room < 1 || n.Abs().Sign() < 0 || !n.FitsInPrecision(int32(room)) {
		return pruning.Int128{}, false
	}
	n = n.IncreaseScaleBy(int32(t.Scale - scale))
	return pruning.Int128{High: n.HighBits(), Low: n.LowBits()}, true
}

func textAt(column arrow.Array, row int) (string, bool) {
	switch c := column.(type) {
	case *array.String:
		return c.Value(row), true
	case *array.LargeString:
		return c.Value(row), true
	case *array.Binary:
		return c.ValueString(row), true
	}
	return "", false
}

func dateAt(column arrow.Array, row int) (int64, bool) {
	c, is := column.(*array.Date32)
	if !is {
		return 0, false
	}
	return int64(c.Value(row)), true
}

// instantAt reads a timestamp with a zone, or a local one. A timestamp of another kind than the leaf's is none.
func instantAt(column arrow.Array, row int, k pruning.Kind) (micros int64, ok bool) {
	switch c := column.(type) {
	case *array.Timestamp:
		unit := c.DataType().(*arrow.TimestampType) //nolint:forcetypeassert // of an array.Timestamp
		micros, ok = microsOf(int64(c.Value(row)), unit.Unit)
		return micros, ok && (unit.TimeZone != "") == (k == pruning.Timestamp)
	case *array.Date32:
		return int64(c.Value(row)) * schema.MicrosPerDay, k == pruning.TimestampNTZ
	case *array.FixedSizeBinary:
		if b := c.Value(row); len(b) == schema.INT96Size {
			micros, ok = schema.ReadINT96(b).Micros()
			return micros, ok && k == pruning.Timestamp
		}
	}
	return 0, false
}

func microsOf(n int64, unit arrow.TimeUnit) (micros int64, ok bool) {
	switch unit {
	case arrow.Microsecond:
		return n, true
	case arrow.Millisecond:
		return n * 1000, n > math.MinInt64/1000 && n < math.MaxInt64/1000
	case arrow.Nanosecond:
		return schema.FloorDiv(n, 1000), true
	}
	return 0, false
}
