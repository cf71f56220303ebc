package deltatest

import (
	"bytes"
	"encoding/binary"

	"github.com/apache/arrow-go/v18/parquet/metadata"
)

// NotSaid as the place of a column makes the footer say nothing of it.
const NotSaid = -1 << 63

// WithFirstColumns returns a Parquet file whose footer says of the first column of each row group that its pages begin
// somewhere else: place is told where they do.
func WithFirstColumns(content []byte, place func(rowGroup int, at int64) int64) []byte {
	return withFooter(content, func(footer *metadata.FileMetaData) {
		for i, group := range footer.RowGroups {
			column := group.Columns[0]
			at := column.MetaData.DataPageOffset
			if d := column.MetaData.DictionaryPageOffset; d != nil {
				at = *d
			}
			to := place(i, at)
			if to == NotSaid {
				column.MetaData, group.FileOffset = nil, nil
				continue
			}
			column.MetaData.DataPageOffset, column.MetaData.DictionaryPageOffset = to, nil
		}
	})
}

// withFooter changes the footer of a file.
func withFooter(content []byte, change func(*metadata.FileMetaData)) []byte {
	const trailer = 8
	end := len(content) - trailer
	start := end - int(binary.LittleEndian.Uint32(content[end:]))
	footer, err := metadata.NewFileMetaData(content[start:end], nil)
	must(err)
	change(footer)
	var out bytes.Buffer
	out.Write(content[:start])
	length, err := footer.WriteTo(&out, nil)
	must(err)
	out.Write(binary.LittleEndian.AppendUint32(nil, uint32(length)))
	out.WriteString("PAR1")
	return out.Bytes()
}
