package schema

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// table returns the schemaString of one column c of the given type, in JSON.
func table(typeJSON string) string {
	return `{"type":"struct","fields":[{"name":"c","type":` + typeJSON + `,"nullable":true,"metadata":{}}]}`
}

func mustParse(t testing.TB, text string) *Struct {
	t.Helper()
	s, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestParseReadsEachType(t *testing.T) {
	cases := []struct {
		json, spelling string
		want           Type
	}{
		{`"string"`, "string", String},
		{`"long"`, "long", Long},
		{`"integer"`, "integer", Integer},
		{`"short"`, "short", Short},
		{`"byte"`, "byte", Byte},
		{`"float"`, "float", Float},
		{`"double"`, "double", Double},
		{`"boolean"`, "boolean", Boolean},
		{`"binary"`, "binary", Binary},
		{`"date"`, "date", Date},
		{`"timestamp"`, "timestamp", Timestamp},
		{`"timestamp_ntz"`, "timestamp_ntz", TimestampNTZ},
		{`"void"`, "void", Void},
		{`"variant"`, "variant", Variant},
		{`"decimal"`, "decimal(10,0)", Decimal{10, 0}},
		{`"decimal(38,38)"`, "decimal(38,38)", Decimal{38, 38}},
		{`"decimal( 7 , 2 )"`, "decimal(7,2)", Decimal{7, 2}},
		{`"decimal(39,2)"`, "decimal(39,2)", Unknown("decimal(39,2)")},
		{`"decimal(3,-2)"`, "decimal(3,-2)", Unknown("decimal(3,-2)")},
		{`"decimal(2,3)"`, "decimal(2,3)", Unknown("decimal(2,3)")},
		{`"decimal(2)"`, "decimal(2)", Unknown("decimal(2)")},
		{`"Long"`, "Long", Unknown("Long")},
		{`"geometry(OGC:CRS84)"`, "geometry(OGC:CRS84)", Unknown("geometry(OGC:CRS84)")},
		{`"interval year to month"`, "interval year to month", Unknown("interval year to month")},
		{`{"type":"udt","class":"x","sqlType":"string"}`, "udt", Unknown("udt")},
		{`{"type":"array","elementType":"long","containsNull":false}`, "array<long>", &Array{Element: Long}},
		{
			`{"elementType":{"type":"array","elementType":"date"},"type":"array"}`, "array<array<date>>",
			&Array{Element: &Array{Element: Date, ContainsNull: true}, ContainsNull: true},
		},
		{`{"type":"map","keyType":"string","valueType":"void","valueContainsNull":false}`, "map<string,void>", &Map{Key: String, Value: Void}},
		{`{"type":"map","keyType":"string","valueType":"long"}`, "map<string,long>", &Map{Key: String, Value: Long, ValueContainsNull: true}},
		{
			`{"type":"struct","fields":[{"type":"long","name":"a.b","nullable":false},{"name":"d","type":"string","nullable":null,"future":[1]}]}`,
			"struct<a.b:long,d:string>", &Struct{Fields: []Field{{Name: "a.b", Type: Long}, {Name: "d", Type: String, Nullable: true}}},
		},
		{`{"type":"struct","fields":[]}`, "struct<>", &Struct{}},
	}
	for _, c := range cases {
		t.Run(c.spelling, func(t *testing.T) {
			got := mustParse(t, table(c.json)).Fields[0].Type
			if !reflect.DeepEqual(c.want, got) || got.String() != c.spelling {
				t.Errorf("want %#v %s, got %#v %s", c.want, c.spelling, got, got)
			}
		})
	}
}

func TestParseKeepsFieldMetadataAsCompactJSON(t *testing.T) {
	s := mustParse(t, `{"type":"struct","fields":[{"name":"c","type":"string","metadata":{"__CHAR_VARCHAR_TYPE_STRING":"varchar( 5)",`+
		`"delta.typeChanges" : [ { "fromType": "short" } ], "big": 9007199254740993}}, {"name":"d","type":"long","metadata":null}]}`)
	want := map[string]jsontext.Value{
		"__CHAR_VARCHAR_TYPE_STRING": jsontext.Value(`"varchar( 5)"`),
		"delta.typeChanges":          jsontext.Value(`[{"fromType":"short"}]`),
		"big":                        jsontext.Value(`9007199254740993`),
	}
	if got := s.Fields[0].Metadata; !reflect.DeepEqual(want, got) {
		t.Errorf("want %s, got %s", want, got)
	}
	if got := s.Fields[1].Metadata; got != nil {
		t.Errorf("want no metadata, got %s", got)
	}
}

func TestParseRefusesWhatIsNoSchema(t *testing.T) {
	nested := `{"type":"array","elementType":{"type":"map","keyType":"string","valueType":%s}}`
	cases := []struct{ name, text, want string }{
		{"empty", "", "the schemaString is missing or empty"},
		{"blank", " \n", "the schemaString is missing or empty"},
		{"no columns", `{"type":"struct","fields":[]}`, "the schemaString has no columns"},
		{"no fields", `{"type":"struct"}`, "a struct has no fields"},
		{"a name", `"long"`, "the schemaString is of type long, not a struct"},
		{"a number", `5`, "the schemaString has 5 where a type belongs"},
		{"cut", `{"type":"struct","fields":[{"name":"a"`, `column a: the schemaString is not valid JSON: jsontext: unexpected EOF within "/fields/0" after offset 38`},
		{"more text", table(`"long"`) + "x", "the schemaString goes on after its end"},
		{"no name", `{"type":"struct","fields":[{"type":"long"}]}`, "column ?: a field has no name"},
		{"no type", `{"type":"struct","fields":[{"name":"a"}]}`, "column a: a field has no type"},
		{"empty object as type", table(`{}`), "column c: a type has no name"},
		{"type of null", table(`null`), "column c: the schemaString has null where a type belongs"},
		{"field of text", `{"type":"struct","fields":["a"]}`, `the schemaString has "a" where a field belongs`},
		{"fields of an object", `{"type":"struct","fields":{}}`, "the schemaString has {} where a list of fields belongs"},
		{"nullable of text", `{"type":"struct","fields":[{"name":"a","type":"long","nullable":"yes"}]}`, `column a: the schemaString has "yes" where true or false as nullable belongs`},
		{"array without elements", fmt.Sprintf(table(nested), `{"type":"array"}`), "column c.element.value: an array has no elementType"},
		{"map without keys", table(`{"type":"map","valueType":"long"}`), "column c: a map has no keyType or no valueType"},
		{"broken deep inside", fmt.Sprintf(table(nested), `7`), "column c.element.value: the schemaString has 7 where a type belongs"},
		{
			"names that differ in case", `{"type":"struct","fields":[{"name":"Id","type":"long"},{"name":"iD","type":"long"}]}`,
			`the schemaString has two columns of one name: "Id" and "iD"`,
		},
		{
			"names that differ in case in a struct", table(`{"type":"struct","fields":[{"name":"ä","type":"long"},{"name":"Ä","type":"long"}]}`),
			`column c: the schemaString has two columns of one name: "ä" and "Ä"`,
		},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			_, err := Parse(c.text)
			if err == nil || err.Error() != c.want || deltaerr.KindOf(err) != deltaerr.Corrupt {
				t.Errorf("want %q\ngot  %q", c.want, err)
			}
		})
	}
}

func TestParseAllowsOneNameInDifferentStructs(t *testing.T) {
	mustParse(t, table(`{"type":"struct","fields":[{"name":"c","type":{"type":"struct","fields":[{"name":"c","type":"long"}]}}]}`))
}

func TestParseBoundsNesting(t *testing.T) {
	arrays := func(n int) string {
		return table(strings.Repeat(`{"type":"array","elementType":`, n) + `"long"` + strings.Repeat(`}`, n))
	}
	s := mustParse(t, arrays(maxDepth-2))
	if _, err := ArrowSchema(s); err != nil {
		t.Error(err)
	}
	for _, n := range []int{maxDepth - 1, 5000} {
		_, err := Parse(arrays(n))
		if err == nil || deltaerr.KindOf(err) != deltaerr.Unsupported || !strings.Contains(err.Error(), "types nested deeper than 64 levels are not supported") {
			t.Errorf("%d: want a refusal, got %v", n, err)
		}
	}
}

// types generates types of some depth.
func types(depth int) *rapid.Generator[Type] {
	leaves := rapid.OneOf(
		rapid.SampledFrom([]Type{String, Long, Integer, Short, Byte, Float, Double, Boolean, Binary, Date, Timestamp, TimestampNTZ, Void, Variant, Unknown("new")}),
		rapid.Custom(func(t *rapid.T) Type {
			p := rapid.IntRange(1, 38).Draw(t, "precision")
			return Decimal{p, rapid.IntRange(0, p).Draw(t, "scale")}
		}),
	)
	if depth == 0 {
		return leaves
	}
	inner := types(depth - 1)
	return rapid.OneOf(
		leaves,
		rapid.Custom(func(t *rapid.T) Type { return &Array{inner.Draw(t, "element"), rapid.Bool().Draw(t, "null")} }),
		rapid.Custom(func(t *rapid.T) Type {
			return &Map{inner.Draw(t, "key"), inner.Draw(t, "value"), rapid.Bool().Draw(t, "null")}
		}),
		rapid.Custom(func(t *rapid.T) Type { return structs(inner).Draw(t, "struct") }),
	)
}

func structs(inner *rapid.Generator[Type]) *rapid.Generator[*Struct] {
	return rapid.Custom(func(t *rapid.T) *Struct {
		s := &Struct{}
		for _, name := range rapid.SliceOfNDistinct(rapid.String(), 1, 4, fold).Draw(t, "names") {
			f := Field{Name: name, Type: inner.Draw(t, "type"), Nullable: rapid.Bool().Draw(t, "nullable")}
			for key, value := range rapid.MapOfN(rapid.String(), rapid.String(), 0, 2).Draw(t, "metadata") {
				if f.Metadata == nil {
					f.Metadata = map[string]jsontext.Value{}
				}
				f.Metadata[key], _ = jsontext.AppendQuote(nil, value)
			}
			s.Fields = append(s.Fields, f)
		}
		return s
	})
}

func TestParseOfMarshalGivesTheSameSchema(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := structs(types(2)).Draw(t, "schema")
		text, err := want.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		got, err := Parse(string(text))
		if err != nil || !reflect.DeepEqual(want, got) || want.Hash() != got.Hash() || want.String() != got.String() {
			t.Fatalf("want %s, got %v, %v", text, got, err)
		}
	})
}

func TestMarshalWritesASchemaString(t *testing.T) {
	s := &Struct{Fields: []Field{
		{Name: "a\"b", Type: Decimal{5, 2}, Nullable: true, Metadata: map[string]jsontext.Value{"y": jsontext.Value(`2`), "x": jsontext.Value(`1`)}},
		{Name: "m", Type: &Map{Key: String, Value: &Array{Element: Long, ContainsNull: true}}},
	}}
	want := `{"type":"struct","fields":[{"name":"a\"b","type":"decimal(5,2)","nullable":true,"metadata":{"x":1,"y":2}},` +
		`{"name":"m","type":{"type":"map","keyType":"string","valueType":{"type":"array","elementType":"long","containsNull":true},"valueContainsNull":false},` +
		`"nullable":false,"metadata":{}}]}`
	got, err := json.Marshal(s)
	if err != nil || want != string(got) {
		t.Errorf("want %s\ngot  %s, %v", want, got, err)
	}
}

func TestMarshalRefusesWhatCannotBeWritten(t *testing.T) {
	for name, s := range map[string]*Struct{
		"no type":            {Fields: []Field{{Name: "a"}}},
		"no element":         {Fields: []Field{{Name: "a", Type: &Array{}}}},
		"no value":           {Fields: []Field{{Name: "a", Type: &Map{Key: Long}}}},
		"name of no text":    {Fields: []Field{{Name: "\xff", Type: Long}}},
		"metadata of no key": {Fields: []Field{{Name: "a", Type: Long, Metadata: map[string]jsontext.Value{"\xff": jsontext.Value("1")}}}},
	} {
		if got, err := s.MarshalJSON(); err == nil {
			t.Errorf("%s: want an error, got %s", name, got)
		}
	}
}
