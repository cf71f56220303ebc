package input

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/benthosdev/benthos/v4/public/service"

	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

func TestRowIDsAreMetadata(t *testing.T) {
	columns := deltatest.Columns("a long")
	table := deltatest.New(columns, deltatest.Options{
		Protocol: deltatest.Features("deletionVectors"),
		Configuration: map[string]string{
			"delta.enableRowTracking":                                  "true",
			"delta.rowTracking.materializedRowIdColumnName":            "_id",
			"delta.rowTracking.materializedRowCommitVersionColumnName": "_version",
		},
	})
	moved := deltatest.Columns("a long", "_id long", "_version long")
	adds := table.WriteFiles(
		deltatest.Rows(columns, `{"a": 0}`, `{"a": 1}`, `{"a": 2}`, `{"a": 3}`),
		deltatest.Rows(moved, `{"a": 4, "_id": 2, "_version": 1}`, `{"a": 5}`))
	for i, base := range []int64{10, 20} {
		version := int64(4)
		adds[i].BaseRowID, adds[i].DefaultRowCommitVersion = &base, &version
	}
	table.DeleteRows(adds[0], 1) // commits the file as well
	table.SetVector(adds[1], nil)
	dir := t.TempDir()
	check(t, table.WriteDir(dir))
	for _, format := range []string{"json", "structured"} {
		var got []string
		out := &sink{write: func(_ context.Context, batch service.MessageBatch) error {
			for _, m := range batch {
				id, _ := m.MetaGetMut("delta_row_id")
				version, _ := m.MetaGetMut("delta_row_commit_version")
				row, _ := m.MetaGetMut("delta_row")
				got = append(got, fmt.Sprintf("%s %v %v %v", bytesOf(t, m), id, version, row))
			}
			return nil
		}}
		stream(t, "uri: "+dir+"\nbatch_rows: 2\ninclude_metadata: [row_id, row]\nformat: "+format, out)
		slices.Sort(got)
		want := []string{`{"a":0} 10 4 0`, `{"a":2} 12 4 2`, `{"a":3} 13 4 3`, `{"a":4} 2 1 0`, `{"a":5} 21 4 1`}
		if !slices.Equal(want, got) {
			t.Errorf("%s: want %q, got %q", format, want, got)
		}
	}
}
