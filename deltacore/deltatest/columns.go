package deltatest

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/go-json-experiment/json"

	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// Columns reads column definitions: a name, a type as Delta spells it, and optionally "not null". Names and types are
// divided by a blank, in structs by a colon:
//
//	Columns("id long not null", "items array<struct<sku:string,price:decimal(10,2)>>", "tags map<string,string>")
func Columns(definitions ...string) *schema.Struct {
	s := &schema.Struct{}
	for _, definition := range definitions {
		name, text, ok := strings.Cut(definition, " ")
		if !ok {
			panic(fmt.Sprintf("deltatest: column %q has no type", definition))
		}
		text, notNull := strings.CutSuffix(text, " not null")
		s.Fields = append(s.Fields, schema.Field{Name: name, Type: Type(text), Nullable: !notNull})
	}
	return s
}

// Type reads a type as Delta spells it in messages: "array<struct<a:long>>".
func Type(text string) schema.Type {
	text = strings.TrimSpace(text)
	head, inner, nested := strings.Cut(strings.TrimSuffix(text, ">"), "<")
	if !nested {
		return leafType(text)
	}
	switch parts := splitTop(inner); head {
	case "array":
		return &schema.Array{Element: Type(inner), ContainsNull: true}
	case "map":
		return &schema.Map{Key: Type(parts[0]), Value: Type(parts[1]), ValueContainsNull: true}
	case "struct":
		s := &schema.Struct{}
		for _, part := range parts {
			name, member, _ := strings.Cut(part, ":")
			member, notNull := strings.CutSuffix(member, " not null")
			s.Fields = append(s.Fields, schema.Field{Name: strings.TrimSpace(name), Type: Type(member), Nullable: !notNull})
		}
		return s
	}
	panic(fmt.Sprintf("deltatest: %q is no type", text))
}

func leafType(text string) schema.Type {
	digits, decimal := strings.CutPrefix(text, "decimal(")
	if !decimal {
		return schema.Primitive(text)
	}
	p, s, _ := strings.Cut(strings.TrimSuffix(digits, ")"), ",")
	precision, err := strconv.Atoi(strings.TrimSpace(p))
	must(err)
	scale, err := strconv.Atoi(strings.TrimSpace(s))
	must(err)
	return schema.Decimal{Precision: precision, Scale: scale}
}

// splitTop splits at the commas that stand in no bracket.
func splitTop(text string) []string {
	var parts []string
	depth, from := 0, 0
	for i, c := range text {
		switch c {
		case '<', '(':
			depth++
		case '>', ')':
			depth--
		case ',':
			if depth == 0 {
				parts, from = append(parts, text[from:i]), i+1
			}
		}
	}
	return append(parts, text[from:])
}

// SchemaString returns the JSON text of a schema as the log's metaData holds it (protocol S1).
func SchemaString(s *schema.Struct) string {
	text, err := json.Marshal(schemaJSON(s), json.Deterministic(true))
	must(err)
	return string(text)
}

func schemaJSON(t schema.Type) any {
	switch t := t.(type) {
	case schema.Primitive:
		return string(t)
	case schema.Unknown:
		return string(t)
	case schema.Decimal:
		return fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale)
	case *schema.Array:
		return map[string]any{"type": "array", "elementType": schemaJSON(t.Element), "containsNull": t.ContainsNull}
	case *schema.Map:
		return map[string]any{
			"type": "map", "keyType": schemaJSON(t.Key), "valueType": schemaJSON(t.Value),
			"valueContainsNull": t.ValueContainsNull,
		}
	case *schema.Struct:
		return map[string]any{"type": "struct", "fields": fieldsJSON(t.Fields)}
	}
	panic(fmt.Sprintf("deltatest: %T is no type", t))
}

func fieldsJSON(fields []schema.Field) []any {
	list := make([]any, 0, len(fields))
	for _, f := range fields {
		metadata := any(f.Metadata)
		if f.Metadata == nil {
			metadata = map[string]any{}
		}
		list = append(list, map[string]any{
			"name": f.Name, "type": schemaJSON(f.Type), "nullable": f.Nullable, "metadata": metadata,
		})
	}
	return list
}

// ArrowSchema returns the Arrow form in which [Rows] builds and files hold the columns.
func ArrowSchema(s *schema.Struct) *arrow.Schema { return arrow.NewSchema(arrowFields(s.Fields), nil) }

func arrowFields(fields []schema.Field) []arrow.Field {
	list := make([]arrow.Field, 0, len(fields))
	for _, f := range fields {
		list = append(list, arrow.Field{
			Name: f.Name, Type: arrowType(f.Type), Nullable: f.Nullable, Metadata: mappingMetadata(f),
		})
	}
	return list
}

var arrowPrimitives = map[schema.Primitive]arrow.DataType{
	schema.String:       arrow.BinaryTypes.String,
	schema.Long:         arrow.PrimitiveTypes.Int64,
	schema.Integer:      arrow.PrimitiveTypes.Int32,
	schema.Short:        arrow.PrimitiveTypes.Int16,
	schema.Byte:         arrow.PrimitiveTypes.Int8,
	schema.Float:        arrow.PrimitiveTypes.Float32,
	schema.Double:       arrow.PrimitiveTypes.Float64,
	schema.Boolean:      arrow.FixedWidthTypes.Boolean,
	schema.Binary:       arrow.BinaryTypes.Binary,
	schema.Date:         arrow.FixedWidthTypes.Date32,
	schema.Timestamp:    arrow.FixedWidthTypes.Timestamp_us,
	schema.TimestampNTZ: &arrow.TimestampType{Unit: arrow.Microsecond},
	schema.Void:         arrow.Null,
}

func arrowType(t schema.Type) arrow.DataType {
	switch t := t.(type) {
	case schema.Primitive:
		if a, ok := arrowPrimitives[t]; ok {
			return a
		}
	case schema.Decimal:
		return &arrow.Decimal128Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}
	case *schema.Array:
		element := arrow.Field{Name: "element", Type: arrowType(t.Element), Nullable: t.ContainsNull}
		return arrow.ListOfField(element)
	case *schema.Map:
		m := arrow.MapOf(arrowType(t.Key), arrowType(t.Value))
		m.SetItemNullable(t.ValueContainsNull)
		return m
	case *schema.Struct:
		return arrow.StructOf(arrowFields(t.Fields)...)
	}
	panic(fmt.Sprintf("deltatest: no Arrow type for %#v", t))
}
