package deltatest

import "github.com/apache/arrow-go/v18/parquet/metadata"

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
