package deltatest

import (
	"context"
	"os"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// ReadRaw decodes all columns of a Parquet file with arrow-go's own Arrow reader, in the settings that suit it best, and
// returns the number of rows: what benchmarks of this module's reader are compared with.
func ReadRaw(name string, batchRows int64) (rows int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return 0, err
	}
	props := parquet.NewReaderProperties(memory.DefaultAllocator)
	props.BufferedStreamEnabled, props.BufferSize = true, 64<<10
	reader, err := file.NewParquetReader(f, file.WithReadProps(props))
	if err != nil {
		return 0, err
	}
	defer f.Close()
	arrowProps := pqarrow.ArrowReadProperties{BatchSize: batchRows, PreAllocBinaryData: true}
	arrowReader, err := pqarrow.NewFileReader(reader, arrowProps, memory.DefaultAllocator)
	if err != nil {
		return 0, err
	}
	records, err := arrowReader.GetRecordReader(context.Background(), nil, nil)
	if err != nil {
		return 0, err
	}
	defer records.Release()
	for records.Next() {
		rows += records.RecordBatch().NumRows()
	}
	return rows, records.Err()
}
