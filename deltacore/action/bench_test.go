package action

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"testing"
)

// addLines is a commit of n adds as Spark writes them: partitioned, with statistics of eight columns.
func addLines(n int) []byte {
	var b bytes.Buffer
	for i := range n {
		fmt.Fprintf(&b, `{"add":{"path":"country=%[2]s/day=2024-01-%02[3]d/part-%05[1]d-6d1b0b5a-3d1b-4b0e-9d57-6b1d3a7b5c1e.c000.snappy.parquet",`+
			`"partitionValues":{"country":"%[2]s","day":"2024-01-%02[3]d"},"size":%[4]d,"modificationTime":1704067200000,"dataChange":true,`+
			`"stats":"{\"numRecords\":%[1]d,\"minValues\":{\"id\":%[1]d,\"amount\":1.50,\"name\":\"aaaa\",\"ts\":\"2024-01-01T00:00:00.000Z\"},`+
			`\"maxValues\":{\"id\":%[4]d,\"amount\":999.99,\"name\":\"zzzz\",\"ts\":\"2024-01-31T23:59:59.999Z\"},`+
			`\"nullCount\":{\"id\":0,\"amount\":3,\"name\":0,\"ts\":0}}","tags":{"INSERTION_TIME":"1704067200000000"}}}`+"\n",
			i, []string{"NL", "DE", "FR"}[i%3], i%28+1, 1_000_000+i)
	}
	return b.Bytes()
}

func BenchmarkScanner(b *testing.B) {
	const lines = 1000
	input := addLines(lines)
	run := func(name string, omitStats bool, kinds ...Kind) {
		b.Run(name, func(b *testing.B) {
			b.SetBytes(int64(len(input)))
			b.ReportAllocs()
			for b.Loop() {
				s := NewScanner(bytes.NewReader(input), kinds...)
				if omitStats {
					s.OmitStats()
				}
				for {
					if _, err := s.Next(); errors.Is(err, io.EOF) {
						break
					} else if err != nil {
						b.Fatal(err)
					}
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*lines), "ns/line")
		})
	}
	run("all", false)
	run("without stats", true)
	run("protocol and metadata only", false, KindProtocol|KindMetadata)
}

// BenchmarkEncodingJSON is the baseline: the same lines through the standard library.
func BenchmarkEncodingJSON(b *testing.B) {
	const lines = 1000
	input := addLines(lines)
	b.SetBytes(int64(len(input)))
	b.ReportAllocs()
	for b.Loop() {
		s := bufio.NewScanner(bytes.NewReader(input))
		for s.Scan() {
			var a Action
			if err := json.Unmarshal(s.Bytes(), &a); err != nil {
				b.Fatal(err)
			}
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N*lines), "ns/line")
}
