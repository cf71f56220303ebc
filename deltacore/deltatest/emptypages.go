package deltatest

import (
	"bytes"
	"encoding/binary"

	"github.com/apache/arrow-go/v18/parquet/file"
)

// WithEmptyPages puts a data page without values before and behind those of a file, which has one row group of one optional,
// unrepeated column, is not compressed and has version 1 pages.
func WithEmptyPages(content []byte) []byte {
	reader, err := file.NewParquetReader(bytes.NewReader(content))
	must(err)
	footer := reader.MetaData()
	chunk := footer.RowGroups[0].Columns[0].MetaData
	start := chunk.DataPageOffset
	if chunk.DictionaryPageOffset != nil {
		start = *chunk.DictionaryPageOffset
	}
	end := start + chunk.TotalCompressedSize
	var out bytes.Buffer
	for _, part := range [][]byte{content[:chunk.DataPageOffset], emptyPage, content[chunk.DataPageOffset:end], emptyPage} {
		out.Write(part)
	}
	added := int64(2 * len(emptyPage))
	chunk.TotalCompressedSize += added
	chunk.TotalUncompressedSize += added
	footer.RowGroups[0].TotalByteSize += added
	size, err := footer.WriteTo(&out, nil)
	must(err)
	return append(binary.LittleEndian.AppendUint32(out.Bytes(), uint32(size)), "PAR1"...)
}

// emptyPage is a page header in Thrift's compact form and a body that holds the length of no definition levels.
var emptyPage = []byte{
	0x15, 0x00, // type: data page
	0x15, 0x08, // unpacked size: 4
	0x15, 0x08, // packed size: 4
	0x2c,       // header of a data page
	0x15, 0x00, // values: 0
	0x15, 0x00, // encoding: PLAIN
	0x15, 0x06, // of definition levels: RLE
	0x15, 0x06, // of repetition levels: RLE
	0x00, 0x00,
	0, 0, 0, 0,
}
