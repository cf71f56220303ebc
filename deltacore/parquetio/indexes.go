package parquetio

import (
	"cmp"
	"context"
	"slices"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// RowGroupIndex is what has been read of the page index of a row group. It is safe for concurrent use.
type RowGroupIndex struct {
	Unusable int // indexes of leaves that are there and wrong

	leaves map[int]leafIndex
	wrong  atomic.Bool // its pages are not what it says
}

type leafIndex struct {
	offsets *offsetIndex
	columns *columnIndex // nil: there is none, or it was not asked for
}

// Failed says whether a read has found pages that are not where the index says. It then went on without.
func (x *RowGroupIndex) Failed() bool { return x.wrong.Load() }

func (x *RowGroupIndex) discard() { x.wrong.Store(true) }

// offsets returns where the pages of a chunk are, nil when that is not known.
func (x *RowGroupIndex) offsets(c chunk) *offsetIndex {
	if x.wrong.Load() {
		return nil
	}
	return x.leaves[c.node.field.Leaf].offsets
}

const (
	maxIndex   = 4 << 20  // of one leaf
	maxIndexes = 16 << 20 // of all that are read at once
	indexGap   = 64 << 10 // read rather than make another request
)

// IndexRequest says of which leaves of a row group the page index is read.
type IndexRequest struct {
	RowGroup int
	Leaves   []int
	Bounds   bool // what is known of the values, too
}

// ReadIndex reads the page index, in as few requests as it can be. Leaves without one are left out, and so are those whose index
// is wrong. Errors are those of the store.
func (f *File) ReadIndex(ctx context.Context, r IndexRequest) (*RowGroupIndex, error) {
	x := &RowGroupIndex{leaves: map[int]leafIndex{}}
	parts := spans{end: f.size - trailerSize}
	columns := f.meta.RowGroups[r.RowGroup].Columns
	for _, leaf := range r.Leaves {
		c := columns[leaf]
		if c.CryptoMetadata != nil || c.MetaData == nil {
			continue
		}
		parts.add(span{leaf: leaf}, c.OffsetIndexOffset, c.OffsetIndexLength)
		if r.Bounds {
			parts.add(span{leaf: leaf, bounds: true}, c.ColumnIndexOffset, c.ColumnIndexLength)
		}
	}
	if err := parts.read(ctx, f); err != nil {
		return nil, deltaerr.Annotate(err, deltaerr.File(f.path), deltaerr.Phase("reading the page index of row group %d", r.RowGroup))
	}
	x.Unusable = parts.wrong
	for _, p := range parts.list {
		x.take(f, r.RowGroup, p)
	}
	return x, nil
}

// take parses what has been read.
func (x *RowGroupIndex) take(f *File, rowGroup int, p span) {
	entry := x.leaves[p.leaf]
	var err error
	if p.bounds {
		entry.columns, err = parseColumnIndex(p.bytes)
	} else if entry.offsets, err = parseOffsetIndex(p.bytes); err == nil {
		entry.offsets.count = f.rowGroups[rowGroup].Rows
		var c chunk
		if c, err = f.chunk(rowGroup, p.leaf); err == nil {
			err = entry.offsets.check(c)
		}
	}
	if err != nil {
		x.Unusable++
		if p.bounds {
			entry.columns = nil
		} else {
			entry.offsets = nil
		}
	}
	x.leaves[p.leaf] = entry
}

// chunk looks at a column chunk alone.
func (f *File) chunk(rowGroup, leaf int) (chunk, error) {
	group := f.meta.RowGroup(rowGroup)
	var c *metadata.ColumnChunkMetaData
	err := guard("the column chunk", func() (err error) {
		c, err = group.ColumnChunk(leaf)
		return err
	})
	if err != nil {
		return chunk{}, err
	}
	for _, n := range f.columns {
		for _, l := range n.appendLeaves(nil) {
			if l.field.Leaf != leaf {
				continue
			}
			limits := &chunkLimits{rows: group.NumRows()}
			if err := f.checkChunk(c, l, limits); err != nil {
				return chunk{}, err
			}
			limits.complete()
			return limits.chunks[0], nil
		}
	}
	return chunk{}, deltaerr.New(deltaerr.Internal, "there is no such leaf")
}

// span is a part of the file that is read to know more about a leaf.
type span struct {
	leaf      int
	bounds    bool
	off, size int64
	bytes     []byte
}

type spans struct {
	end   int64 // of what can be read
	list  []span
	sum   int64
	wrong int
}

// add notes a span unless it is not there, or cannot be.
func (s *spans) add(p span, off *int64, size *int32) {
	if off == nil || size == nil {
		return
	}
	p.off, p.size = *off, int64(*size)
	if p.size <= 0 || p.size > maxIndex || s.sum+p.size > maxIndexes || p.off < 4 || p.off > s.end-p.size {
		s.wrong++
		return
	}
	s.sum += p.size
	s.list = append(s.list, p)
}

// read reads neighbours together.
func (s *spans) read(ctx context.Context, f *File) error {
	slices.SortFunc(s.list, func(a, b span) int { return cmp.Compare(a.off, b.off) })
	for from := 0; from < len(s.list); {
		start, end, to := s.list[from].off, s.list[from].off, from
		for ; to < len(s.list) && s.list[to].off-end <= indexGap; to++ {
			end = max(end, s.list[to].off+s.list[to].size)
		}
		all := make([]byte, end-start)
		if err := f.readFull(ctx, all, start); err != nil {
			return err
		}
		for i := from; i < to; i++ {
			p := &s.list[i]
			p.bytes = all[p.off-start : p.off-start+p.size]
		}
		from = to
	}
	return nil
}
