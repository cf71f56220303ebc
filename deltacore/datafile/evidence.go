package datafile

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// source is where a file has the values of a column of the predicate. What a file says of its values is said in its own type;
// it goes through the same conversion as the values do. What contradicts the schema is no evidence: a column that is never null,
// and is missing or said to have nulls, keeps what it is asked about, so that reading it tells what is wrong (S5).
type source struct {
	typ     pruning.Type
	always  *pruning.Bounds // what holds everywhere in the file: a partition value, or null
	leaf    int             // -1: nothing is known
	field   parquetio.Field // of the leaf
	convert converter
	out     arrow.DataType
	numbers bool // the file has integers where the table has floating-point numbers
	full    bool // it is never null, nor is a struct around it
}

// sources finds the columns of the predicate in a file. A column that cannot be read as the table's is refused elsewhere.
func (r *Reader) sources(f *File) []source {
	list := make([]source, len(r.paths))
	for i, path := range r.paths {
		list[i] = r.source(f, path)
		list[i].typ = r.layout.Where.Columns[i].Type
	}
	return list
}

func (r *Reader) source(f *File, path []schema.Field) source {
	nothing := source{leaf: -1}
	if len(path) == 1 && slices.Contains(r.layout.PartitionColumns, path[0].Name) {
		value, err := partitionValue(path[0], r.layout.Mapping.PartitionText(path[0], f.task.PartitionValues))
		if err != nil {
			return nothing
		}
		return source{leaf: -1, always: constantBounds(value, path[0].PruningType())}
	}
	form := fileForm{mapping: r.layout.Mapping, calendar: calendarOf(f.parquet), room: &room{size: maxBatchValues}}
	fields, full := f.parquet.Fields(), true
	for depth, step := range path {
		out, err := schema.ArrowType(step.Type)
		if err != nil {
			return nothing
		}
		full = full && !step.Nullable
		w := wantedField{Field: step, path: step.Name, out: out, from: form}
		at, err := find(fields, w)
		switch {
		case err != nil:
			return nothing
		case at < 0 || isAlwaysNull(fields[at], step.Type):
			if !step.Nullable && out.ID() != arrow.NULL {
				return nothing
			}
			return source{leaf: -1, always: &pruning.Bounds{}}
		case depth == len(path)-1:
			s := leafSource(fields[at], w)
			s.full = full
			return s
		}
		fields = fields[at].Children
	}
	return nothing
}

// constantBounds hold in every row; those of null have no values.
func constantBounds(value schema.PartitionValue, t pruning.Type) *pruning.Bounds {
	v, ok := value.Value(t)
	if !ok && !value.Null {
		return nil
	}
	return &pruning.Bounds{Min: v, Max: v, Constant: ok}
}

// leafSource knows nothing of values that are in the calendar of old Spark versions: their order is another.
func leafSource(f parquetio.Field, w wantedField) source {
	nothing := source{leaf: -1}
	if f.Leaf < 0 {
		return nothing
	}
	convert, ok := bindLeaf(f, w)
	old := w.from.calendar.legacy || w.from.calendar.legacyINT96
	switch w.Type {
	case schema.Type(schema.Date), schema.Type(schema.Timestamp), schema.Type(schema.TimestampNTZ):
		ok = ok && !old
	}
	if !ok {
		return nothing
	}
	return source{
		leaf: f.Leaf, field: f, convert: convert, out: w.out,
		numbers: f.Type.ID() != arrow.FLOAT32 && f.Type.ID() != arrow.FLOAT64,
	}
}

// bounds turns what the file says of some pieces into what predicates are decided by. It takes over b. wrong is counted of what
// makes no sense.
func (s source) bounds(mem memory.Allocator, b parquetio.Bounds) (list []pruning.Bounds, wrong int64) {
	defer b.Release()
	list = make([]pruning.Bounds, len(b.Rows))
	for i := range list {
		list[i].Rows = pruning.Exactly(b.Rows[i])
		if b.Nulls[i] >= 0 {
			list[i].Nulls = pruning.Exactly(b.Nulls[i])
		}
		if s.numbers {
			list[i].NaNs = pruning.Exactly(0)
		} else if b.NaNs[i] >= 0 {
			list[i].NaNs = pruning.Exactly(b.NaNs[i])
		}
	}
	wrong = s.withoutNulls(list)
	if b.Min == nil || b.Max == nil {
		return list, wrong
	}
	least, err := s.shown(mem, b.Min)
	if err != nil {
		return list, wrong + 1
	}
	defer least.Release()
	greatest, err := s.shown(mem, b.Max)
	if err != nil {
		return list, wrong + 1
	}
	defer greatest.Release()
	for i := range list {
		lower, upper := valueAt(least, i, s.typ.Kind), valueAt(greatest, i, s.typ.Kind)
		if _, known := list[i].Rows.Get(); !known || lower.IsNaN() || upper.IsNaN() {
			continue
		}
		if lower.Kind == upper.Kind && lower.Kind != pruning.Opaque && lower.Compare(upper) > 0 {
			wrong++
			continue
		}
		list[i].Min, list[i].Max = lower, upper
	}
	return list, wrong
}

// withoutNulls forgets pieces of a column that is never null which are said to have nulls. It counts them.
func (s source) withoutNulls(list []pruning.Bounds) (wrong int64) {
	for i, b := range list {
		if n, _ := b.Nulls.Get(); s.full && n > 0 {
			list[i] = pruning.Bounds{}
			wrong++
		}
	}
	return wrong
}

// shown converts values of the file's form. The caller releases the array.
func (s source) shown(mem memory.Allocator, a arrow.Array) (arrow.Array, error) {
	if s.convert == nil {
		a.Retain()
		return a, nil
	}
	d, err := s.convert(mem, a.Data())
	if err != nil {
		return nil, err
	}
	defer d.Release()
	return array.MakeFromData(d), nil
}

// evidence is what is known about a piece of a row group: all of it, or some of its rows. It belongs to one goroutine.
type evidence struct {
	file    *File
	columns []pruning.Bounds
	held    *held // nil: there is nothing that knows single values
}

// Bounds implements pruning.Evidence.
func (e evidence) Bounds(column int) pruning.Bounds { return e.columns[column] }

// MayHold implements pruning.Evidence.
func (e evidence) MayHold(column int, v pruning.Value) bool {
	return e.held == nil || e.held.mayHold(column, v)
}

// chunks is what the footer says about a row group. wrong is how much of it makes no sense.
func (f *File) chunks(group int) (list []pruning.Bounds, wrong int64) {
	list = make([]pruning.Bounds, len(f.sources))
	rows := f.parquet.RowGroups()[group].Rows
	for i, s := range f.sources {
		list[i] = pruning.Bounds{Rows: pruning.Exactly(rows)}
		switch {
		case s.always != nil:
			list[i] = s.everywhere(rows)
		case s.leaf >= 0:
			b, err := f.parquet.ChunkBounds(group, s.leaf)
			all, more := s.bounds(f.mem(), b)
			if list[i] = all[0]; err != nil {
				more++
			}
			wrong += more
		}
	}
	return list, wrong
}

// everywhere is what holds in any piece of the file.
func (s source) everywhere(rows int64) pruning.Bounds {
	b := *s.always
	b.Rows, b.Nulls, b.NaNs = pruning.Exactly(rows), pruning.Exactly(rows), pruning.Exactly(0)
	if b.Constant {
		b.Nulls = pruning.Exactly(0)
		if b.Min.IsNaN() {
			b.NaNs = pruning.Exactly(rows)
		}
	}
	return b
}

func (f *File) unusable(r scanplan.Reason, n int64) {
	if n > 0 {
		f.reader.layout.Skipped.Unusable(r, n)
	}
}

func (f *File) mem() memory.Allocator {
	if m := f.reader.options.Allocator; m != nil {
		return m
	}
	return memory.DefaultAllocator
}
