package parquetio

import (
	"context"
	"errors"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

const (
	maxDictionary = 4 << 20 // packed, that is read to see which values there are
	dictionaryPay = 4       // times as large is the column chunk, at least
)

// Dictionary returns the distinct values of a leaf in a row group, of its Field.Type, and perhaps some more; nil when no
// dictionary holds them all or when reading it costs about as much as reading the values. The receiver releases the array. wrong
// says why a dictionary is not to be used; err is that of the store.
func (f *File) Dictionary(ctx context.Context, rowGroup, leaf int) (values arrow.Array, wrong, err error) {
	if !f.HasDictionary(rowGroup, leaf) {
		return nil, nil, nil
	}
	c, wrong := f.chunk(rowGroup, leaf)
	if wrong != nil || c.only != anyEncoding {
		return nil, wrong, nil
	}
	c.end = min(c.end, f.meta.RowGroups[rowGroup].Columns[leaf].MetaData.DataPageOffset)
	r := dictionaryRead{file: f, chunk: c, source: source{ctx: ctx, file: f}}
	wrong = guard("the dictionary", r.run)
	if r.source.err != nil {
		return nil, nil, deltaerr.Annotate(r.source.err, deltaerr.File(f.path), deltaerr.Phase("reading a dictionary"))
	}
	return r.out, wrong, nil
}

// HasDictionary says whether Dictionary would read one.
func (f *File) HasDictionary(rowGroup, leaf int) bool {
	if !f.allInDictionary(rowGroup, leaf) {
		return false
	}
	c := f.meta.RowGroups[rowGroup].Columns[leaf].MetaData
	size := c.DataPageOffset - *c.DictionaryPageOffset
	return size > 0 && size <= maxDictionary && size <= c.TotalCompressedSize/dictionaryPay
}

// allInDictionary says whether all pages of data have a dictionary's encoding. Only the statistics of encodings tell that: the
// list of them has the encoding of the dictionary too.
func (f *File) allInDictionary(rowGroup, leaf int) bool {
	c := f.meta.RowGroups[rowGroup].Columns[leaf]
	n := f.leaf(leaf)
	if n == nil || c.MetaData == nil || c.CryptoMetadata != nil {
		return false
	}
	if offset := c.MetaData.DictionaryPageOffset; offset == nil || *offset <= 0 {
		return false
	}
	data := 0
	for _, s := range c.MetaData.EncodingStats {
		if s == nil {
			return false
		}
		if kind := int64(s.PageType); kind != pageTypeData && kind != pageTypeDataV2 || s.Count == 0 {
			continue
		}
		if !slices.Contains([]parquet.Encoding{parquet.Encodings.PlainDict, parquet.Encodings.RLEDict}, parquet.Encoding(s.Encoding)) || s.Count < 0 {
			return false
		}
		data++
	}
	return data > 0
}

// dictionaryRead reads a dictionary page as if it were one of data: its values are in the encoding PLAIN.
type dictionaryRead struct {
	file   *File
	chunk  chunk
	source source
	out    arrow.Array
}

// run runs under the guard.
func (r *dictionaryRead) run() error {
	mem := newLedger(r.file.options.Allocator, mostMemory(1), 1)
	defer mem.close()
	pages := newPageStream(r.chunk, &r.source, mem, Ranges{{0, 1}})
	defer pages.release()
	if !pages.Next() {
		if pages.err != nil {
			return pages.err
		}
		return errNoDictionary
	}
	dictionary, ok := pages.Page().(*file.DictionaryPage)
	if !ok {
		return errNoDictionary
	}
	if dictionary.NumValues() == 0 {
		return nil
	}
	d, err := r.decode(dictionary, mem)
	if err != nil {
		return err
	}
	defer d.Release()
	r.out = array.MakeFromData(d)
	mem.giveOut(d)
	return nil
}

var errNoDictionary = errors.New("there is no dictionary where the footer says")

func (r *dictionaryRead) decode(dictionary *file.DictionaryPage, mem *ledger) (arrow.ArrayData, error) {
	n, values := dictionary.NumValues(), *r.chunk.node
	values.levels, values.field.Nullable = levels{}, false
	at := leafPlace{chunk: r.chunk, rows: int64(n), descr: projection{columns: []*node{&values}}.descriptions().Column(0)}
	at.chunk.node = &values
	page := file.NewDataPageV1(memory.NewBufferBytes(dictionary.Data()), n, parquet.Encodings.Plain,
		parquet.Encodings.RLE, parquet.Encodings.RLE, int32(len(dictionary.Data())))
	pool := &sync.Pool{New: func() any { return memory.NewResizableBuffer(pageMemory{mem}) }}
	leaf, err := newLeafReader(at, &pageStream{chunk: at.chunk, mem: mem, ready: page}, mem, pool)
	if err != nil {
		return nil, err
	}
	defer leaf.close()
	if err := leaf.decode(int64(n)); err != nil {
		return nil, err
	}
	d := leaf.values()
	if r.chunk.node.leaf.convert == nil {
		return d, nil
	}
	defer d.Release()
	return r.chunk.node.leaf.convert(mem, d)
}
