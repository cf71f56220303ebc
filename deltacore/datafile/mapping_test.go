package datafile_test

import (
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// mappedFile holds rows as a table with mapped columns does.
func mappedFile(columns *schema.Struct, rows ...string) []byte {
	return deltatest.Parquet{}.File(deltatest.Physical(deltatest.Rows(columns, rows...)))
}

// nestedColumns has a mapped field wherever one can stand.
func nestedColumns() *schema.Struct {
	return deltatest.Mapped(deltatest.Columns("a long", "s struct<x:long,t:struct<y:string,z:long>>", "l array<struct<x:long>>",
		"m map<string,struct<x:long>>", "k map<struct<x:long>,long>", "ll array<array<struct<x:long>>>"))
}

const nestedRow = `{"a": 1, "s": {"x": 2, "t": {"y": "t", "z": 3}}, "l": [{"x": 4}, null], "m": {"k": {"x": 5}}, ` +
	`"k": [{"key": {"x": 6}, "value": 7}], "ll": [[{"x": 8}], []]}`

const nestedJSON = `{"a":1,"k":[{"key":{"x":6},"value":7}],"l":[{"x":4},null],"ll":[[{"x":8}],[]],"m":[{"key":"k","value":{"x":5}}],` +
	`"s":{"t":{"y":"t","z":3},"x":2}}`

// CM2, CM3: at every level of structs; lists and maps are not mapped themselves.
func TestMappedColumnsAreFoundAtEveryLevel(t *testing.T) {
	columns := nestedColumns()
	content := mappedFile(columns, nestedRow, `{}`)
	for _, mapping := range []schema.Mapping{schema.MapByName, schema.MapByID} {
		t.Run(string(mapping), func(t *testing.T) {
			reading{content: content, columns: columns, mapping: mapping}.want(t, nestedJSON,
				`{"a":null,"k":null,"l":null,"ll":null,"m":null,"s":null}`)
		})
	}
}

// CM6: the annotations of a table that does not map mean nothing.
func TestUnmappedTableIgnoresAnnotations(t *testing.T) {
	columns := deltatest.Mapped(deltatest.Columns("a long", "b long"))
	content := file(deltatest.Columns("b long", "a long", "col-1 long"), `{"a": 1, "b": 2, "col-1": 3}`)
	reading{content: content, columns: columns, mapping: schema.MapByDisplayName}.want(t, `{"a":1,"b":2}`)
	reading{content: content, columns: columns}.want(t, `{"a":1,"b":2}`)
}

// CM3: names and order mean nothing, at every level.
func TestColumnsByIDMayHaveSwappedNames(t *testing.T) {
	swapped := `message m {
		optional int64 b = 1;
		optional int64 a = 2;
		optional group s = 3 { optional int64 y = 4; optional int64 x = 5; }
		optional group l (LIST) = 6 { repeated group list { optional group element { optional int64 q = 8; optional int64 p = 7; } } }
	}`
	content := deltatest.Parquet{}.RawFile(swapped, deltatest.RawGroup{
		{Values: []int64{1}, Def: []int16{1}},
		{Values: []int64{2}, Def: []int16{1}},
		{Values: []int64{4}, Def: []int16{2}},
		{Values: []int64{5}, Def: []int16{2}},
		{Values: []int64{8}, Def: []int16{4}, Rep: []int16{0}},
		{Values: []int64{7}, Def: []int16{4}, Rep: []int16{0}},
	})
	columns := deltatest.Mapped(deltatest.Columns("a long", "b long", "s struct<x:long,y:long>", "l array<struct<p:long,q:long>>"))
	columns.Fields[2].Type = &schema.Struct{Fields: []schema.Field{
		deltatest.WithMapping(schema.Field{Name: "x", Type: schema.Long, Nullable: true}, 4, "x"),
		deltatest.WithMapping(schema.Field{Name: "y", Type: schema.Long, Nullable: true}, 5, "y"),
	}}
	reading{content: content, columns: columns, mapping: schema.MapByID}.
		want(t, `{"a":1,"b":2,"l":[{"p":7,"q":8}],"s":{"x":4,"y":5}}`)
}

// CM3: a file of another writer, say of before the mapping, cannot be read by id; one without columns holds nulls.
func TestFileWithoutIDsIsRefusedWhereColumnsAreFoundByID(t *testing.T) {
	columns := deltatest.Mapped(deltatest.Columns("a long", "s struct<x:long>"))
	reading{content: file(deltatest.Columns("a long"), `{"a": 1}`), columns: columns, mapping: schema.MapByID}.
		wantError(t, "the table finds columns by field id, but the file has no field ids")
	reading{content: deltatest.Parquet{}.RawFile(`message m { }`), columns: columns, mapping: schema.MapByID}.want(t)
}

func TestSingleMissingIDOrNameIsNull(t *testing.T) {
	columns := deltatest.Mapped(deltatest.Columns("a long", "b long", "s struct<x:long,y:long>"))
	old := deltatest.Mapped(deltatest.Columns("a long"))
	old.Fields = append(old.Fields, deltatest.WithMapping(schema.Field{
		Name: "s", Nullable: true, Type: &schema.Struct{Fields: columns.Fields[2].Type.(*schema.Struct).Fields[1:]},
	}, 3, "col-3"))
	content := mappedFile(old, `{"a": 1, "s": {"y": 2}}`)
	for _, mapping := range []schema.Mapping{schema.MapByName, schema.MapByID} {
		reading{content: content, columns: columns, mapping: mapping}.want(t, `{"a":1,"b":null,"s":{"x":null,"y":2}}`)
	}
}

// CM8: a column that was dropped does not come back with a new one of its name.
func TestDroppedColumnDoesNotComeBackUnderItsName(t *testing.T) {
	old := deltatest.Mapped(deltatest.Columns("a long", "s struct<x:long,y:long>"))
	content := mappedFile(old, `{"a": 1, "s": {"x": 2, "y": 3}}`)
	s := old.Fields[1]
	kept := s.Type.(*schema.Struct).Fields[1]
	s.Type = &schema.Struct{Fields: []schema.Field{kept, {Name: "x", Type: schema.Long, Nullable: true}}}
	now := deltatest.Mapped(&schema.Struct{Fields: []schema.Field{{Name: "a", Type: schema.String, Nullable: true}, s}})
	for _, mapping := range []schema.Mapping{schema.MapByName, schema.MapByID} {
		reading{content: content, columns: now, mapping: mapping}.want(t, `{"a":null,"s":{"x":null,"y":3}}`)
	}
}

// CM8: mapping that is turned on later calls the columns what they were called before.
func TestMappingTurnedOnLaterKeepsTheNames(t *testing.T) {
	content := file(deltatest.Columns("a long", "s struct<x:long>"), `{"a": 1, "s": {"x": 2}}`)
	columns := deltatest.Columns("renamed long", "s struct<x:long>")
	columns.Fields[0] = deltatest.WithMapping(columns.Fields[0], 1, "a")
	columns.Fields[1] = deltatest.WithMapping(columns.Fields[1], 2, "s")
	inner := columns.Fields[1].Type.(*schema.Struct)
	inner.Fields[0] = deltatest.WithMapping(inner.Fields[0], 3, "x")
	reading{content: content, columns: columns, mapping: schema.MapByName}.want(t, `{"renamed":1,"s":{"x":2}}`)
}

// CM9: only tables that do not map look for names of another case.
func TestMappedNamesAreOfExactlyTheirCase(t *testing.T) {
	columns := deltatest.Mapped(deltatest.Columns("a long"))
	content := file(deltatest.Columns("COL-1 long", "A long"), `{"COL-1": 1, "A": 2}`)
	reading{content: content, columns: columns, mapping: schema.MapByName}.want(t, `{"a":null}`)
	reading{content: content, columns: columns, mapping: schema.MapByDisplayName}.want(t, `{"a":2}`)
}

func TestIDOrNameThatStandsTwiceIsRefused(t *testing.T) {
	columns := deltatest.Mapped(deltatest.Columns("a long"))
	group := deltatest.RawGroup{{Values: []int64{1}}, {Values: []int64{2}}}
	content := deltatest.Parquet{}.RawFile(`message m { required int64 a = 1; required int64 b = 1; }`, group)
	reading{content: content, columns: columns, mapping: schema.MapByID}.
		wantError(t, `column a: several columns of the file could be meant: "a", "b"`)
	content = deltatest.Parquet{}.RawFile(`message m { required int64 col-1; required int64 col-1; }`, group)
	reading{content: content, columns: columns, mapping: schema.MapByName}.
		wantError(t, `column a: several columns of the file could be meant: "col-1", "col-1"`)
}

// CM4: partition values stand under physical names, in both modes.
func TestPartitionValuesOfMappedTablesHavePhysicalNames(t *testing.T) {
	columns := deltatest.Mapped(deltatest.Columns("a long", "p string"))
	value, trap := "v", "wrong"
	for _, mapping := range []schema.Mapping{schema.MapByName, schema.MapByID} {
		reading{
			content: mappedFile(deltatest.Mapped(deltatest.Columns("a long")), `{"a": 1}`), columns: columns, mapping: mapping,
			partition: []string{"p"}, values: map[string]*string{"col-2": &value, "p": &trap},
		}.want(t, `{"a":1,"p":"v"}`)
	}
}

// CM7: members of lists and maps may have ids of their own, which mean nothing.
func TestIDsOfElementsAreTolerated(t *testing.T) {
	content := deltatest.Parquet{}.RawFile(`message m {
		optional group l (LIST) = 1 { repeated group list { optional int64 element = 101; } }
		optional group m (MAP) = 2 { repeated group key_value { required binary key (STRING) = 102; optional int64 value = 103; } }
	}`, deltatest.RawGroup{
		{Values: []int64{1}, Def: []int16{3}, Rep: []int16{0}},
		{Values: []string{"k"}, Def: []int16{2}, Rep: []int16{0}},
		{Values: []int64{2}, Def: []int16{3}, Rep: []int16{0}},
	})
	columns := deltatest.Mapped(deltatest.Columns("l array<long>", "m map<string,long>"))
	reading{content: content, columns: columns, mapping: schema.MapByID}.want(t, `{"l":[1],"m":[{"key":"k","value":2}]}`)
}

// TW5, CM3: old files are narrower inside collections of a table that finds columns by id.
func TestWideningInsideCollectionsByID(t *testing.T) {
	old := deltatest.Mapped(deltatest.Columns("l array<integer>", "m map<short,float>", "s array<struct<x:byte,d:decimal(5,1)>>",
		"deep map<string,array<struct<n:map<integer,date>>>>"))
	now := deltatest.Mapped(deltatest.Columns("l array<long>", "m map<integer,double>", "s array<struct<x:decimal(12,2),d:decimal(9,3)>>",
		"deep map<string,array<struct<n:map<long,timestamp_ntz>>>>"))
	content := mappedFile(old, `{"l": [1, null], "m": [{"key": 2, "value": 3.5}], "s": [{"x": 4, "d": "1.5"}], `+
		`"deep": {"k": [{"n": [{"key": 9, "value": "2024-02-29"}]}]}}`)
	for _, mapping := range []schema.Mapping{schema.MapByName, schema.MapByID} {
		reading{content: content, columns: now, mapping: mapping}.want(t,
			`{"deep":[{"key":"k","value":[{"n":[{"key":9,"value":"2024-02-29T00:00:00"}]}]}],"l":[1,null],`+
				`"m":[{"key":2,"value":3.5}],"s":[{"d":"1.5","x":"4"}]}`)
	}
}
