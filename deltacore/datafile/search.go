package datafile

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// Text is what a predicate most often asks for by = and IN, and the most expensive to make arrays of. It can be compared where
// it lies, in the pages: then only the few rows that are found are read.

// mostFound are the rows of a unit that a search may find. With more, arrays are made of all.
const mostFound = 1 << 14

// search narrows the rows of a unit to those that fulfil the part of the predicate that can be searched for, if there is one.
func (f *File) search(ctx context.Context, u Unit, c chosen) (chosen, error) {
	if f.reader.layout.Without&Searches != 0 {
		return c, nil
	}
	for _, part := range conjuncts(f.reader.layout.Where.Root) {
		column, values := searched(part)
		if len(values) == 0 || !f.isText(column) || !f.parquet.CanSearch(u.RowGroup, f.sources[column].leaf) {
			continue
		}
		rows, answered, err := f.parquet.Search(ctx, parquetio.Search{
			RowGroup: u.RowGroup, Leaf: f.sources[column].leaf, Rows: c.rows, Index: c.index, Values: values, Most: mostFound,
		})
		if err != nil {
			return c, err
		}
		if answered {
			c.rows = rows
		}
		return c, nil
	}
	return c, nil
}

// isText says whether the values of a column of the predicate are the bytes of the file's.
func (f *File) isText(column int) bool {
	s := f.sources[column]
	if s.leaf < 0 || s.typ.Kind != pruning.String && s.typ.Kind != pruning.Binary {
		return false
	}
	id := s.field.Type.ID()
	return id == arrow.STRING || id == arrow.BINARY
}

// conjuncts are parts of a predicate all of which must be true.
func conjuncts(n pruning.Node) []pruning.Node {
	and, is := n.(pruning.And)
	if !is {
		return []pruning.Node{n}
	}
	var parts []pruning.Node
	for _, p := range and.Parts {
		parts = append(parts, conjuncts(p)...)
	}
	return parts
}

// searched are the values that a column must have one of, none where the part says something else.
func searched(n pruning.Node) (column int, values [][]byte) {
	switch n := n.(type) {
	case pruning.Compare:
		if n.Op == pruning.Equal {
			return n.Column, [][]byte{[]byte(n.Value.Bytes)}
		}
	case pruning.In:
		for _, v := range n.Values {
			values = append(values, []byte(v.Bytes))
		}
		return n.Column, values
	}
	return 0, nil
}
