package deltacore_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/datafile"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
)

// longRow is a row of a long row group.
type longRow struct{ physical, id, shuffled, payload int64 }

func longRows(t *testing.T, scan *deltacore.Scan) (rows []longRow) {
	t.Helper()
	for b, err := range scan.Batches(t.Context()) {
		check(t, err)
		column := func(i int) *array.Int64 { return b.Record.Column(i).(*array.Int64) }
		for i := range int(b.Record.NumRows()) {
			rows = append(rows, longRow{b.PhysicalRow(i), column(0).Value(i), column(1).Value(i), column(2).Value(i)})
		}
		b.Record.Release()
	}
	return rows
}

// longTable has one row group of which more rows are deleted than left whole anywhere, but for its beginning.
func longTable(n int64, form deltatest.Parquet) *deltatest.Table {
	source := manyNumbers(1, int(n), form)
	gone := []int64{0}
	for row := int64(65_000); row < n; row += 1 + row%97 {
		gone = append(gone, row)
	}
	source.DeleteRows(source.Active()[0], gone...)
	return source
}

var longPredicates = map[string]func(longRow) bool{
	"shuffled < 300":                         func(r longRow) bool { return r.shuffled < 300 },
	"payload < 0":                            func(r longRow) bool { return r.payload < 0 },
	"id BETWEEN 65530 AND 65544 OR id = 1":   func(r longRow) bool { return r.id >= 65530 && r.id <= 65544 || r.id == 1 },
	"NOT (id < 250000) AND shuffled > 10":    func(r longRow) bool { return r.id >= 250_000 && r.shuffled > 10 },
	"id >= 0":                                func(longRow) bool { return true },
	"shuffled IN (1, 77, 399999, 200000, 5)": func(r longRow) bool { return slices.Contains([]int64{1, 77, 399_999, 200_000, 5}, r.shuffled) },
}

// TestWhereOverLongRowGroups reads more rows of one row group than are matched at a time, from its beginning and from inside.
func TestWhereOverLongRowGroups(t *testing.T) {
	for name, form := range map[string]deltatest.Parquet{
		"pages known":     {NoDictionary: true, PageBytes: 16 << 10, PageIndex: true},
		"pages not known": {NoDictionary: true, PageBytes: 128 << 10, PageVersion: 2},
	} {
		t.Run(name, func(t *testing.T) {
			source := longTable(300_000, form)
			add := source.Active()[0]
			table, _ := openTable(t, source, nil)
			all, err := table.Scan(t.Context(), deltacore.ScanOptions{})
			check(t, err)
			rows := longRows(t, all)
			for where, matches := range longPredicates {
				for _, from := range []int64{0, 65_536} {
					o := deltacore.ScanOptions{Where: parsed(t, where), BatchRows: 5000, FromRow: from}
					o.From = &scanplan.Key{ModificationTime: add.ModificationTime, Path: add.Path}
					want := slices.DeleteFunc(slices.Clone(rows), func(r longRow) bool { return r.physical < from || !matches(r) })
					sameLongRows(t, table, o, want)
				}
			}
		})
	}
}

func sameLongRows(t *testing.T, table *deltacore.Table, o deltacore.ScanOptions, want []longRow) {
	t.Helper()
	for _, by := range []deltacore.Skipping{everything, {}, {Levels: datafile.LateMaterialisation}} {
		scan, err := table.ScanSkipping(t.Context(), o, by)
		check(t, err)
		if got := longRows(t, scan); !slices.Equal(want, got) {
			t.Errorf("%s from row %d by %+v: %s", o.Where, o.FromRow, by, firstLong(want, got))
		}
	}
}

func firstLong(want, got []longRow) string {
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			return fmt.Sprintf("row %d: want %+v, got %+v", i, want[i], got[i])
		}
	}
	return fmt.Sprintf("want %d rows, got %d", len(want), len(got))
}
