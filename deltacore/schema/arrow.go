package schema

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

var arrowTypes = map[Primitive]arrow.DataType{
	String:       arrow.BinaryTypes.String,
	Long:         arrow.PrimitiveTypes.Int64,
	Integer:      arrow.PrimitiveTypes.Int32,
	Short:        arrow.PrimitiveTypes.Int16,
	Byte:         arrow.PrimitiveTypes.Int8,
	Float:        arrow.PrimitiveTypes.Float32,
	Double:       arrow.PrimitiveTypes.Float64,
	Boolean:      arrow.FixedWidthTypes.Boolean,
	Binary:       arrow.BinaryTypes.Binary,
	Date:         arrow.FixedWidthTypes.Date32,
	Timestamp:    &arrow.TimestampType{Unit: arrow.Microsecond, TimeZone: "UTC"},
	TimestampNTZ: &arrow.TimestampType{Unit: arrow.Microsecond},
	Void:         arrow.Null,
	Variant:      arrow.BinaryTypes.String,
}

// jsonText marks the fields of variants: their text is JSON, by the canonical extension type arrow.json.
var jsonText = arrow.NewMetadata(
	[]string{"ARROW:extension:name", "ARROW:extension:metadata"}, []string{"arrow.json", ""})

// ArrowType returns the Arrow type that carries t: string utf8; long, integer, short, byte int64..int8; float, double;
// boolean; binary; date date32; timestamp timestamp[us, UTC]; timestamp_ntz timestamp[us]; decimal decimal128; void
// null at any depth; variant utf8 that holds JSON, where a SQL null is null and a variant's own null the text null;
// struct, list (field "element"), map (fields "key", "value"). Nullability is the schema's. Unknown types are deltaerr
// Unsupported, with the path to them as column.
func ArrowType(t Type) (arrow.DataType, error) { return arrowType(t, "") }

// ArrowSchema returns the Arrow form of a table's or projection's columns; errors name the column. Fields of variants, at
// any depth, say by their metadata that they are of the extension type arrow.json.
func ArrowSchema(s *Struct) (*arrow.Schema, error) {
	fields, err := arrowFields(s, "")
	if err != nil {
		return nil, err
	}
	return arrow.NewSchema(fields, nil), nil
}

func arrowType(t Type, path string) (arrow.DataType, error) {
	switch t := t.(type) {
	case Primitive:
		if a, ok := arrowTypes[t]; ok {
			return a, nil
		}
	case Decimal:
		return &arrow.Decimal128Type{Precision: int32(t.Precision), Scale: int32(t.Scale)}, nil
	case *Struct:
		fields, err := arrowFields(t, path)
		if err != nil {
			return nil, err
		}
		return arrow.StructOf(fields...), nil
	case *Array:
		element, err := arrowField(Field{Name: "element", Type: t.Element, Nullable: t.ContainsNull}, path)
		if err != nil {
			return nil, err
		}
		return arrow.ListOfField(element), nil
	case *Map:
		return arrowMap(t, path)
	}
	return nil, deltaerr.New(deltaerr.Unsupported, fmt.Sprintf("type %s is not supported", clip(t.String())),
		deltaerr.Column(clip(path)), deltaerr.Hint("leave the column out by naming the others in columns"))
}

func arrowMap(m *Map, path string) (arrow.DataType, error) {
	key, err := arrowField(Field{Name: "key", Type: m.Key}, path)
	if err != nil {
		return nil, err
	}
	value, err := arrowField(Field{Name: "value", Type: m.Value, Nullable: m.ValueContainsNull}, path)
	if err != nil {
		return nil, err
	}
	return arrow.MapOfFields(key, value), nil
}

func arrowFields(s *Struct, path string) ([]arrow.Field, error) {
	fields := make([]arrow.Field, len(s.Fields))
	for i, f := range s.Fields {
		var err error
		if fields[i], err = arrowField(f, path); err != nil {
			return nil, err
		}
	}
	return fields, nil
}

func arrowField(f Field, parent string) (arrow.Field, error) {
	path := f.Name
	if parent != "" {
		path = parent + "." + f.Name
	}
	t, err := arrowType(f.Type, path)
	field := arrow.Field{Name: f.Name, Type: t, Nullable: f.Nullable}
	if f.Type == Type(Variant) {
		field.Metadata = jsonText
	}
	return field, err
}
