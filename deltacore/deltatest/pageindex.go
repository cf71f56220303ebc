package deltatest

import (
	"bytes"
	"encoding/binary"

	"github.com/apache/arrow-go/v18/parquet/metadata"
)

// WithPageIndexOf returns a Parquet file whose first row group takes the page index of one leaf for that of another.
func WithPageIndexOf(content []byte, leaf, other int) []byte {
	return withFooter(content, func(footer *metadata.FileMetaData) {
		columns := footer.RowGroups[0].Columns
		from, to := columns[other], columns[leaf]
		to.ColumnIndexOffset, to.ColumnIndexLength = from.ColumnIndexOffset, from.ColumnIndexLength
		to.OffsetIndexOffset, to.OffsetIndexLength = from.OffsetIndexOffset, from.OffsetIndexLength
	})
}

// WithoutNaNs returns a Parquet file that says of each floating-point column that no value is NaN.
func WithoutNaNs(content []byte) []byte {
	return withFooter(content, func(footer *metadata.FileMetaData) {
		for _, group := range footer.RowGroups {
			for _, c := range group.Columns {
				if c.MetaData.Statistics != nil && (c.MetaData.Type == 4 || c.MetaData.Type == 5) {
					none := int64(0)
					c.MetaData.Statistics.NanCount = &none
				}
			}
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
