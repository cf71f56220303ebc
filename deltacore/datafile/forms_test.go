package datafile_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

// form is a column c as a file may hold it, and the values that a column of type of the table must have.
type form struct {
	leaf   string // of the message type, without a name
	values any
	typ    string
	want   string // of the values, in JSON
}

var optional = []int16{1, 0, 1} // definition levels: value, null, value

// TestPhysicalForms reads every form of protocol section 17, and of the widenings of section 16, in plain pages, with
// dictionaries and in pages of both versions.
func TestPhysicalForms(t *testing.T) {
	forms := []form{
		{"boolean %s", []bool{true, false}, "boolean", `true null false`},
		{"int32 %s", []int32{-128, 127}, "byte", `-128 null 127`},
		{"int32 %s (INT(8,true))", []int32{-128, 127}, "byte", `-128 null 127`},
		{"int32 %s (INT_8)", []int32{-128, 127}, "short", `-128 null 127`},
		{"int32 %s", []int32{-32768, 32767}, "short", `-32768 null 32767`},
		{"int32 %s (INT(16,true))", []int32{1, 2}, "integer", `1 null 2`},
		{"int32 %s (UINT_8)", []int32{0, 255}, "short", `0 null 255`},
		{"int32 %s", []int32{math.MinInt32, math.MaxInt32}, "integer", `-2147483648 null 2147483647`},
		{"int32 %s (INT(32,true))", []int32{math.MinInt32, math.MaxInt32}, "long", `-2147483648 null 2147483647`},
		{"int32 %s (INT(32,false))", []int32{-1, 1}, "long", `4294967295 null 1`},
		{"int64 %s", []int64{math.MinInt64, math.MaxInt64}, "long", `-9223372036854775808 null 9223372036854775807`},
		{"int64 %s (INT(64,true))", []int64{1, 2}, "long", `1 null 2`},
		{"float %s", []float32{0.5, 3.4}, "float", `0.5 null 3.4`},
		{"double %s", []float64{0.5, 1e300}, "double", `0.5 null 1e+300`},
		{"float %s", []float32{0.5, 3.4}, "double", `0.5 null 3.4000000953674316`},
		{"int32 %s", []int32{math.MinInt32, math.MaxInt32}, "double", `-2147483648 null 2147483647`},
		{"int32 %s (INT(16,true))", []int32{-1, 7}, "double", `-1 null 7`},

		{"binary %s", []string{"a", "\x00é"}, "string", `"a" null "\u0000é"`},
		{"binary %s (STRING)", []string{"a", ""}, "string", `"a" null ""`},
		{"binary %s (UTF8)", []string{"a", ""}, "string", `"a" null ""`},
		{"binary %s (ENUM)", []string{"a", ""}, "string", `"a" null ""`},
		{"binary %s (JSON)", []string{"{}", ""}, "string", `"{}" null ""`},
		{"binary %s (BSON)", []string{"a", "b"}, "binary", `"YQ==" null "Yg=="`},
		{"binary %s", []string{"\xff", ""}, "binary", `"/w==" null ""`},
		{"binary %s (STRING)", []string{"\xff", ""}, "binary", `"/w==" null ""`},
		{"fixed_len_byte_array(2) %s", []string{"\xff\x00", "ab"}, "binary", `"/wA=" null "YWI="`},

		{"int32 %s (DATE)", []int32{-719162, 2932896}, "date", `"0001-01-01" null "9999-12-31"`},
		{"int32 %s (DATE)", []int32{-1, 2932896}, "timestamp_ntz", `"1969-12-31T00:00:00" null "9999-12-31T00:00:00"`},

		{"int64 %s", []int64{-1, 1}, "timestamp", `"1969-12-31T23:59:59.999999Z" null "1970-01-01T00:00:00.000001Z"`},
		{"int64 %s (TIMESTAMP_MICROS)", []int64{-1, 1}, "timestamp", `"1969-12-31T23:59:59.999999Z" null "1970-01-01T00:00:00.000001Z"`},
		{"int64 %s (TIMESTAMP(MICROS,true))", []int64{-1, 1}, "timestamp", `"1969-12-31T23:59:59.999999Z" null "1970-01-01T00:00:00.000001Z"`},
		{"int64 %s (TIMESTAMP(MICROS,false))", []int64{-1, 1}, "timestamp", `"1969-12-31T23:59:59.999999Z" null "1970-01-01T00:00:00.000001Z"`},
		{"int64 %s (TIMESTAMP_MILLIS)", []int64{-1, 1}, "timestamp", `"1969-12-31T23:59:59.999Z" null "1970-01-01T00:00:00.001Z"`},
		{"int64 %s (TIMESTAMP(MILLIS,false))", []int64{-1, 1}, "timestamp_ntz", `"1969-12-31T23:59:59.999" null "1970-01-01T00:00:00.001"`},
		{"int64 %s (TIMESTAMP(MICROS,true))", []int64{-1, 1}, "timestamp_ntz", `"1969-12-31T23:59:59.999999" null "1970-01-01T00:00:00.000001"`},
		{"int64 %s (TIMESTAMP(NANOS,true))", []int64{-1, 1999}, "timestamp", `"1969-12-31T23:59:59.999999Z" null "1970-01-01T00:00:00.000001Z"`},
		{"int64 %s (TIMESTAMP(NANOS,false))", []int64{-1001, 0}, "timestamp_ntz", `"1969-12-31T23:59:59.999998" null "1970-01-01T00:00:00"`},
		{
			"int96 %s",
			[][12]byte{deltatest.INT96(1999, 2440588), deltatest.INT96(-1, 2440588)},
			"timestamp",
			`"1970-01-01T00:00:00.000001Z" null "1969-12-31T23:59:59.999999Z"`,
		},
		{
			"int96 %s",
			[][12]byte{deltatest.INT96(86399999999000, 5373484), deltatest.INT96(86400000000000*3, 2440588)},
			"timestamp_ntz",
			`"9999-12-31T23:59:59.999999" null "1970-01-04T00:00:00"`,
		},
		{
			"int96 %s",
			[][12]byte{deltatest.INT96(0, 1721426), deltatest.INT96(0, 2440588)},
			"timestamp",
			`"0001-01-01T00:00:00Z" null "1970-01-01T00:00:00Z"`,
		},
	}
	for _, f := range append(forms, decimalForms()...) {
		t.Run(f.leaf+" as "+f.typ, func(t *testing.T) {
			for _, p := range []deltatest.Parquet{{}, {NoDictionary: true}, {PageVersion: 2}, {PageVersion: 2, NoDictionary: true, Codec: "UNCOMPRESSED"}} {
				f.check(t, p)
			}
		})
	}
}

func (f form) check(t *testing.T, p deltatest.Parquet) {
	t.Helper()
	message := "message m { optional " + fmt.Sprintf(f.leaf, "c") + "; }"
	content := p.RawFile(message, deltatest.RawGroup{{Values: f.values, Def: optional}})
	r := reading{content: content, columns: deltatest.Columns("c " + f.typ)}
	got, err := r.rows(t)
	if err != nil {
		t.Fatalf("%+v: %v", p, err)
	}
	want := f.want
	for i, row := range got {
		got[i] = strings.TrimSuffix(strings.TrimPrefix(row, `{"c":`), "}")
	}
	if joined := strings.Join(got, " "); joined != want {
		t.Errorf("%+v: want %s, got %s", p, want, joined)
	}
}

// decimalForms: 12.34 and -0.01 in all physical types, and what they were widened to.
func decimalForms() []form {
	same := `"12.34" null "-0.01"`
	wide := func(n int) []string {
		return []string{strings.Repeat("\x00", n-2) + "\x04\xd2", strings.Repeat("\xff", n)}
	}
	forms := []form{
		{"int32 %s (DECIMAL(9,2))", []int32{1234, -1}, "decimal(9,2)", same},
		{"int64 %s (DECIMAL(18,2))", []int64{1234, -1}, "decimal(18,2)", same},
		{"int64 %s (DECIMAL(5,2))", []int64{1234, -1}, "decimal(5,2)", same},
		{"binary %s (DECIMAL(10,2))", []string{"\x04\xd2", "\xff"}, "decimal(10,2)", same},
		{"binary %s (DECIMAL(38,2))", wide(20), "decimal(38,2)", same},
		{"int32 %s (DECIMAL(9,2))", []int32{1234, -1}, "decimal(10,2)", same},
		{"int32 %s (DECIMAL(9,2))", []int32{1234, -1}, "decimal(12,5)", same},
		{"int64 %s (DECIMAL(18,2))", []int64{1234, -1}, "decimal(38,20)", same},
		{"fixed_len_byte_array(9) %s (DECIMAL(20,2))", wide(9), "decimal(22,4)", same},
		{"int32 %s", []int32{math.MinInt32, 7}, "decimal(10,0)", `"-2147483648" null "7"`},
		{"int32 %s (INT(8,true))", []int32{-128, 7}, "decimal(20,10)", `"-128" null "7"`},
		{"int64 %s", []int64{math.MinInt64, 7}, "decimal(20,0)", `"-9223372036854775808" null "7"`},
		{"int64 %s", []int64{math.MinInt64, math.MaxInt64}, "decimal(38,18)", `"-9223372036854775808" null "9223372036854775807"`},
	}
	for _, n := range []int{2, 3, 5, 8, 9, 16, 17, 30} {
		precision := min(38, n*2)
		forms = append(forms, form{
			fmt.Sprintf("fixed_len_byte_array(%d) %%s (DECIMAL(%d,2))", n, precision), wide(n), fmt.Sprintf("decimal(%d,2)", precision), same,
		})
	}
	return forms
}

func TestOtherFormsAreRefused(t *testing.T) {
	one := []int16{0, 0, 0}
	tests := []struct{ leaf, typ, file string }{
		{"int64 %s", "integer", "INT64"},
		{"int64 %s", "double", "INT64"},
		{"int32 %s (DATE)", "integer", "INT32 DATE"},
		{"int32 %s", "date", "INT32"},
		{"int32 %s", "float", "INT32"},
		{"int32 %s (INT(32,false))", "integer", "INT32 INT(32,false)"},
		{"int64 %s (INT(64,false))", "long", "INT64 INT(64,false)"},
		{"int64 %s (INT(64,true))", "timestamp", "INT64 INT(64,true)"},
		{"int64 %s (TIMESTAMP(MICROS,true))", "long", "INT64 TIMESTAMP(MICROS,true)"},
		{"int64 %s (TIMESTAMP(MICROS,true))", "date", "INT64 TIMESTAMP(MICROS,true)"},
		{"int32 %s (TIME(MILLIS,true))", "integer", "INT32 TIME(MILLIS,true)"},
		{"double %s", "float", "DOUBLE"},
		{"double %s", "decimal(10,2)", "DOUBLE"},
		{"float %s", "long", "FLOAT"},
		{"binary %s (STRING)", "long", "BYTE_ARRAY STRING"},
		{"binary %s (DECIMAL(10,2))", "binary", "BYTE_ARRAY DECIMAL(10,2)"},
		{"fixed_len_byte_array(4) %s", "string", "FIXED_LEN_BYTE_ARRAY"},
		{"fixed_len_byte_array(12) %s", "timestamp", "FIXED_LEN_BYTE_ARRAY"},
		{"int96 %s", "binary", "INT96"},
		{"int96 %s", "long", "INT96"},
		{"boolean %s", "integer", "BOOLEAN"},
		{"int32 %s (DECIMAL(9,2))", "decimal(9,3)", "INT32 DECIMAL(9,2)"},
		{"int32 %s (DECIMAL(9,2))", "decimal(9,1)", "INT32 DECIMAL(9,2)"},
		{"int32 %s (DECIMAL(9,2))", "decimal(8,2)", "INT32 DECIMAL(9,2)"},
		{"int32 %s (DECIMAL(9,2))", "long", "INT32 DECIMAL(9,2)"},
		{"int32 %s", "decimal(9,0)", "INT32"},
		{"int64 %s", "decimal(20,1)", "INT64"},
		{"int32 %s", "array<integer>", "INT32"},
		{"int32 %s", "struct<a:integer>", "INT32"},
	}
	for _, test := range tests {
		t.Run(test.leaf+" as "+test.typ, func(t *testing.T) {
			content := deltatest.Parquet{}.RawFile("message m { optional "+fmt.Sprintf(test.leaf, "c")+"; }",
				deltatest.RawGroup{{Values: none(test.leaf), Def: one}})
			reading{content: content, columns: deltatest.Columns("c " + test.typ)}.
				wantError(t, "column c: the file has the type "+test.file+", the table "+deltatest.Type(test.typ).String())
		})
	}
}

// none is no values of a leaf's physical type.
func none(leaf string) any {
	switch typ, _, _ := strings.Cut(leaf, " "); typ {
	case "int32":
		return []int32{}
	case "int64":
		return []int64{}
	case "int96":
		return [][12]byte{}
	case "float":
		return []float32{}
	case "double":
		return []float64{}
	case "boolean":
		return []bool{}
	}
	return []string{}
}

func TestValuesThatDoNotFitAreRefused(t *testing.T) {
	tests := []struct {
		leaf   string
		values any
		typ    string
		text   string
	}{
		{"int32 %s", []int32{1, 128}, "byte", "the value 128 of the file does not fit the column's type int8"},
		{"int32 %s (INT(16,true))", []int32{1, -32769}, "short", "the value -32769"},
		{"int64 %s (TIMESTAMP(MILLIS,true))", []int64{1, math.MaxInt64 / 999}, "timestamp", "the value 9232604641496272"},
		{"int32 %s (DATE)", []int32{1, math.MaxInt32}, "timestamp_ntz", "the value 2147483647"},
		{"int96 %s", [][12]byte{deltatest.INT96(0, math.MaxInt32), deltatest.INT96(0, 0)}, "timestamp", "INT96(0 ns, Julian day 2147483647)"},
		{
			"fixed_len_byte_array(17) %s (DECIMAL(38,0))",
			[]string{"\x7f" + strings.Repeat("\xff", 16), strings.Repeat("\x00", 17)},
			"decimal(38,0)", "a decimal of 17 bytes has more than 38 digits",
		},
		{"binary %s (DECIMAL(10,0))", []string{"\x01", ""}, "decimal(10,0)", "a decimal has no bytes"},
		{"int32 %s (DECIMAL(3,0))", []int32{1, 1000}, "decimal(38,35)", "the value"},
	}
	for _, test := range tests {
		t.Run(test.leaf+" as "+test.typ, func(t *testing.T) {
			content := deltatest.Parquet{}.RawFile("message m { optional "+fmt.Sprintf(test.leaf, "c")+"; }",
				deltatest.RawGroup{{Values: test.values, Def: optional}})
			reading{content: content, columns: deltatest.Columns("c " + test.typ)}.wantError(t, "column c: ")
			reading{content: content, columns: deltatest.Columns("c " + test.typ)}.wantError(t, test.text)
		})
	}
}

func TestInvalidUTF8IsKept(t *testing.T) {
	content := deltatest.Parquet{}.RawFile("message m { required binary c (STRING); }", deltatest.RawGroup{{Values: []string{"a\xffb"}}})
	r := reading{content: content, columns: deltatest.Columns("c string")}
	for batch, err := range r.reader(t).Read(t.Context(), r.task()) {
		if err != nil {
			t.Fatal(err)
		}
		if got := batch.Record.Column(0).ValueStr(0); got != "a\xffb" {
			t.Errorf("want the bytes as they are, got %q", got)
		}
		batch.Record.Release()
	}
}

// TestListAndMapSpellings holds [[1, null], [], null, [2]] (or [[1, 3], [], null, [2]] where elements cannot be null) in
// every way that files spell a list, and the like for maps.
func TestListAndMapSpellings(t *testing.T) {
	nullable := deltatest.RawColumn{Values: []int32{1, 2}, Def: []int16{3, 2, 1, 0, 3}, Rep: []int16{0, 1, 0, 0, 0}}
	twoLevel := deltatest.RawColumn{Values: []int32{1, 3, 2}, Def: []int16{2, 2, 1, 0, 2}, Rep: []int16{0, 1, 0, 0, 0}}
	bare := deltatest.RawColumn{Values: []int32{1, 3, 2}, Def: []int16{1, 1, 0, 0, 1}, Rep: []int16{0, 1, 0, 0, 0}}
	wantNullable := []string{`{"c":[1,null]}`, `{"c":[]}`, `{"c":null}`, `{"c":[2]}`}
	want := []string{`{"c":[1,3]}`, `{"c":[]}`, `{"c":null}`, `{"c":[2]}`}
	wantBare := []string{`{"c":[1,3]}`, `{"c":[]}`, `{"c":[]}`, `{"c":[2]}`}
	wantStruct := []string{`{"c":[{"x":1},{"x":3}]}`, `{"c":[]}`, `{"c":null}`, `{"c":[{"x":2}]}`}
	keys := deltatest.RawColumn{Values: []string{"a", "b", "c"}, Def: []int16{2, 2, 1, 0, 2}, Rep: []int16{0, 1, 0, 0, 0}}
	optionalKeys := deltatest.RawColumn{Values: []string{"a", "b", "c"}, Def: []int16{3, 3, 1, 0, 3}, Rep: []int16{0, 1, 0, 0, 0}}
	wantMap := []string{`{"c":[{"key":"a","value":1},{"key":"b","value":null}]}`, `{"c":[]}`, `{"c":null}`, `{"c":[{"key":"c","value":2}]}`}
	tests := []struct {
		message, typ string
		columns      deltatest.RawGroup
		want         []string
	}{
		{"optional group c (LIST) { repeated group list { optional int32 element; } }", "array<integer>", deltatest.RawGroup{nullable}, wantNullable},
		{"optional group c (LIST) { repeated group list { optional int32 item; } }", "array<integer>", deltatest.RawGroup{nullable}, wantNullable},
		{"optional group c (LIST) { repeated group bag { optional int32 array; } }", "array<integer>", deltatest.RawGroup{nullable}, wantNullable},
		{"optional group c (LIST) { repeated group bag { optional int32 array_element; } }", "array<integer>", deltatest.RawGroup{nullable}, wantNullable},
		{"optional group c (LIST) { repeated group element { optional int32 x; } }", "array<integer>", deltatest.RawGroup{nullable}, wantNullable},
		{"optional group c (LIST) { repeated group list { required int32 element; } }", "array<integer>", deltatest.RawGroup{twoLevel}, want},
		{"optional group c (LIST) { repeated int32 array; }", "array<integer>", deltatest.RawGroup{twoLevel}, want},
		{"optional group c (LIST) { repeated int32 c_tuple; }", "array<integer>", deltatest.RawGroup{twoLevel}, want},
		{"optional group c (LIST) { repeated int32 element; }", "array<integer>", deltatest.RawGroup{twoLevel}, want},
		{"optional group c (LIST) { repeated group array { required int32 x; } }", "array<struct<x:integer>>", deltatest.RawGroup{twoLevel}, wantStruct},
		{"optional group c (LIST) { repeated group c_tuple { required int32 x; } }", "array<struct<x:integer>>", deltatest.RawGroup{twoLevel}, wantStruct},
		{"optional group c (LIST) { repeated group any { required int32 x; required int32 y; } }", "array<struct<x:integer>>", deltatest.RawGroup{twoLevel, twoLevel}, wantStruct},
		{"repeated int32 c;", "array<integer>", deltatest.RawGroup{bare}, wantBare},
		{"optional group c (MAP) { repeated group key_value { required binary key (STRING); optional int32 value; } }", "map<string,integer>", deltatest.RawGroup{keys, nullable}, wantMap},
		{"optional group c (MAP) { repeated group map (MAP_KEY_VALUE) { required binary key (STRING); optional int32 value; } }", "map<string,integer>", deltatest.RawGroup{keys, nullable}, wantMap},
		{"optional group c (MAP_KEY_VALUE) { repeated group map { required binary key (STRING); optional int32 value; } }", "map<string,integer>", deltatest.RawGroup{keys, nullable}, wantMap},
		{"optional group c (MAP) { repeated group entries { optional binary k (STRING); optional int32 v; } }", "map<string,integer>", deltatest.RawGroup{optionalKeys, nullable}, wantMap},
	}
	for _, test := range tests {
		t.Run(test.message, func(t *testing.T) {
			for _, p := range []deltatest.Parquet{{}, {PageVersion: 2}} {
				content := p.RawFile("message m { "+test.message+" }", test.columns)
				reading{content: content, columns: deltatest.Columns("c " + test.typ)}.want(t, test.want...)
			}
		})
	}
}

// TestListsOfListsInTwoLevels is the form of Avro writers: the repeated node is itself a list.
func TestListsOfListsInTwoLevels(t *testing.T) {
	content := deltatest.Parquet{}.RawFile(
		"message m { optional group c (LIST) { repeated group array (LIST) { repeated int32 array; } } }",
		deltatest.RawGroup{{
			Values: []int32{1, 2, 3}, Def: []int16{3, 3, 2, 3, 1, 0}, Rep: []int16{0, 2, 1, 1, 0, 0},
		}})
	reading{content: content, columns: deltatest.Columns("c array<array<integer>>")}.
		want(t, `{"c":[[1,2],[],[3]]}`, `{"c":[]}`, `{"c":null}`)
}

func TestANullKeyIsRefused(t *testing.T) {
	content := deltatest.Parquet{}.RawFile(
		"message m { optional group c (MAP) { repeated group key_value { optional binary key; optional int32 value; } } }",
		deltatest.RawGroup{
			{Values: []string{"a"}, Def: []int16{3, 2}, Rep: []int16{0, 1}},
			{Values: []int32{1, 2}, Def: []int16{3, 3}, Rep: []int16{0, 1}},
		})
	reading{content: content, columns: deltatest.Columns("c map<string,integer>")}.
		wantError(t, "column c: reading row group 0: 1 keys of the map are null")
}

func TestWideningInsideCollections(t *testing.T) {
	content := file(deltatest.Columns("l array<short>", "m map<integer,float>", "s struct<d:decimal(9,2),n:array<struct<x:byte>>>"),
		`{"l": [1, null], "m": [{"key": 1, "value": 0.5}], "s": {"d": "1.25", "n": [{"x": 1}, null]}}`, `{}`)
	reading{content: content, columns: deltatest.Columns("l array<long>", "m map<long,double>", "s struct<d:decimal(20,4),n:array<struct<x:decimal(12,2)>>>")}.
		want(t, `{"l":[1,null],"m":[{"key":1,"value":0.5}],"s":{"d":"1.25","n":[{"x":"1"},null]}}`, `{"l":null,"m":null,"s":null}`)
	reading{content: content, columns: deltatest.Columns("s struct<n:array<struct<x:string>>>")}.
		wantError(t, "column s.n.element.x: the file has the type INT32 INT(8,true), the table string")
}

// P99: narrow integers in an encoding of differences keep their signs when they are widened.
func TestDifferencesThatOverflowAreWidenedExactly(t *testing.T) {
	content := deltatest.Parquet{Encoding: "DELTA_BINARY_PACKED"}.RawFile("message m { required int32 c; }",
		deltatest.RawGroup{{Values: []int32{math.MaxInt32, math.MinInt32, 0}}})
	for _, typ := range []string{"long", "integer", "double"} {
		reading{content: content, columns: deltatest.Columns("c " + typ)}.want(t, `{"c":2147483647}`, `{"c":-2147483648}`, `{"c":0}`)
	}
}
