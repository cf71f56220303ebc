package deltacore_test

import (
	"maps"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// mappedTable is a table whose columns are found in a way.
func mappedTable(mode string, columns *schema.Struct, partition ...string) *deltatest.Table {
	return deltatest.New(columns, deltatest.Options{
		Protocol: deltatest.Features("columnMapping"), PartitionColumns: partition,
		Configuration: map[string]string{"delta.columnMapping.mode": mode},
	})
}

// setColumns commits another schema.
func setColumns(table *deltatest.Table, columns *schema.Struct) {
	m := table.Metadata()
	m.SchemaString = deltatest.SchemaString(columns)
	table.Commit(deltatest.Metadata(m))
}

// CM2, CM3, CM4, CM8, T8: renamed, dropped and added columns over the history of a table.
func TestHistoryOfAMappedTable(t *testing.T) {
	for _, mode := range []string{"name", "id"} {
		t.Run(mode, func(t *testing.T) {
			first := deltatest.Mapped(deltatest.Columns("id long", "p string", "s struct<x:long,y:long>"))
			table := mappedTable(mode, first, "p")
			table.Append(deltatest.Rows(first, `{"id": 1, "p": "a", "s": {"x": 2, "y": 3}}`))

			s := first.Fields[2]
			s.Type = &schema.Struct{Fields: []schema.Field{ // x was dropped and came back as another column
				s.Type.(*schema.Struct).Fields[1], {Name: "x", Type: schema.String, Nullable: true},
			}}
			key, part := first.Fields[0], first.Fields[1]
			key.Name, part.Name = "key", "part"
			second := deltatest.Mapped(&schema.Struct{Fields: []schema.Field{part, s, key}})
			m := table.Metadata()
			m.SchemaString, m.PartitionColumns = deltatest.SchemaString(second), []string{"part"}
			table.Commit(deltatest.Metadata(m))
			table.Append(deltatest.Rows(second, `{"key": 4, "part": "b", "s": {"x": "new", "y": 5}}`))

			v0 := int64(0)
			reading{table: table, open: deltacore.Options{Version: &v0}}.want(t, `{"id":1,"p":"a","s":{"x":2,"y":3}}`)
			want := []string{`{"part":"a","s":{"y":3,"x":null},"key":1}`, `{"part":"b","s":{"y":5,"x":"new"},"key":4}`}
			reading{table: table}.want(t, want...)
			table.Checkpoint()
			reading{table: table}.want(t, want...)
			reading{table: table, options: deltacore.ScanOptions{Columns: []string{"part"}}}.want(t, `{"part":"a"}`, `{"part":"b"}`)
		})
	}
}

// CM1.
func TestUnknownMappingModeIsRefused(t *testing.T) {
	columns := deltatest.Mapped(idColumn)
	table := mappedTable("index", columns)
	table.Append(deltatest.Rows(columns, `{"id": 1}`))
	reading{table: table}.wantUntouched(t, deltaerr.Corrupt, `delta.columnMapping.mode is "index"`)
}

// CM1, F3: the mode counts on reader version 2, and on 3 with the feature only.
func TestModeCountsOnlyWhereTheProtocolSaysSo(t *testing.T) {
	columns := deltatest.Mapped(idColumn)
	for _, test := range []struct {
		protocol action.Protocol
		maps     bool
	}{
		{action.Protocol{MinReaderVersion: 1, MinWriterVersion: 2}, false},
		{action.Protocol{MinReaderVersion: 2, MinWriterVersion: 5}, true},
		{deltatest.Features(), false},
		{deltatest.Features("columnMapping"), true},
	} {
		if test.protocol.ReaderFeatures == nil && test.protocol.MinReaderVersion == 3 {
			test.protocol.ReaderFeatures = []string{}
		}
		table := deltatest.New(columns, deltatest.Options{
			Protocol: test.protocol, Configuration: map[string]string{"delta.columnMapping.mode": "name"},
		})
		content := deltatest.Parquet{}.File(deltatest.Rows(deltatest.Columns("id long", "col-1 long"), `{"id": 1, "col-1": 2}`))
		table.Put("f.parquet", content)
		table.Commit(deltatest.Add(action.Add{Path: "f.parquet", Size: int64(len(content)), DataChange: true}))
		want := `{"id":1}`
		if test.maps {
			want = `{"id":2}`
		}
		reading{table: table}.want(t, want)
	}
}

// CM5: a field without annotations, and annotations that stand twice, at any depth.
func TestIncompleteMappingIsRefused(t *testing.T) {
	good := deltatest.Mapped(deltatest.Columns("a long", "l array<struct<x:long,y:long>>"))
	inner := func(s *schema.Struct) *schema.Struct {
		return s.Fields[1].Type.(*schema.Array).Element.(*schema.Struct)
	}
	without := func(f schema.Field, key string) schema.Field {
		f.Metadata = maps.Clone(f.Metadata)
		delete(f.Metadata, key)
		return f
	}
	for name, test := range map[string]struct {
		damage func(s *schema.Struct)
		parts  []string
	}{
		"no name":      {func(s *schema.Struct) { s.Fields[0] = without(s.Fields[0], "delta.columnMapping.physicalName") }, []string{"column a", "no delta.columnMapping.physicalName"}},
		"no id":        {func(s *schema.Struct) { inner(s).Fields[0] = without(inner(s).Fields[0], "delta.columnMapping.id") }, []string{"column l.element.x", "no delta.columnMapping.id"}},
		"id twice":     {func(s *schema.Struct) { inner(s).Fields[1] = deltatest.WithMapping(inner(s).Fields[1], 1, "y") }, []string{"column l.element.y", "1 is that of column a too"}},
		"name twice":   {func(s *schema.Struct) { inner(s).Fields[1] = deltatest.WithMapping(inner(s).Fields[1], 9, "col-3") }, []string{"column l.element.y", `"col-3" is that of column l.element.x too`}},
		"name of text": {func(s *schema.Struct) { s.Fields[0].Metadata["delta.columnMapping.physicalName"] = jsontext.Value("7") }, []string{"column a"}},
	} {
		t.Run(name, func(t *testing.T) {
			columns := deltatest.Mapped(deltatest.Columns("a long", "l array<struct<x:long,y:long>>"))
			test.damage(columns)
			for _, mode := range []string{"name", "id"} {
				table := mappedTable(mode, good)
				table.Append(deltatest.Rows(good, `{"a": 1}`))
				setColumns(table, columns)
				reading{table: table}.wantUntouched(t, deltaerr.Corrupt, append(test.parts, "table file:///lake/t, version 1")...)
			}
		})
	}
}

// CM5: the leaf names of two physical paths may be the same.
func TestLeafNamesMayRepeat(t *testing.T) {
	columns := deltatest.Columns("a struct<x:long>", "b struct<x:long>")
	id := int32(0)
	name := func(f schema.Field, physical string) schema.Field {
		id++
		return deltatest.WithMapping(f, id, physical)
	}
	for i, f := range columns.Fields {
		inner := f.Type.(*schema.Struct)
		inner.Fields[0] = name(inner.Fields[0], "x")
		columns.Fields[i] = name(f, "physical-"+f.Name)
	}
	table := mappedTable("name", columns)
	table.Append(deltatest.Rows(columns, `{"a": {"x": 1}, "b": {"x": 2}}`))
	reading{table: table}.want(t, `{"a":{"x":1},"b":{"x":2}}`)
}

// CM3.
func TestMappingByIDOverAFileWithoutIDsIsRefused(t *testing.T) {
	columns := deltatest.Mapped(idColumn)
	table := mappedTable("id", columns)
	content := deltatest.Parquet{}.File(deltatest.Rows(deltatest.Columns("col-1 long"), `{"col-1": 2}`))
	table.Put("f.parquet", content)
	table.Commit(deltatest.Add(action.Add{Path: "f.parquet", Size: int64(len(content)), DataChange: true}))
	reading{table: table}.wantError(t, deltaerr.Corrupt, "version 0, file f.parquet", "the file has no field ids")
}
