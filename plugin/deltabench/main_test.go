package main

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/go-json-experiment/json"
)

var orders = filepath.Join("..", "..", "testdata", "tables", "orders")

func runTask(t *testing.T, args ...string) (map[string]any, int) {
	t.Helper()
	var out bytes.Buffer
	status := run(t.Context(), args, &out)
	var result map[string]any
	if status == 0 {
		if err := json.Unmarshal(out.Bytes(), &result); err != nil {
			t.Fatalf("want a line of JSON, got %s: %v", out.Bytes(), err)
		}
	}
	return result, status
}

func TestTasksSayWhatTheyRead(t *testing.T) {
	lines := filepath.Join(t.TempDir(), "rows.ndjson")
	for task, want := range map[string]map[string]any{
		"scan_all":    {"rows": 1000.0},
		"to_ndjson":   {"rows": 1000.0},
		"plan_all":    {"files": 22.0},
		"first_batch": {},
	} {
		got, status := runTask(t, "-task", task, "-table", orders, "-out", lines, "-threads", "2")
		if status != 0 || got["wall_s"] == nil {
			t.Errorf("%s: want a result, got %v, status %d", task, got, status)
		}
		for key, value := range want {
			if got[key] != value {
				t.Errorf("%s: want %s %v, got %v", task, key, value, got[key])
			}
		}
	}
	text, err := os.ReadFile(lines)
	if err != nil || bytes.Count(text, []byte("\n")) != 1000 {
		t.Errorf("want 1000 lines, got %d, %v", bytes.Count(text, []byte("\n")), err)
	}
}

func TestWhatIsNotDoneHasAStatusOfItsOwn(t *testing.T) {
	for _, args := range [][]string{
		{"-task", "refresh", "-table", orders}, {"-task", "scan_all", "-table", orders, "-s3", "http://localhost"},
	} {
		if _, status := runTask(t, args...); status != exitUnsupported {
			t.Errorf("%v: want status %d, got %d", args, exitUnsupported, status)
		}
	}
	if _, status := runTask(t, "-task", "scan_all", "-table", t.TempDir()); status != exitFailed {
		t.Errorf("no table: want status %d, got %d", exitFailed, status)
	}
}

func TestSumLeavesNullsOut(t *testing.T) {
	builder := array.NewInt32Builder(memory.DefaultAllocator)
	builder.AppendValues([]int32{1, 2, 4}, []bool{true, false, true})
	if got := sum(builder.NewArray()); got != 5 {
		t.Errorf("want 5, got %d", got)
	}
	wide := array.NewInt64Builder(memory.DefaultAllocator)
	wide.AppendValues([]int64{1 << 40, 2}, nil)
	record := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "id", Type: arrow.PrimitiveTypes.Int64}}, nil), []arrow.Array{wide.NewArray()}, 2)
	total := newTotals(selection{sums: idSum})
	total.add(record)
	if total.sum["id"] != 1<<40+2 || total.rows != 2 {
		t.Errorf("want the sum of two rows, got %+v", total)
	}
}
