package parquetio_test

import (
	"encoding/binary"
	"os"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

// FuzzFooter reads files whose footer is the input, behind the pages of a good file.
func FuzzFooter(f *testing.F) {
	var pages []byte
	for name, content := range damaged() {
		size := len(content)
		footer := size - 8 - int(binary.LittleEndian.Uint32(content[size-8:]))
		f.Add(content[footer : size-8])
		if name == "v1" {
			pages = content[:footer]
		}
	}
	f.Add([]byte{})
	f.Add([]byte{0x15, 0x02, 0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07}) // a schema of two thousand million elements
	f.Fuzz(func(t *testing.T, footer []byte) {
		if len(footer) > 1<<20 {
			return
		}
		content := append(append([]byte{}, pages...), footer...)
		content = binary.LittleEndian.AppendUint32(content, uint32(len(footer)))
		content = append(content, "PAR1"...)
		_ = readDamaged(t, storeWith(content), int64(len(content)))
	})
}

// FuzzPages puts bytes in place of others in a good file.
func FuzzPages(f *testing.F) {
	record := ordersRecord(0, 40)
	files := [][]byte{
		deltatest.Parquet{PageBytes: 100, BatchRows: 10}.File(record),
		deltatest.Parquet{PageBytes: 100, BatchRows: 10, PageVersion: 2, Codec: "UNCOMPRESSED", NoDictionary: true}.File(record),
		deltatest.Parquet{Codec: "ZSTD", Encodings: map[string]string{
			"id": "DELTA_BINARY_PACKED", "name": "DELTA_BYTE_ARRAY", "data": "DELTA_LENGTH_BYTE_ARRAY",
		}}.File(record),
		deltatest.Parquet{Codec: "GZIP", Encoding: "PLAIN"}.File(record),
		deltatest.WithEmptyPages(deltatest.Parquet{Codec: "UNCOMPRESSED", PageBytes: 1, BatchRows: 1, NoStatistics: true}.File(
			deltatest.Rows(deltatest.Columns("c long"), `{"c": 1}`, `{}`, `{"c": 3}`))),
	}
	nested := deltatest.Rows(nestedColumns,
		`{"id": 1, "s": {"f": {"g": 1}, "l": [{"x": 1, "y": "a", "z": [1, null]}, null, {"z": []}]}, "ll": [[1.5], [], null], "sl": [{"b": true}]}`,
		`{"id": 2, "m": [{"key": "k", "value": {"p": 1, "q": [["a"], [null]]}}, {"key": "l"}], "sl": []}`, `{"id": 3, "s": {"l": []}}`)
	for _, p := range []deltatest.Parquet{
		{Codec: "UNCOMPRESSED", PageBytes: 1, BatchRows: 1, NoStatistics: true}, {Codec: "UNCOMPRESSED", PageVersion: 2, NoDictionary: true, NoStatistics: true},
	} {
		files = append(files, p.File(nested))
	}
	if content, err := os.ReadFile("testdata/delta-fixed.parquet"); err == nil {
		files = append(files, content)
	}
	for i, content := range files {
		for at := 4; at < len(content)-200; at += len(content) / 5 {
			f.Add(uint8(i), uint16(at), content[at:at+20])
		}
	}
	f.Fuzz(func(t *testing.T, which uint8, at uint16, put []byte) {
		content := append([]byte{}, files[int(which)%len(files)]...)
		copy(content[int(at)%len(content):], put)
		_ = readDamaged(t, storeWith(content), int64(len(content)))
	})
}
