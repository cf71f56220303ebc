package datafile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

// Variants in the binary encoding.
const (
	noNames  = "\x01\x00\x00"
	names    = "\x01\x03\x00\x01\x02\x03abz" // a, b, z
	nullItem = "\x00"
	seven    = "\x0c\x07"
	text     = "\x05x"
	onlyZ    = "\x02\x01\x02\x00\x02\x0c\x09" // {"z":9}
	onlyA    = "\x02\x01\x00\x00\x02\x0c\x01" // {"a":1}
)

// variantFile is a file with a variant column v. Columns are the leaves of its group; without any the file has no rows.
func variantFile(group string, columns ...deltatest.RawColumn) reading {
	var groups []deltatest.RawGroup
	if len(columns) > 0 {
		groups = append(groups, columns)
	}
	content := deltatest.Parquet{}.RawFile("message m { "+group+" }", groups...)
	return reading{content: content, columns: deltatest.Columns("v variant")}
}

// rowsOfTexts is what the rows look like: "" is a SQL null.
func rowsOfTexts(texts ...string) []string {
	rows := make([]string, len(texts))
	for i, text := range texts {
		rows[i] = `{"v":null}`
		if text != "" {
			rows[i] = fmt.Sprintf(`{"v":%q}`, text)
		}
	}
	return rows
}

func TestUnshreddedVariantsInEitherOrder(t *testing.T) {
	want := rowsOfTexts(`{"z":9}`, "", "null", `"x"`)
	metadata := deltatest.RawColumn{Values: []string{names, noNames, names}, Def: []int16{1, 0, 1, 1}}
	value := deltatest.RawColumn{Values: []string{onlyZ, nullItem, text}, Def: []int16{1, 0, 1, 1}}
	variantFile("optional group v { required binary metadata; required binary value; }", metadata, value).want(t, want...)
	variantFile("optional group v { required binary value; required binary metadata; }", value, metadata).want(t, want...)
	variantFile("optional group v (VARIANT) { required binary metadata; required binary value; }", metadata, value).want(t, want...)
}

// A value that is missing altogether is a variant's null where the specification wants a value.
func TestAMissingValueOfAVariantIsItsNull(t *testing.T) {
	variantFile("required group v { required binary metadata; optional binary value; optional int64 typed_value; }",
		deltatest.RawColumn{Values: []string{noNames, noNames}},
		deltatest.RawColumn{Values: []string{}, Def: []int16{0, 0}},
		deltatest.RawColumn{Values: []int64{5}, Def: []int16{0, 1}},
	).want(t, rowsOfTexts("null", "5")...)
}

// TestShreddedScalars reads every type of the specification's table.
func TestShreddedScalars(t *testing.T) {
	cases := []struct {
		leaf   string
		values any
		want   string
	}{
		{"boolean %s", []bool{true}, `true`},
		{"int32 %s (INT(8,true))", []int32{-128}, `-128`},
		{"int32 %s (INT(16,true))", []int32{-32768}, `-32768`},
		{"int32 %s", []int32{-2147483648}, `-2147483648`},
		{"int32 %s (INT(32,true))", []int32{1}, `1`},
		{"int64 %s", []int64{-9223372036854775808}, `-9223372036854775808`},
		{"int64 %s (INT(64,true))", []int64{1}, `1`},
		{"float %s", []float32{0.1}, `0.1`},
		{"double %s", []float64{1e100}, `1e+100`},
		{"int32 %s (DECIMAL(9,2))", []int32{-150}, `-1.5`},
		{"int64 %s (DECIMAL(18,2))", []int64{123456789012345678}, `1234567890123456.78`},
		{"binary %s (DECIMAL(20,1))", []string{"\xff"}, `-0.1`},
		{"fixed_len_byte_array(16) %s (DECIMAL(38,38))", []string{strings.Repeat("\x00", 15) + "\x01"}, `0.00000000000000000000000000000000000001`},
		{"int32 %s (DATE)", []int32{19782}, `"2024-02-29"`},
		{"int64 %s (TIME(MICROS,false))", []int64{3723000004}, `"01:02:03.000004"`},
		{"int64 %s (TIMESTAMP(MICROS,true))", []int64{-1}, `"1969-12-31 23:59:59.999999+00:00"`},
		{"int64 %s (TIMESTAMP(MICROS,false))", []int64{-1}, `"1969-12-31 23:59:59.999999"`},
		{"int64 %s (TIMESTAMP(NANOS,true))", []int64{-1}, `"1969-12-31 23:59:59.999999999+00:00"`},
		{"int64 %s (TIMESTAMP(NANOS,false))", []int64{-1}, `"1969-12-31 23:59:59.999999999"`},
		{"binary %s", []string{"\x01\x02"}, `"AQI="`},
		{"binary %s (STRING)", []string{"é"}, `"é"`},
		{"fixed_len_byte_array(16) %s (UUID)", []string{"0123456789abcdef"}, `"30313233-3435-3637-3839-616263646566"`},
	}
	for _, c := range cases {
		t.Run(c.leaf, func(t *testing.T) {
			message := "optional group v { optional binary value; required binary metadata; optional " + fmt.Sprintf(c.leaf, "typed_value") + "; }"
			variantFile(message,
				deltatest.RawColumn{Values: []string{seven}, Def: []int16{1, 2, 0}},
				deltatest.RawColumn{Values: []string{noNames, noNames}, Def: []int16{1, 1, 0}},
				deltatest.RawColumn{Values: c.values, Def: []int16{2, 1, 0}},
			).want(t, rowsOfTexts(c.want, "7", "")...)
		})
	}
}

func TestTypesThatNoVariantHasAreRefused(t *testing.T) {
	for leaf, named := range map[string]string{
		"int32 %s (INT(32,false))":                    "INT32 INT(32,false)",
		"int64 %s (INT(64,false))":                    "INT64 INT(64,false)",
		"int64 %s (TIMESTAMP(MILLIS,true))":           "INT64 TIMESTAMP(MILLIS,true)",
		"int64 %s (TIME(MICROS,true))":                "INT64 TIME(MICROS,true)",
		"int96 %s":                                    "INT96",
		"binary %s (JSON)":                            "BYTE_ARRAY JSON",
		"fixed_len_byte_array(16) %s":                 "FIXED_LEN_BYTE_ARRAY",
		"fixed_len_byte_array(20) %s (DECIMAL(40,2))": "FIXED_LEN_BYTE_ARRAY DECIMAL(40,2)",
		"int32 %s (UNKNOWN)":                          "INT32 UNKNOWN",
		"group %s (MAP) { repeated group key_value { required int32 key; optional int32 value; } }": "map<",
	} {
		message := "optional group v { required binary metadata; optional " + fmt.Sprintf(leaf, "typed_value") + "; }"
		variantFile(strings.ReplaceAll(message, "} };", "} }")).wantGroupError(t, "has a typed_value of the type "+named)
	}
}

func (r reading) wantGroupError(t *testing.T, text string) {
	t.Helper()
	r.wantError(t, "column v: the file's group for a variant "+text)
}

func TestGroupsThatAreNoVariantAreRefused(t *testing.T) {
	const metadata = "required binary metadata; "
	for group, want := range map[string]string{
		"optional group v { required binary value; }":                                                                                                                 "has no binary member metadata",
		"optional group v { required binary metadata (STRING); required binary value; }":                                                                              "has no binary member metadata",
		"optional group v { required int64 metadata; required binary value; }":                                                                                        "has no binary member metadata",
		"optional group v { " + metadata + "}":                                                                                                                        "has neither value nor typed_value",
		"optional group v { " + metadata + "required binary value (STRING); }":                                                                                        "has a value of the type BYTE_ARRAY STRING",
		"optional group v { " + metadata + "required binary value; optional int64 Typed_value; }":                                                                     `has the unexpected member "Typed_value"`,
		"optional group v { " + metadata + "required binary value; required binary value; }":                                                                          `has the unexpected member "value"`,
		"optional group v { " + metadata + "optional group typed_value { required int64 a; } }":                                                                       "has INT64 a where a group should be",
		"optional group v { " + metadata + "optional group typed_value { required group a { required binary metadata; optional binary value; } } }":                   `has the unexpected member "metadata"`,
		"optional group v { " + metadata + "optional group typed_value { required group a { optional binary value; } required group a { optional binary value; } } }": `has the member "a" twice`,
		"optional group v { " + metadata + "optional group typed_value (LIST) { repeated group list { optional binary element; } } }":                                 "has BYTE_ARRAY element where a group should be",
	} {
		variantFile(group).wantGroupError(t, want)
	}
	variantFile("optional binary v (JSON);").wantError(t, "column v: the file has the type BYTE_ARRAY JSON, the table variant")
	variantFile("optional group v (LIST) { repeated group list { optional binary element; } }").wantError(t, "column v: the file has the type list<")
}

func TestShreddedObjects(t *testing.T) {
	variantFile(`optional group v {
		required binary metadata;
		optional binary value;
		optional group typed_value {
			required group b { optional binary value; optional int64 typed_value; }
			required group a {
				optional binary value;
				optional group typed_value { optional group y { optional binary value; } }
			}
		}
	}`,
		deltatest.RawColumn{Values: []string{names, names, names, names, names, names}, Def: []int16{0, 1, 1, 1, 1, 1, 1}},
		deltatest.RawColumn{Values: []string{onlyZ, seven}, Def: []int16{0, 1, 2, 1, 1, 2, 1}},
		deltatest.RawColumn{Values: []string{nullItem, text}, Def: []int16{0, 2, 2, 3, 2, 1, 3}},
		deltatest.RawColumn{Values: []int64{1, 2}, Def: []int16{0, 3, 2, 2, 3, 1, 2}},
		deltatest.RawColumn{Values: []string{seven}, Def: []int16{0, 2, 3, 2, 2, 1, 2}},
		deltatest.RawColumn{Values: []string{text}, Def: []int16{0, 2, 2, 3, 5, 1, 4}},
	).want(t, rowsOfTexts("", `{"b":1}`, `{"a":7,"z":9}`, `{"a":{},"b":null}`, `{"a":{"y":"x"},"b":2}`, `7`, `{"a":{},"b":"x"}`)...)
}

func TestShreddedArrays(t *testing.T) {
	levels := []int16{0, 0, 1, 0, 0, 1, 1}
	variantFile(`required group v {
		required binary metadata;
		optional binary value;
		optional group typed_value (LIST) { repeated group list { required group element {
			optional binary value; optional binary typed_value (STRING);
		} } }
	}`,
		deltatest.RawColumn{Values: []string{noNames, noNames, noNames, noNames}},
		deltatest.RawColumn{Values: []string{seven}, Def: []int16{0, 0, 1, 0}},
		deltatest.RawColumn{Values: []string{nullItem, seven}, Def: []int16{1, 2, 3, 0, 2, 3, 2}, Rep: levels},
		deltatest.RawColumn{Values: []string{"drama", "horror"}, Def: []int16{1, 3, 2, 0, 3, 2, 2}, Rep: levels},
	).want(t, rowsOfTexts(`[]`, `["drama",null]`, `7`, `["horror",7,null]`)...)
}

func TestShreddedValuesThatContradictAreRefused(t *testing.T) {
	one := func(v string) deltatest.RawColumn { return deltatest.RawColumn{Values: []string{v}, Def: []int16{1}} }
	metadata := deltatest.RawColumn{Values: []string{names}}
	variantFile("required group v { required binary metadata; optional binary value; optional int64 typed_value; }",
		metadata, one(seven), deltatest.RawColumn{Values: []int64{5}, Def: []int16{1}}).
		wantError(t, "column v: a variant breaks its format: value and typed_value are both present")
	object := "required group v { required binary metadata; optional binary value; optional group typed_value { required group a { optional binary value; } } }"
	missing := deltatest.RawColumn{Values: []string{}, Def: []int16{1}}
	variantFile(object, metadata, one(seven), missing).wantError(t, "value and typed_value are both present, but the value is no object")
	variantFile(object, metadata, one(""), missing).wantError(t, "value and typed_value are both present, but the value is no object")
	variantFile(object, metadata, one(onlyA), missing).wantError(t, `the member "a" stands in typed_value and in value`)
	field := deltatest.RawColumn{Values: []string{seven}, Def: []int16{2}}
	variantFile(object, metadata, one(onlyA), field).wantError(t, `the member "a" stands in typed_value and in value`)
	variantFile(object, metadata, one(onlyZ), field).want(t, rowsOfTexts(`{"a":7,"z":9}`)...)
}

func TestBrokenVariantsAreRefusedByColumn(t *testing.T) {
	group := "required group v { required binary metadata; required binary value; }"
	for _, value := range []string{"", "\x0c", "\x05\xff"} {
		variantFile(group, deltatest.RawColumn{Values: []string{noNames}}, deltatest.RawColumn{Values: []string{value}}).
			wantError(t, "column v: a variant breaks its format: ")
	}
	variantFile(group, deltatest.RawColumn{Values: []string{""}}, deltatest.RawColumn{Values: []string{seven}}).
		wantError(t, "column v: a variant breaks its format: the metadata has no bytes")
	variantFile("required group v { optional binary metadata; required binary value; }",
		deltatest.RawColumn{Values: []string{}, Def: []int16{0}}, deltatest.RawColumn{Values: []string{seven}}).
		wantError(t, "column v: a variant breaks its format: its metadata is null")
}

// Required groups in a struct that is null hold no variant at all.
func TestVariantsInOtherTypes(t *testing.T) {
	const group = "{ required binary metadata; required binary value; }"
	message := "message m { optional group s { required int64 id; required group v " + group + " } " +
		"optional group l (LIST) { repeated group list { optional group element " + group + " } } " +
		"optional group m (MAP) { repeated group key_value { required binary key (STRING); required group value " + group + " } } }"
	present := func(values ...string) deltatest.RawColumn {
		return deltatest.RawColumn{Values: values, Def: []int16{1, 0, 1}}
	}
	listed := func(values ...string) deltatest.RawColumn {
		return deltatest.RawColumn{Values: values, Def: []int16{3, 2, 0, 1}, Rep: []int16{0, 1, 0, 0}}
	}
	mapped := func(values ...string) deltatest.RawColumn {
		return deltatest.RawColumn{Values: values, Def: []int16{2, 2, 1, 0}, Rep: []int16{0, 1, 0, 0}}
	}
	content := deltatest.Parquet{}.RawFile(message, deltatest.RawGroup{
		{Values: []int64{1, 3}, Def: []int16{1, 0, 1}},
		present(noNames, names), present(seven, onlyZ),
		listed(noNames), listed(text), mapped("k", "l"), mapped(noNames, names), mapped(nullItem, onlyZ),
	})
	reading{content: content, columns: deltatest.Columns("s struct<id:long,v:variant>", "l array<variant>", "m map<string,variant>")}.want(t,
		`{"l":["\"x\"",null],"m":[{"key":"k","value":"null"},{"key":"l","value":"{\"z\":9}"}],"s":{"id":1,"v":"7"}}`,
		`{"l":null,"m":[],"s":null}`,
		`{"l":[],"m":null,"s":{"id":3,"v":"{\"z\":9}"}}`)
}

// A variant column that nobody asked for is not looked at, whatever the file has for it (P62 of other readers).
func TestAVariantLeftOutDoesNotMatter(t *testing.T) {
	content := deltatest.Parquet{}.RawFile("message m { required int64 id; optional group v { required int96 strange; } }",
		deltatest.RawGroup{{Values: []int64{1}}, {Values: [][12]byte{}, Def: []int16{0}}})
	reading{content: content, columns: deltatest.Columns("id long")}.want(t, `{"id":1}`)
	reading{content: content, columns: deltatest.Columns("w variant", "id long")}.want(t, `{"id":1,"w":null}`)
	reading{content: content, columns: deltatest.Columns("v variant")}.wantError(t, "has no binary member metadata")
}
