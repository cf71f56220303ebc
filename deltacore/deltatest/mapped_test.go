package deltatest

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

func TestMappedColumnsAreWrittenByPhysicalNameWithIDs(t *testing.T) {
	columns := Mapped(Columns("id long", "p string", "l array<struct<x:long>>", "m map<string,struct<y:long>>"))
	table := New(columns, Options{PartitionColumns: []string{"p"}})
	add := table.Append(Rows(columns, `{"id": 1, "p": "v", "l": [{"x": 1}], "m": {"k": {"y": 2}}}`))[0]
	if v := add.PartitionValues["col-2"]; v == nil || *v != "v" {
		t.Errorf("want the partition value under its physical name, got %v", add.PartitionValues)
	}
	if !strings.Contains(add.Stats, `"col-1":1`) {
		t.Errorf("want statistics by physical name, got %s", add.Stats)
	}
	reader, err := file.NewParquetReader(bytes.NewReader(table.Files()[pathOf(add)]))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for i := range reader.MetaData().Schema.NumColumns() {
		got = append(got, reader.MetaData().Schema.Column(i).Path())
	}
	want := []string{"col-1", "col-3.list.element.col-4", "col-5.key_value.key", "col-5.key_value.value.col-6"}
	if !slices.Equal(want, got) {
		t.Errorf("columns: want %q, got %q", want, got)
	}
	if id := reader.MetaData().Schema.Column(1).SchemaNode().FieldID(); id != 4 {
		t.Errorf("field id: want 4, got %d", id)
	}
}

func TestMappedKeepsWhatIsAnnotated(t *testing.T) {
	columns := Columns("a long", "b struct<c:long>")
	columns.Fields[0] = WithMapping(columns.Fields[0], 7, "old")
	mapped := Mapped(columns)
	if f := mapped.Fields[0]; FieldID(f) != 7 || PhysicalName(f) != "old" {
		t.Errorf("want 7, old, got %d, %s", FieldID(f), PhysicalName(f))
	}
	if id := FieldID(mapped.Fields[1]); id != 8 {
		t.Errorf("want the next id 8, got %d", id)
	}
}

func pathOf(a action.Add) string { return storage.ResolvePath(storage.URI{}, a.Path).Path }
