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
	tracked *tracked // nil: row ids are not wanted
}

// column makes one column of the output.
type column struct {
	member
	constant *constant // its value comes from the log
}

func (r *Reader) plan(file *parquetio.File, task scanplan.FileTask) (*plan, error) {
	p := &plan{mem: r.options.Allocator, schema: r.schema}
	if p.mem == nil {
		p.mem = memory.DefaultAllocator
	}
	fields := file.Fields()
	if err := checkIDs(fields, r.layout.Mapping); err != nil {
		return nil, err
	}
	var wanted []wantedField
	form := fileForm{mapping: r.layout.Mapping, calendar: calendarOf(file)}
	for i, c := range r.columns {
		if !r.partition[i] {
			wanted = append(wanted, wantedField{c, c.Name, r.schema.Field(i).Type, form})
		}
	}
	n, hasIDs := len(wanted), false
	if r.layout.RowTracking != nil {
		var err error
		if p.tracked, err = trackedOf(task, file.NumRows()); err != nil {
			return nil, err
		}
		var numbers []wantedField
		numbers, hasIDs = r.layout.RowTracking.wanted(fields)
		wanted = append(wanted, numbers...)
	}
	members, leaves, err := bindMembers(fields, wanted)
	if err != nil {
		return nil, err
	}
	if p.leaves = leaves; p.tracked != nil {
		p.tracked.bind(members[n:], hasIDs)
	}
	return p, r.addColumns(p, members[:n], task)
}

// addColumns completes the plan with the columns of the output; members are those of them that files have.
func (r *Reader) addColumns(p *plan, members []member, task scanplan.FileTask) error {
	for i, c := range r.columns {
		if !r.partition[i] {
			p.columns, members = append(p.columns, column{member: members[0]}), members[1:]
			continue
		}
		value, err := partitionValue(c, task.PartitionValues[r.layout.Mapping.PhysicalName(c)])
		if err != nil {
			return err
		}
		p.columns = append(p.columns, column{constant: &constant{field: c, value: value}})
	}
	return nil
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

// number gives the rows of a batch, which Index lists or which go from FirstRow to the end, their row ids. first is the row of
// record's first.
func (p *plan) number(b *Batch, record arrow.RecordBatch, first int64) (err error) {
	if p.tracked == nil {
		return nil
	}
	rows := chosen{first: first, from: b.FirstRow, index: b.Index}
	if b.RowIDs, err = p.tracked.ids.of(p.mem, record, rows); err == nil {
		b.RowCommitVersions, err = p.tracked.versions.of(p.mem, record, rows)
	}
	return err
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
