package deltacore_test

import (
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// S1, section 10: a column of a type that is not read is refused by name, at any depth; the others can be read.
func TestColumnsOfUnknownTypesAreRefusedAndCanBeLeftOut(t *testing.T) {
	for _, test := range []struct {
		typ  schema.Type
		path string
	}{
		{schema.Unknown("geometry(OGC:CRS84)"), "column c"},
		{schema.Unknown("interval year to month"), "column c"},
		{schema.Unknown("timestamp_nanos"), "column c"},
		{&schema.Array{Element: schema.Unknown("interval day to second"), ContainsNull: true}, "column c"},
		{&schema.Struct{Fields: []schema.Field{{Name: "g", Type: schema.Unknown("geography"), Nullable: true}}}, "column c.g"},
	} {
		columns := &schema.Struct{Fields: []schema.Field{{Name: "c", Type: test.typ, Nullable: true}, {Name: "id", Type: schema.Long, Nullable: true}}}
		table := deltatest.New(columns, deltatest.Options{})
		table.Append(deltatest.Rows(idColumn, `{"id": 1}`))
		reading{table: table}.wantUntouched(t, deltaerr.Unsupported, "table file:///lake/t, version 0, "+test.path, "is not supported", "leave the column out")
		reading{table: table, options: deltacore.ScanOptions{Columns: []string{"id"}}}.want(t, `{"id":1}`)
	}
}

// E1, E4: void in lists and maps keeps their lengths.
func TestVoidInsideCollections(t *testing.T) {
	columns := deltatest.Columns("l array<void>", "m map<string,void>", "s struct<v:void>")
	table := deltatest.New(columns, deltatest.Options{})
	held := deltatest.Columns("l array<long>", "m map<string,long>", "s struct<v:long>")
	table.Append(deltatest.Rows(held, `{"l": [null, null], "m": {"k": null}, "s": {}}`, `{"l": []}`))
	reading{table: table}.want(t, `{"l":[null,null],"m":{"k":null},"s":{"v":null}}`, `{"l":[],"m":null,"s":null}`)
}

// P113: nothing to read is no error.
func TestEmptyTables(t *testing.T) {
	empty := deltatest.New(idColumn, deltatest.Options{})
	empty.Commit()
	reading{table: empty}.want(t)
	table := deltatest.New(idColumn, deltatest.Options{})
	table.Append(deltatest.Rows(idColumn), deltatest.Rows(idColumn, `{"id": 1}`), deltatest.Rows(idColumn))
	reading{table: table}.want(t, `{"id":1}`)
}

// D9, A7: the file says how many rows it has, whatever the statistics do.
func TestStatisticsDoNotDecideWhatIsRead(t *testing.T) {
	for _, stats := range []string{"", "{", `{"numRecords":99}`, `{"numRecords":"x"}`, `{"numRecords":1,"minValues":{"id":50},"maxValues":{"id":60}}`} {
		table := vectorTable()
		add := table.WriteFiles(deltatest.Rows(idColumn, numbers(0, 3)...))[0]
		vector := deltatest.InlineVector(deltatest.Bitmap{}, 1)
		add.Stats, add.DeletionVector = stats, &vector
		table.Commit(deltatest.Add(add))
		reading{table: table}.want(t, `{"id":0}`, `{"id":2}`)
	}
}

// Q8: a size in the log that is wrong costs a request, not the table.
func TestWrongSizesDoNotMatter(t *testing.T) {
	for _, size := range []int64{0, 1, 1 << 40} {
		table := deltatest.New(idColumn, deltatest.Options{})
		add := table.WriteFiles(deltatest.Rows(idColumn, numbers(0, 2)...))[0]
		add.Size = size
		table.Commit(deltatest.Add(add))
		reading{table: table}.want(t, numbers(0, 2)...)
	}
}

// E2, section 12: what a file holds of a partition column is not looked at.
func TestPartitionColumnInsideTheFile(t *testing.T) {
	columns := deltatest.Columns("p string", "id long")
	table := deltatest.New(columns, deltatest.Options{PartitionColumns: []string{"p"}})
	add := table.WriteFiles(deltatest.Rows(columns, `{"id": 1, "p": "log"}`))[0]
	content := deltatest.Parquet{}.File(deltatest.Rows(deltatest.Columns("id long", "p long", "_change_type string"),
		`{"id": 1, "p": 7, "_change_type": "insert"}`))
	table.Put("p=other/f.parquet", content)
	add.Path, add.Size = "p=other/f.parquet", int64(len(content))
	table.Commit(deltatest.Add(add))
	reading{table: table}.want(t, `{"p":"log","id":1}`)
}
