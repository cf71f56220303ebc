package deltalog

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

// sidecar is a file of n adds in row groups of 5,000.
func sidecar(n int) []byte {
	var rows []string
	for i := range n {
		rows = append(rows, fmt.Sprintf(`{"add":{"path":"date=2024-01-%02d/part-%05d-3e1c6b5a-8f1e-4f0e-9a55-%012x.c000.snappy.parquet",`+
			`"partitionValues":{"date":"2024-01-%02d"},"size":%d,"modificationTime":%d,"dataChange":true}}`,
			1+i%28, i%200, i*7919, 1+i%28, 1000+i, 1_700_000_000_000+i*7919%100_003))
	}
	return deltatest.Parquet{RowGroupRows: 5_000}.File(deltatest.Rows(manifestColumns, rows...))
}

// sidecarTable has a checkpoint whose sidecars are n times the same file.
func sidecarTable(content []byte, n int) map[string][]byte {
	lines := []string{protocolLine, metadataLine}
	files := map[string][]byte{commitPath(4): []byte(addLine("new"))}
	for i := range n {
		name := fmt.Sprintf("%d.parquet", i)
		lines = append(lines, sidecarLine(name, len(content)))
		files[sidecarDir+"/"+name] = content
	}
	files[uuidPath(3, "json")] = []byte(strings.Join(lines, "\n"))
	return files
}

// TestMemoryGrowsWithTheTailNotWithTheTable streams 400,000 files, which would be far more than 100 MiB, and looks at the
// heap on the way.
func TestMemoryGrowsWithTheTailNotWithTheTable(t *testing.T) {
	const sidecars, most = 40, 48 << 20
	s, err := newLog(sidecarTable(sidecar(10_000), sidecars)).load(latest)
	if err != nil {
		t.Fatal(err)
	}
	before, n := heap(), 0
	for _, err := range s.Adds(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n%100_000 == 0 {
			if held := heap() - before; held > most {
				t.Errorf("after %d files: want at most %d bytes held, got %d", n, most, held)
			}
		}
	}
	if want := sidecars*10_000 + 1; n != want {
		t.Errorf("want %d files, got %d", want, n)
	}
	runtime.KeepAlive(s)
}

func BenchmarkAdds(b *testing.B) {
	s, err := newLog(sidecarTable(sidecar(10_000), 10)).load(latest)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	n := 0
	for b.Loop() {
		for _, err := range s.Adds(context.Background()) {
			if err != nil {
				b.Fatal(err)
			}
			n++
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n), "ns/file")
}

func BenchmarkCommit(b *testing.B) {
	var text strings.Builder
	text.WriteString(protocolLine + "\n" + metadataLine + "\n")
	for i := range 100_000 {
		text.WriteString(addLine(fmt.Sprintf("part-%05d-3e1c6b5a-8f1e-4f0e-9a55-%012x.c000.snappy.parquet", i%200, i*7919)) + "\n")
	}
	l := newLog(map[string][]byte{commitPath(0): []byte(text.String())})
	b.ReportAllocs()
	for b.Loop() {
		if _, err := l.files(latest); err != nil {
			b.Fatal(err)
		}
	}
}
