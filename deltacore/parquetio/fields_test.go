package parquetio_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
)

const allForms = `message m {
	required boolean b;
	optional int32 i = 7;
	optional int32 narrow (INT(8,true));
	optional int32 u (INT(32,false));
	optional int32 day (DATE);
	optional int64 l;
	optional int64 at (TIMESTAMP(NANOS,false));
	optional int64 old (TIMESTAMP_MILLIS);
	optional int96 legacy;
	optional float f;
	optional double d;
	optional binary raw;
	optional binary text (STRING);
	optional fixed_len_byte_array(7) fixed;
	optional fixed_len_byte_array(16) id (UUID);
	optional fixed_len_byte_array(9) dec (DECIMAL(20,3));
	optional int64 money (DECIMAL(10,2));
	optional int32 nothing (UNKNOWN);
	required group s { optional group inner = 3 { optional int64 x; } }
	optional group list (LIST) { repeated group bag { optional int64 array; } }
	repeated group plain { required int64 x; }
	optional group map (MAP) { repeated group map { required binary key (STRING); optional int64 value; } }
}`

func TestFieldsShowTheSchema(t *testing.T) {
	f := open(t, deltatest.Parquet{}.RawFile(allForms), parquetio.Options{})
	want := `b -1 bool BOOLEAN "" leaf 0
i 7 int32? INT32 "" leaf 1
narrow -1 int32? INT32 "INT(8,true)" leaf 2
u -1 uint32? INT32 "INT(32,false)" leaf 3
day -1 date32? INT32 "DATE" leaf 4
l -1 int64? INT64 "" leaf 5
at -1 timestamp[ns]? INT64 "TIMESTAMP(NANOS,false)" leaf 6
old -1 timestamp[ms, tz=UTC]? INT64 "TIMESTAMP(MILLIS,true)" leaf 7
legacy -1 fixed_size_binary[12]? INT96 "" leaf 8
f -1 float32? FLOAT "" leaf 9
d -1 float64? DOUBLE "" leaf 10
raw -1 binary? BYTE_ARRAY "" leaf 11
text -1 utf8? BYTE_ARRAY "STRING" leaf 12
fixed -1 fixed_size_binary[7]? FIXED_LEN_BYTE_ARRAY "" leaf 13
id -1 fixed_size_binary[16]? FIXED_LEN_BYTE_ARRAY "UUID" leaf 14
dec -1 decimal(20, 3)? FIXED_LEN_BYTE_ARRAY "DECIMAL(20,3)" leaf 15
money -1 decimal(10, 2)? INT64 "DECIMAL(10,2)" leaf 16
nothing -1 null? INT32 "UNKNOWN" leaf 17
s -1 struct<inner: struct<x: int64 nullable> nullable>  "" leaf -1
  inner 3 struct<x: int64 nullable>?  "" leaf -1
    x -1 int64? INT64 "" leaf 18
list -1 list<element: int64, nullable>?  "" leaf -1
  element -1 int64? INT64 "" leaf 19
plain -1 list<element: struct<x: int64>>  "" leaf -1
  element -1 struct<x: int64>  "" leaf -1
    x -1 int64 INT64 "" leaf 20
map -1 map<utf8, int64, items_nullable>?  "" leaf -1
  key -1 utf8 BYTE_ARRAY "STRING" leaf 21
  value -1 int64? INT64 "" leaf 22
`
	if got := describe(f.Fields(), ""); got != want {
		t.Errorf("want\n%s\ngot\n%s", want, got)
	}
}

func describe(fields []parquetio.Field, indent string) string {
	var out strings.Builder
	for _, f := range fields {
		optional := ""
		if f.Nullable {
			optional = "?"
		}
		fmt.Fprintf(&out, "%s%s %d %s%s %s %q leaf %d\n", indent, f.Name, f.ID, f.Type, optional, f.Physical, f.Logical, f.Leaf)
		out.WriteString(describe(f.Children, indent+"  "))
	}
	return out.String()
}

func TestKeyValueMetadata(t *testing.T) {
	f := open(t, deltatest.Parquet{KeyValue: map[string]string{"a": "1", "b": ""}}.File(ordersRecord(0, 1)), parquetio.Options{})
	if a, ok := f.KeyValue("a"); a != "1" || !ok {
		t.Errorf("want 1, got %q and %t", a, ok)
	}
	if _, ok := f.KeyValue("c"); ok {
		t.Error("want no c")
	}
}

func TestRowGroupsKnowTheirPlace(t *testing.T) {
	content := deltatest.Parquet{RowGroupRows: 40}.File(ordersRecord(0, 100))
	f := open(t, content, parquetio.Options{})
	groups := f.RowGroups()
	if len(groups) != 3 || groups[0].Offset != 4 {
		t.Fatalf("want three row groups from byte 4 on, got %+v", groups)
	}
	var bytes int64
	for i, g := range groups {
		if g.FirstRow != int64(i*40) || g.Rows != min(40, int64(100-i*40)) || g.Offset != 4+bytes {
			t.Errorf("row group %d: %+v", i, g)
		}
		bytes += g.Bytes
	}
}

func TestOnlyTheChosenLeavesAreRead(t *testing.T) {
	columns := deltatest.Columns("id long", "s struct<a:long,m:map<string,long>,b:string>", "l array<struct<x:long,y:string>>",
		"m map<string,struct<p:long,q:long>>")
	content := deltatest.Parquet{}.File(deltatest.Rows(columns,
		`{"id": 1, "s": {"a": 2, "m": [{"key": "k", "value": 3}], "b": "t"}, "l": [{"x": 4, "y": "u"}], "m": [{"key": "k", "value": {"p": 5, "q": 6}}]}`))
	f := open(t, content, parquetio.Options{Allocator: checked(t)})
	names := map[string]int{}
	var visit func(fields []parquetio.Field, path string)
	visit = func(fields []parquetio.Field, path string) {
		for _, field := range fields {
			names[path+field.Name] = field.Leaf
			visit(field.Children, path+field.Name+".")
		}
	}
	visit(f.Fields(), "")
	tests := []struct {
		leaves []string
		want   string
	}{
		{nil, ``},
		{[]string{"id"}, `{"id":1}`},
		{[]string{"s.b"}, `{"s":{"b":"t"}}`},
		{[]string{"s.b", "s.a", "s.b"}, `{"s":{"a":2,"b":"t"}}`},
		{[]string{"l.element.y"}, `{"l":[{"y":"u"}]}`},
		{[]string{"m.key"}, `{"m":[{"key":"k","value":{"p":5,"q":6}}]}`},
		{[]string{"m.value.q"}, `{"m":[{"key":"k","value":{"q":6}}]}`},
		{[]string{"s.m.value", "id"}, `{"id":1,"s":{"m":[{"key":"k","value":3}]}}`},
	}
	for _, test := range tests {
		var leaves []int
		for _, name := range test.leaves {
			leaves = append(leaves, names[name])
		}
		got, err := readJSON(f, leaves)
		if err != nil || len(got) != 1 || got[0] != test.want {
			t.Errorf("%v: want %s, got %v and %v", test.leaves, test.want, got, err)
		}
	}
}

func TestAWideFileIsRead(t *testing.T) {
	definitions := make([]string, 400)
	for i := range definitions {
		definitions[i] = fmt.Sprintf("c%d long", i)
	}
	columns := deltatest.Columns(definitions...)
	rows := make([]string, 50)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"c%d": %d}`, i*8, i)
	}
	f := open(t, deltatest.Parquet{}.File(deltatest.Rows(columns, rows...)), parquetio.Options{Allocator: checked(t)})
	if n, err := countRows(f); n != 50 || err != nil {
		t.Errorf("want 50 rows, got %d and %v", n, err)
	}
}

func TestAPageAboveArrowsOwnLimitIsRead(t *testing.T) {
	if testing.Short() {
		t.Skip("writes 70 MB")
	}
	value := strings.Repeat("x", 70<<20)
	content := deltatest.Parquet{Codec: "UNCOMPRESSED", NoDictionary: true, NoStatistics: true}.
		RawFile("message m { required binary c; }", deltatest.RawGroup{{Values: []string{value}}})
	f := open(t, content, parquetio.Options{Allocator: checked(t)})
	for batch, err := range f.ReadRowGroup(t.Context(), 0, []int{0}) {
		if err != nil {
			t.Fatal(err)
		}
		if got := batch.Column(0).ValueStr(0); len(got) == 0 {
			t.Error("want a value")
		}
		batch.Release()
	}
}
