package encode

import (
	"math"
	"strings"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

var keySchema = &schema.Struct{Fields: []schema.Field{
	{Name: "s", Type: schema.String, Nullable: true},
	{Name: "l", Type: schema.Long, Nullable: true},
	{Name: "n", Type: schema.Decimal{Precision: 5, Scale: 2}, Nullable: true},
	{Name: "t", Type: schema.Timestamp, Nullable: true},
	{Name: "d", Type: schema.Double, Nullable: true},
	{Name: "a", Type: &schema.Array{Element: schema.String, ContainsNull: true}, Nullable: true},
}}

func keysOf(t *testing.T, values valuesOption, columns []int, rows ...record) (texts []string, err error) {
	t.Helper()
	batch := buildBatch(t, checked(t), keySchema, rows)
	defer batch.Release()
	keys, err := mustEncoder(t, keySchema, values).Keys(batch, columns, Part{})
	for i := range keys.Len() {
		text, ok := keys.Key(i)
		if !ok {
			text = "(none)"
		}
		texts = append(texts, text)
	}
	return texts, err
}

func TestKeyIsTheTextOfItsColumns(t *testing.T) {
	row := record{"a\"\n日", int64(7), unscaled("150"), int64(0), math.Inf(1), []any{"x", nil}}
	nulls := record{nil, nil, nil, nil, nil, nil}
	for _, c := range []struct {
		name    string
		values  valuesOption
		columns []int
		want    string
	}{
		{"string", valuesOption{}, []int{0}, "a\"\n日 | (none)"},
		{"long", valuesOption{}, []int{1}, "7 | (none)"},
		{"long as string", valuesOption{Int64: "string"}, []int{1}, "7 | (none)"},
		{"decimal", valuesOption{}, []int{2}, "1.50 | (none)"},
		{"timestamp", valuesOption{}, []int{3}, "1970-01-01T00:00:00.000000Z | (none)"},
		{"infinity", valuesOption{}, []int{4}, "Infinity | (none)"},
		{"infinity as null", valuesOption{NonFinite: "null"}, []int{4}, "(none) | (none)"},
		{"list", valuesOption{}, []int{5}, `["x",null] | (none)`},
		{"several", valuesOption{}, []int{1, 0, 2}, `[7,"a\"\n日","1.50"] | [null,null,null]`},
		{"one twice", valuesOption{}, []int{1, 1}, `[7,7] | [null,null]`},
	} {
		texts, err := keysOf(t, c.values, c.columns, row, nulls)
		if got := strings.Join(texts, " | "); err != nil || got != c.want {
			t.Errorf("%s: want %s, got %s, %v", c.name, c.want, got, err)
		}
	}
}

func TestEmptyTextIsAKeyAndTheWordNullToo(t *testing.T) {
	texts, err := keysOf(t, valuesOption{}, []int{0}, record{"", nil, nil, nil, nil, nil}, record{"null", nil, nil, nil, nil, nil})
	if got := strings.Join(texts, "|"); err != nil || got != "|null" {
		t.Errorf("want an empty key and the key null, got %q, %v", got, err)
	}
}

func TestKeyWithoutTextIsRefused(t *testing.T) {
	bad := record{"\xff", nil, nil, nil, math.NaN(), nil}
	for _, c := range []struct {
		columns []int
		kind    deltaerr.Kind
		want    string
	}{
		{[]int{0}, deltaerr.Corrupt, "column s:"},
		{[]int{1, 0}, deltaerr.Corrupt, "column s:"},
		{[]int{4}, deltaerr.Config, "column d:"},
		{[]int{6}, deltaerr.Internal, "position 6"},
		{nil, deltaerr.Internal, "without key columns"},
	} {
		_, err := keysOf(t, valuesOption{NonFinite: "fail"}, c.columns, bad)
		if err == nil || deltaerr.KindOf(err) != c.kind || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: want a %v error with %q, got %v", c.columns, c.kind, c.want, err)
		}
	}
}
