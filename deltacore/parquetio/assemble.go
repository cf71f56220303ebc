package parquetio

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/arrowdata"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// assembler makes columns of the values and levels of their leaves. A list or struct is built from the levels of one leaf
// below it, its guide, with which all the others have to agree.
type assembler struct {
	mem    memory.Allocator
	leaves map[int]*leafReader // by leaf of the file
}

// assemble makes a batch of what the leaves have loaded.
func (r *groupReader) assemble(rows int) (arrow.RecordBatch, error) {
	a := assembler{mem: r.mem, leaves: r.byLeaf}
	columns := make([]arrow.Array, 0, len(r.chunks.columns))
	defer func() {
		for _, c := range columns {
			c.Release()
		}
	}()
	for _, n := range r.chunks.columns {
		d, err := a.build(n, rows)
		if err != nil {
			return nil, err
		}
		columns = append(columns, array.MakeFromData(d))
		d.Release()
	}
	return array.NewRecordBatch(r.chunks.schema, columns, int64(rows)), nil
}

// build makes the array of a node, which has slots values. The caller releases it.
func (a assembler) build(n *node, slots int) (arrow.ArrayData, error) {
	var d arrow.ArrayData
	var err error
	switch n.kind {
	case leafNode:
		d, err = a.leaf(n, slots)
	case listNode, mapNode:
		d, err = a.list(n, slots)
	default:
		d, err = a.group(n, slots)
	}
	return d, deltaerr.Annotate(err, deltaerr.Column(n.path))
}

func (a assembler) guide(n *node) runLevels { return a.leaves[n.guide.field.Leaf].levels }

func damaged(err error) error {
	if err == nil {
		return nil
	}
	return deltaerr.New(deltaerr.Corrupt, err.Error())
}

func (a assembler) leaf(n *node, slots int) (arrow.ArrayData, error) {
	leaf := a.leaves[n.field.Leaf]
	leaf.mem.column = leaf.index
	d := leaf.data
	if d.Len() != slots {
		return nil, damaged(fmt.Errorf("the pages hold %d values, %d are expected", d.Len(), slots))
	}
	if n.leaf.convert != nil {
		return n.leaf.convert(a.mem, d)
	}
	d.Retain()
	return d, nil
}

func (a assembler) group(n *node, slots int) (arrow.ArrayData, error) {
	members, err := a.members(n, n.levels, slots)
	defer arrowdata.Release(members)
	if err != nil {
		return nil, err
	}
	var valid *memory.Buffer
	nulls := 0
	if n.field.Nullable {
		valid = a.bitmap(slots)
		defer valid.Release()
		if nulls, err = a.guide(n).validity(n.levels, valid.Bytes(), slots); err != nil {
			return nil, damaged(err)
		}
	}
	return newData(n.field.Type, dataParts{slots, nulls, []*memory.Buffer{valid}, members}), nil
}

// members builds the children of a struct, or of the entries of a map, after a look whether their leaves agree.
func (a assembler) members(n *node, at levels, slots int) ([]arrow.ArrayData, error) {
	first := a.guide(n.children[0])
	for _, c := range n.children[1:] {
		if err := sameShape(at, first, a.guide(c)); err != nil {
			return nil, deltaerr.Annotate(damaged(err), deltaerr.Column(c.path))
		}
	}
	members := make([]arrow.ArrayData, 0, len(n.children))
	for _, c := range n.children {
		d, err := a.build(c, slots)
		if err != nil {
			return members, err
		}
		members = append(members, d)
	}
	return members, nil
}

// list builds a list, or a map: a list of pairs.
func (a assembler) list(n *node, slots int) (arrow.ArrayData, error) {
	offsets := memory.NewResizableBuffer(a.mem)
	defer offsets.Release()
	offsets.Resize(arrow.Int32Traits.BytesRequired(slots + 1))
	shape := listShape{offsets: arrow.Int32Traits.CastFromBytes(offsets.Bytes())}
	var valid *memory.Buffer
	if n.field.Nullable {
		valid = a.bitmap(slots)
		defer valid.Release()
		shape.valid = valid.Bytes()
	}
	if err := shape.fill(n.levels, a.guide(n)); err != nil {
		return nil, damaged(err)
	}
	child, err := a.elements(n, shape.elements)
	if err != nil {
		return nil, err
	}
	defer child.Release()
	return newData(n.field.Type, dataParts{slots, shape.nulls, []*memory.Buffer{valid, offsets}, []arrow.ArrayData{child}}), nil
}

func (a assembler) elements(n *node, count int) (arrow.ArrayData, error) {
	if n.kind == listNode {
		return a.build(n.children[0], count)
	}
	pair, err := a.members(n, n.inner(), count)
	defer arrowdata.Release(pair)
	if err != nil {
		return nil, err
	}
	if nulls := pair[0].NullN(); nulls > 0 {
		return nil, damaged(fmt.Errorf("%d keys of the map are null", nulls))
	}
	return newData(n.entries, dataParts{count, 0, []*memory.Buffer{nil}, pair}), nil
}

// bitmap returns a cleared one.
func (a assembler) bitmap(n int) *memory.Buffer {
	b := memory.NewResizableBuffer(a.mem)
	b.Resize((n + 7) / 8)
	clear(b.Bytes())
	return b
}

// dataParts are what nested data is made of.
type dataParts struct {
	n, nulls int
	buffers  []*memory.Buffer
	children []arrow.ArrayData
}

// newData leaves out a bitmap without nulls.
func newData(typ arrow.DataType, p dataParts) arrow.ArrayData {
	if p.nulls == 0 {
		p.buffers[0] = nil
	}
	return array.NewData(typ, p.n, p.buffers, p.children, p.nulls, 0)
}
