package schema

import (
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/pruning"
)

func resolved() *Struct {
	inner := &Struct{Fields: []Field{{Name: "City", Type: String}, {Name: "zip code", Type: Integer}}}
	return &Struct{Fields: []Field{
		{Name: "Id", Type: Long},
		{Name: "address", Type: inner},
		{Name: "tags", Type: &Array{Element: String}},
		{Name: "a.b", Type: Date},
		{Name: "straße", Type: Byte},
		{Name: "STRASSE", Type: Short},
		{Name: "Twin", Type: Float},
		{Name: "TWIN", Type: Double},
	}}
}

// TestResolverFindsColumns covers S2, S3: exact names first, then without regard to case; a dot in a name is part of it.
func TestResolverFindsColumns(t *testing.T) {
	for path, want := range map[string]string{
		"Id": "Id long", "ID": "Id long", "address": "address struct<City:string,zip code:integer>", "Address/city": "address/City string",
		"address/ZIP CODE": "address/zip code integer", "a.b": "a.b date", "tags": "tags array<string>", "Twin": "Twin float", "TWIN": "TWIN double",
	} {
		c, err := Resolver(resolved())(strings.Split(path, "/"))
		if got := strings.Join(c.Path, "/") + " " + c.Type.Name; err != nil || got != want {
			t.Errorf("%s: want %s, got %s, %v", path, want, got, err)
		}
	}
}

func TestResolverSaysWhatIsThere(t *testing.T) {
	for path, want := range map[string]string{
		"adress":       `the table has no column "adress" (did you mean address?)`,
		"a":            `the table has no column "a"`,
		"address/cite": `column "address" has no field "cite" (did you mean City?)`,
		"address/x":    `column "address" has no field "x" (its fields are City, zip code)`,
		"tags/x":       `column "tags" is a array<string>: it has no field "x"`,
		"ID/x":         `column "Id" is a long: it has no field "x" (a name that holds a dot stands in backquotes)`,
		"twin":         `"twin" may be column "Twin" or "TWIN" (write the name as the table does)`,
	} {
		_, err := Resolver(resolved())(strings.Split(path, "/"))
		if err == nil || !strings.Contains(err.Error(), want) || deltaerr.KindOf(err) != deltaerr.Config {
			t.Errorf("%s: want %s, got %v", path, want, err)
		}
	}
	if _, err := Resolver(resolved())(nil); err == nil {
		t.Error("want an error for no path")
	}
}

// TestPruningTypes: everything that is not ordered as its bytes or number is Opaque.
func TestPruningTypes(t *testing.T) {
	collated := func(metadata string) Field {
		return Field{Type: String, Metadata: map[string]jsontext.Value{collationsKey: jsontext.Value(metadata)}}
	}
	for _, c := range []struct {
		field Field
		want  pruning.Type
	}{
		{Field{Type: Byte}, pruning.Type{Kind: pruning.Integer, Bits: 8, Name: "byte"}},
		{Field{Type: Short}, pruning.Type{Kind: pruning.Integer, Bits: 16, Name: "short"}},
		{Field{Type: Integer}, pruning.Type{Kind: pruning.Integer, Bits: 32, Name: "integer"}},
		{Field{Type: Long}, pruning.Type{Kind: pruning.Integer, Bits: 64, Name: "long"}},
		{Field{Type: Float}, pruning.Type{Kind: pruning.Float, Name: "float"}},
		{Field{Type: Double}, pruning.Type{Kind: pruning.Double, Name: "double"}},
		{Field{Type: Decimal{10, 2}}, pruning.Type{Kind: pruning.Decimal, Precision: 10, Scale: 2, Name: "decimal(10,2)"}},
		{Field{Type: Boolean}, pruning.Type{Kind: pruning.Boolean, Name: "boolean"}},
		{Field{Type: Binary}, pruning.Type{Kind: pruning.Binary, Name: "binary"}},
		{Field{Type: Date}, pruning.Type{Kind: pruning.Date, Name: "date"}},
		{Field{Type: Timestamp}, pruning.Type{Kind: pruning.Timestamp, Name: "timestamp"}},
		{Field{Type: TimestampNTZ}, pruning.Type{Kind: pruning.TimestampNTZ, Name: "timestamp_ntz"}},
		{Field{Type: String}, pruning.Type{Kind: pruning.String, Name: "string"}},
		{collated(`{"c":"UTF8_BINARY"}`), pruning.Type{Kind: pruning.String, Name: "string"}},
		{collated(`{"c":"icu.de_DE_CI"}`), pruning.Type{Name: "string with a collation"}},
		{collated(`7`), pruning.Type{Name: "string with a collation"}},
		{Field{Type: Variant}, pruning.Type{Name: "variant"}},
		{Field{Type: Void}, pruning.Type{Name: "void"}},
		{Field{Type: Unknown("interval year")}, pruning.Type{Name: "interval year"}},
		{Field{Type: &Struct{}}, pruning.Type{Name: "struct<>"}},
	} {
		if got := c.field.PruningType(); got != c.want {
			t.Errorf("%v: want %+v, got %+v", c.field.Type, c.want, got)
		}
	}
}
