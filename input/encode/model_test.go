package encode

import (
	"fmt"
	"math"
	"math/big"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// A model value is nil, bool, int64 (whole numbers, days, microseconds), float32, float64, string, []byte, *big.Int
// (unscaled decimal), []any (list), record or []pair.
type (
	record []any
	pair   struct{ key, value any }
)

// buildBatch turns rows of model values into a record batch of the schema's Arrow form.
func buildBatch(t fataler, mem memory.Allocator, s *schema.Struct, rows []record) arrow.RecordBatch {
	t.Helper()
	arrowSchema, err := schema.ArrowSchema(s)
	if err != nil {
		t.Fatalf("Arrow schema: %v", err)
	}
	columns := make([]arrow.Array, len(s.Fields))
	for c := range s.Fields {
		b := array.NewBuilder(mem, arrowSchema.Field(c).Type)
		for _, row := range rows {
			appendModel(b, row[c])
		}
		columns[c] = b.NewArray()
		b.Release()
		defer columns[c].Release()
	}
	return array.NewRecordBatch(arrowSchema, columns, int64(len(rows)))
}

type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

func appendModel(b array.Builder, v any) {
	if v == nil {
		b.AppendNull()
		return
	}
	switch b := b.(type) {
	case *array.BooleanBuilder:
		b.Append(v.(bool))
	case *array.Int8Builder:
		b.Append(int8(v.(int64)))
	case *array.Int16Builder:
		b.Append(int16(v.(int64)))
	case *array.Int32Builder:
		b.Append(int32(v.(int64)))
	case *array.Int64Builder:
		b.Append(v.(int64))
	case *array.Float32Builder:
		b.Append(v.(float32))
	case *array.Float64Builder:
		b.Append(v.(float64))
	case *array.StringBuilder:
		b.Append(v.(string))
	case *array.BinaryBuilder:
		b.Append(v.([]byte))
	case *array.Date32Builder:
		b.Append(arrow.Date32(v.(int64)))
	case *array.TimestampBuilder:
		b.Append(arrow.Timestamp(v.(int64)))
	case *array.Decimal128Builder:
		b.Append(decimal128.FromBigInt(v.(*big.Int)))
	default:
		appendNested(b, v)
	}
}

func appendNested(b array.Builder, v any) {
	switch b := b.(type) {
	case *array.StructBuilder:
		b.Append(true)
		for i, member := range v.(record) {
			appendModel(b.FieldBuilder(i), member)
		}
	case *array.MapBuilder:
		b.Append(true)
		for _, entry := range v.([]pair) {
			appendModel(b.KeyBuilder(), entry.key)
			appendModel(b.ItemBuilder(), entry.value)
		}
	case *array.ListBuilder:
		b.Append(true)
		for _, element := range v.([]any) {
			appendModel(b.ValueBuilder(), element)
		}
	default:
		panic(fmt.Sprintf("no model for %T", b))
	}
}

var primitives = []schema.Type{
	schema.String, schema.Long, schema.Integer, schema.Short, schema.Byte, schema.Float, schema.Double, schema.Boolean,
	schema.Binary, schema.Date, schema.Timestamp, schema.TimestampNTZ, schema.Void,
	schema.Decimal{Precision: 9, Scale: 4},
	schema.Decimal{Precision: 18, Scale: 0},
	schema.Decimal{Precision: 20, Scale: 19},
	schema.Decimal{Precision: 38, Scale: 0},
	schema.Decimal{Precision: 38, Scale: 18},
	schema.Decimal{Precision: 38, Scale: 38},
}

func drawType(t *rapid.T, depth int) schema.Type {
	kind := 0
	if depth > 0 {
		kind = rapid.IntRange(0, 6).Draw(t, "kind")
	}
	switch kind {
	case 1:
		return drawStruct(t, depth-1, 0)
	case 2:
		return &schema.Array{Element: drawType(t, depth-1), ContainsNull: true}
	case 3:
		return &schema.Map{Key: schema.String, Value: drawType(t, depth-1), ValueContainsNull: true}
	case 4:
		return &schema.Map{Key: drawKeyType(t, depth-1), Value: drawType(t, depth-1), ValueContainsNull: true}
	}
	return rapid.SampledFrom(primitives).Draw(t, "type")
}

func drawKeyType(t *rapid.T, depth int) schema.Type {
	for {
		if key := drawType(t, depth); key != schema.Void {
			return key
		}
	}
}

func drawStruct(t *rapid.T, depth, least int) *schema.Struct {
	names := rapid.SliceOfNDistinct(drawText(), least, 4, rapid.ID[string]).Draw(t, "names")
	s := &schema.Struct{}
	for _, name := range names {
		s.Fields = append(s.Fields, schema.Field{Name: name, Type: drawType(t, depth), Nullable: true})
	}
	return s
}

var oddTexts = []string{
	"", "a.b", `"`, `\`, "<&>", "\x00", "\x01\x1f", "\b\f\n\r\t", "\x7f", "\u0080", "é", "\u07ff\u0800", "\u2027\u2028\u2029\u202a",
	"\ud7ff\ue000", "\ufffd\uffff", "𝄞", "\U0010ffff", "12345678", "1234567\"", "12345678\\", "日本語テキスト", "abcdefghijklmnop\u2028",
}

func drawText() *rapid.Generator[string] {
	return rapid.Custom(func(t *rapid.T) string {
		return rapid.SampledFrom(oddTexts).Draw(t, "odd") + rapid.StringN(-1, -1, 24).Draw(t, "text")
	})
}

func drawRows(t *rapid.T, s *schema.Struct) []record {
	rows := make([]record, rapid.IntRange(0, 6).Draw(t, "rows"))
	for i := range rows {
		rows[i] = drawRecord(t, s)
	}
	return rows
}

func drawRecord(t *rapid.T, s *schema.Struct) record {
	row := make(record, len(s.Fields))
	for i, f := range s.Fields {
		row[i] = drawValue(t, f.Type)
	}
	return row
}

func drawValue(t *rapid.T, typ schema.Type) any {
	if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
		return nil
	}
	return drawPresent(t, typ)
}

func drawPresent(t *rapid.T, typ schema.Type) any {
	switch typ := typ.(type) {
	case *schema.Struct:
		return drawRecord(t, typ)
	case *schema.Array:
		list := make([]any, rapid.IntRange(0, 3).Draw(t, "length"))
		for i := range list {
			list[i] = drawValue(t, typ.Element)
		}
		return list
	case *schema.Map:
		return drawEntries(t, typ)
	case schema.Decimal:
		return drawUnscaled(t, typ.Precision)
	}
	return drawPrimitive(t, typ.(schema.Primitive))
}

func drawEntries(t *rapid.T, typ *schema.Map) []pair {
	n := rapid.SampledFrom([]int{0, 1, 2, 3, 20}).Draw(t, "entries")
	entries, seen := []pair{}, map[any]bool{}
	for range n {
		key := drawPresent(t, typ.Key)
		if text, ok := key.(string); ok {
			if seen[text] {
				continue
			}
			seen[text] = true
		}
		entries = append(entries, pair{key, drawValue(t, typ.Value)})
	}
	return entries
}

func drawUnscaled(t *rapid.T, precision int) *big.Int {
	limit := new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(precision)), nil)
	n := new(big.Int).SetBytes(rapid.SliceOfN(rapid.Byte(), 0, 16).Draw(t, "unscaled"))
	n.Mod(n, limit)
	if rapid.Bool().Draw(t, "negative") {
		n.Neg(n)
	}
	return n
}

func drawPrimitive(t *rapid.T, typ schema.Primitive) any {
	switch typ {
	case schema.String:
		return drawText().Draw(t, "string")
	case schema.Long, schema.Timestamp, schema.TimestampNTZ:
		return rapid.Int64().Draw(t, "int64")
	case schema.Integer, schema.Date:
		return int64(rapid.Int32().Draw(t, "int32"))
	case schema.Short:
		return int64(rapid.Int16().Draw(t, "int16"))
	case schema.Byte:
		return int64(rapid.Int8().Draw(t, "int8"))
	case schema.Float:
		return drawFloat32(t)
	case schema.Double:
		return drawFloat64(t)
	case schema.Boolean:
		return rapid.Bool().Draw(t, "bool")
	case schema.Binary:
		return rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "binary")
	}
	return nil
}

func drawFloat64(t *rapid.T) float64 {
	switch rapid.IntRange(0, 3).Draw(t, "float") {
	case 0:
		odd := []float64{0, math.Copysign(0, -1), math.NaN(), math.Inf(1), math.Inf(-1), 1e21, 1e20, 1e-6, 1e-7, 5e-324, 1e15, 0.0001}
		return rapid.SampledFrom(odd).Draw(t, "odd")
	case 1:
		return float64(rapid.Int64().Draw(t, "cents")) / 100
	case 2:
		return float64(rapid.Int32().Draw(t, "steps")) / 10_000
	}
	return math.Float64frombits(rapid.Uint64().Draw(t, "bits"))
}

func drawFloat32(t *rapid.T) float32 {
	if rapid.Bool().Draw(t, "bits") {
		return math.Float32frombits(rapid.Uint32().Draw(t, "bits"))
	}
	return float32(drawFloat64(t))
}

// mustEncoder fails the test where the schema cannot be encoded.
func mustEncoder(t fataler, s *schema.Struct, values valuesOption) *Encoder {
	t.Helper()
	e, err := New(s, complete(t, values))
	if err != nil {
		t.Fatalf("New: %v", err)
	}
	return e
}

// defaults are the values of a configuration that says nothing about them.
var defaults = func() valuesOption {
	config, err := configspec.Decode(map[string]any{"uri": "/t"})
	if err != nil {
		panic(err)
	}
	return config.Values
}()

// complete gives those values that are empty their default.
func complete(t fataler, v valuesOption) valuesOption {
	t.Helper()
	given := map[string]any{}
	for name, value := range map[string]string{
		"decimal": v.Decimal, "int64": v.Int64, "timestamp": v.Timestamp, "binary": v.Binary, "non_finite": v.NonFinite,
	} {
		if value != "" {
			given[name] = value
		}
	}
	config, err := configspec.Decode(map[string]any{"uri": "/t", "values": given})
	if err != nil {
		t.Fatalf("%v", err)
	}
	return config.Values
}

// checked is an allocator that must be empty when the test ends.
func checked(t *testing.T) memory.Allocator {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	return mem
}
