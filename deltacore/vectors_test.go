package deltacore_test

import (
	"fmt"
	"slices"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

func vectorTable() *deltatest.Table {
	return deltatest.New(idColumn, deltatest.Options{Protocol: deltatest.Features("deletionVectors")})
}

// R3, D8: each version has the vector that was current.
func TestEachVersionHasItsVector(t *testing.T) {
	table := vectorTable()
	add := table.Append(deltatest.Rows(idColumn, numbers(0, 5)...))[0]
	add = table.DeleteRows(add, 1)
	add = table.DeleteRows(add, 1, 3)
	table.SetVector(add, nil)
	all := numbers(0, 5)
	for version, want := range [][]string{all, {all[0], all[2], all[3], all[4]}, {all[0], all[2], all[4]}, all} {
		v := int64(version)
		reading{table: table, open: deltacore.Options{Version: &v}}.want(t, want...)
	}
	table.Checkpoint()
	reading{table: table}.want(t, all...)
}

// D10: the property says what writers do, not whether there are vectors.
func TestVectorsCountWhateverThePropertySays(t *testing.T) {
	table := deltatest.New(idColumn, deltatest.Options{
		Protocol: deltatest.Features("deletionVectors"), Configuration: map[string]string{"delta.enableDeletionVectors": "false"},
	})
	table.DeleteRows(table.Append(deltatest.Rows(idColumn, numbers(0, 2)...))[0], 0)
	reading{table: table}.want(t, `{"id":1}`)
}

// D10.
func TestVectorInATableWithoutTheFeatureIsRefused(t *testing.T) {
	for _, p := range []action.Protocol{{MinReaderVersion: 1, MinWriterVersion: 2}, deltatest.Features("columnMapping")} {
		table := deltatest.New(idColumn, deltatest.Options{Protocol: p})
		add := table.Append(deltatest.Rows(idColumn, numbers(0, 3)...))[0]
		table.DeleteRows(add, 0)
		reading{table: table}.wantUntouched(t, deltaerr.Corrupt,
			"table file:///lake/t, version 1, file "+add.Path, "the protocol lacks the feature deletionVectors")
	}
}

func TestTableWithAVectorOverEveryRow(t *testing.T) {
	table := vectorTable()
	for i := range 3 {
		add := table.Append(deltatest.Rows(idColumn, numbers(i*4, 4)...))[0]
		table.DeleteRows(add, 0, 1, 2, 3)
	}
	r := reading{table: table}
	r.want(t)
	scan, err := r.scan(t)
	if err != nil {
		t.Fatal(err)
	}
	files := 0
	for batch, err := range scan.Batches(t.Context()) {
		if err != nil {
			t.Fatal(err)
		}
		if batch.Record.NumRows() != 0 || !batch.Last {
			t.Errorf("want one batch of no rows a file, got %d rows, last %t", batch.Record.NumRows(), batch.Last)
		}
		batch.Record.Release()
		files++
	}
	if files != 3 {
		t.Errorf("want 3 files finished, got %d", files)
	}
}

// D5, D11.
func TestVectorWithAPositionOfTwoBillionIsOfAnotherFile(t *testing.T) {
	table := vectorTable()
	add := table.DeleteRows(table.Append(deltatest.Rows(idColumn, numbers(0, 3)...))[0], 1, 2_147_483_657)
	reading{table: table}.wantError(t, deltaerr.Corrupt, "version 1, file "+add.Path,
		"invalid row index: the deletion vector deletes row 2147483657 of a file of 3 rows")
}

// D4: a vector is found by its offset, however many there are in its file.
func TestThousandVectorsInOneFile(t *testing.T) {
	const files, rows = 1000, 5
	table := vectorTable()
	content := deltatest.Parquet{}.File(deltatest.Rows(idColumn, numbers(0, rows)...))
	vectors := deltatest.NewVectorFile("vectors of today", "61d16c75-6994-46b7-a15b-8b538852e50e")
	var actions []deltatest.Action
	var want []string
	for i := range files {
		path := fmt.Sprintf("part-%04d.parquet", i)
		table.Put(path, content)
		v := vectors.Add(deltatest.Bitmap{}, int64(i%rows), int64((i+1)%rows))
		actions = append(actions, deltatest.Add(action.Add{Path: path, Size: int64(len(content)), DataChange: true, DeletionVector: &v}))
		want = append(want, slices.DeleteFunc(numbers(0, rows), func(row string) bool {
			return row == fmt.Sprintf(`{"id":%d}`, i%rows) || row == fmt.Sprintf(`{"id":%d}`, (i+1)%rows)
		})...)
	}
	table.Put(vectors.Path, vectors.Content)
	table.Commit(actions...)
	reading{table: table}.want(t, want...)
}

// A5, P57: with two vectors at once its rows would be read twice.
func TestFileThatIsLiveWithTwoVectorsIsRefused(t *testing.T) {
	table := vectorTable()
	add := table.Append(deltatest.Rows(idColumn, numbers(0, 3)...))[0]
	other := add
	vector := deltatest.InlineVector(deltatest.Bitmap{}, 1)
	other.DeletionVector = &vector
	other.ModificationTime++
	table.Commit(deltatest.Add(other)) // without a remove of the first
	reading{table: table}.wantUntouched(t, deltaerr.Corrupt, add.Path)
	table.Checkpoint()
	reading{table: table}.wantUntouched(t, deltaerr.Corrupt, add.Path)
}

func TestScanFromTheMiddleOfAFileUnderAVector(t *testing.T) {
	table := vectorTable()
	add := table.Append(deltatest.Rows(idColumn, numbers(0, 10)...))[0]
	table.DeleteRows(add, 3, 4, 5)
	r := reading{table: table}
	scan, err := r.scan(t)
	if err != nil {
		t.Fatal(err)
	}
	for task := range scan.Tasks() {
		for from := range int64(11) {
			want := slices.DeleteFunc(numbers(int(from), int(10-from)), func(row string) bool {
				return row == `{"id":3}` || row == `{"id":4}` || row == `{"id":5}`
			})
			reading{table: table, options: deltacore.ScanOptions{From: &task.Key, FromRow: from}}.want(t, want...)
		}
	}
}

// P68, P70: partition columns and the mere number of rows know of deleted rows too.
func TestVectorInAPartitionedTable(t *testing.T) {
	columns := deltatest.Columns("id long", "p long")
	table := deltatest.New(columns, deltatest.Options{Protocol: deltatest.Features("deletionVectors"), PartitionColumns: []string{"p"}})
	table.DeleteRows(table.Append(deltatest.Rows(columns, `{"id": 1, "p": 1}`, `{"id": 2, "p": 1}`, `{"id": 3, "p": 1}`))[0], 0)
	reading{table: table}.want(t, `{"id":2,"p":1}`, `{"id":3,"p":1}`)
	reading{table: table, options: deltacore.ScanOptions{Columns: []string{"p"}}}.want(t, `{"p":1}`, `{"p":1}`)
	reading{table: table, options: deltacore.ScanOptions{RowsOnly: true}}.want(t, `{}`, `{}`)
}
