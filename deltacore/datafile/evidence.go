package datafile

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// source is where a file has the values of a column of the predicate. What a file says of its values is said in its own type;
// it goes through the same conversion as the values do.
type source struct {
	typ     pruning.Type
	always  *pruning.Bounds // what holds everywhere in the file: a partition value, or null
	leaf    int             // -1: nothing is known
	field   parquetio.Field // of the leaf
	convert converter
	out     arrow.DataType
	numbers bool // the file has integers where the table has floating-point numbers
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
	if i := indexOf(r.where.fields, path[0].Name); len(path) == 1 && r.where.partition[i] {
		value, err := partitionValue(path[0], r.partitionText(path[0], f.task.PartitionValues))
		if err != nil {
			return nothing
		}
		return source{leaf: -1, always: constantBounds(value, path[0].PruningType())}
	}
	form := fileForm{mapping: r.layout.Mapping, calendar: calendarOf(f.parquet), room: &room{size: maxBatchValues}}
	fields := f.parquet.Fields()
	for depth, step := range path {
		out, err := schema.ArrowType(step.Type)
		if err != nil {
			return nothing
		}
		w := wantedField{Field: step, path: step.Name, out: out, from: form}
		at, err := match(fields, w)
		switch {
		case err != nil:
			return nothing
		case at < 0 || isAlwaysNull(fields[at], step.Type):
			return source{leaf: -1, always: &pruning.Bounds{}}
		case depth == len(path)-1:
			return leafSource(fields[at], w)
		}
		fields = fields[at].Children
	}
	return nothing
}

func indexOf(fields []schema.Field, name string) int {
	for i, f := range fields {
		if f.Name == name {
			return i
		}
	}
	return 0
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
	if b.Min == nil || b.Max == nil {
		return list, 0
	}
	least, err := s.shown(mem, b.Min)
	if err != nil {
		return list, 1
	}
	defer least.Release()
	greatest, err := s.shown(mem, b.Max)
	if err != nil {
		return list, 1
	}
	defer greatest.Release()
	for i := range list {
		lower, upper := valueAt(least, i, s.typ.Kind), valueAt(greatest, i, s.typ.Kind)
		if lower.IsNaN() || upper.IsNaN() {
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

// held asks bloom filters and dictionaries of a row group, which are read when they are needed first. After an error of the
// store it knows nothing.
type held struct {
	ctx    context.Context //nolint:containedctx // of the read: pruning asks without one
	file   *File
	group  int
	lists  map[int]*valueList // by column
	last   scanplan.Reason    // by which a value was found not to be there
	asking bool               // whether it may read; else it says of every column that could know that a value is not there
	err    error
}

// valueList is what is known about the values of a column chunk.
type valueList struct {
	bloom  *parquetio.Bloom
	values map[pruning.Value]struct{} // nil: not known
}

// mayHold says whether the row group may have a value.
func (h *held) mayHold(column int, v pruning.Value) bool {
	s := h.file.sources[column]
	if s.leaf < 0 || h.err != nil {
		return true
	}
	if !h.asking {
		return !h.file.knowsValues(h.group, s.leaf)
	}
	list := h.list(column, s)
	if list.bloom != nil {
		is := storedAs(s.field, v, s.typ)
		if !is.open {
			may := false
			if !is.none {
				may, h.err = list.bloom.MayHold(h.ctx, is.bytes)
			}
			if !may && h.err == nil {
				h.last = scanplan.ByBloom
				return false
			}
		}
	}
	if list.values == nil || v.IsNaN() {
		return true
	}
	_, there := list.values[v]
	if !there {
		h.last = scanplan.ByDictionary
	}
	return there
}

// knowsValues says whether there is a bloom filter or a dictionary to ask.
func (f *File) knowsValues(group, leaf int) bool {
	off := f.reader.layout.Without
	return off&BloomFilters == 0 && f.parquet.HasBloom(group, leaf) || off&Dictionaries == 0 && f.parquet.HasDictionary(group, leaf)
}

func (h *held) list(column int, s source) *valueList {
	if list, ok := h.lists[column]; ok {
		return list
	}
	list := &valueList{}
	h.lists[column] = list
	var wrong error
	off := h.file.reader.layout.Without
	if off&BloomFilters == 0 {
		list.bloom, wrong, h.err = h.file.parquet.Bloom(h.ctx, h.group, s.leaf)
		h.count(scanplan.ByBloom, wrong)
	}
	if off&Dictionaries == 0 && h.err == nil && list.bloom == nil {
		var values arrow.Array
		values, wrong, h.err = h.file.parquet.Dictionary(h.ctx, h.group, s.leaf)
		h.count(scanplan.ByDictionary, wrong)
		if values != nil {
			defer values.Release()
			list.values = h.set(s, values)
		}
	}
	return list
}

func (h *held) count(r scanplan.Reason, wrong error) {
	if wrong != nil {
		h.file.unusable(r, 1)
	}
}

// set are the values of a dictionary; nil when one of them cannot be read.
func (h *held) set(s source, values arrow.Array) map[pruning.Value]struct{} {
	shown, err := s.shown(h.file.mem(), values)
	if err != nil {
		h.count(scanplan.ByDictionary, err)
		return nil
	}
	defer shown.Release()
	set := make(map[pruning.Value]struct{}, shown.Len())
	for i := range shown.Len() {
		v := valueAt(shown, i, s.typ.Kind)
		if v.Kind == pruning.Opaque {
			return nil
		}
		set[v] = struct{}{}
	}
	return set
}
