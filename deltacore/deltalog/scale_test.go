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

// TestMemoryGrowsWithTheTailNotWithTheTable streams tables of 50,000 and of 400,000 files and looks at the heap on the way.
func TestMemoryGrowsWithTheTailNotWithTheTable(t *testing.T) {
	content := sidecar(10_000)
	small, large := peak(t, content, 5), peak(t, content, 40)
	t.Logf("at most %d and %d bytes held", small, large)
	if large > small+small/2+4<<20 {
		t.Errorf("eight times as many files: want about %d bytes held, got %d", small, large)
	}
}

// peak returns the most that streaming the files holds at a few moments.
func peak(t *testing.T, content []byte, sidecars int) (most int64) {
	t.Helper()
	s, err := newLog(sidecarTable(content, sidecars)).load(latest)
	if err != nil {
		t.Fatal(err)
	}
	before, n, every := heap(), 0, sidecars*10_000/8
	for _, err := range s.Adds(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		if n++; n%every == 0 {
			most = max(most, heap()-before)
		}
	}
	if want := sidecars*10_000 + 1; n != want {
		t.Errorf("want %d files, got %d", want, n)
	}
	runtime.KeepAlive(s)
	return most
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
