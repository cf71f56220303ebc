package parquetio

import (
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/benthos-delta/benthos-delta/deltacore/arrowdata"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// arrow-go decodes DELTA_BYTE_ARRAY for byte arrays only, but the bytes are the same for fixed-length ones: such a column
// chunk is presented to it as one of byte arrays. Other encodings differ between the two, a dictionary's among them, so all
// pages have to have this one.

// isDeltaFixed says whether a column chunk is one of fixed-length values in DELTA_BYTE_ARRAY.
func isDeltaFixed(c *metadata.ColumnChunkMetaData) bool {
	return c.Type() == parquet.Types.FixedLenByteArray && slices.Contains(c.Encodings(), parquet.Encodings.DeltaByteArray)
}

// asByteArray is the leaf as it is read from such a column chunk.
func (n *node) asByteArray() *node {
	out := *n
	width, convert := n.leaf.length, n.leaf.convert
	out.leaf.physical, out.leaf.length = parquet.Types.ByteArray, -1
	out.leaf.convert = func(mem memory.Allocator, d arrow.ArrayData) (arrow.ArrayData, error) {
		fixed, err := toFixed(mem, d, width)
		if err != nil || convert == nil {
			return fixed, err
		}
		defer fixed.Release()
		return convert(mem, fixed)
	}
	return &out
}

// toFixed makes values of one width of byte arrays.
func toFixed(mem memory.Allocator, d arrow.ArrayData, width int) (arrow.ArrayData, error) {
	nulls, err := validity(d)
	if err != nil {
		return nil, err
	}
	buf := memory.NewResizableBuffer(mem)
	defer buf.Release()
	buf.Resize(d.Len() * width)
	if d.Len() > 0 {
		if err := fillFixed(d, buf.Bytes(), width); err != nil {
			return nil, err
		}
	}
	typ := &arrow.FixedSizeBinaryType{ByteWidth: width}
	return array.NewData(typ, d.Len(), []*memory.Buffer{nulls, buf}, nil, d.NullN(), 0), nil
}

func fillFixed(d arrow.ArrayData, out []byte, width int) error {
	offsets := arrow.Int32Traits.CastFromBytes(d.Buffers()[1].Bytes())
	var data []byte
	if d.Buffers()[2] != nil {
		data = d.Buffers()[2].Bytes()
	}
	valid := arrowdata.Valid(d)
	for i := range d.Len() {
		to := out[i*width : (i+1)*width]
		if !valid(i) {
			clear(to)
			continue
		}
		if n := int(offsets[i+1] - offsets[i]); n != width {
			return deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("a value of %d bytes stands among those of %d", n, width))
		}
		copy(to, data[offsets[i]:])
	}
	return nil
}

// inRowGroup is the projection as the column chunks of a row group need it.
func (p projection) inRowGroup(group *metadata.RowGroupMetaData) (projection, error) {
	changed := map[int]*node{}
	for _, n := range p.leaves {
		if n.leaf.inFile != parquet.Types.FixedLenByteArray {
			continue
		}
		c, err := group.ColumnChunk(n.field.Leaf)
		if err != nil {
			return p, corrupt("the column chunk cannot be read", err)
		}
		if c.CryptoMetadata() == nil && isDeltaFixed(c) {
			changed[n.field.Leaf] = n.asByteArray()
		}
	}
	if len(changed) == 0 {
		return p, nil
	}
	out := projection{schema: p.schema}
	for _, n := range p.columns {
		n = n.with(changed)
		out.columns = append(out.columns, n)
		out.leaves = n.appendLeaves(out.leaves)
	}
	return out, nil
}

// with returns the node with other leaves.
func (n *node) with(leaves map[int]*node) *node {
	if n.kind == leafNode {
		if other := leaves[n.field.Leaf]; other != nil {
			return other
		}
		return n
	}
	out := *n
	out.children = make([]*node, len(n.children))
	for i, c := range n.children {
		out.children[i] = c.with(leaves)
	}
	return &out
}
