package parquetio

import (
	"fmt"

	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

const (
	// maxPageSize is the largest page that is read, packed or unpacked. A page is held whole in memory.
	maxPageSize = int64(1 << 30)
	// freePageSize is what a page may always unpack to, whatever the footer says of its column.
	freePageSize = int64(64 << 20)

	batchBytes     = 32 << 20  // aimed at: batches of large rows have fewer rows
	readBuffer     = 256 << 10 // of each column that is read
	pagesBuffer    = 1 << 20   // of each column of which some pages are read
	allReadBuffers = 8 << 20
	minReadBuffer  = 8 << 10
	likelyRatio    = 64 // a column is not expected to unpack to more than this times its size

	oldDictionaryHeader = 100 // bytes that a chunk of an old writer may be longer than it says
)

// chunkStart is the offset of a column chunk's first page: the dictionary's where there is one. Some writers give 0 for
// a dictionary that is not there.
func chunkStart(dataPage int64, dictionaryPage *int64) int64 {
	if dictionaryPage != nil && *dictionaryPage > 0 {
		return min(dataPage, *dictionaryPage)
	}
	return dataPage
}

// chunk is a column chunk that is to be read: what its metadata says, checked.
type chunk struct {
	node       *node
	start, end int64 // of its bytes in the file
	values     int64
	likely     int64 // bytes unpacked
	only       int64 // encoding that the pages must have, anyEncoding
	codec      compress.Codec
	packed     bool         // the codec is one
	index      *offsetIndex // nil: the pages are found one behind the other

	ahead                    int64 // bytes to read at a time
	mostPacked, mostUnpacked int64 // of a page
}

// checkChunk refuses a column chunk whose metadata cannot be true, before anything is read or allocated for it. What the
// others say of their size goes to l.
func (f *File) checkChunk(c *metadata.ColumnChunkMetaData, n *node, l *chunkLimits) error {
	var dictionary *int64
	if offset := c.DictionaryPageOffset(); c.HasDictionaryPage() {
		dictionary = &offset
	}
	start, size := chunkStart(c.DataPageOffset(), dictionary), c.TotalCompressedSize()
	codec, noCodec := compress.GetCodec(c.Compression())
	switch {
	case c.FilePath() != "":
		return deltaerr.New(deltaerr.Unsupported, "the column's pages are in another file, "+c.FilePath())
	case c.Type() != n.leaf.inFile:
		return deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("the schema says %s, the column chunk %s", n.leaf.inFile, c.Type()))
	case start < 4 || size < 0 || start > f.size-trailerSize || size > f.size-trailerSize-start || c.DataPageOffset() > start+size:
		return deltaerr.New(deltaerr.Corrupt,
			fmt.Sprintf("the column chunk claims %d bytes at %d, the file has %d", size, start, f.size))
	case c.NumValues() < l.rows:
		return deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("the column chunk has %d values for %d rows", c.NumValues(), l.rows))
	case noCodec != nil:
		return deltaerr.New(deltaerr.Unsupported, fmt.Sprintf("the compression %s is not supported", c.Compression()))
	}
	out := chunk{
		node: n, start: start, end: start + size, values: c.NumValues(), likely: likelySize(size, c.TotalUncompressedSize()),
		only: anyEncoding, codec: codec, packed: c.Compression() != compress.Codecs.Uncompressed,
	}
	if f.meta.WriterVersion().LessThan(metadata.Parquet816FixedVersion) { // it left out the dictionary's header
		out.end += min(oldDictionaryHeader, f.size-trailerSize-out.end)
	}
	if isDeltaFixed(c) {
		out.only = deltaByteArray
	}
	l.add(size, c.TotalUncompressedSize())
	l.chunks = append(l.chunks, out)
	return nil
}

// chunkLimits gathers what the column chunks of one read say of their size.
type chunkLimits struct {
	rows         int64
	leaves       int
	size         int64 // of the largest chunk
	uncompressed int64 // of the largest chunk, as declared
	likely       int64 // bytes unpacked, of all
	chunks       []chunk
}

func (l *chunkLimits) add(size, uncompressed int64) {
	l.leaves++
	l.size = max(l.size, size)
	l.uncompressed = max(l.uncompressed, uncompressed)
	l.likely += likelySize(size, uncompressed)
}

// likelySize bounds a declared size for which memory is reserved ahead.
func likelySize(size, uncompressed int64) int64 {
	return max(0, min(uncompressed, size*likelyRatio))
}

// batchRows is how many rows make a batch of the aimed size.
func (l *chunkLimits) batchRows(most int64) int64 {
	perRow := l.likely/l.rows + 1
	return max(1, min(most, batchBytes/perRow))
}

// readAhead bounds the read buffers of wide files by their sum.
func (l *chunkLimits) readAhead(buffer int64) int64 {
	return min(buffer, max(minReadBuffer, allReadBuffers/int64(l.leaves)))
}

// pageSizes bound a page by what its column can hold.
func (l *chunkLimits) pageSizes() (packed, unpacked int64) {
	return min(max(l.size, 1), maxPageSize), min(max(l.uncompressed, freePageSize), maxPageSize)
}

// complete gives the chunks what follows from all of them.
func (l *chunkLimits) complete() {
	packed, unpacked := l.pageSizes()
	for i := range l.chunks {
		c := &l.chunks[i]
		c.mostPacked, c.mostUnpacked, c.ahead = packed, unpacked, l.readAhead(readBuffer)
	}
}
