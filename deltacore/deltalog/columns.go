package deltalog

import (
	"slices"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
)

// Checkpoints are written by many hands: any column, struct or member may be missing, in another place, or beside
// unknown ones (C1). So everything is found by name, at every depth, and what is not there reads as null. Names of list
// and map wrappers are not looked at: both spellings of each arrive as the same Arrow type.

// leavesOf returns the leaf columns under dotted paths, in file order. A path that ends at a group means all of it.
func leavesOf(fields []parquetio.Field, paths ...string) []int {
	var leaves []int
	for _, path := range paths {
		if f, ok := findField(fields, path); ok {
			leaves = append(leaves, f.Leaves()...)
		}
	}
	slices.Sort(leaves)
	return slices.Compact(leaves)
}

func findField(fields []parquetio.Field, path string) (parquetio.Field, bool) {
	return fieldAt(fields, strings.Split(path, "."))
}

// fieldAt finds a field by the names that lead to it.
func fieldAt(fields []parquetio.Field, path []string) (found parquetio.Field, ok bool) {
	for _, name := range path {
		i := slices.IndexFunc(fields, func(f parquetio.Field) bool { return f.Name == name })
		if i < 0 {
			return parquetio.Field{}, false
		}
		found, fields = fields[i], fields[i].Children
	}
	return found, len(path) > 0
}

// group is a struct column of a batch. The zero value is a column that is missing: all its rows are null.
type group struct {
	path   string
	column *array.Struct
}

// topGroup finds a struct column of a batch.
func topGroup(batch arrow.RecordBatch, name string) (group, error) {
	for i, f := range batch.Schema().Fields() {
		if f.Name == name {
			return asGroup(name, batch.Column(i))
		}
	}
	return group{path: name}, nil
}

func asGroup(path string, column arrow.Array) (group, error) {
	if isMissing(column) {
		return group{path: path}, nil
	}
	s, ok := column.(*array.Struct)
	if !ok {
		return group{}, wrongType(path, "a struct", column)
	}
	return group{path, s}, nil
}

func (g group) null(row int) bool { return g.column == nil || g.column.IsNull(row) }

// member finds a column of the group, or nil.
func (g group) member(name string) (path string, column arrow.Array) {
	path = g.path + "." + name
	if g.column == nil {
		return path, nil
	}
	t, ok := g.column.DataType().(*arrow.StructType)
	if !ok {
		return path, nil
	}
	i, ok := t.FieldIdx(name)
	if !ok {
		return path, nil
	}
	return path, g.column.Field(i)
}

func (g group) group(name string) (group, error) { return asGroup(g.member(name)) }

func (g group) texts(name string) (texts, error) { return asTexts(g.member(name)) }

func (g group) ints(name string) (ints, error) { return asInts(g.member(name)) }

func (g group) bools(name string) (bools, error) { return asBools(g.member(name)) }

func (g group) pairs(name string) (pairs, error) { return asPairs(g.member(name)) }

func (g group) lists(name string) (lists, error) { return asLists(g.member(name)) }

func isMissing(column arrow.Array) bool {
	return column == nil || column.DataType().ID() == arrow.NULL
}

func wrongType(path, want string, column arrow.Array) error {
	return deltaerr.New(deltaerr.Corrupt, "the column holds "+column.DataType().String()+", not "+want, deltaerr.Column(path))
}

// texts reads strings, also those stored without the annotation that makes them text. get copies: batches are released.
type texts struct {
	column interface {
		arrow.Array
		Value(int) string
	}
}

func asTexts(path string, column arrow.Array) (texts, error) {
	if isMissing(column) {
		return texts{}, nil
	}
	switch c := column.(type) {
	case *array.String:
		return texts{c}, nil
	case *array.LargeString:
		return texts{c}, nil
	case *array.Binary:
		return texts{binaryTexts{c}}, nil
	}
	return texts{}, wrongType(path, "text", column)
}

type binaryTexts struct{ *array.Binary }

func (b binaryTexts) Value(row int) string { return b.ValueString(row) }

func (t texts) null(row int) bool { return t.column == nil || t.column.IsNull(row) }

// borrow returns the text as long as the batch lives.
func (t texts) borrow(row int) string {
	if t.null(row) {
		return ""
	}
	return t.column.Value(row)
}

func (t texts) get(row int) string { return strings.Clone(t.borrow(row)) }

// ints reads integers of any width.
type ints struct {
	column arrow.Array
	value  func(int) int64
}

func asInts(path string, column arrow.Array) (ints, error) {
	if isMissing(column) {
		return ints{}, nil
	}
	switch c := column.(type) {
	case *array.Int64:
		return ints{c, c.Value}, nil
	case *array.Int32:
		return ints{c, func(i int) int64 { return int64(c.Value(i)) }}, nil
	case *array.Int16:
		return ints{c, func(i int) int64 { return int64(c.Value(i)) }}, nil
	case *array.Int8:
		return ints{c, func(i int) int64 { return int64(c.Value(i)) }}, nil
	}
	return ints{}, wrongType(path, "an integer", column)
}

func (n ints) get(row int) int64 {
	if n.column == nil || n.column.IsNull(row) {
		return 0
	}
	return n.value(row)
}

func (n ints) pointer(row int) *int64 {
	if n.column == nil || n.column.IsNull(row) {
		return nil
	}
	v := n.value(row)
	return &v
}

// bools reads booleans.
type bools struct{ column *array.Boolean }

func asBools(path string, column arrow.Array) (bools, error) {
	if isMissing(column) {
		return bools{}, nil
	}
	c, ok := column.(*array.Boolean)
	if !ok {
		return bools{}, wrongType(path, "a boolean", column)
	}
	return bools{c}, nil
}

func (b bools) get(row int) bool {
	return b.column != nil && b.column.IsValid(row) && b.column.Value(row)
}

// pairs reads maps of text to text, and lists of structs that a writer forgot to annotate as maps.
type pairs struct {
	column      array.ListLike
	keys, items texts
}

func asPairs(path string, column arrow.Array) (pairs, error) {
	if isMissing(column) {
		return pairs{}, nil
	}
	list, ok := column.(array.ListLike)
	if !ok {
		return pairs{}, wrongType(path, "a map", column)
	}
	entries, ok := list.ListValues().(*array.Struct)
	if !ok || entries.NumField() != 2 {
		return pairs{}, wrongType(path, "a map", column)
	}
	keys, err := asTexts(path+".key", entries.Field(0))
	if err != nil {
		return pairs{}, err
	}
	items, err := asTexts(path+".value", entries.Field(1))
	return pairs{list, keys, items}, err
}

// span returns the rows of keys and items that belong to a row. A null map has none.
func (p pairs) span(row int) (from, to int) {
	if p.column == nil || p.column.IsNull(row) {
		return 0, 0
	}
	start, end := p.column.ValueOffsets(row)
	return int(start), int(end)
}

// plain returns a map in which null is "".
func (p pairs) plain(row int) map[string]string {
	from, to := p.span(row)
	m := make(map[string]string, to-from)
	for i := from; i < to; i++ {
		m[p.keys.get(i)] = p.items.get(i)
	}
	return m
}

// lists reads lists of text.
type lists struct {
	column array.ListLike
	items  texts
}

func asLists(path string, column arrow.Array) (lists, error) {
	if isMissing(column) {
		return lists{}, nil
	}
	list, ok := column.(array.ListLike)
	if !ok {
		return lists{}, wrongType(path, "a list", column)
	}
	items, err := asTexts(path+".element", list.ListValues())
	return lists{list, items}, err
}

func (l lists) get(row int) []string {
	if l.column == nil || l.column.IsNull(row) {
		return nil
	}
	start, end := l.column.ValueOffsets(row)
	list := make([]string, 0, end-start)
	for i := start; i < end; i++ {
		list = append(list, l.items.get(int(i)))
	}
	return list
}
