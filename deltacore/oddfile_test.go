package deltacore_test

import (
	"strings"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

// oddFile is a table of one file of ten row groups that is not as usual.
func oddFile(change func(content []byte, add *action.Add) []byte) *deltatest.Table {
	table := deltatest.New(idColumn, deltatest.Options{})
	content := deltatest.Parquet{RowGroupRows: 10, NoDictionary: true}.File(deltatest.Rows(idColumn, numbers(0, 100)...))
	add := action.Add{Path: "part-0.parquet", Size: int64(len(content)), DataChange: true}
	table.Put(add.Path, change(content, &add))
	table.Commit(deltatest.Add(add))
	return table
}

// A row group is read once, or it is said why not, in every division.
func TestFilesThatAreNotAsTheLogSays(t *testing.T) {
	same := func(size func(int64) int64) func([]byte, *action.Add) []byte {
		return func(content []byte, add *action.Add) []byte {
			add.Size = size(add.Size)
			return content
		}
	}
	placed := func(place func(group int, at int64) int64) func([]byte, *action.Add) []byte {
		return func(content []byte, add *action.Add) []byte {
			content = deltatest.WithFirstColumns(content, place)
			add.Size = int64(len(content))
			return content
		}
	}
	emptyGroups := deltatest.Parquet{}.File(deltatest.Rows(idColumn), deltatest.Rows(idColumn, numbers(0, 100)...), deltatest.Rows(idColumn))
	for name, c := range map[string]struct {
		change func([]byte, *action.Add) []byte
		want   string // "": all rows
	}{
		"it is larger than the log says":      {same(func(n int64) int64 { return n / 3 }), ""},
		"it is a byte larger":                 {same(func(n int64) int64 { return n - 1 }), ""},
		"it is smaller than the log says":     {same(func(n int64) int64 { return n * 5 }), ""},
		"the log says that it has no bytes":   {same(func(int64) int64 { return 0 }), ""},
		"the log says that it has few bytes":  {same(func(int64) int64 { return 1 }), ""},
		"row groups are empty":                {func([]byte, *action.Add) []byte { return emptyGroups }, ""},
		"the file is empty":                   {func([]byte, *action.Add) []byte { return nil }, "at least 12 bytes"},
		"the last row group begins before it": {placed(func(i int, at int64) int64 { return at - int64(i/9)*1e6 }), "row group 9: the first column begins at byte -"},
		"a row group begins behind it":        {placed(func(i int, at int64) int64 { return at + int64(i/9)*1e6 }), "of a file of"},
		"a row group begins nowhere": {placed(func(i int, at int64) int64 {
			if i == 4 {
				return deltatest.NotSaid
			}
			return at
		}), "row group 4: the footer does not say where the first column begins"},
	} {
		table, _ := openTable(t, oddFile(c.change), nil)
		if err := sameInEveryDivision(t.Context(), table, deltacore.ScanOptions{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		scan, err := table.Scan(t.Context(), deltacore.ScanOptions{})
		check(t, err)
		got := everythingOf(t.Context(), scan)
		if !strings.Contains(got.err, c.want) || (c.want == "") != (got.err == "" && len(got.rows) == 100) {
			t.Errorf("%s: want 100 rows or an error with %q, got %d, %s", name, c.want, len(got.rows), got.err)
		}
	}
}
