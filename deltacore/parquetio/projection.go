package parquetio

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/metadata"
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
	limits.pages.sort()
	return limits, nil
}

// metadata makes up a footer of one row group with the chosen columns only. arrow-go is then asked for all of it, which
// keeps clear of its projection (it reads every map below a struct) and makes the cost one of the columns read. The
// chunks have been checked.
func (p projection) metadata(f *File, rowGroup int) *metadata.FileMetaData {
	group := *f.meta.RowGroups[rowGroup]
	columns := group.Columns
	group.Columns = columns[:0:0]
	for _, n := range p.leaves {
		chunk, meta := *columns[n.field.Leaf], *columns[n.field.Leaf].MetaData
		chunk.MetaData = &meta
		chunk.ColumnIndexOffset, chunk.OffsetIndexOffset = nil, nil
		meta.Statistics = nil
		meta.TotalUncompressedSize = likelySize(meta.TotalCompressedSize, meta.TotalUncompressedSize)
		switch { // the same bytes in another type
		case n.leaf.physical == n.leaf.inFile:
		case n.leaf.physical == parquet.Types.ByteArray:
			meta.Type = 6
		default:
			meta.Type = 7 // FIXED_LEN_BYTE_ARRAY for INT96, in plain pages and in dictionaries
		}
		group.Columns = append(group.Columns, &chunk)
	}
	footer := *f.meta.FileMetaData
	footer.NumRows = group.NumRows
	footer.KeyValueMetadata = nil // a stored Arrow schema would change the types
	footer.RowGroups = append(footer.RowGroups[:0:0], &group)
	root := parquetGroup("schema", parquet.Repetitions.Required, p.columns)
	meta := &metadata.FileMetaData{FileMetaData: &footer, Schema: schema.NewSchema(root)}
	meta.SetSourceFileSize(f.size)
	return meta
}
