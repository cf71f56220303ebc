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
	room    room
}

// column makes one column of the output.
type column struct {
	member
	constant *constant // its value comes from the log
}

// planned is what a plan is for.
type planned struct {
	file *parquetio.File
	task scanplan.FileTask
	set  columnSet
}

// plan makes one for the columns of a set. Row ids are numbered for the output only.
func (r *Reader) plan(file *parquetio.File, task scanplan.FileTask, set columnSet) (*plan, error) {
	of := planned{file, task, set}
	p := &plan{mem: r.options.Allocator, schema: set.schema}
	if p.mem == nil {
		p.mem = memory.DefaultAllocator
	}
	fields := file.Fields()
	if err := checkIDs(fields, r.layout.Mapping); err != nil {
		return nil, err
	}
	var wanted []wantedField
	form := fileForm{mapping: r.layout.Mapping, calendar: calendarOf(file), room: &p.room}
	for i, c := range set.fields {
		if !set.partition[i] {
			wanted = append(wanted, wantedField{c, c.Name, set.schema.Field(i).Type, form})
		}
	}
	n := len(wanted)
	numbers, hasIDs, err := r.numbers(p, of)
	if err != nil {
		return nil, err
	}
	members, leaves, err := bindMembers(fields, append(wanted, numbers...))
	if err != nil {
		return nil, err
	}
	if p.leaves = leaves; p.tracked != nil {
		p.tracked.bind(members[n:], hasIDs)
	}
	return p, r.addColumns(p, members[:n], of)
}

// numbers are the columns to read for row ids.
func (r *Reader) numbers(p *plan, of planned) (list []wantedField, hasIDs bool, err error) {
	if r.layout.RowTracking == nil || of.set.schema != r.output.schema {
		return nil, false, nil
	}
	if p.tracked, err = trackedOf(of.task, of.file.NumRows()); err != nil {
		return nil, false, err
	}
	list, hasIDs = r.layout.RowTracking.wanted(of.file.Fields())
	return list, hasIDs, nil
}

// addColumns completes the plan with the columns of a set; members are those of them that files have.
func (r *Reader) addColumns(p *plan, members []member, of planned) error {
	for i, c := range of.set.fields {
		if !of.set.partition[i] {
			p.columns, members = append(p.columns, column{member: members[0]}), members[1:]
			continue
		}
		value, err := partitionValue(c, r.layout.Mapping.PartitionText(c, of.task.PartitionValues))
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

// number gives the rows of a batch, which are those of record, their row ids.
func (p *plan) number(b *Batch, record arrow.RecordBatch) (err error) {
	if p.tracked == nil {
		return nil
	}
	if b.RowIDs, err = p.tracked.ids.of(p.mem, record, b.row); err == nil {
		b.RowCommitVersions, err = p.tracked.versions.of(p.mem, record, b.row)
	}
	return err
}

// row returns the physical row of row i.
func (b *Batch) row(i int) int64 {
	if b.Index != nil {
		return b.Index[i]
	}
	return b.FirstRow + int64(i)
}

func (p *plan) column(c column, record arrow.RecordBatch, n int) (arrow.Array, error) {
	if c.constant != nil {
		if err := p.room.check(len(c.constant.value.Text) * n); err != nil {
			return nil, deltaerr.Annotate(err, deltaerr.Column(c.constant.field.Name))
		}
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
