package input

import (
	"fmt"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/benthosdev/benthos/v4/public/service"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

// wide makes records whose text is many times their Arrow form: null columns with long names, nested ones too.
func wide(nulls int) *schema.Struct {
	var columns []string
	for i := range nulls {
		columns = append(columns, fmt.Sprintf("%s_%03d boolean", strings.Repeat("n", 60), i))
	}
	inner := strings.ReplaceAll(strings.Join(columns[:10], ","), " ", ":")
	return deltatest.Columns(append(columns, "list array<struct<"+inner+">>")...)
}

func TestBatchesAreBoundedHoweverSmallTheyAreInArrow(t *testing.T) {
	const rows, limit = 300, 64 << 10
	columns := wide(100)
	lines := make([]string, rows)
	for i := range lines {
		lines[i] = `{"list": [{}, {}, {}]}`
	}
	for _, format := range []string{"json", "json_lines", "structured", "arrow_ipc"} {
		for _, keys := range []any{nil, []any{"list"}} {
			raw := map[string]any{"uri": "/t", "format": format, "batch_bytes": limit, "key_columns": keys}
			if keys != nil && format != "json" && format != "structured" {
				continue
			}
			config, err := configspec.Decode(raw)
			check(t, err)
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			c := &converter{config: config, allocator: mem}
			record := deltatest.Rows(columns, lines...)
			g := group{rows: []feed.Rows{{Record: record, Columns: columns, File: "f"}}}
			var total, batches int64
			check(t, c.convert(t.Context(), g, func(b *batch) error {
				n, size := b.Tail(0)
				if n > 1 && size > limit+8<<10*btoi(format == "arrow_ipc") {
					t.Errorf("%s: a batch of %d rows has %d bytes; the limit is %d", format, n, size, limit)
				}
				if b.keys != nil && b.keys.Len() != b.Messages() {
					t.Errorf("%s: want a key for each of %d messages, got %d", format, b.Messages(), b.keys.Len())
				}
				total, batches = total+n, batches+1
				return nil
			}))
			if total != rows || format != "arrow_ipc" && batches < 10 {
				t.Errorf("%s: want %d rows in some batches, got %d in %d", format, rows, total, batches)
			}
			mem.AssertSize(t, 0)
		}
	}
}

func btoi(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// TestErrorNamesTheFileAndRowOfTheValue has the value in the last of nine small files, which are encoded together.
func TestErrorNamesTheFileAndRowOfTheValue(t *testing.T) {
	for _, format := range []string{"json", "json_lines", "structured"} {
		c, out := newChecked(true), &sink{}
		p := newChild(t, c, out, "values: { non_finite: fail }\nformat: "+format)
		p.run()
		want := "file " + c.files[len(c.files)-1] + ", column x: encoding row 0: "
		if len(p.failed) != 1 || !strings.Contains(p.failed[0].Error(), want) {
			t.Errorf("%s: want %q, got %v", format, want, p.failed)
		}
	}
}

func TestErrorNamesThePhysicalRow(t *testing.T) {
	columns := deltatest.Columns("x double")
	config, err := configspec.Decode(map[string]any{"uri": "/t", "values": map[string]any{"non_finite": "fail"}})
	check(t, err)
	c := &converter{config: config, table: "/t", allocator: memory.DefaultAllocator}
	made := func(file string, index []int64, rows ...string) feed.Rows {
		return feed.Rows{Record: deltatest.Rows(columns, rows...), Columns: columns, File: file, Index: index, Version: 7}
	}
	g := group{rows: []feed.Rows{
		made("a", nil, `{"x":1}`, `{"x":2}`),
		made("b", []int64{3, 8, 9}, `{"x":1}`, `{"x":"NaN"}`, `{"x":1}`),
	}}
	err = c.convert(t.Context(), g, func(*batch) error { return nil })
	if want := "table /t, version 7, file b, column x: encoding row 8: "; err == nil || !strings.HasPrefix(err.Error(), want) {
		t.Fatalf("want %q, got %v", want, err)
	}
}

func TestRecordsAreAsSmallAsBatches(t *testing.T) {
	for rows, want := range map[int]int64{1: 1, 500: 500, 8192: 8192, 60000: 60000, 1000000: 65536} {
		in, err := New(parse(t, fmt.Sprintf("uri: /t\nbatch_rows: %d\ncheckpoint_limit: 1000000", rows)), service.MockResources(), Deps{})
		check(t, err)
		if got := in.(*Input).open.Scan.BatchRows; got != want {
			t.Errorf("batch_rows %d: want records of %d rows, got %d", rows, want, got)
		}
	}
}

func TestMemoryLimitOfTheFirstInputHolds(t *testing.T) {
	first, limit := sharedBudget(64 << 20)
	second, got := sharedBudget(limit + 1)
	if first != second || got != limit {
		t.Fatalf("want the one budget of %d bytes, got one of %d", limit, got)
	}
}

func TestJoinedRecordsAreInTheTablesMemory(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	var g group
	for _, s := range newFakeTable().rows(3, true).rows(2, true).steps {
		g.rows = append(g.rows, s.event.(feed.Rows))
	}
	record, err := g.record(mem)
	check(t, err)
	if record.NumRows() != 5 || mem.CurrentAlloc() == 0 {
		t.Fatalf("want five rows in memory of the allocator, got %d", record.NumRows())
	}
	record.Release()
	mem.AssertSize(t, 0)
	g.release()
}
