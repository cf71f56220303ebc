package datafile

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/arrowdata"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// converter makes the table's values of the file's. It borrows d; the caller releases the result. nil: they are the same.
type converter func(mem memory.Allocator, d arrow.ArrayData) (arrow.ArrayData, error)

// wantedField is a field of the table with its place and its Arrow type.
type wantedField struct {
	schema.Field
	path string
	out  arrow.DataType
	from fileForm
}

// fileForm is what holds for all columns of a file.
type fileForm struct {
	mapping  schema.Mapping
	calendar calendar
	room     *room
}

func (w wantedField) column() deltaerr.Attr { return deltaerr.Column(w.path) }

// child is the same place one level down.
func (w wantedField) child(f schema.Field, out arrow.DataType) wantedField {
	return wantedField{f, w.path + "." + f.Name, out, w.from}
}

// member makes a top-level column, or a member of a struct.
type member struct {
	wantedField
	source  int // index among the columns or members that are read, -1 when the file has none
	convert converter
}

// parent is what a member belongs to: its rows, and which of them exist.
type parent struct {
	rows  int
	valid arrow.ArrayData // the struct; nil: all rows exist
}

// make borrows source; the caller releases the result.
func (m member) make(mem memory.Allocator, source arrow.ArrayData, p parent) (arrow.ArrayData, error) {
	if m.source < 0 {
		if err := m.checkNulls(nil, p); err != nil {
			return nil, err
		}
		return nullData(mem, m.out, p.rows), nil
	}
	if err := m.checkNulls(source, p); err != nil {
		return nil, err
	}
	if m.convert == nil {
		source.Retain()
		return source, nil
	}
	d, err := m.convert(mem, source)
	return d, deltaerr.Annotate(err, m.column())
}

func nullData(mem memory.Allocator, typ arrow.DataType, n int) arrow.ArrayData {
	a := array.MakeArrayOfNull(mem, typ, n)
	defer a.Release()
	d := a.Data()
	d.Retain()
	return d
}

// bindMembers binds the members of a struct, or the columns of a table, to those of the file. It returns the leaves that
// have to be read.
func bindMembers(fields []parquetio.Field, wanted []wantedField) ([]member, []int, error) {
	members := make([]member, len(wanted))
	var leaves, sources []int
	for i, w := range wanted {
		at, err := find(fields, w)
		if err != nil {
			return nil, nil, deltaerr.Annotate(err, w.column())
		}
		members[i] = member{wantedField: w, source: -1}
		if at < 0 || isAlwaysNull(fields[at], w.Type) {
			continue
		}
		convert, read, err := bind(fields[at], w)
		if err != nil {
			return nil, nil, err
		}
		members[i].source, members[i].convert = at, convert
		leaves, sources = append(leaves, read...), append(sources, at)
	}
	sources = sortedUnique(sources)
	for i, m := range members { // what is read keeps the order of the file
		if m.source >= 0 {
			members[i].source = slices.Index(sources, m.source)
		}
	}
	return members, sortedUnique(leaves), nil
}

// isAlwaysNull: columns of the type void are not looked for in files, and a file may have columns without a type (E4).
func isAlwaysNull(f parquetio.Field, t schema.Type) bool {
	return t == schema.Type(schema.Void) || f.Type.ID() == arrow.NULL
}

// bind returns how a field of the file becomes a field of the table, and the leaves to read for it.
func bind(f parquetio.Field, w wantedField) (converter, []int, error) {
	if w.Type == schema.Type(schema.Variant) {
		return bindVariant(f, w)
	}
	switch t := w.Type.(type) {
	case *schema.Struct:
		if f.Leaf < 0 && f.Type.ID() == arrow.STRUCT {
			return bindStruct(f, w, t)
		}
	case *schema.Array:
		if f.Type.ID() == arrow.LIST {
			return bindList(f, w, t)
		}
	case *schema.Map:
		if f.Type.ID() == arrow.MAP {
			return bindMap(f, w, t)
		}
	default:
		if f.Leaf >= 0 {
			if convert, ok := bindLeaf(f, w); ok {
				return convert, []int{f.Leaf}, nil
			}
		}
	}
	return nil, nil, mismatch(f, w)
}

func mismatch(f parquetio.Field, w wantedField) error {
	return deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("the file has the type %s, the table %s", fileType(f), w.Type), w.column())
}

// fileType describes a field of a file for a message.
func fileType(f parquetio.Field) string {
	switch {
	case f.Leaf >= 0 && f.Logical != "":
		return f.Physical + " " + f.Logical
	case f.Leaf >= 0:
		return f.Physical
	default:
		return f.Type.String()
	}
}

// children are the Arrow fields below a nested type: the members of a struct, the element of a list, the entries of a map.
func children(t arrow.DataType) []arrow.Field {
	if nested, ok := t.(arrow.NestedType); ok {
		return nested.Fields()
	}
	return nil
}

func bindStruct(f parquetio.Field, w wantedField, t *schema.Struct) (converter, []int, error) {
	out := children(w.out)
	wanted := make([]wantedField, len(t.Fields))
	for i, field := range t.Fields {
		wanted[i] = w.child(field, out[i].Type)
	}
	members, leaves, err := bindMembers(f.Children, wanted)
	if err != nil {
		return nil, nil, err
	}
	if len(leaves) == 0 { // some leaf has to say which structs are null (E1)
		leaves = cheapestLeaf(f)
	}
	return func(mem memory.Allocator, d arrow.ArrayData) (arrow.ArrayData, error) {
		made := make([]arrow.ArrayData, 0, len(members))
		defer func() { arrowdata.Release(made) }()
		for _, m := range members {
			var source arrow.ArrayData
			if m.source >= 0 {
				source = d.Children()[m.source]
			}
			c, err := m.make(mem, source, parent{rows: d.Len(), valid: d})
			if err != nil {
				return nil, err
			}
			made = append(made, c)
		}
		return withChildren(w.out, d, made...), nil
	}, leaves, nil
}

// cheapestLeaf chooses a leaf of a struct: outside lists and maps if there is one, and a short one.
func cheapestLeaf(f parquetio.Field) []int {
	best, cost := -1, 0
	visitLeaves(f, 0, func(leaf parquetio.Field, repeated int) {
		c := repeated * 1000
		if width, ok := leaf.Type.(arrow.FixedWidthDataType); ok {
			c += width.BitWidth()
		} else {
			c += 500
		}
		if best < 0 || c < cost {
			best, cost = leaf.Leaf, c
		}
	})
	if best < 0 {
		return nil
	}
	return []int{best}
}

func visitLeaves(f parquetio.Field, repeated int, visit func(leaf parquetio.Field, repeated int)) {
	if f.Leaf >= 0 {
		visit(f, repeated)
		return
	}
	if f.Type.ID() != arrow.STRUCT {
		repeated++
	}
	for _, c := range f.Children {
		visitLeaves(c, repeated, visit)
	}
}

func bindList(f parquetio.Field, w wantedField, t *schema.Array) (converter, []int, error) {
	element := w.child(schema.Field{Name: "element", Type: t.Element, Nullable: t.ContainsNull}, children(w.out)[0].Type)
	item, leaves, err := bindItem(f.Children[0], element)
	if err != nil {
		return nil, nil, err
	}
	return func(mem memory.Allocator, d arrow.ArrayData) (arrow.ArrayData, error) {
		source := d.Children()[0]
		c, err := item.make(mem, source, parent{rows: source.Len()})
		if err != nil {
			return nil, err
		}
		defer c.Release()
		return withChildren(w.out, d, c), nil
	}, leaves, nil
}

// bindItem binds what stands in a list or map, which has a place but no name. A list of void has to be read too: only
// its element says how long the lists are.
func bindItem(f parquetio.Field, w wantedField) (member, []int, error) {
	if isAlwaysNull(f, w.Type) {
		return member{wantedField: w, source: -1}, f.Leaves(), nil
	}
	convert, leaves, err := bind(f, w)
	return member{wantedField: w, convert: convert}, leaves, err
}

func bindMap(f parquetio.Field, w wantedField, t *schema.Map) (converter, []int, error) {
	pair := children(w.out)[0].Type
	out := children(pair)
	key, keyLeaves, err := bindItem(f.Children[0], w.child(schema.Field{Name: "key", Type: t.Key}, out[0].Type))
	if err != nil {
		return nil, nil, err
	}
	value, valueLeaves, err := bindItem(f.Children[1],
		w.child(schema.Field{Name: "value", Type: t.Value, Nullable: t.ValueContainsNull}, out[1].Type))
	if err != nil {
		return nil, nil, err
	}
	return func(mem memory.Allocator, d arrow.ArrayData) (arrow.ArrayData, error) {
		entries := d.Children()[0]
		k, err := key.make(mem, entries.Children()[0], parent{rows: entries.Len()})
		if err != nil {
			return nil, err
		}
		defer k.Release()
		v, err := value.make(mem, entries.Children()[1], parent{rows: entries.Len()})
		if err != nil {
			return nil, err
		}
		defer v.Release()
		pairs := withChildren(pair, entries, k, v)
		defer pairs.Release()
		return withChildren(w.out, d, pairs), nil
	}, append(keyLeaves, valueLeaves...), nil
}

// withChildren is d with another type and other children.
func withChildren(typ arrow.DataType, d arrow.ArrayData, children ...arrow.ArrayData) arrow.ArrayData {
	return array.NewData(typ, d.Len(), d.Buffers(), children, d.NullN(), d.Offset())
}
