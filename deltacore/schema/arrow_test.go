package schema

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

func TestArrowTypes(t *testing.T) {
	cases := []struct {
		t    Type
		want string
	}{
		{String, "utf8"},
		{Long, "int64"},
		{Integer, "int32"},
		{Short, "int16"},
		{Byte, "int8"},
		{Float, "float32"},
		{Double, "float64"},
		{Boolean, "bool"},
		{Binary, "binary"},
		{Date, "date32"},
		{Timestamp, "timestamp[us, tz=UTC]"},
		{TimestampNTZ, "timestamp[us]"},
		{Void, "null"},
		{Decimal{38, 10}, "decimal(38, 10)"},
		{&Array{Element: Void, ContainsNull: true}, "list<element: null, nullable>"},
		{&Array{Element: Long}, "list<element: int64>"},
		{&Map{Key: String, Value: Date, ValueContainsNull: true}, "map<utf8, date32, items_nullable>"},
		{&Map{Key: String, Value: Date}, "map<utf8, date32, items_non_nullable>"},
		{
			&Struct{Fields: []Field{{Name: "a.b", Type: Long}, {Name: "v", Type: Void, Nullable: true}}},
			"struct<a.b: int64, v: null nullable>",
		},
	}
	for _, c := range cases {
		got, err := ArrowType(c.t)
		if err != nil || got.String() != c.want {
			t.Errorf("%s: want %s, got %v, %v", c.t, c.want, got, err)
		}
	}
}

func TestArrowMapNamesItsMembersAsParquetDoes(t *testing.T) {
	dt, err := ArrowType(&Map{Key: String, Value: Long})
	if err != nil {
		t.Fatal(err)
	}
	m := dt.(*arrow.MapType)
	if k, v := m.KeyField(), m.ItemField(); k.Name != "key" || v.Name != "value" || k.Nullable || v.Nullable {
		t.Errorf("want key and value, not nullable, got %v, %v", k, v)
	}
}

func TestArrowSchemaKeepsNamesAndNullability(t *testing.T) {
	got, err := ArrowSchema(&Struct{Fields: []Field{{Name: "a.b", Type: Long}, {Name: "c d", Type: String, Nullable: true}}})
	if err != nil {
		t.Fatal(err)
	}
	want := arrow.NewSchema([]arrow.Field{
		{Name: "a.b", Type: arrow.PrimitiveTypes.Int64}, {Name: "c d", Type: arrow.BinaryTypes.String, Nullable: true},
	}, nil)
	if !want.Equal(got) {
		t.Errorf("want %s, got %s", want, got)
	}
}

func TestArrowSchemaRefusesTypesByColumn(t *testing.T) {
	const hint = " (leave the column out by naming the others in columns)"
	cases := []struct {
		t    Type
		want string
	}{
		{Unknown("interval year"), "column c: type interval year is not supported"},
		{&Array{Element: &Map{Key: String, Value: Unknown("x")}}, "column c.element.value: type x is not supported"},
		{&Map{Key: Unknown("x"), Value: Long}, "column c.key: type x is not supported"},
		{&Struct{Fields: []Field{{Name: "ok", Type: Long}, {Name: "a.b", Type: Unknown("geometry")}}}, "column c.a.b: type geometry is not supported"},
	}
	for _, c := range cases {
		_, err := ArrowSchema(&Struct{Fields: []Field{{Name: "c", Type: c.t}}})
		if err == nil || err.Error() != c.want+hint || deltaerr.KindOf(err) != deltaerr.Unsupported {
			t.Errorf("want %q\ngot  %q", c.want+hint, err)
		}
	}
}

func TestArrowFieldsOfVariantsAreMarkedAsJSON(t *testing.T) {
	nested := &Struct{Fields: []Field{
		{Name: "v", Type: Variant},
		{Name: "s", Type: &Struct{Fields: []Field{{Name: "v", Type: Variant}, {Name: "text", Type: String}}}},
		{Name: "l", Type: &Array{Element: Variant}},
		{Name: "m", Type: &Map{Key: String, Value: Variant}},
	}}
	got, err := ArrowSchema(nested)
	if err != nil {
		t.Fatal(err)
	}
	s := got.Field(1).Type.(*arrow.StructType)
	m := got.Field(3).Type.(*arrow.MapType)
	marked := []arrow.Field{got.Field(0), s.Field(0), got.Field(2).Type.(*arrow.ListType).ElemField(), m.ItemField()}
	for _, f := range marked {
		name, _ := f.Metadata.GetValue("ARROW:extension:name")
		if name != "arrow.json" || f.Type.ID() != arrow.STRING {
			t.Errorf("want a utf8 field marked as arrow.json, got %s", f)
		}
	}
	for _, f := range []arrow.Field{got.Field(1), got.Field(2), got.Field(3), s.Field(1), m.KeyField()} {
		if f.HasMetadata() {
			t.Errorf("want no mark on %s", f)
		}
	}
}
