package parquetio_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
)

// wantBack reads a file and wants the rows of a record.
func wantBack(t *testing.T, content []byte, record arrow.RecordBatch, batchRows int64) {
	t.Helper()
	f := open(t, content, parquetio.Options{Allocator: checked(t), BatchRows: batchRows})
	got, err := readJSON(f, allLeaves(f))
	if err != nil {
		t.Fatal(err)
	}
	compareRows(t, jsonRows(record), got)
}

// Q3, Q4: every codec with both page versions, with and without dictionaries.
func TestEveryCodec(t *testing.T) {
	record := ordersRecord(0, 300)
	for _, codec := range []string{"UNCOMPRESSED", "SNAPPY", "GZIP", "ZSTD", "BROTLI", "LZ4_RAW"} {
		for _, version := range []int{1, 2} {
			for _, plain := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%d/%t", codec, version, plain), func(t *testing.T) {
					p := deltatest.Parquet{Codec: codec, PageVersion: version, NoDictionary: plain, PageBytes: 300, BatchRows: 40}
					wantBack(t, p.File(record), record, 0)
				})
			}
		}
	}
}

// Q4: every encoding of every physical type that has it.
func TestEveryEncoding(t *testing.T) {
	columns := deltatest.Columns("i integer", "l long", "f float", "d double", "s string", "b boolean", "x decimal(30,2)", "y binary",
		"ls array<long>", "ss array<string>")
	rows := make([]string, 500)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"i": %d, "l": %d, "f": %d.5, "d": -%d.25, "s": "prefix %d", "b": %t, "x": "%d.25", "y": "AAEC", "ls": [%d, null], "ss": ["a%d", "a"]}`,
			i*7919%1000-500, int64(i)<<40, i, i, i/7, i%3 == 0, i-250, i*i, i)
		if i%9 == 0 {
			rows[i] = `{"ls": [], "s": ""}`
		}
	}
	record := deltatest.Rows(columns, rows...)
	integers, texts := []string{"i", "l", "ls.list.element"}, []string{"s", "y", "ss.list.element"}
	for encoding, paths := range map[string][]string{
		"PLAIN":                   append(append([]string{"f", "d", "b", "x"}, integers...), texts...),
		"RLE":                     {"b"},
		"DELTA_BINARY_PACKED":     integers,
		"DELTA_LENGTH_BYTE_ARRAY": texts,
		"DELTA_BYTE_ARRAY":        texts,
		"BYTE_STREAM_SPLIT":       {"i", "l", "f", "d", "x"},
	} {
		for _, version := range []int{1, 2} {
			t.Run(fmt.Sprintf("%s/%d", encoding, version), func(t *testing.T) {
				p := deltatest.Parquet{Encodings: map[string]string{}, PageVersion: version, PageBytes: 400, BatchRows: 30, WideDecimals: true}
				for _, path := range paths {
					p.Encodings[path] = encoding
				}
				content := p.File(record)
				wantBack(t, content, record, 0)
				wantBack(t, content, record, 17)
			})
		}
	}
}

// Q4: a dictionary that grew too large is given up in the middle of a column chunk.
func TestDictionaryThatIsGivenUpInTheMiddle(t *testing.T) {
	columns := deltatest.Columns("s string", "l long", "x decimal(30,2)", "a array<string>")
	rows := make([]string, 3000)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"s": "value %d", "l": %d, "x": "%d.5", "a": ["v%d", null, "w"]}`, i, i, i, i)
	}
	record := deltatest.Rows(columns, rows...)
	for _, version := range []int{1, 2} {
		p := deltatest.Parquet{PageVersion: version, DictBytes: 4000, PageBytes: 2000, BatchRows: 100}
		content := p.File(record)
		wantBack(t, content, record, 0)
		wantBack(t, content, record, 512)
		if plain := (deltatest.Parquet{PageVersion: version}).File(record); bytes.Equal(plain, content) {
			t.Error("the dictionaries were not given up")
		}
	}
}

// Q4: writers may leave pages without values behind.
func TestPagesWithoutValues(t *testing.T) {
	record := deltatest.Rows(deltatest.Columns("c long"), `{"c": 1}`, `{}`, `{"c": 3}`)
	for _, p := range []deltatest.Parquet{
		{Codec: "UNCOMPRESSED"},
		{Codec: "UNCOMPRESSED", NoDictionary: true},
		{Codec: "UNCOMPRESSED", NoDictionary: true, PageBytes: 1, BatchRows: 1},
	} {
		content := deltatest.WithEmptyPages(p.File(record))
		for _, batchRows := range []int64{0, 1, 2} {
			wantBack(t, content, record, batchRows)
		}
	}
}

// Q4.
func TestRowGroupsAndFilesWithoutRows(t *testing.T) {
	none := deltatest.Rows(orders)
	some := ordersRecord(0, 5)
	wantBack(t, deltatest.Parquet{}.File(none, some, none, none), some, 0)
	for name, content := range map[string][]byte{
		"no row group":       deltatest.Parquet{}.RawFile(`message m { optional int64 a; }`),
		"an empty row group": deltatest.Parquet{}.File(none),
		"no columns":         deltatest.Parquet{}.RawFile(`message m { }`),
	} {
		f := open(t, content, parquetio.Options{Allocator: checked(t)})
		if got, err := readJSON(f, allLeaves(f)); err != nil || len(got) != 0 || f.NumRows() != 0 {
			t.Errorf("%s: want no rows, got %v, %v", name, got, err)
		}
	}
}

func TestRowsWithoutColumns(t *testing.T) {
	record := array.NewRecordBatch(arrow.NewSchema(nil, nil), nil, 5)
	f := open(t, deltatest.Parquet{}.File(ordersRecord(0, 5)), parquetio.Options{Allocator: checked(t), BatchRows: 2})
	got, err := readJSON(f, nil)
	if err != nil {
		t.Fatal(err)
	}
	compareRows(t, jsonRows(record), got)
}

// arrow-go writes no fixed-length values in DELTA_BYTE_ARRAY, and reads none: the file is one of pyarrow, with the decimals
// i*i/4 in x and i in 16 digits in f; every ninth x is null.
func TestFixedLengthValuesInDeltaByteArray(t *testing.T) {
	content, err := os.ReadFile("testdata/delta-fixed.parquet")
	if err != nil {
		t.Fatal(err)
	}
	lines := make([]string, 300)
	for i := range lines {
		x := fmt.Sprintf(`"%d.%02d"`, i*i/4, i*i%4*25)
		if i%9 == 0 {
			x = "null"
		}
		lines[i] = fmt.Sprintf(`{"x": %s, "f": %q}`, x, base64.StdEncoding.EncodeToString(fmt.Appendf(nil, "%016d", i)))
	}
	record := deltatest.Rows(deltatest.Columns("x decimal(30,2)", "f binary"), lines...)
	for _, batchRows := range []int64{0, 1, 7} {
		wantBack(t, content, record, batchRows)
	}

	header := []byte{0x15, 14, 0x15, 6, 0x15, 6} // DELTA_BYTE_ARRAY, levels in RLE
	plain := bytes.Replace(content, header, append([]byte{0x15, 0}, header[2:]...), 1)
	f := open(t, plain, parquetio.Options{Allocator: checked(t)})
	_, err = readJSON(f, allLeaves(f))
	if deltaerr.KindOf(err) != deltaerr.Unsupported || !strings.Contains(err.Error(), "column x: reading row group 0: page 0: fixed-length values are in the encoding DELTA_BYTE_ARRAY") {
		t.Errorf("want the mixture refused by name, got %v", err)
	}
}
