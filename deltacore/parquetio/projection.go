package parquetio

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// projection is the chosen part of a file's schema.
type projection struct {
	columns []*node // pruned top-level columns
	leaves  []*node // of columns, in file order
	schema  *arrow.Schema
}

func (f *File) project(leaves []int) projection {
	chosen := make(map[int]bool, len(leaves))
	for _, l := range leaves {
		chosen[l] = true
	}
	var p projection
	var fields []arrow.Field
	for _, n := range f.columns {
		if n = n.prune(chosen); n != nil {
			p.columns = append(p.columns, n)
			p.leaves = n.appendLeaves(p.leaves)
			fields = append(fields, arrowField(n.field))
		}
	}
	p.schema = arrow.NewSchema(fields, nil)
	return p
}

// check looks at the column chunks that are to be read before anything of them is, and says what they tell of their size.
func (p projection) check(f *File, rowGroup int) (*chunkLimits, error) {
	group := f.meta.RowGroup(rowGroup)
	limits := &chunkLimits{rows: group.NumRows()}
	for _, n := range p.leaves {
		c, err := group.ColumnChunk(n.field.Leaf)
		if err != nil || c.CryptoMetadata() != nil {
			return nil, deltaerr.New(deltaerr.Unsupported, "the column is encrypted", deltaerr.Column(n.path), deltaerr.Cause(err))
		}
		if err := f.checkChunk(c, n, limits); err != nil {
			return nil, deltaerr.Annotate(err, deltaerr.Column(n.path))
		}
	}
	limits.complete()
	return limits, nil
}

// descriptions are the leaves as they are presented to arrow-go.
func (p projection) descriptions() *schema.Schema {
	return schema.NewSchema(parquetGroup("schema", parquet.Repetitions.Required, p.columns))
}
