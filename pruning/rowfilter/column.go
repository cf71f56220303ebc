package rowfilter

import (
	"fmt"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// column is where a predicate's column is in the batches, and its part of the present one.
type column struct {
	name  string
	kind  pruning.Kind
	arrow arrow.DataType
	path  []int // its number among the batch's columns, then among the fields of each struct

	values  arrow.Array
	valid   []bitmap // its own and those of the structs around it, where there are nulls
	allNull bool
}

// findColumn finds each name of the path exactly once, or fails.
func findColumn(c pruning.Column, batches *arrow.Schema) (column, error) {
	found := column{name: strings.Join(c.Path, "."), kind: c.Type.Kind}
	fields := batches.Fields()
	for _, name := range c.Path {
		at, times := named(fields, name)
		if times != 1 {
			return column{}, found.mismatch(fmt.Sprintf("is %d times among the batches' columns", times))
		}
		found.path = append(found.path, at)
		found.arrow, fields = fields[at].Type, nil
		if s, ok := found.arrow.(*arrow.StructType); ok {
			fields = s.Fields()
		}
	}
	if len(found.path) == 0 || !holds(found.arrow, c.Type) {
		return column{}, found.mismatch(fmt.Sprintf("is %v in the batches, %s in the predicate", found.arrow, c.Type.Name))
	}
	return found, nil
}

// named returns the last field of a name, and how many there are.
func named(fields []arrow.Field, name string) (at, times int) {
	for i, f := range fields {
		if f.Name == name {
			at, times = i, times+1
		}
	}
	return at, times
}

func (c *column) mismatch(what string) error {
	return deltaerr.New(deltaerr.Internal, "the predicate's column "+what, deltaerr.Column(c.name))
}

// holds tells whether arrays of an Arrow type hold values of a predicate's type.
func holds(a arrow.DataType, t pruning.Type) bool {
	switch t.Kind {
	case pruning.Opaque:
		return true
	case pruning.Integer:
		return arrow.IsSignedInteger(a.ID())
	case pruning.Decimal:
		d, ok := a.(*arrow.Decimal128Type)
		return ok && int(d.Scale) == t.Scale
	case pruning.Timestamp, pruning.TimestampNTZ:
		ts, ok := a.(*arrow.TimestampType)
		return ok && ts.Unit == arrow.Microsecond && (ts.TimeZone != "") == (t.Kind == pruning.Timestamp)
	}
	id, known := plainTypes[t.Kind]
	return known && a.ID() == id
}

var plainTypes = map[pruning.Kind]arrow.Type{
	pruning.Boolean: arrow.BOOL,
	pruning.Float:   arrow.FLOAT32,
	pruning.Double:  arrow.FLOAT64,
	pruning.String:  arrow.STRING,
	pruning.Binary:  arrow.BINARY,
	pruning.Date:    arrow.DATE32,
}

// load finds the column's arrays in a batch. A struct's fields are already cut to its rows.
func (c *column) load(batch arrow.RecordBatch) {
	c.unload()
	values := batch.Column(c.path[0])
	c.addValidity(values)
	for _, field := range c.path[1:] {
		values = values.(*array.Struct).Field(field) //nolint:forcetypeassert // findColumn saw its type
		c.addValidity(values)
	}
	c.values = values
}

func (c *column) addValidity(a arrow.Array) {
	if a.DataType().ID() == arrow.NULL {
		c.allNull = true
	}
	if bytes := a.NullBitmapBytes(); len(bytes) != 0 {
		c.valid = append(c.valid, bitmap{bytes, a.Data().Offset()})
	}
}

func (c *column) unload() {
	clear(c.valid)
	c.values, c.valid, c.allNull = nil, c.valid[:0], false
}

// keepValid clears the rows where the column is null.
func (c *column) keepValid(rows []uint64) {
	if c.allNull {
		clear(rows)
	}
	for _, valid := range c.valid {
		for i := range rows {
			rows[i] &= valid.word(i)
		}
	}
}
