package datafile_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/datafile"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// trackedReading is a read of rows that row tracking knows from id 100 and version 3 on.
func trackedReading(content []byte) reading {
	base, version := int64(100), int64(3)
	return reading{
		content: content, columns: deltatest.Columns("a long"), baseRowID: &base, commitVersion: &version,
		tracking: &datafile.RowTracking{IDColumn: "_id-1", VersionColumn: "_version-1"},
	}
}

// numbers reads "row: id version" of each row.
func (r reading) numbers(t *testing.T) []string {
	t.Helper()
	var got []string
	for batch, err := range r.reader(t).Read(t.Context(), r.task()) {
		if err != nil {
			t.Fatal(err)
		}
		n := int(batch.Record.NumRows())
		if len(batch.RowIDs) != n || len(batch.RowCommitVersions) != n {
			t.Fatalf("%d rows have %d ids and %d versions", n, len(batch.RowIDs), len(batch.RowCommitVersions))
		}
		for i, line := range jsonRows(batch.Record) {
			got = append(got, fmt.Sprintf("%s %d %d", line, batch.RowIDs[i], batch.RowCommitVersions[i]))
		}
		batch.Record.Release()
	}
	return got
}

func (r reading) wantNumbers(t *testing.T, want ...string) {
	t.Helper()
	if got := r.numbers(t); !slices.Equal(want, got) {
		t.Errorf("want %q, got %q", want, got)
	}
}

func TestRowsThatWereNotMovedHaveIDsOfTheirPlace(t *testing.T) {
	content := deltatest.Parquet{RowGroupRows: 2}.File(deltatest.Rows(deltatest.Columns("a long"), `{"a": 1}`, `{"a": 2}`, `{"a": 3}`))
	r := trackedReading(content)
	r.wantNumbers(t, `{"a":1} 100 3`, `{"a":2} 101 3`, `{"a":3} 102 3`)
	r.tracking = &datafile.RowTracking{} // the properties name no columns
	r.wantNumbers(t, `{"a":1} 100 3`, `{"a":2} 101 3`, `{"a":3} 102 3`)
	r.from = 1
	r.wantNumbers(t, `{"a":2} 101 3`, `{"a":3} 102 3`)
	r.columns = &schema.Struct{}
	r.wantNumbers(t, ` 101 3`, ` 102 3`)
}

// Section 20: what the columns hold wins, row by row. CM10: their names are literal.
func TestMovedRowsKeepTheirIDs(t *testing.T) {
	columns := deltatest.Columns("_id-1 long", "_version-1 long", "a long")
	content := deltatest.Parquet{RowGroupRows: 3}.File(deltatest.Rows(columns,
		`{"a": 1, "_id-1": 7, "_version-1": 1}`, `{"a": 2}`, `{"a": 3, "_id-1": 8}`, `{"a": 4, "_version-1": 2}`, `{"a": 5, "_id-1": 9, "_version-1": 2}`))
	want := []string{`{"a":1} 7 1`, `{"a":2} 101 3`, `{"a":3} 8 3`, `{"a":4} 103 2`, `{"a":5} 9 2`}
	r := trackedReading(content)
	for _, batchRows := range []int64{0, 1, 2} {
		r.batchRows = batchRows
		r.wantNumbers(t, want...)
		for from := range int64(5) {
			skipping := r
			skipping.from = from
			skipping.wantNumbers(t, want[from:]...)
		}
		deleting := r
		vector := deltatest.InlineVector(deltatest.Bitmap{}, 0, 3)
		deleting.vector = &vector
		deleting.wantNumbers(t, want[1], want[2], want[4])
	}
	r.columns = deltatest.Mapped(deltatest.Columns("a long"))
	r.mapping = schema.MapByName
	r.wantNumbers(t, `{"a":null} 7 1`, `{"a":null} 101 3`, `{"a":null} 8 3`, `{"a":null} 103 2`, `{"a":null} 9 2`)
}

func TestOneOfTheTwoColumnsMayBeMissing(t *testing.T) {
	r := trackedReading(file(deltatest.Columns("a long", "_version-1 long"), `{"a": 1, "_version-1": 2}`))
	r.wantNumbers(t, `{"a":1} 100 2`)
	r = trackedReading(file(deltatest.Columns("a long", "_id-1 integer"), `{"a": 1, "_id-1": 5}`))
	r.wantNumbers(t, `{"a":1} 5 3`)
	r = trackedReading(file(deltatest.Columns("a long", "_ID-1 long"), `{"a": 1, "_ID-1": 5}`))
	r.wantNumbers(t, `{"a":1} 100 3`)
	trackedReading(file(deltatest.Columns("a long", "_id-1 string"), `{"a": 1}`)).
		wantError(t, "column _id-1: the file has the type BYTE_ARRAY STRING, the table long")
}

func TestFilesWithoutNumbersAreRefusedWhereIDsAreWanted(t *testing.T) {
	content := file(deltatest.Columns("a long"), `{"a": 1}`)
	r := trackedReading(content)
	r.baseRowID = nil
	r.wantError(t, "the file has no baseRowId or no defaultRowCommitVersion")
	r = trackedReading(content)
	r.commitVersion = nil
	r.wantError(t, "the file has no baseRowId or no defaultRowCommitVersion")
	for _, base := range []int64{-1, math.MaxInt64} {
		r = trackedReading(content)
		r.baseRowID = &base
		r.wantError(t, fmt.Sprintf("a file of 1 rows cannot have the baseRowId %d", base))
	}
}
