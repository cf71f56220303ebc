package datafile

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// plan says how the batches of one file become batches of the table. It belongs to one goroutine.
type plan struct {
	mem     memory.Allocator
	schema  *arrow.Schema
	leaves  []int // to read
	columns []column
}

// column makes one column of the output.
type column struct {
	member
	constant *constant // its value comes from the log
}

func (r *Reader) plan(fields []parquetio.Field, task scanplan.FileTask) (*plan, error) {
	p := &plan{mem: r.options.Allocator, schema: r.schema}
	if p.mem == nil {
		p.mem = memory.DefaultAllocator
	}
	if err := checkIDs(fields, r.layout.Mapping); err != nil {
		return nil, err
	}
	var wanted []wantedField
	for i, c := range r.columns {
		if !r.partition[i] {
			wanted = append(wanted, wantedField{c, c.Name, r.schema.Field(i).Type, r.layout.Mapping})
		}
	}
	members, leaves, err := bindMembers(fields, wanted)
	if err != nil {
		return nil, err
	}
	p.leaves = leaves
	for i, c := range r.columns {
		if !r.partition[i] {
			p.columns, members = append(p.columns, column{member: members[0]}), members[1:]
			continue
		}
		value, err := partitionValue(c, task.PartitionValues[r.layout.Mapping.PhysicalName(c)])
		if err != nil {
			return nil, err
		}
		p.columns = append(p.columns, column{constant: &constant{field: c, value: value}})
	}
	return p, nil
}

// partitionValue reads a file's value of a partition column. A missing one is null (section 12).
func partitionValue(c schema.Field, text *string) (schema.PartitionValue, error) {
	v, err := schema.ParsePartition(c, text)
	if err == nil && v.Null && !c.Nullable {
		err = deltaerr.New(deltaerr.Corrupt, "the partition value is null, but the table says that the column is never null",
			deltaerr.Column(c.Name))
	}
	return v, err
}

// constant is a column that has one value in all rows of a file.
type constant struct {
	field schema.Field
	value schema.PartitionValue
	last  arrow.Array // made for the last batch
}

// array returns n times the value. The caller releases it.
func (c *constant) array(mem memory.Allocator, n int) (arrow.Array, error) {
	if c.last == nil || c.last.Len() < n {
		a, err := c.value.Repeat(mem, c.field.Type, n)
		if err != nil {
			return nil, deltaerr.Annotate(err, deltaerr.Column(c.field.Name))
		}
		c.release()
		c.last = a
	}
	if c.last.Len() > n {
		return array.NewSlice(c.last, 0, int64(n)), nil
	}
	c.last.Retain()
	return c.last, nil
}

func (c *constant) release() {
	if c.last != nil {
		c.last.Release()
		c.last = nil
	}
}

// release ends the use of the plan.
func (p *plan) release() {
	for _, c := range p.columns {
		if c.constant != nil {
			c.constant.release()
		}
	}
}

// convert makes the output of a batch of the file. It borrows record; the caller releases the result.
func (p *plan) convert(record arrow.RecordBatch) (arrow.RecordBatch, error) {
	arrays := make([]arrow.Array, 0, len(p.columns))
	defer func() {
		for _, a := range arrays {
			a.Release()
		}
	}()
	n := int(record.NumRows())
	for _, c := range p.columns {
		a, err := p.column(c, record, n)
		if err != nil {
			return nil, err
		}
		arrays = append(arrays, a)
	}
	return array.NewRecordBatch(p.schema, arrays, record.NumRows()), nil
}

func (p *plan) column(c column, record arrow.RecordBatch, n int) (arrow.Array, error) {
	if c.constant != nil {
		return c.constant.array(p.mem, n)
	}
	var source arrow.ArrayData
	if c.source >= 0 {
		source = record.Column(c.source).Data()
	}
	d, err := c.make(p.mem, source, parent{rows: n})
	if err != nil {
		return nil, err
	}
	defer d.Release()
	return array.MakeFromData(d), nil
}

// sortedUnique sorts the leaves and drops repetitions.
func sortedUnique(leaves []int) []int {
	slices.Sort(leaves)
	return slices.Compact(leaves)
}
