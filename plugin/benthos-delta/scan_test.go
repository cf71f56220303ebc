package main

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/input/encode"
)

const orders = "../../testdata/tables/orders"

// delta runs a delta command that must succeed, and returns its output.
func delta(t *testing.T, args ...string) string {
	t.Helper()
	var out, errs bytes.Buffer
	if status := runDelta(append([]string{"delta"}, args...), streams{out: &out, err: &errs}); status != 0 || errs.Len() > 0 {
		t.Fatalf("%q: status %d: %s", args, status, &errs)
	}
	return out.String()
}

func TestScanGivesTheSameBytesForEveryBatchSizeAndMemoryLimit(t *testing.T) {
	want := delta(t, "scan", orders)
	for _, set := range []string{"batch_rows=1", "batch_rows=7", "batch_rows=100000", "scan.memory_limit=1"} {
		if got := delta(t, "scan", orders, "--set", set); got != want {
			t.Errorf("%s: want the same bytes, got %d instead of %d", set, len(got), len(want))
		}
	}
}

// TestScanEncodesInChunksHoweverSmallABatchIs has null columns with long names, whose text is a thousand times their Arrow form.
func TestScanEncodesInChunksHoweverSmallABatchIs(t *testing.T) {
	var names []string
	for i := range 300 {
		names = append(names, strings.Repeat("n", 60)+strconv.Itoa(i)+" boolean")
	}
	columns := deltatest.Columns(names...)
	config, err := configspec.Decode(map[string]any{"uri": "."})
	if err != nil {
		t.Fatal(err)
	}
	encoder, err := encode.New(columns, config.Values)
	if err != nil {
		t.Fatal(err)
	}
	const rows = 1000
	batch := deltacore.Batch{Record: deltatest.Rows(columns, slices.Repeat([]string{"{}"}, rows)...), Task: &scanplan.FileTask{}}
	lines := 0
	err = linesOf(encoder, nil)(t.Context(), batch, func(chunk []byte) error {
		lines += 1 + bytes.Count(chunk, []byte("\n"))
		if len(chunk) > chunkBytes {
			t.Errorf("want chunks of at most %d bytes, got %d", chunkBytes, len(chunk))
		}
		return nil
	})
	if err != nil || lines != rows {
		t.Fatalf("want %d lines, got %d, %v", rows, lines, err)
	}
}

func TestScanLimitIsAPrefix(t *testing.T) {
	all := strings.SplitAfter(delta(t, "scan", orders), "\n")
	for _, limit := range []string{"0", "1", "999", "1000", "5000"} {
		got := delta(t, "scan", orders, "--limit", limit)
		n := strings.Count(got, "\n")
		if got != strings.Join(all[:n], "") || (limit != "5000" && limit != strconv.Itoa(n)) || (limit == "5000" && n != 1000) {
			t.Errorf("limit %s: want that many of the first rows, got %d", limit, n)
		}
	}
}

func TestScanArrowHoldsTheRowsOfScanJSON(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	out := delta(t, "scan", orders, "--format", "arrow")
	r, err := ipc.NewReader(strings.NewReader(out), ipc.WithAllocator(mem))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	encoder := encoderOf(t, orders)
	var got strings.Builder
	for r.Next() {
		lines, _, err := encoder.Lines(r.RecordBatch(), encode.Part{})
		if err != nil {
			t.Fatal(err)
		}
		got.Write(lines)
		got.WriteByte('\n')
	}
	if err := r.Err(); err != nil {
		t.Fatal(err)
	}
	if want := delta(t, "scan", orders); want != got.String() {
		t.Errorf("want the same rows, got %d bytes instead of %d", got.Len(), len(want))
	}
}

func TestScanArrowKeepsBatchesWithinBatchRows(t *testing.T) {
	r, err := ipc.NewReader(strings.NewReader(delta(t, "scan", orders, "--format", "arrow", "--set", "batch_rows=7")))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	var rows int64
	for r.Next() {
		n := r.RecordBatch().NumRows()
		if rows += n; n > 7 {
			t.Fatalf("want at most 7 rows, got %d", n)
		}
	}
	if err := r.Err(); err != nil || rows != 1000 {
		t.Errorf("want 1000 rows, got %d, %v", rows, err)
	}
}

// Small batches are cut of larger records.
func TestScanDecodesLargeRecordsForSmallBatches(t *testing.T) {
	for _, c := range []struct{ batch, want int64 }{{1, 8192}, {8192, 8192}, {10_000, 10_000}, {1 << 30, 65536}} {
		if got := decodedRows(configspec.Config{BatchRows: c.batch}); got != c.want {
			t.Errorf("batch_rows %d: want %d, got %d", c.batch, c.want, got)
		}
	}
}

func encoderOf(t *testing.T, uri string) *encode.Encoder {
	t.Helper()
	table, err := deltacore.Open(t.Context(), uri, deltacore.Options{})
	if err != nil {
		t.Fatal(err)
	}
	columns, err := table.Schema()
	if err != nil {
		t.Fatal(err)
	}
	config, err := configspec.Decode(map[string]any{"uri": uri})
	if err != nil {
		t.Fatal(err)
	}
	encoder, err := encode.New(columns, config.Values)
	if err != nil {
		t.Fatal(err)
	}
	return encoder
}

func TestScanOfATableWithoutRows(t *testing.T) {
	dir := emptyTable(t, deltatest.Columns("id long", "name string"))
	if got := delta(t, "scan", dir); got != "" {
		t.Errorf("want no rows, got %q", got)
	}
	if got := delta(t, "scan", dir, "--format", "count"); got != "0\n" {
		t.Errorf("want 0, got %q", got)
	}
	r, err := ipc.NewReader(strings.NewReader(delta(t, "scan", dir, "--format", "arrow")))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Release()
	if r.Schema().NumFields() != 2 || r.Next() || r.Err() != nil {
		t.Errorf("want the schema and no rows, got %v, %v", r.Schema(), r.Err())
	}
}

func emptyTable(t *testing.T, columns *schema.Struct) string {
	t.Helper()
	table := deltatest.New(columns, deltatest.Options{})
	table.Commit()
	dir := t.TempDir()
	if err := table.WriteDir(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func TestScanNamesThePlaceOfAValueThatCannotBeWritten(t *testing.T) {
	columns := deltatest.Columns("x double")
	table := deltatest.New(columns, deltatest.Options{})
	file := table.Append(deltatest.Rows(columns, `{"x":1}`, `{"x":2}`, `{"x":"NaN"}`))[0].Path
	dir := t.TempDir()
	if err := table.WriteDir(dir); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	status := runDelta([]string{"delta", "scan", dir, "--set", "values.non_finite=fail"}, streams{out: &out, err: &errs})
	want := fmt.Sprintf("table file://%s, version 0, file %s, column x: encoding row 2: ", dir, file)
	if status != exitFailed || !strings.HasPrefix(errs.String(), want) {
		t.Errorf("want status 1 and %s, got status %d and %s", want, status, &errs)
	}
}

func TestScanEndsAtTheFirstFileThatIsMissing(t *testing.T) {
	dir := t.TempDir()
	if err := os.CopyFS(dir, os.DirFS(orders)); err != nil {
		t.Fatal(err)
	}
	if err := os.RemoveAll(filepath.Join(dir, "country=SE")); err != nil {
		t.Fatal(err)
	}
	var out, errs bytes.Buffer
	if status := runDelta([]string{"delta", "scan", dir}, streams{out: &out, err: &errs}); status != exitFailed {
		t.Errorf("want status 1, got %d", status)
	}
	all := delta(t, "scan", orders)
	if !strings.HasPrefix(all, out.String()) || out.Len() == 0 || out.Len() == len(all) {
		t.Errorf("want the rows before the error, got %d of %d bytes", out.Len(), len(all))
	}
	if strings.Count(errs.String(), "\n") != 1 {
		t.Errorf("want one message, got %q", &errs)
	}
}
