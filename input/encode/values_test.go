package encode

import (
	"encoding/json"
	"math"
	"math/big"
	"reflect"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// oneColumn encodes one value in a column named v.
func oneColumn(t *testing.T, typ schema.Type, v any, values valuesOption) (text string, structured any, err error) {
	t.Helper()
	s := &schema.Struct{Fields: []schema.Field{{Name: "v", Type: typ, Nullable: true}}}
	batch := buildBatch(t, checked(t), s, []record{{v}})
	defer batch.Release()
	e := mustEncoder(t, s, values)
	rows, err := e.JSON(batch, Part{})
	if err != nil {
		if _, other := e.Structured(batch, Part{}); other == nil || other.Error() != err.Error() {
			t.Errorf("want the same error from both, got %v and %v", err, other)
		}
		return "", nil, err
	}
	objects, err := e.Structured(batch, Part{})
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(strings.TrimPrefix(string(rows.Row(0)), `{"v":`), "}"), objects.Rows[0]["v"], nil
}

func listOf(element schema.Type) schema.Type {
	return &schema.Array{Element: element, ContainsNull: true}
}

func mapOf(key, value schema.Type) schema.Type {
	return &schema.Map{Key: key, Value: value, ValueContainsNull: true}
}

func unscaled(text string) *big.Int {
	n, _ := new(big.Int).SetString(text, 10)
	return n
}

var member = &schema.Struct{Fields: []schema.Field{{Name: "a.b", Type: schema.Long, Nullable: true}}}

var documentedValues = []struct {
	name       string
	typ        schema.Type
	value      any
	values     valuesOption
	want       string
	structured any
}{
	{"long", schema.Long, int64(math.MinInt64), valuesOption{}, `-9223372036854775808`, int64(math.MinInt64)},
	{"long beyond 2^53", schema.Long, int64(1<<53 + 1), valuesOption{}, `9007199254740993`, int64(1<<53 + 1)},
	{"long as string", schema.Long, int64(1<<53 + 1), valuesOption{Int64: "string"}, `"9007199254740993"`, "9007199254740993"},
	{"integer is no long", schema.Integer, int64(-1), valuesOption{Int64: "string"}, `-1`, int64(-1)},
	{"byte", schema.Byte, int64(-128), valuesOption{}, `-128`, int64(-128)},
	{"boolean", schema.Boolean, true, valuesOption{}, `true`, true},
	{"null", schema.Long, nil, valuesOption{}, `null`, nil},
	{"void", schema.Void, nil, valuesOption{}, `null`, nil},

	{"double", schema.Double, 0.1, valuesOption{}, `0.1`, 0.1},
	{"whole double", schema.Double, 1.0, valuesOption{}, `1`, 1.0},
	{"double of 17 digits", schema.Double, 0.30000000000000004, valuesOption{}, `0.30000000000000004`, 0.30000000000000004},
	{"small double", schema.Double, 1e-7, valuesOption{}, `1e-7`, 1e-7},
	{"double 1e-6", schema.Double, 1e-6, valuesOption{}, `0.000001`, 1e-6},
	{"large double", schema.Double, 1e21, valuesOption{}, `1e+21`, 1e21},
	{"double 1e20", schema.Double, 1e20, valuesOption{}, `100000000000000000000`, 1e20},
	{"smallest double", schema.Double, 5e-324, valuesOption{}, `5e-324`, 5e-324},
	{"negative zero", schema.Double, math.Copysign(0, -1), valuesOption{}, `-0`, math.Copysign(0, -1)},
	{"float at its precision", schema.Float, float32(0.1), valuesOption{}, `0.1`, float32(0.1)},
	{"float", schema.Float, float32(16777216), valuesOption{}, `16777216`, float32(16777216)},
	{"negative zero float", schema.Float, float32(math.Copysign(0, -1)), valuesOption{}, `-0`, float32(math.Copysign(0, -1))},
	{"NaN", schema.Double, math.NaN(), valuesOption{}, `"NaN"`, "NaN"},
	{"infinity", schema.Float, float32(math.Inf(1)), valuesOption{}, `"Infinity"`, "Infinity"},
	{"negative infinity", schema.Double, math.Inf(-1), valuesOption{}, `"-Infinity"`, "-Infinity"},
	{"infinity as null", schema.Double, math.Inf(-1), valuesOption{NonFinite: "null"}, `null`, nil},

	{"decimal", schema.Decimal{Precision: 5, Scale: 3}, unscaled("1500"), valuesOption{}, `"1.500"`, "1.500"},
	{"decimal number", schema.Decimal{Precision: 5, Scale: 3}, unscaled("-1"), valuesOption{Decimal: "number"}, `-0.001`, json.Number("-0.001")},
	{"decimal without scale", schema.Decimal{Precision: 38}, unscaled("-99999999999999999999999999999999999999"), valuesOption{}, `"-99999999999999999999999999999999999999"`, "-99999999999999999999999999999999999999"},
	{"decimal of scale 38", schema.Decimal{Precision: 38, Scale: 38}, unscaled("1"), valuesOption{}, `"0.00000000000000000000000000000000000001"`, "0.00000000000000000000000000000000000001"},
	{"decimal zero", schema.Decimal{Precision: 38, Scale: 20}, unscaled("0"), valuesOption{}, `"0.00000000000000000000"`, "0.00000000000000000000"},
	{"decimal over 2^64", schema.Decimal{Precision: 38, Scale: 18}, unscaled("18446744073709551616"), valuesOption{}, `"18.446744073709551616"`, "18.446744073709551616"},

	{"date", schema.Date, int64(0), valuesOption{}, `"1970-01-01"`, "1970-01-01"},
	{"date of the year 10000", schema.Date, int64(2_932_897), valuesOption{}, `"10000-01-01"`, "10000-01-01"},
	{"first date", schema.Date, int64(-719_162), valuesOption{}, `"0001-01-01"`, "0001-01-01"},
	{"date of the year 0", schema.Date, int64(-719_163), valuesOption{}, `"0000-12-31"`, "0000-12-31"},
	{"date of 44 BC", schema.Date, int64(-735_160), valuesOption{}, `"-0043-03-15"`, "-0043-03-15"},
	{"lowest date", schema.Date, int64(math.MinInt32), valuesOption{}, `"-5877641-06-23"`, "-5877641-06-23"},
	{"highest date", schema.Date, int64(math.MaxInt32), valuesOption{}, `"5881580-07-11"`, "5881580-07-11"},

	{"timestamp", schema.Timestamp, int64(1), valuesOption{}, `"1970-01-01T00:00:00.000001Z"`, "1970-01-01T00:00:00.000001Z"},
	{"timestamp before 1970", schema.Timestamp, int64(-1), valuesOption{}, `"1969-12-31T23:59:59.999999Z"`, "1969-12-31T23:59:59.999999Z"},
	{"timestamp without zone", schema.TimestampNTZ, int64(-1), valuesOption{}, `"1969-12-31T23:59:59.999999"`, "1969-12-31T23:59:59.999999"},
	{"timestamp of the year 10000", schema.Timestamp, unscaled("253402300800000000").Int64(), valuesOption{}, `"10000-01-01T00:00:00.000000Z"`, "10000-01-01T00:00:00.000000Z"},
	{"lowest timestamp", schema.Timestamp, int64(math.MinInt64), valuesOption{}, `"-290308-12-21T19:59:05.224192Z"`, "-290308-12-21T19:59:05.224192Z"},
	{"highest timestamp", schema.TimestampNTZ, int64(math.MaxInt64), valuesOption{}, `"294247-01-10T04:00:54.775807"`, "294247-01-10T04:00:54.775807"},
	{"timestamp as microseconds", schema.Timestamp, int64(math.MinInt64), valuesOption{Timestamp: "unix_micros", Int64: "string"}, `-9223372036854775808`, int64(math.MinInt64)},

	{"string", schema.String, "a<&>\u007f/日本", valuesOption{}, `"a<&>` + "\x7f" + `/日本"`, "a<&>\u007f/日本"},
	{"escapes", schema.String, "\"\\\b\f\n\r\t\x00\x1f\u2028\u2029", valuesOption{}, `"\"\\\b\f\n\r\t\u0000\u001f\u2028\u2029"`, "\"\\\b\f\n\r\t\x00\x1f\u2028\u2029"},
	{"replacement character", schema.String, "\ufffd", valuesOption{}, `"` + "\ufffd" + `"`, "\ufffd"},
	{"binary", schema.Binary, []byte{0, 255, 128}, valuesOption{}, `"AP+A"`, "AP+A"},
	{"binary as hex", schema.Binary, []byte{0, 255, 128}, valuesOption{Binary: "hex"}, `"00ff80"`, "00ff80"},

	{"struct", member, record{int64(1)}, valuesOption{}, `{"a.b":1}`, map[string]any{"a.b": int64(1)}},
	{"struct of nulls", member, record{nil}, valuesOption{}, `{"a.b":null}`, map[string]any{"a.b": nil}},
	{"null struct", member, nil, valuesOption{}, `null`, nil},
	{"list", listOf(schema.String), []any{"a", nil}, valuesOption{}, `["a",null]`, []any{"a", nil}},
	{"empty list", listOf(schema.String), []any{}, valuesOption{}, `[]`, []any{}},
	{"map in file order", mapOf(schema.String, schema.Long), []pair{{"b", int64(1)}, {"a", nil}}, valuesOption{}, `{"b":1,"a":null}`, map[string]any{"b": int64(1), "a": nil}},
	{
		"map with other keys", mapOf(schema.Long, schema.String),
		[]pair{{int64(1), "x"}, {int64(1), nil}},
		valuesOption{},
		`[{"key":1,"value":"x"},{"key":1,"value":null}]`,
		[]any{map[string]any{"key": int64(1), "value": "x"}, map[string]any{"key": int64(1), "value": nil}},
	},
	{"empty map with other keys", mapOf(schema.Date, schema.String), []pair{}, valuesOption{}, `[]`, []any{}},
}

func TestValueHasItsDocumentedText(t *testing.T) {
	for _, c := range documentedValues {
		t.Run(c.name, func(t *testing.T) {
			text, structured, err := oneColumn(t, c.typ, c.value, c.values)
			if err != nil {
				t.Fatal(err)
			}
			if text != c.want {
				t.Errorf("want %s, got %s", c.want, text)
			}
			if !reflect.DeepEqual(structured, c.structured) {
				t.Errorf("want %#v, got %#v", c.structured, structured)
			}
		})
	}
}

func TestValueWithoutJSONTextIsRefusedByName(t *testing.T) {
	nested := func(inner schema.Type) schema.Type {
		return &schema.Array{Element: &schema.Struct{Fields: []schema.Field{{Name: "in", Type: inner, Nullable: true}}}}
	}
	many := []pair{}
	for i := range 20 {
		many = append(many, pair{string(rune('a' + i%19)), nil})
	}
	for _, c := range []struct {
		name   string
		typ    schema.Type
		value  any
		values valuesOption
		kind   deltaerr.Kind
		want   []string
	}{
		{"invalid UTF-8", schema.String, "a\xff", valuesOption{}, deltaerr.Corrupt, []string{"column v:", "encoding row 0", "not valid UTF-8", "arrow_ipc"}},
		{"a surrogate", nested(schema.String), []any{record{"\xed\xa0\x80"}}, valuesOption{}, deltaerr.Corrupt, []string{"column v.element.in:", "not valid UTF-8"}},
		{"a cut rune", schema.String, "12345678\xe2\x80", valuesOption{}, deltaerr.Corrupt, []string{"not valid UTF-8"}},
		{"NaN", nested(schema.Float), []any{record{float32(math.NaN())}}, valuesOption{NonFinite: "fail"}, deltaerr.Config, []string{"column v.element.in:", "a value is NaN", "values.non_finite"}},
		{"infinity", schema.Double, math.Inf(-1), valuesOption{NonFinite: "fail"}, deltaerr.Config, []string{"column v:", "a value is -Infinity"}},
		{"repeated key", mapOf(schema.String, schema.Long), []pair{{"a", nil}, {"b", nil}, {"a", nil}}, valuesOption{}, deltaerr.Corrupt, []string{"column v.key:", "the same key twice"}},
		{"repeated key of many", mapOf(schema.String, schema.Void), many, valuesOption{}, deltaerr.Corrupt, []string{"the same key twice"}},
		{"invalid key", mapOf(schema.String, schema.Long), []pair{{"\x80", nil}}, valuesOption{}, deltaerr.Corrupt, []string{"column v.key:", "not valid UTF-8"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, _, err := oneColumn(t, c.typ, c.value, c.values)
			if err == nil || deltaerr.KindOf(err) != c.kind {
				t.Fatalf("want kind %v, got %v", c.kind, err)
			}
			for _, part := range c.want {
				if !strings.Contains(err.Error(), part) {
					t.Errorf("want %q in %q", part, err)
				}
			}
		})
	}
}

func TestNewRefusesWhatHasNoText(t *testing.T) {
	deep := schema.Type(schema.Long)
	for range maxDepth + 1 {
		deep = listOf(deep)
	}
	field := func(name string, typ schema.Type) schema.Field { return schema.Field{Name: name, Type: typ} }
	for _, c := range []struct {
		name   string
		fields []schema.Field
		kind   deltaerr.Kind
		want   string
	}{
		{"unknown type", []schema.Field{field("g", schema.Unknown("geometry"))}, deltaerr.Unsupported, "values of type geometry cannot be encoded"},
		{"unknown type of an element", []schema.Field{field("g", listOf(schema.Unknown("geometry")))}, deltaerr.Unsupported, "column g.element"},
		{"no type", []schema.Field{field("g", nil)}, deltaerr.Unsupported, "column g"},
		{"too deep", []schema.Field{field("d", deep)}, deltaerr.Unsupported, "nested deeper than 500 levels"},
		{"repeated name", []schema.Field{field("a", schema.Long), field("a", schema.Long)}, deltaerr.Corrupt, "occurs twice"},
		{"name of no text", []schema.Field{field("\xff", schema.Long)}, deltaerr.Corrupt, "not valid UTF-8"},
		{"scale", []schema.Field{field("n", schema.Decimal{Precision: 38, Scale: 39})}, deltaerr.Unsupported, "decimal(38,39)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := New(&schema.Struct{Fields: c.fields}, defaults)
			if err == nil || deltaerr.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.want) {
				t.Errorf("want a %v error with %q, got %v", c.kind, c.want, err)
			}
		})
	}
}

func TestDeepestTypesAreEncoded(t *testing.T) {
	typ, value := schema.Type(schema.Long), any(int64(7))
	for range maxDepth - 1 {
		typ, value = &schema.Array{Element: typ, ContainsNull: true}, []any{value}
	}
	text, _, err := oneColumn(t, typ, value, valuesOption{})
	if want := strings.Repeat("[", maxDepth-1) + "7" + strings.Repeat("]", maxDepth-1); err != nil || text != want {
		t.Errorf("want the number in %d brackets, got %s, %v", maxDepth-1, text, err)
	}
}

func TestBatchOfOtherColumnsIsAnInternalError(t *testing.T) {
	mem := checked(t)
	build := func(name string, typ schema.Type, value any) arrow.RecordBatch {
		s := &schema.Struct{Fields: []schema.Field{{Name: name, Type: typ, Nullable: true}}}
		return buildBatch(t, mem, s, []record{{value}})
	}
	inner := func(name string) *schema.Struct {
		return &schema.Struct{Fields: []schema.Field{{Name: name, Type: schema.Long, Nullable: true}}}
	}
	for _, c := range []struct {
		name  string
		typ   schema.Type
		batch arrow.RecordBatch
	}{
		{"name", schema.Long, build("w", schema.Long, int64(1))},
		{"width", schema.Long, build("v", schema.Integer, int64(1))},
		{"kind", schema.Timestamp, build("v", schema.Long, int64(1))},
		{"zone", schema.Timestamp, build("v", schema.TimestampNTZ, int64(1))},
		{"scale", schema.Decimal{Precision: 9, Scale: 2}, build("v", schema.Decimal{Precision: 9, Scale: 3}, unscaled("1"))},
		{"bytes for text", schema.String, build("v", schema.Binary, []byte("a"))},
		{"member", inner("a"), build("v", inner("b"), record{int64(1)})},
		{"map for list", &schema.Array{Element: inner("a")}, build("v", mapOf(schema.String, schema.Long), []pair{})},
	} {
		s := &schema.Struct{Fields: []schema.Field{{Name: "v", Type: c.typ, Nullable: true}}}
		if _, err := mustEncoder(t, s, valuesOption{}).JSON(c.batch, Part{}); err == nil || deltaerr.KindOf(err) != deltaerr.Internal {
			t.Errorf("%s: want an internal error, got %v", c.name, err)
		}
		c.batch.Release()
	}
	none := array.NewRecordBatch(arrow.NewSchema(nil, nil), nil, 1)
	if _, _, err := mustEncoder(t, inner("a"), valuesOption{}).Lines(none, Part{}); deltaerr.KindOf(err) != deltaerr.Internal {
		t.Errorf("want an internal error, got %v", err)
	}
}

func TestNullKeyOfAMapIsRefused(t *testing.T) {
	at := (*place)(nil).in("m")
	o := &objects{entries: entries{key: column{at: at.in("key"), validity: []byte{0}}}}
	err := o.checkKeys(0, 1)
	if want := "column m.key: a map has a null key"; err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("want %q, got %v", want, err)
	}
}

func TestEncoderHoldsNothingOfABatchItHasEncoded(t *testing.T) {
	s, err := newSession(nestedSchema, defaults)
	if err != nil {
		t.Fatal(err)
	}
	batch := nestedBatch(t, 5)
	defer batch.Release()
	if err := s.bind(batch); err != nil {
		t.Fatal(err)
	}
	s.unbind()
	fresh, _ := newSession(nestedSchema, defaults)
	fresh.scratch = s.scratch
	if !reflect.DeepEqual(fresh, s) {
		t.Error("want a session without references after unbind")
	}
}
