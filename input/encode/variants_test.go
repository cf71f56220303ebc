package encode

import (
	stdjson "encoding/json"
	"reflect"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/extensions"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

var variantSchema = &schema.Struct{Fields: []schema.Field{
	{Name: "v", Type: schema.Variant, Nullable: true},
	{Name: "in", Type: &schema.Struct{Fields: []schema.Field{{Name: "l", Type: listOf(schema.Variant), Nullable: true}}}, Nullable: true},
	{Name: "m", Type: mapOf(schema.String, schema.Variant), Nullable: true},
}}

const (
	variantText = `{"a":[1.50,12345678901234567890,"x\u2028"],"b":{},"c":null}`
	variantRow  = `{"v":` + variantText + `,"in":{"l":[1e+100,null,null]},"m":{"k":"text"}}`
)

func variantBatch(t *testing.T) arrow.RecordBatch {
	t.Helper()
	return buildBatch(t, checked(t), variantSchema, []record{
		{variantText, record{[]any{"1e+100", nil, "null"}}, []pair{{"k", `"text"`}}},
		{nil, nil, nil},
	})
}

func TestVariantsAreTheirJSONValues(t *testing.T) {
	batch := variantBatch(t)
	defer batch.Release()
	options := valuesOption{Decimal: "number", Int64: "string", Timestamp: "unix_micros", Binary: "hex", NonFinite: "null"}
	for _, values := range []valuesOption{{}, options} {
		e := mustEncoder(t, variantSchema, values)
		rows, err := e.JSON(batch, Part{})
		if err != nil {
			t.Fatal(err)
		}
		if got := string(rows.Row(0)); got != variantRow {
			t.Errorf("want %s, got %s", variantRow, got)
		}
		if want, got := `{"v":null,"in":null,"m":null}`, string(rows.Row(1)); want != got {
			t.Errorf("want %s, got %s", want, got)
		}
	}
}

func TestStructuredVariantsKeepTheDigitsOfNumbers(t *testing.T) {
	batch := variantBatch(t)
	defer batch.Release()
	rows, err := mustEncoder(t, variantSchema, valuesOption{}).Structured(batch, Part{})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{
		"v": map[string]any{
			"a": []any{stdjson.Number("1.50"), stdjson.Number("12345678901234567890"), "x\u2028"},
			"b": map[string]any{}, "c": nil,
		},
		"in": map[string]any{"l": []any{stdjson.Number("1e+100"), nil, nil}},
		"m":  map[string]any{"k": "text"},
	}
	if !reflect.DeepEqual(want, rows.Rows[0]) {
		t.Errorf("want %v, got %v", want, rows.Rows[0])
	}
	broken := buildBatch(t, checked(t), variantSchema, []record{{"{", nil, nil}})
	defer broken.Release()
	if _, err := mustEncoder(t, variantSchema, valuesOption{}).Structured(broken, Part{}); deltaerr.KindOf(err) != deltaerr.Internal {
		t.Errorf("want an internal error, got %v", err)
	}
}

func TestKeysOfVariants(t *testing.T) {
	for text, want := range map[string]string{
		`"a\"b\u2028"`: "a\"b\u2028", `""`: "", `7`: "7", `{"a":"b"}`: `{"a":"b"}`, `["x"]`: `["x"]`, `null`: "(none)",
	} {
		batch := buildBatch(t, checked(t), variantSchema, []record{{text, nil, nil}})
		keys, err := mustEncoder(t, variantSchema, valuesOption{}).Keys(batch, []int{0}, Part{})
		batch.Release()
		if err != nil {
			t.Fatal(err)
		}
		got, ok := keys.Key(0)
		if !ok {
			got = "(none)"
		}
		if got != want {
			t.Errorf("%s: want the key %q, got %q", text, want, got)
		}
	}
}

// arrow-go reads a column that is marked as arrow.json as that extension type, where a program knows it.
func TestVariantsOfAnArrowStreamAreTheSame(t *testing.T) {
	batch := variantBatch(t)
	defer batch.Release()
	stream, _, err := ArrowIPC(batch, Part{})
	if err != nil {
		t.Fatal(err)
	}
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	e := mustEncoder(t, variantSchema, valuesOption{})
	readOne(t, mem, stream, func(got arrow.RecordBatch) {
		if _, ok := got.Column(0).(*extensions.JSONArray); !ok {
			t.Errorf("want the extension type in the stream, got %s", got.Column(0).DataType())
		}
		rows, err := e.JSON(got, Part{})
		if err != nil || string(rows.Row(0)) != variantRow {
			t.Errorf("want %s, got %s, %v", variantRow, rows.Row(0), err)
		}
	})
	sliced := batch.NewSlice(1, 2)
	defer sliced.Release()
	if rows, err := e.JSON(sliced, Part{}); err != nil || rows.Len() != 1 {
		t.Errorf("want one row, got %v, %v", rows, err)
	}
	if ok, _ := (&variants{}).bind(array.NewNull(1)); ok {
		t.Error("want another type refused")
	}
}
