package configspec

import (
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// JSONSchema renders the fields as a JSON Schema (draft 2020-12) of the object under delta_lake, for editors.
func JSONSchema() []byte {
	schema := objectSchema(Fields())
	schema["$schema"] = "https://json-schema.org/draft/2020-12/schema"
	schema["title"] = Component
	return append(marshal(schema, jsontext.WithIndent("  ")), '\n')
}

func objectSchema(fields []Field) map[string]any {
	properties, required := map[string]any{}, []string{}
	for _, f := range fields {
		properties[f.Name] = f.schema()
		if f.Required {
			required = append(required, f.Name)
		}
	}
	return map[string]any{
		"type": "object", "properties": properties, "required": required, "additionalProperties": false,
	}
}

func (f Field) schema() map[string]any {
	s := f.typeSchema()
	s["description"] = f.Description
	s["examples"] = f.Examples
	if f.Default != nil {
		s["default"] = f.Default
	}
	return s
}

func (f Field) typeSchema() map[string]any {
	switch f.Kind {
	case Int:
		return map[string]any{"type": "integer", "minimum": f.Min, "maximum": f.Max}
	case Size:
		return map[string]any{"type": []string{"integer", "string"}, "minimum": f.Min}
	case Bool:
		return map[string]any{"type": "boolean"}
	case Enum:
		return f.optionSchema()
	case StringList:
		return listSchema(map[string]any{"type": "string", "minLength": 1})
	case EnumList:
		return listSchema(f.optionSchema())
	case Schedule:
		return map[string]any{"type": "string"}
	case ChildInput:
		return map[string]any{"type": "object"}
	case Object:
		return objectSchema(f.Children)
	default:
		return map[string]any{"type": "string", "minLength": 1}
	}
}

func listSchema(element map[string]any) map[string]any {
	return map[string]any{"type": "array", "uniqueItems": true, "items": element}
}

func (f Field) optionSchema() map[string]any {
	options := make([]map[string]any, len(f.Options))
	for i, o := range f.Options {
		options[i] = map[string]any{"const": o.Value, "description": o.Description}
	}
	return map[string]any{"oneOf": options}
}

func jsonText(v any) string { return string(marshal(v)) }

// marshal writes plain values, for which the only failure is our own mistake in the table.
func marshal(v any, options ...json.Options) []byte {
	out, err := json.Marshal(v, append(options, json.Deterministic(true))...)
	if err != nil {
		panic("configspec: the field table holds a value that is not JSON: " + err.Error())
	}
	return out
}
