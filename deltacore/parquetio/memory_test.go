package parquetio

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// readWith reads the first row group within a ceiling and counts its rows and batches.
func readWith(t *testing.T, content []byte, ceiling int64) (rows, batches int64, err error) {
	t.Helper()
	mem := memory.NewCheckedAllocator(deltatest.Overwriting{Allocator: memory.NewGoAllocator()})
	defer mem.AssertSize(t, 0)
	store := storage.NewMemory()
	store.Put("f", content)
	f, err := Open(context.Background(), store, "f", int64(len(content)), Options{Allocator: mem})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	var leaves []int
	for i := range f.leaves {
		leaves = append(leaves, i)
	}
	g := groupRead{file: f, projection: f.project(leaves), rows: Ranges{{0, f.rowGroups[0].Rows}}, whole: true, memory: ceiling}
	g.yield = func(b Batch) bool {
		rows, batches = rows+b.Record.NumRows(), batches+1
		b.Record.Release()
		return true
	}
	return rows, batches, g.run(context.Background())
}

// sameTexts are columns of one text in every row: a dictionary of one value.
func sameTexts(rows, columns, size int, form deltatest.Parquet) []byte {
	var names, values []string
	for c := range columns {
		names = append(names, fmt.Sprintf("c%d string", c))
		values = append(values, fmt.Sprintf(`"c%d": "%s"`, c, strings.Repeat("x", size)))
	}
	lines := make([]string, rows)
	for i := range lines {
		lines[i] = "{" + strings.Join(values, ", ") + "}"
	}
	record := deltatest.Rows(deltatest.Columns(names...), lines...)
	defer record.Release()
	return form.File(record)
}

func TestRowsThatTakeTooMuchComeInSmallerBatches(t *testing.T) {
	content := sameTexts(500, 1, 10_000, deltatest.Parquet{})
	if rows, batches, err := readWith(t, content, 100<<20); err != nil || rows != 500 || batches != 1 {
		t.Errorf("without a ceiling: want 500 rows in a batch, got %d in %d, %v", rows, batches, err)
	}
	if rows, batches, err := readWith(t, content, 1<<20); err != nil || rows != 500 || batches < 10 {
		t.Errorf("want 500 rows in many batches, got %d in %d, %v", rows, batches, err)
	}
}

func TestOneLargeValueIsReadAlone(t *testing.T) {
	content := sameTexts(3, 1, 1<<20, deltatest.Parquet{NoDictionary: true})
	if rows, batches, err := readWith(t, content, 100<<10); err != nil || rows != 3 || batches != 3 {
		t.Errorf("want 3 rows in 3 batches, got %d in %d, %v", rows, batches, err)
	}
}

func TestLargeValuesOfSeveralColumnsAreTooMuch(t *testing.T) {
	for name, form := range map[string]deltatest.Parquet{
		"plain": {NoDictionary: true}, "dictionary": {}, "delta": {Encoding: "DELTA_BYTE_ARRAY"}, "v2": {PageVersion: 2, Codec: "ZSTD"},
	} {
		_, _, err := readWith(t, sameTexts(3, 4, 1<<20, form), 2<<20)
		if deltaerr.KindOf(err) != deltaerr.Unsupported || !strings.Contains(err.Error(), "take more than 2 MiB (read fewer columns at a time)") ||
			!strings.Contains(err.Error(), "column c") {
			t.Errorf("%s: want unsupported with the column, got %v", name, err)
		}
	}
}

// TestPrefixesThatRepeatAreCounted: with DELTA_BYTE_ARRAY a value of one new byte stands for all of the one before, and arrow-go
// makes room for all values of a batch at once.
func TestPrefixesThatRepeatAreCounted(t *testing.T) {
	var lines []string
	for i := range 2000 {
		lines = append(lines, fmt.Sprintf(`{"c": "%s%d"}`, strings.Repeat("x", 5000), i))
	}
	record := deltatest.Rows(deltatest.Columns("c string", "d string"), lines...)
	defer record.Release()
	content := deltatest.Parquet{Encoding: "DELTA_BYTE_ARRAY"}.File(record)
	if len(content) > 200_000 {
		t.Fatalf("the file has %d bytes", len(content))
	}
	if rows, _, err := readWith(t, content, 2<<20); err != nil || rows != 2000 {
		t.Errorf("want 2000 rows, got %d, %v", rows, err)
	}
}
