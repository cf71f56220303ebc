package deltatest

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
)

// Parquet says how a Parquet file is written. The zero value writes what Spark writes today: Snappy, version 1 pages,
// dictionaries, statistics, decimals as integers where they fit. Encodings are named as in the Parquet specification.
type Parquet struct {
	Codec        string            // UNCOMPRESSED, SNAPPY, GZIP, ZSTD, BROTLI, LZ4_RAW; "": SNAPPY
	RowGroupRows int64             // rows of a row group; 0: each record given is one row group
	PageVersion  int               // 1 or 2; 0: 1
	PageBytes    int64             // size at which a page ends; 0: 1 MiB
	DictBytes    int64             // size of a dictionary at which the rest of a column chunk goes without; 0: 1 MiB
	BatchRows    int64             // values written between two looks at the page size; 0: 1024
	Encoding     string            // of all columns, without dictionaries; "": PLAIN after dictionaries
	Encodings    map[string]string // of single columns by dotted path, without dictionary
	NoDictionary bool
	NoStatistics bool
	PageIndex    bool
	Bloom        bool              // bloom filters of all columns
	BloomValues  int64             // distinct values that they are made for; 0: as many as a MiB is for
	INT96        bool              // timestamps as INT96
	WideDecimals bool              // decimals as FIXED_LEN_BYTE_ARRAY, whatever their precision
	ArrowSchema  bool              // store the Arrow schema, as Arrow-based writers do
	KeyValue     map[string]string // the footer's key-value metadata
}

var codecs = map[string]compress.Compression{
	"":             compress.Codecs.Snappy,
	"UNCOMPRESSED": compress.Codecs.Uncompressed,
	"SNAPPY":       compress.Codecs.Snappy,
	"GZIP":         compress.Codecs.Gzip,
	"ZSTD":         compress.Codecs.Zstd,
	"BROTLI":       compress.Codecs.Brotli,
	"LZ4_RAW":      compress.Codecs.Lz4Raw,
}

var encodings = map[string]parquet.Encoding{
	"PLAIN":                   parquet.Encodings.Plain,
	"RLE":                     parquet.Encodings.RLE,
	"DELTA_BINARY_PACKED":     parquet.Encodings.DeltaBinaryPacked,
	"DELTA_LENGTH_BYTE_ARRAY": parquet.Encodings.DeltaLengthByteArray,
	"DELTA_BYTE_ARRAY":        parquet.Encodings.DeltaByteArray,
	"BYTE_STREAM_SPLIT":       parquet.Encodings.ByteStreamSplit,
}

// File returns the bytes of a Parquet file that holds the records in order. It borrows them; there must be at least one,
// which may have no rows, and all have one schema. Equal records give equal bytes.
func (p Parquet) File(records ...arrow.RecordBatch) []byte {
	var out bytes.Buffer
	w, err := pqarrow.NewFileWriter(records[0].Schema(), &out, p.writerProperties(), p.arrowProperties())
	must(err)
	for _, key := range sortedKeys(p.KeyValue) {
		must(w.AppendKeyValueMetadata(key, p.KeyValue[key]))
	}
	for _, record := range records {
		must(p.writeRecord(w, record))
	}
	must(w.Close())
	return out.Bytes()
}

func (p Parquet) writeRecord(w *pqarrow.FileWriter, record arrow.RecordBatch) error {
	if p.RowGroupRows == 0 {
		w.NewBufferedRowGroup()
		return w.WriteBuffered(record)
	}
	for from := int64(0); from < record.NumRows(); from += p.RowGroupRows {
		part := record.NewSlice(from, min(from+p.RowGroupRows, record.NumRows()))
		w.NewBufferedRowGroup()
		err := w.WriteBuffered(part)
		part.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

func (p Parquet) writerProperties() *parquet.WriterProperties {
	properties := []parquet.WriterProperty{
		parquet.WithCreatedBy("deltatest"),
		parquet.WithCompression(named(codecs, p.Codec)),
		parquet.WithDictionaryDefault(!p.NoDictionary && p.Encoding == ""),
		parquet.WithStats(!p.NoStatistics),
		parquet.WithPageIndexEnabled(p.PageIndex),
		parquet.WithBloomFilterEnabled(p.Bloom),
		parquet.WithStoreDecimalAsInteger(!p.WideDecimals),
		parquet.WithMaxRowGroupLength(1 << 40),
	}
	if p.BloomValues > 0 {
		properties = append(properties, parquet.WithBloomFilterNDV(p.BloomValues))
	}
	if p.PageVersion == 2 {
		properties = append(properties, parquet.WithDataPageVersion(parquet.DataPageV2))
	}
	if p.PageBytes > 0 {
		properties = append(properties, parquet.WithDataPageSize(p.PageBytes))
	}
	if p.DictBytes > 0 {
		properties = append(properties, parquet.WithDictionaryPageSizeLimit(p.DictBytes))
	}
	if p.BatchRows > 0 {
		properties = append(properties, parquet.WithBatchSize(p.BatchRows))
	}
	return parquet.NewWriterProperties(append(properties, p.encodingProperties()...)...)
}

func (p Parquet) encodingProperties() []parquet.WriterProperty {
	var properties []parquet.WriterProperty
	if p.Encoding != "" {
		properties = append(properties, parquet.WithEncoding(named(encodings, p.Encoding)))
	}
	for _, path := range sortedKeys(p.Encodings) {
		properties = append(properties,
			parquet.WithDictionaryFor(path, false), parquet.WithEncodingFor(path, named(encodings, p.Encodings[path])))
	}
	return properties
}

func (p Parquet) arrowProperties() pqarrow.ArrowWriterProperties {
	options := []pqarrow.WriterOption{pqarrow.WithTruncatedTimestamps(true)}
	if p.INT96 { // arrow-go writes INT96 only for nanoseconds
		options = append(options, pqarrow.WithDeprecatedInt96Timestamps(true), pqarrow.WithCoerceTimestamps(arrow.Nanosecond))
	}
	if p.ArrowSchema {
		options = append(options, pqarrow.WithStoreSchema())
	}
	return pqarrow.NewArrowWriterProperties(options...)
}

func named[T any](table map[string]T, name string) T {
	v, ok := table[name]
	if !ok {
		panic(fmt.Sprintf("deltatest: %q is none of %v", name, sortedKeys(table)))
	}
	return v
}
