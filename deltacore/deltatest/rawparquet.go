package deltatest

import (
	"bytes"
	"fmt"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// RawColumn is the content of one leaf column of a row group as Parquet stores it. Values holds the values that are not
// null, as []int32, []int64, []float32, []float64, []bool, []string (any byte array) or [][12]byte (INT96). Def and Rep
// are the levels, nil where the column has none.
type RawColumn struct {
	Values any
	Def    []int16
	Rep    []int16
}

// RawFile returns a Parquet file with a schema and columns as given, so that physical forms can be made which no Arrow
// writer makes. message is the schema in the text form of the Parquet tools:
//
//	message m {
//	  required int96 seen;
//	  optional group tags (LIST) { repeated binary array (STRING); }
//	  optional fixed_len_byte_array(5) price (DECIMAL(10,2)) = 7;
//	}
//
// A row group without columns in it is not possible; all columns of one have the same number of rows.
func (p Parquet) RawFile(message string, rowGroups ...RawGroup) []byte {
	var out bytes.Buffer
	w := file.NewParquetWriter(&out, parseMessage(message), file.WithWriterProps(p.writerProperties()))
	for _, key := range sortedKeys(p.KeyValue) {
		must(w.AppendKeyValueMetadata(key, p.KeyValue[key]))
	}
	for _, group := range rowGroups {
		rg, err := w.AppendRowGroupChecked()
		must(err)
		for _, column := range group {
			cw, err := rg.NextColumn()
			must(err)
			column.write(cw)
			must(cw.Close())
		}
		must(rg.Close())
	}
	must(w.Close())
	return out.Bytes()
}

// RawGroup is a row group: its leaf columns in schema order.
type RawGroup []RawColumn

func (c RawColumn) write(w file.ColumnChunkWriter) {
	var err error
	switch w := w.(type) {
	case *file.Int32ColumnChunkWriter:
		_, err = w.WriteBatch(c.Values.([]int32), c.Def, c.Rep)
	case *file.Int64ColumnChunkWriter:
		_, err = w.WriteBatch(c.Values.([]int64), c.Def, c.Rep)
	case *file.Float32ColumnChunkWriter:
		_, err = w.WriteBatch(c.Values.([]float32), c.Def, c.Rep)
	case *file.Float64ColumnChunkWriter:
		_, err = w.WriteBatch(c.Values.([]float64), c.Def, c.Rep)
	case *file.BooleanColumnChunkWriter:
		_, err = w.WriteBatch(c.Values.([]bool), c.Def, c.Rep)
	case *file.Int96ColumnChunkWriter:
		_, err = w.WriteBatch(converted(c.Values.([][12]byte), func(v [12]byte) parquet.Int96 { return v }), c.Def, c.Rep)
	case *file.ByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(converted(c.Values.([]string), func(v string) parquet.ByteArray { return []byte(v) }), c.Def, c.Rep)
	case *file.FixedLenByteArrayColumnChunkWriter:
		_, err = w.WriteBatch(converted(c.Values.([]string), func(v string) parquet.FixedLenByteArray { return []byte(v) }), c.Def, c.Rep)
	default:
		err = fmt.Errorf("no raw columns of %T", w)
	}
	must(err)
}

func converted[A, B any](list []A, convert func(A) B) []B {
	out := make([]B, len(list))
	for i, v := range list {
		out[i] = convert(v)
	}
	return out
}

// INT96 makes the bytes of a timestamp: nanoseconds of the day and Julian day, which is 2440588 on 1970-01-01.
func INT96(nanos int64, julianDay int32) [12]byte {
	var v [12]byte
	for i := range 8 {
		v[i] = byte(nanos >> (8 * i))
	}
	for i := range 4 {
		v[8+i] = byte(julianDay >> (8 * i))
	}
	return v
}

func parseMessage(text string) *schema.GroupNode {
	p := &messageParser{tokens: messageTokens(text)}
	p.expect("message")
	p.next()
	root := schema.MustGroup(schema.NewGroupNode("root", parquet.Repetitions.Required, p.fields(), -1))
	return root
}
