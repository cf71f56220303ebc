package deltacore_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/deltacore/storage/faulty"
)

// at is where the tables of tests lie.
const at = "/lake/t"

// reading is one read of a table that lies in memory.
type reading struct {
	table   *deltatest.Table
	open    deltacore.Options
	options deltacore.ScanOptions
	store   *faulty.Store // nil: one with the table's files
}

func (r *reading) scan(t *testing.T) (*deltacore.Scan, error) {
	t.Helper()
	if r.store == nil {
		store := storage.NewMemory()
		r.table.CopyTo(store.PutAt)
		r.store = faulty.New(store)
	}
	mem := memory.NewCheckedAllocator(deltatest.Overwriting{Allocator: memory.NewGoAllocator()})
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	r.open.Store, r.open.Allocator = r.store, mem
	table, err := deltacore.Open(t.Context(), at, r.open)
	if err != nil {
		return nil, err
	}
	return table.Scan(t.Context(), r.options)
}

// rows returns the rows as JSON, in the order in which they come.
func (r *reading) rows(t *testing.T) ([]string, error) {
	t.Helper()
	scan, err := r.scan(t)
	if err != nil {
		return nil, err
	}
	return encodeRows(t.Context(), scan)
}

func (r reading) want(t *testing.T, want ...string) {
	t.Helper()
	got, err := r.rows(t)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(want, got) {
		t.Errorf("want\n%s\ngot\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
}

// wantError wants no rows and an error of a kind whose text has all parts.
func (r reading) wantError(t *testing.T, kind deltaerr.Kind, parts ...string) {
	t.Helper()
	rows, err := r.rows(t)
	if err == nil || deltaerr.KindOf(err) != kind {
		t.Fatalf("want a %v error, got %v and rows %v", kind, err, rows)
	}
	for _, part := range parts {
		if !strings.Contains(err.Error(), part) {
			t.Errorf("want %q in %v", part, err)
		}
	}
}

// wantUntouched wants the error before any file but the log's was asked for.
func (r reading) wantUntouched(t *testing.T, kind deltaerr.Kind, parts ...string) {
	t.Helper()
	if _, err := r.scan(t); err == nil {
		t.Fatal("want an error of the plan")
	}
	r.wantError(t, kind, parts...)
	for _, c := range r.store.Calls() {
		if !strings.HasPrefix(c.Path, "_delta_log") {
			t.Errorf("%s of %s", c.Op, c.Path)
		}
	}
}

// numbers makes n rows of one column, from first on.
func numbers(first, n int) []string {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"id":%d}`, first+i)
	}
	return rows
}

var idColumn = deltatest.Columns("id long")
