// Package parquetio is the only door to arrow-go's Parquet: it opens a file over a storage.Store, shows its footer as
// plain values and reads row groups as Arrow record batches.
//
// Every call into arrow-go is guarded: a panic is a Corrupt error, a short read is never a clean end, and the rows read
// are compared with the footer's count after every row group. What the bytes declare is checked before anything is
// allocated for it, and the pages and values that one read holds have a ceiling. So has what is read to read less: 16 MiB of a page
// index as it is stored, 8 MiB of a bloom filter, 4 MiB of a packed dictionary. Pages are found, checked and unpacked here,
// and only those that hold wanted rows; arrow-go decodes their values. What a file says of its values without them (the
// statistics of row groups and pages, bloom filters, dictionaries) is shown as it is, in the file's own types, unless it
// cannot be true: then it is as if it were not there. Nested columns are put together here, from the
// values and levels of their leaves: arrow-go takes the lists of one leaf and does not look whether its siblings have the
// same. The many spellings of lists and maps are shown as one; INT96 stays as bytes. It knows nothing of
// Delta: names, types and missing columns are datafile's matter.
package parquetio

import (
	"context"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/metadata"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// Options of reading. The zero value works.
type Options struct {
	Allocator      memory.Allocator // nil: memory.DefaultAllocator
	BatchRows      int64            // most rows of a record batch; 0: 8192
	FooterReadSize int64            // bytes fetched from the end first; 0: 64 KiB
}

// DefaultBatchRows is the most rows of a record batch when the options do not say.
const DefaultBatchRows = 8192

// DefaultFooterReadSize is how many bytes are fetched from the end first when the options do not say.
const DefaultFooterReadSize = 64 << 10

func (o Options) withDefaults() Options {
	if o.Allocator == nil {
		o.Allocator = memory.DefaultAllocator
	}
	if o.BatchRows <= 0 {
		o.BatchRows = DefaultBatchRows
	}
	if o.FooterReadSize <= 0 {
		o.FooterReadSize = DefaultFooterReadSize
	}
	return o
}

// File is an open Parquet file. It is immutable and safe for concurrent use. The opener closes it when no read runs.
type File struct {
	object  storage.Object
	path    string
	size    int64
	options Options

	meta      *metadata.FileMetaData
	columns   []*node // top-level columns in file order
	leaves    int     // leaf columns
	rowGroups []RowGroup
	keyValues map[string]string
	tail      []byte // the file's end, which was read with the footer
}

// RowGroup describes one row group of a file.
type RowGroup struct {
	Rows     int64
	Bytes    int64 // compressed size of all columns
	FirstRow int64 // physical row index of its first row in the file
	Offset   int64 // of the first page of its first column, a dictionary page included: what decides the owning range. Unchecked
}

// NoOffset is the offset of a row group whose footer says nothing of its first column.
const NoOffset = -1

// Open reads and checks the footer, with one read when size, the file's size, is known (not 0) and the footer is not
// larger than FooterReadSize. A wrong size costs a Stat and another read (protocol Q8). A file that is not there is a
// NotFound error, an encrypted one Unsupported, one that is no Parquet file Corrupt.
func Open(ctx context.Context, store storage.Store, path string, size int64, o Options) (*File, error) {
	object, err := storage.OpenObject(ctx, store, path)
	if err != nil {
		return nil, deltaerr.Annotate(err, deltaerr.File(path), deltaerr.Phase("opening the file"))
	}
	f := &File{object: object, path: path, options: o.withDefaults()}
	t := &tail{
		object: object, first: f.options.FooterReadSize,
		stat: func(ctx context.Context) (storage.Entry, error) { return store.Stat(ctx, path) },
	}
	if err := f.open(ctx, t, size); err != nil {
		_ = object.Close() // what failed before says more
		return nil, deltaerr.Annotate(err, deltaerr.File(path), deltaerr.Phase("reading the footer"))
	}
	return f, nil
}

// Close ends the use of the file. Batches that were given out stay valid.
func (f *File) Close() error { return deltaerr.Annotate(f.object.Close(), deltaerr.File(f.path)) }

func (f *File) open(ctx context.Context, t *tail, size int64) error {
	footer, size, err := t.read(ctx, size)
	if err != nil {
		return err
	}
	f.size, f.tail = size, t.kept
	if err := checkFooter(footer); err != nil {
		return err
	}
	return guard("the footer", func() error { return f.parse(footer) })
}

// parse runs under the guard.
func (f *File) parse(footer []byte) error {
	meta, err := metadata.NewFileMetaData(footer, nil)
	if err != nil {
		return corrupt("the footer cannot be parsed", err)
	}
	meta.SetSourceFileSize(f.size)
	f.meta = meta
	f.keyValues = make(map[string]string, len(meta.KeyValueMetadata()))
	for _, kv := range meta.KeyValueMetadata() {
		f.keyValues[kv.GetKey()] = kv.GetValue()
	}
	tree := treeBuilder{}
	f.columns = tree.columns(meta.Schema.Root())
	for _, n := range f.columns {
		n.place(n.field.Name, levels{})
	}
	f.leaves = tree.leaves
	return f.parseRowGroups()
}

func (f *File) parseRowGroups() error {
	f.rowGroups = make([]RowGroup, 0, len(f.meta.RowGroups))
	var first int64
	for i, rg := range f.meta.RowGroups {
		if rg.NumRows < 0 || len(rg.Columns) != f.leaves {
			return deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("row group %d has %d rows and %d columns, the schema %d columns",
				i, rg.NumRows, len(rg.Columns), f.leaves))
		}
		group := RowGroup{Rows: rg.NumRows, FirstRow: first, Offset: rg.GetFileOffset()}
		if !rg.IsSetFileOffset() && f.leaves > 0 {
			group.Offset = NoOffset
		}
		for leaf, c := range rg.Columns {
			if c.MetaData == nil {
				continue // encrypted: refused when it is read
			}
			group.Bytes += c.MetaData.TotalCompressedSize
			if leaf == 0 {
				group.Offset = chunkStart(c.MetaData.DataPageOffset, c.MetaData.DictionaryPageOffset)
			}
		}
		f.rowGroups = append(f.rowGroups, group)
		if first += rg.NumRows; first < 0 || first > f.meta.NumRows {
			break
		}
	}
	if first != f.meta.NumRows {
		return deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("the footer counts %d rows, its row groups %d", f.meta.NumRows, first))
	}
	return nil
}

// NumRows is the footer's row count.
func (f *File) NumRows() int64 { return f.meta.NumRows }

// Size is the file's size in bytes.
func (f *File) Size() int64 { return f.size }

// RowGroups lists the row groups in file order.
func (f *File) RowGroups() []RowGroup { return f.rowGroups }

// Memory is about what the footer takes in memory, in bytes.
func (f *File) Memory() int64 { return int64(len(f.rowGroups)) * int64(f.leaves) * chunkMemory }

const chunkMemory = 1 << 10 // of what the footer says of a column chunk, with its statistics

// ChunkBytes is the compressed size of some leaf columns of a row group, as the footer says it.
func (f *File) ChunkBytes(rowGroup int, leaves []int) (n int64) {
	columns := f.meta.RowGroups[rowGroup].Columns
	for _, leaf := range leaves {
		if c := columns[leaf].MetaData; c != nil && c.TotalCompressedSize > 0 {
			n += min(c.TotalCompressedSize, math.MaxInt64-n)
		}
	}
	return n
}

// Fields lists the top-level columns in file order.
func (f *File) Fields() []Field {
	fields := make([]Field, len(f.columns))
	for i, n := range f.columns {
		fields[i] = n.field
	}
	return fields
}

// KeyValue returns an entry of the footer's key-value metadata.
func (f *File) KeyValue(key string) (string, bool) {
	v, ok := f.keyValues[key]
	return v, ok
}
