package parquetio

import (
	"errors"
	"fmt"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// arrow-go's Thrift parser allocates what a list or a schema element declares, up to gigabytes for a footer of a few
// bytes, and recurses as deep as the schema goes. So the bytes are walked once before it sees them: every container is
// bounded by the bytes that are left, and the schema is a tree of bounded depth.

// Wire types of the Thrift compact protocol.
const (
	wireStop   = 0
	wireTrue   = 1
	wireFalse  = 2
	wireByte   = 3
	wireI16    = 4
	wireI32    = 5
	wireI64    = 6
	wireDouble = 7
	wireBinary = 8
	wireList   = 9
	wireSet    = 10
	wireMap    = 11
	wireStruct = 12
	wireUUID   = 13
)

const (
	maxThriftDepth = 24  // structs and lists inside each other; a footer needs 9
	maxSchemaDepth = 200 // groups inside each other
	maxSchema      = 1 << 18

	// What the elements of lists cost, against the bytes of the footer: arrow-go makes a few bytes of a number and a hundred
	// of a structure, whose bytes may be one. Those of real ones are ten and more.
	structCost = 8
	freeCost   = 64 << 10
)

// thriftField is what the Parquet specification puts in a field: only containers matter here.
type thriftField struct {
	wire   byte         // wireList or wireStruct
	elem   byte         // of a list
	fields thriftStruct // of a struct, or of a list's structs
}

type thriftStruct map[int64]thriftField

// footerStruct describes FileMetaData of parquet.thrift as far as it holds lists. arrow-go reads these lists without
// looking at their declared element type, so that type has to be right.
var footerStruct = thriftStruct{
	2: {wire: wireList, elem: wireStruct}, // schema
	4: {wire: wireList, elem: wireStruct, fields: thriftStruct{ // row groups
		1: {wire: wireList, elem: wireStruct, fields: thriftStruct{ // column chunks
			3: {wire: wireStruct, fields: thriftStruct{ // column metadata
				2:  {wire: wireList, elem: wireI32},    // encodings
				3:  {wire: wireList, elem: wireBinary}, // path in schema
				8:  {wire: wireList, elem: wireStruct}, // key-value metadata
				13: {wire: wireList, elem: wireStruct}, // encoding statistics
				16: {wire: wireStruct, fields: thriftStruct{ // size statistics
					2: {wire: wireList, elem: wireI64},
					3: {wire: wireList, elem: wireI64},
				}},
				17: {wire: wireStruct, fields: thriftStruct{2: {wire: wireList, elem: wireI32}}}, // geospatial statistics
			}},
			8: {wire: wireStruct, fields: thriftStruct{ // crypto metadata
				2: {wire: wireStruct, fields: thriftStruct{1: {wire: wireList, elem: wireBinary}}},
			}},
		}},
		4: {wire: wireList, elem: wireStruct}, // sorting columns
	}},
	5: {wire: wireList, elem: wireStruct}, // key-value metadata
	7: {wire: wireList, elem: wireStruct}, // column orders
}

// checkFooter walks the bytes of a FileMetaData.
func checkFooter(footer []byte) error {
	w := &walker{rest: footer, budget: int64(len(footer)) + freeCost}
	if err := w.structure(footerStruct, 0); err != nil {
		return deltaerr.New(deltaerr.Corrupt, "the footer cannot be parsed", deltaerr.Cause(err))
	}
	return checkSchemaTree(w.children)
}

// checkSchemaTree checks the children counts of the schema's elements, which stand in depth-first order.
func checkSchemaTree(children []int64) error {
	var open []int64 // children still to come, of each group that is open
	for i, n := range children {
		if n < 0 || n > int64(len(children)-i-1) || len(open) > maxSchemaDepth || i > 0 && len(open) == 0 {
			return deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("element %d of %d makes the footer's schema no tree", i, len(children)))
		}
		if len(open) > 0 {
			open[len(open)-1]--
		}
		if n > 0 {
			open = append(open, n)
		}
		for len(open) > 0 && open[len(open)-1] == 0 {
			open = open[:len(open)-1]
		}
	}
	if len(open) > 0 || len(children) == 0 {
		return deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("the footer's schema ends in the middle, after %d elements", len(children)))
	}
	return nil
}

// walker goes over Thrift compact bytes without keeping them.
type walker struct {
	rest     []byte
	budget   int64   // of list elements
	children []int64 // num_children of each schema element
}

var (
	errThriftEnd    = errors.New("a Thrift structure ends in the middle")
	errManyElements = errors.New("the lists have more elements than a footer of its size can need")
	errThriftDepth  = fmt.Errorf("more than %d Thrift structures are inside each other", maxThriftDepth)
)

func (w *walker) byte() (byte, error) {
	if len(w.rest) == 0 {
		return 0, errThriftEnd
	}
	b := w.rest[0]
	w.rest = w.rest[1:]
	return b, nil
}

func (w *walker) varint() (uint64, error) {
	var v uint64
	for shift := 0; shift < 64; shift += 7 {
		b, err := w.byte()
		if err != nil {
			return 0, err
		}
		v |= uint64(b&0x7f) << shift
		if b < 0x80 {
			return v, nil
		}
	}
	return 0, errors.New("a Thrift number has more than ten bytes")
}

func (w *walker) zigzag() (int64, error) {
	v, err := w.varint()
	return int64(v>>1) ^ -int64(v&1), err
}

func (w *walker) skip(n uint64) error {
	if n > uint64(len(w.rest)) {
		return errThriftEnd
	}
	w.rest = w.rest[n:]
	return nil
}

// field reads a field's header. wire is wireStop at the end of the struct.
func (w *walker) field(last int64) (id int64, wire byte, err error) {
	b, err := w.byte()
	if err != nil || b&0x0f == wireStop {
		return 0, wireStop, err
	}
	if delta := int64(b >> 4); delta > 0 {
		return last + delta, b & 0x0f, nil
	}
	id, err = w.zigzag()
	return id, b & 0x0f, err
}

func (w *walker) structure(known thriftStruct, depth int) error {
	if depth > maxThriftDepth {
		return errThriftDepth
	}
	var id int64
	for {
		var wire byte
		var err error
		if id, wire, err = w.field(id); err != nil || wire == wireStop {
			return err
		}
		want, ok := known[id]
		if ok && want.wire != wire {
			want = thriftField{} // arrow-go skips it as what it is
		}
		if ok && depth == 0 && id == 2 && wire == wireList {
			err = w.schema(depth + 1)
		} else {
			err = w.value(wire, want, depth+1)
		}
		if err != nil {
			return err
		}
	}
}

// schema notes the num_children (field 5) of each schema element.
func (w *walker) schema(depth int) error {
	elem, n, err := w.listHeader()
	if err != nil {
		return err
	}
	if elem != wireStruct {
		return fmt.Errorf("the schema is a list of Thrift type %d", elem)
	}
	if n > maxSchema {
		return fmt.Errorf("the schema has %d elements, at most %d are read", n, maxSchema)
	}
	w.children = make([]int64, n)
	for i := range w.children {
		if err := w.schemaElement(&w.children[i], depth+1); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) schemaElement(children *int64, depth int) error {
	var id int64
	for {
		var wire byte
		var err error
		if id, wire, err = w.field(id); err != nil || wire == wireStop {
			return err
		}
		if id == 5 && wire == wireI32 {
			*children, err = w.zigzag()
		} else {
			err = w.value(wire, thriftField{}, depth+1)
		}
		if err != nil {
			return err
		}
	}
}

func (w *walker) listHeader() (elem byte, n uint64, err error) {
	b, err := w.byte()
	if err != nil {
		return 0, 0, err
	}
	if n = uint64(b >> 4); n == 15 {
		if n, err = w.varint(); err != nil {
			return 0, 0, err
		}
	}
	if n > uint64(len(w.rest)) { // every element has at least one byte
		return 0, 0, fmt.Errorf("a Thrift list claims %d elements in %d bytes", n, len(w.rest))
	}
	elem, cost := b&0x0f, int64(n)
	if elem == wireStruct {
		cost *= structCost
	}
	if w.budget -= cost; w.budget < 0 {
		return 0, 0, errManyElements
	}
	return elem, n, nil
}

func (w *walker) list(want thriftField, depth int) error {
	elem, n, err := w.listHeader()
	if err != nil {
		return err
	}
	if want.wire == wireList && elem != want.elem && n > 0 {
		return fmt.Errorf("a Thrift list has elements of type %d instead of %d", elem, want.elem)
	}
	for range n {
		if err := w.element(elem, want.fields, depth); err != nil {
			return err
		}
	}
	return nil
}

// element reads a value inside a container, where booleans take a byte.
func (w *walker) element(wire byte, known thriftStruct, depth int) error {
	if wire == wireTrue || wire == wireFalse {
		return w.skip(1)
	}
	return w.value(wire, thriftField{fields: known}, depth+1)
}

func (w *walker) value(wire byte, want thriftField, depth int) error {
	if depth > maxThriftDepth {
		return errThriftDepth
	}
	switch wire {
	case wireTrue, wireFalse:
		return nil
	case wireByte:
		return w.skip(1)
	case wireI16, wireI32, wireI64:
		_, err := w.varint()
		return err
	case wireDouble:
		return w.skip(8)
	case wireUUID:
		return w.skip(16)
	case wireBinary:
		n, err := w.varint()
		if err != nil {
			return err
		}
		return w.skip(n)
	case wireList, wireSet:
		return w.list(want, depth)
	case wireMap:
		return w.mapping(depth)
	case wireStruct:
		return w.structure(want.fields, depth)
	}
	return fmt.Errorf("there is no Thrift type %d", wire)
}

func (w *walker) mapping(depth int) error {
	n, err := w.varint()
	if err != nil || n == 0 {
		return err
	}
	types, err := w.byte()
	if err != nil {
		return err
	}
	if n > uint64(len(w.rest)) {
		return fmt.Errorf("a Thrift map claims %d entries in %d bytes", n, len(w.rest))
	}
	for range n {
		for _, wire := range []byte{types >> 4, types & 0x0f} {
			if err := w.element(wire, nil, depth); err != nil {
				return err
			}
		}
	}
	return nil
}
