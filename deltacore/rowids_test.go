package deltacore_test

import (
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

// trackingTable has a file of three rows, known from id 10 on since version 4, and one whose rows were moved into it.
func trackingTable(properties map[string]string) *deltatest.Table {
	table := deltatest.New(idColumn, deltatest.Options{
		Configuration: properties,
		Protocol: action.Protocol{
			MinReaderVersion: 3, MinWriterVersion: 7,
			ReaderFeatures: []string{"deletionVectors"}, WriterFeatures: []string{"rowTracking", "domainMetadata", "deletionVectors"},
		},
	})
	adds := table.WriteFiles(
		deltatest.Rows(idColumn, numbers(0, 3)...),
		deltatest.Rows(deltatest.Columns("id long", "_moved-id long", "_moved-version long"),
			`{"id": 3, "_moved-id": 1, "_moved-version": 2}`, `{"id": 4}`))
	for i, base := range []int64{10, 20} {
		version := int64(4)
		adds[i].BaseRowID, adds[i].DefaultRowCommitVersion = &base, &version
	}
	table.Commit(deltatest.Add(adds[0]), deltatest.Add(adds[1]))
	return table
}

var trackingOn = map[string]string{
	"delta.enableRowTracking":                                  "true",
	"delta.rowTracking.materializedRowIdColumnName":            "_moved-id",
	"delta.rowTracking.materializedRowCommitVersionColumnName": "_moved-version",
}

// Section 20.
func TestRowIDs(t *testing.T) {
	table := trackingTable(trackingOn)
	want := []string{
		`{"id":3,"_row_id":1,"_row_commit_version":2}`, `{"id":4,"_row_id":21,"_row_commit_version":4}`,
		`{"id":0,"_row_id":10,"_row_commit_version":4}`, `{"id":1,"_row_id":11,"_row_commit_version":4}`,
		`{"id":2,"_row_id":12,"_row_commit_version":4}`,
	}
	reading{table: table, options: deltacore.ScanOptions{RowIDs: true}}.want(t, want...)
	limit := int64(4)
	reading{table: table, options: deltacore.ScanOptions{RowIDs: true, Limit: &limit}}.want(t, want[:4]...)
	table.Checkpoint()
	reading{table: table, options: deltacore.ScanOptions{RowIDs: true, BatchRows: 2, TargetPartitions: 3}}.want(t, want...)
	reading{table: table}.want(t, `{"id":3}`, `{"id":4}`, `{"id":0}`, `{"id":1}`, `{"id":2}`)
}

func TestRowIDsOfATableWithoutRowTrackingAreRefused(t *testing.T) {
	for _, properties := range []map[string]string{nil, {"delta.enableRowTracking": "false"}} {
		r := reading{table: trackingTable(properties), options: deltacore.ScanOptions{RowIDs: true}}
		r.wantUntouched(t, deltaerr.Config, "table file:///lake/t, version 0", "row tracking", "delta.enableRowTracking")
	}
}

func TestFileWithoutBaseRowIDIsRefusedWhereIDsAreWanted(t *testing.T) {
	one := int64(1)
	for missing, change := range map[string]func(a *action.Add){
		"baseRowId":               func(a *action.Add) { a.DefaultRowCommitVersion = &one },
		"defaultRowCommitVersion": func(a *action.Add) { a.BaseRowID = &one },
	} {
		table := trackingTable(trackingOn)
		add := table.WriteFiles(deltatest.Rows(idColumn, numbers(0, 1)...))[0]
		change(&add)
		table.Commit(deltatest.Add(add))
		reading{table: table, options: deltacore.ScanOptions{RowIDs: true}}.
			wantUntouched(t, deltaerr.Corrupt, "version 1, file "+add.Path, "the file has no "+missing)
		if rows, err := (&reading{table: table}).rows(t); err != nil || len(rows) != 6 {
			t.Errorf("without ids: want 6 rows, got %d, %v", len(rows), err)
		}
	}
}
