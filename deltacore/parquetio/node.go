package parquetio

import (
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// node is a column or a part of one in the form in which arrow-go reads it reliably. Required groups change neither
// definition nor repetition levels, so every spelling of a list can be presented to arrow-go as
//
//	optional group (LIST) { repeated group list { optional T element } }
//
// and a map as such a list of required groups {key, value}. Annotations that arrow-go converts wrongly or wastefully are
// taken off the leaves; the values are read as what they physically are and converted here, by shape.
type node struct {
	kind     nodeKind
	path     string // dotted, for messages
	field    Field
	levels   levels
	guide    *node          // the leaf below (or the node itself) whose levels say which of the node's values exist
	lists    int            // between the node and its guide
	leaf     leafForm       // of leafNode
	entries  arrow.DataType // of mapNode: a struct of key and value
	children []*node        // structNode: members; listNode: the element; mapNode: key, value
}

type nodeKind int

const (
	leafNode nodeKind = iota
	structNode
	listNode
	mapNode
)

// treeBuilder walks a file's schema in its own order and counts the leaves.
type treeBuilder struct{ leaves int }

func (b *treeBuilder) columns(root *schema.GroupNode) []*node {
	nodes := make([]*node, root.NumFields())
	for i := range nodes {
		nodes[i] = b.node(root.Field(i))
	}
	return nodes
}

// place names the node and all below it and gives them their levels.
func (n *node) place(path string, above levels) {
	n.path, n.levels = path, above
	if n.field.Nullable {
		n.levels.def++
	}
	for i, c := range n.children {
		c.place(path+"."+n.field.Children[i].Name, n.inner())
	}
}

// inner are the levels that the children begin with.
func (n *node) inner() levels {
	if n.kind == listNode || n.kind == mapNode {
		return n.levels.element()
	}
	return n.levels
}

// node reads a member of a group. A repeated one outside a LIST or MAP is a required list of required elements.
func (b *treeBuilder) node(n schema.Node) *node {
	if n.RepetitionType() != parquet.Repetitions.Repeated {
		return b.single(n, n.RepetitionType() == parquet.Repetitions.Optional)
	}
	return newNode(listNode, groupField(n, false), b.single(n, false))
}

// single reads a node as if it were not repeated.
func (b *treeBuilder) single(n schema.Node, optional bool) *node {
	if leaf, ok := n.(*schema.PrimitiveNode); ok {
		return b.newLeaf(leaf, optional)
	}
	group, ok := n.(*schema.GroupNode)
	if !ok { // there are only these two
		return newNode(structNode, groupField(n, optional))
	}
	if repeated := onlyRepeatedChild(group); repeated != nil {
		switch kv, _ := repeated.(*schema.GroupNode); {
		case isList(group):
			return b.list(group, repeated, optional)
		case isMap(group) && kv != nil && kv.NumFields() == 2:
			return b.mapping(group, kv, optional)
		}
	}
	return newNode(structNode, groupField(n, optional), b.columns(group)...)
}

// onlyRepeatedChild returns the child of a group that has one, a repeated one, as lists and maps do.
func onlyRepeatedChild(group *schema.GroupNode) schema.Node {
	if group.NumFields() == 1 && group.Field(0).RepetitionType() == parquet.Repetitions.Repeated {
		return group.Field(0)
	}
	return nil
}

func isList(n schema.Node) bool {
	return n.ConvertedType() == schema.ConvertedTypes.List || n.LogicalType().Equals(schema.NewListLogicalType())
}

func isMap(n schema.Node) bool {
	return n.ConvertedType() == schema.ConvertedTypes.Map || n.ConvertedType() == schema.ConvertedTypes.MapKeyValue ||
		n.LogicalType().Equals(schema.MapLogicalType{})
}

// list decides by the backward compatibility rules of the Parquet specification whether the repeated node is the element
// or only wraps it.
func (b *treeBuilder) list(n *schema.GroupNode, repeated schema.Node, optional bool) *node {
	if wrapper, ok := repeated.(*schema.GroupNode); ok && wrapsElement(n, wrapper) {
		return newNode(listNode, groupField(n, optional), b.node(wrapper.Field(0)))
	}
	return newNode(listNode, groupField(n, optional), b.single(repeated, false))
}

func wrapsElement(list, repeated *schema.GroupNode) bool {
	return repeated.NumFields() == 1 &&
		repeated.Field(0).RepetitionType() != parquet.Repetitions.Repeated &&
		!isList(repeated) && !isMap(repeated) &&
		repeated.Name() != "array" && repeated.Name() != list.Name()+"_tuple"
}

func (b *treeBuilder) mapping(n, kv *schema.GroupNode, optional bool) *node {
	key := b.node(kv.Field(0))
	return newNode(mapNode, groupField(n, optional), key, b.node(kv.Field(1)))
}

func groupField(n schema.Node, optional bool) Field {
	return Field{Name: n.Name(), ID: n.FieldID(), Nullable: optional, Leaf: -1}
}

// newNode completes the field of a group from its children.
func newNode(kind nodeKind, field Field, children ...*node) *node {
	n := &node{kind: kind, field: field, children: children}
	n.field.Children = make([]Field, len(children))
	for i, c := range children {
		n.field.Children[i] = c.field
		if n.guide == nil || c.lists < n.lists {
			n.guide, n.lists = c.guide, c.lists
		}
	}
	if kind == listNode || kind == mapNode {
		n.lists++
	}
	switch fields := n.field.Children; kind {
	case listNode:
		fields[0].Name = "element"
		n.field.Type = arrow.ListOfField(arrowField(fields[0]))
	case mapNode:
		fields[0].Name, fields[1].Name = "key", "value"
		key := arrowField(fields[0])
		key.Nullable = false // a null key is refused when it is read
		m := arrow.MapOfFields(key, arrowField(fields[1]))
		n.field.Type, n.entries = m, m.Elem()
	default:
		n.field.Type = arrow.StructOf(arrowFields(fields)...)
	}
	return n
}

func arrowField(f Field) arrow.Field {
	return arrow.Field{Name: f.Name, Type: f.Type, Nullable: f.Nullable}
}

func arrowFields(fields []Field) []arrow.Field {
	list := make([]arrow.Field, len(fields))
	for i, f := range fields {
		list[i] = arrowField(f)
	}
	return list
}

// prune returns the node with the chosen leaves only, nil when there are none. A map needs a key and a value: a side
// without a chosen leaf is kept whole.
func (n *node) prune(chosen map[int]bool) *node {
	if n.kind == leafNode {
		if chosen[n.field.Leaf] {
			return n
		}
		return nil
	}
	var children []*node
	for _, c := range n.children {
		if p := c.prune(chosen); p != nil {
			children = append(children, p)
		} else if n.kind == mapNode {
			children = append(children, c)
		}
	}
	if len(children) == 0 || n.kind == mapNode && !n.holdsAny(chosen) {
		return nil
	}
	pruned := newNode(n.kind, n.field, children...)
	pruned.path, pruned.levels = n.path, n.levels
	return pruned
}

func (n *node) holdsAny(chosen map[int]bool) bool {
	if n.kind == leafNode {
		return chosen[n.field.Leaf]
	}
	for _, c := range n.children {
		if c.holdsAny(chosen) {
			return true
		}
	}
	return false
}

// appendLeaves lists the leaf nodes in file order.
func (n *node) appendLeaves(leaves []*node) []*node {
	if n.kind == leafNode {
		return append(leaves, n)
	}
	for _, c := range n.children {
		leaves = c.appendLeaves(leaves)
	}
	return leaves
}

// parquetNode is the node as it is presented to arrow-go. Names are made up: files may use one twice.
func (n *node) parquetNode(name string) schema.Node {
	repetition := parquet.Repetitions.Required
	if n.field.Nullable {
		repetition = parquet.Repetitions.Optional
	}
	switch n.kind {
	case leafNode:
		return schema.Must(schema.NewPrimitiveNodeLogical(name, repetition, schema.NoLogicalType{}, n.leaf.physical, n.leaf.length, -1))
	case listNode:
		return parquetList(name, repetition, n.children[0].parquetNode("element"))
	case mapNode:
		return parquetList(name, repetition, parquetGroup("element", parquet.Repetitions.Required, n.children))
	default:
		return parquetGroup(name, repetition, n.children)
	}
}

func parquetList(name string, repetition parquet.Repetition, element schema.Node) schema.Node {
	list := schema.Must(schema.NewGroupNode("list", parquet.Repetitions.Repeated, schema.FieldList{element}, -1))
	return schema.Must(schema.NewGroupNodeLogical(name, repetition, schema.FieldList{list}, schema.NewListLogicalType(), -1))
}

func parquetGroup(name string, repetition parquet.Repetition, children []*node) *schema.GroupNode {
	fields := make(schema.FieldList, len(children))
	for i, c := range children {
		fields[i] = c.parquetNode(strconv.Itoa(i))
	}
	return schema.MustGroup(schema.NewGroupNode(name, repetition, fields, -1))
}
