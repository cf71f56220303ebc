package deltacore_test

import (
	"fmt"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// widened returns the columns with a change of the type of the first one.
func widened(columns *schema.Struct, changes string) *schema.Struct {
	columns.Fields[0].Metadata = map[string]jsontext.Value{"delta.typeChanges": jsontext.Value("[" + changes + "]")}
	return columns
}

func change(from, to, path string) string {
	if path != "" {
		path = fmt.Sprintf(`,"fieldPath":%q`, path)
	}
	return fmt.Sprintf(`{"fromType":%q,"toType":%q%s}`, from, to, path)
}

func wideningTable(columns *schema.Struct, partition ...string) *deltatest.Table {
	return deltatest.New(columns, deltatest.Options{Protocol: deltatest.Features("typeWidening", "timestampNtz"), PartitionColumns: partition})
}

// E1, E3, TW2: files of every time of a table's life are read as what the table is now.
func TestFilesOfEveryTimeAreReadAsTheTableIsNow(t *testing.T) {
	old := deltatest.Columns("c integer", "m map<short,float>", "d date")
	now := widened(deltatest.Columns("c long", "new string", "d timestamp_ntz", "m map<integer,double>"), change("integer", "long", ""))
	table := wideningTable(old)
	table.Append(deltatest.Rows(old, `{"c": 1, "m": [{"key": 2, "value": 3.4}], "d": "2024-02-29"}`))
	setColumns(table, now)
	table.Append(deltatest.Rows(now, `{"c": 5000000000, "new": "x", "m": [{"key": 70000, "value": 3.4}]}`))
	reading{table: table}.want(t,
		`{"c":1,"new":null,"d":"2024-02-29T00:00:00.000000","m":[{"key":2,"value":3.4000000953674316}]}`,
		`{"c":5000000000,"new":"x","d":null,"m":[{"key":70000,"value":3.4}]}`)
	v0 := int64(0)
	reading{table: table, open: deltacore.Options{Version: &v0}}.
		want(t, `{"c":1,"m":[{"key":2,"value":3.4}],"d":"2024-02-29"}`)
}

// TW4: partition values keep the text that was written.
func TestPartitionValuesOfBeforeAWideningAreReadAsTheTypeIsNow(t *testing.T) {
	old := deltatest.Columns("d date", "n byte", "id long")
	now := deltatest.Columns("d timestamp_ntz", "n decimal(12,2)", "id long")
	table := wideningTable(old, "d", "n")
	table.Append(deltatest.Rows(old, `{"id": 1, "d": "2024-02-29", "n": -7}`))
	setColumns(table, now)
	table.Append(deltatest.Rows(now, `{"id": 2, "d": "2024-03-01 10:00:00.5", "n": "70000.25"}`))
	reading{table: table}.want(t,
		`{"d":"2024-02-29T00:00:00.000000","n":"-7.00","id":1}`, `{"d":"2024-03-01T10:00:00.500000","n":"70000.25","id":2}`)
}

// TW1: whether a change can be read is judged by the schema, before any file is opened.
func TestUnsupportedTypeChangesAreRefused(t *testing.T) {
	for _, test := range []struct{ typ, change, text string }{
		{"string", change("integer", "string", ""), "column c: unsupported type change from integer to string"},
		{"integer", change("long", "integer", ""), "column c: unsupported type change from long to integer"},
		{"array<string>", change("long", "string", "element"), "column c.element: unsupported type change from long to string"},
		{"map<string,map<long,date>>", change("timestamp", "date", "value.value"), "column c.value.value: unsupported type change"},
		{"decimal(10,4)", change("decimal(10,2)", "decimal(10,4)", ""), "unsupported type change from decimal(10,2) to decimal(10,4)"},
	} {
		columns := widened(deltatest.Columns("c "+test.typ, "id long"), test.change)
		table := wideningTable(columns)
		table.Append(deltatest.Rows(deltatest.Columns("id long"), `{"id": 1}`))
		reading{table: table}.wantUntouched(t, deltaerr.Unsupported, test.text, "version 0")
		reading{table: table, options: deltacore.ScanOptions{Columns: []string{"id"}}}.want(t, `{"id":1}`)
	}
}

func TestHarmlessTypeChangesAreAccepted(t *testing.T) {
	for typ, changes := range map[string]string{
		"string":         change("varchar(10)", "string", "") + "," + change("char(3)", "varchar(10)", ""),
		"long":           change("byte", "short", "") + "," + change("short", "long", ""),
		"decimal(20,4)":  change("decimal(10,2)", "decimal(20,4)", ""),
		"array<double>":  change("float", "double", "element"),
		"map<long,long>": change("integer", "long", "key") + "," + change("integer", "long", "value"),
	} {
		columns := widened(deltatest.Columns("c "+typ), changes)
		table := wideningTable(columns)
		table.Append(deltatest.Rows(columns, `{}`))
		reading{table: table}.want(t, `{"c":null}`)
	}
}

// TW3: what is in neither table is refused by what the file has, whatever the metadata say.
func TestFileOfAnotherTypeIsRefused(t *testing.T) {
	old := deltatest.Columns("c string")
	table := wideningTable(old)
	add := table.Append(deltatest.Rows(old, `{"c": "1"}`))[0]
	setColumns(table, deltatest.Columns("c integer"))
	reading{table: table}.wantError(t, deltaerr.Corrupt,
		"table file:///lake/t, version 1, file "+add.Path+", column c", "the file has the type BYTE_ARRAY STRING, the table integer")
}

// E4: a void column may become anything.
func TestVoidBecomesAnyType(t *testing.T) {
	table := deltatest.New(deltatest.Columns("id long", "v void", "s struct<v:void,x:long>"), deltatest.Options{})
	held := deltatest.Columns("id long", "s struct<x:long>")
	table.Append(deltatest.Rows(held, `{"id": 1, "s": {"x": 2}}`))
	reading{table: table}.want(t, `{"id":1,"v":null,"s":{"v":null,"x":2}}`)
	now := deltatest.Columns("id long", "v map<string,date>", "s struct<v:array<long>,x:long>")
	setColumns(table, now)
	table.Append(deltatest.Rows(now, `{"id": 2, "v": {"k": "2024-01-01"}, "s": {"v": [1]}}`))
	reading{table: table}.want(t, `{"id":1,"v":null,"s":{"v":null,"x":2}}`, `{"id":2,"v":{"k":"2024-01-01"},"s":{"v":[1],"x":null}}`)
}

// E5: each file has partition values of the columns that were the partition columns then.
func TestPartitionColumnsThatChanged(t *testing.T) {
	columns := deltatest.Columns("id long", "a string", "b string")
	table := deltatest.New(columns, deltatest.Options{PartitionColumns: []string{"a"}})
	old := table.Append(deltatest.Rows(columns, `{"id": 1, "a": "x", "b": "y"}`))
	m := table.Metadata()
	m.PartitionColumns = []string{"b"}
	removes := []deltatest.Action{deltatest.Metadata(m), deltatest.Remove(old[0])}
	table.Commit(removes...)
	table.Append(deltatest.Rows(columns, `{"id": 2, "a": "x", "b": "z"}`))
	v0 := int64(0)
	reading{table: table, open: deltacore.Options{Version: &v0}}.want(t, `{"id":1,"a":"x","b":"y"}`)
	reading{table: table}.want(t, `{"id":2,"a":"x","b":"z"}`)
}
