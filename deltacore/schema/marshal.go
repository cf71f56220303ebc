package schema

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// MarshalJSON writes the struct as a schemaString: Parse of the result gives an equal struct. Metadata keys are sorted,
// so the same schema has the same bytes.
func (s *Struct) MarshalJSON() ([]byte, error) { return writer{metadata: true}.appendType(nil, s) }

// writer appends types as JSON.
type writer struct{ metadata bool }

func (w writer) appendType(b []byte, t Type) ([]byte, error) {
	var err error
	switch t := t.(type) {
	case *Struct:
		return w.appendStruct(b, t)
	case *Array:
		b = append(b, `{"type":"array","elementType":`...)
		if b, err = w.appendType(b, t.Element); err != nil {
			return nil, err
		}
		return append(appendTruth(b, `,"containsNull":`, t.ContainsNull), '}'), nil
	case *Map:
		b = append(b, `{"type":"map","keyType":`...)
		if b, err = w.appendType(b, t.Key); err != nil {
			return nil, err
		}
		b = append(b, `,"valueType":`...)
		if b, err = w.appendType(b, t.Value); err != nil {
			return nil, err
		}
		return append(appendTruth(b, `,"valueContainsNull":`, t.ValueContainsNull), '}'), nil
	case nil:
		return nil, fmt.Errorf("a type is missing")
	}
	return jsontext.AppendQuote(b, t.String())
}

func (w writer) appendStruct(b []byte, s *Struct) ([]byte, error) {
	b = append(b, `{"type":"struct","fields":[`...)
	for i, f := range s.Fields {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = w.appendField(b, f); err != nil {
			return nil, fmt.Errorf("column %s: %w", f.Name, err)
		}
	}
	return append(b, "]}"...), nil
}

func (w writer) appendField(b []byte, f Field) ([]byte, error) {
	b, err := jsontext.AppendQuote(append(b, `{"name":`...), f.Name)
	if err != nil {
		return nil, err
	}
	if b, err = w.appendType(append(b, `,"type":`...), f.Type); err != nil {
		return nil, err
	}
	b = appendTruth(b, `,"nullable":`, f.Nullable)
	if w.metadata {
		if b, err = appendMetadata(append(b, `,"metadata":`...), f.Metadata); err != nil {
			return nil, err
		}
	}
	return append(b, '}'), nil
}

func appendMetadata(b []byte, metadata map[string]jsontext.Value) ([]byte, error) {
	b = append(b, '{')
	for i, key := range slices.Sorted(maps.Keys(metadata)) {
		if i > 0 {
			b = append(b, ',')
		}
		var err error
		if b, err = jsontext.AppendQuote(b, key); err != nil {
			return nil, err
		}
		b = append(append(b, ':'), metadata[key]...)
	}
	return append(b, '}'), nil
}

func appendTruth(b []byte, key string, v bool) []byte {
	return strconv.AppendBool(append(b, key...), v)
}
