package variant

import (
	"bytes"
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// A model value is nil, bool, int64, float64, string, []any or map[string]any: what encoding/json writes as well.

// encoding is a choice of how values are stored.
type encoding struct {
	form
	names []string
}

func (e *encoding) id(name string) int {
	if i := slices.Index(e.names, name); i >= 0 {
		return i
	}
	e.names = append(e.names, name)
	return len(e.names) - 1
}

func (e *encoding) value(v any) []byte {
	switch v := v.(type) {
	case nil:
		return primitive(typeNull)
	case bool:
		if v {
			return primitive(typeTrue)
		}
		return primitive(typeFalse)
	case int64:
		return number(typeInt64, v, 8)
	case float64:
		return double(v)
	case string:
		if len(v) < 64 && len(v)%2 == 0 {
			return short(v)
		}
		return long(typeString, v)
	case []any:
		values := make([][]byte, len(v))
		for i := range v {
			values[i] = e.value(v[i])
		}
		return e.array(values...)
	default:
		return e.objectOf(v.(map[string]any))
	}
}

func (e *encoding) objectOf(v map[string]any) []byte {
	var members []idValue
	for _, name := range sortedNames(v) {
		members = append(members, idValue{e.id(name), e.value(v[name])})
	}
	return e.object(members...)
}

func sortedNames(v map[string]any) []string {
	var names []string
	for name := range v {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

func drawModel(t *rapid.T, depth int) any {
	kind := rapid.IntRange(0, 6).Draw(t, "kind")
	switch {
	case kind == 5 && depth > 0:
		list := []any{}
		for range rapid.IntRange(0, 4).Draw(t, "length") {
			list = append(list, drawModel(t, depth-1))
		}
		return list
	case kind == 6 && depth > 0:
		object := map[string]any{}
		for _, name := range rapid.SliceOfN(rapid.StringN(0, 2, -1), 0, 5).Draw(t, "names") {
			object[name] = drawModel(t, depth-1)
		}
		return object
	case kind == 1:
		return rapid.Bool().Draw(t, "bool")
	case kind == 2:
		return rapid.Int64().Draw(t, "int")
	case kind == 3:
		return rapid.Float64Range(-1e300, 1e300).Draw(t, "double")
	case kind == 4:
		return rapid.String().Draw(t, "text")
	}
	return nil
}

// shred writes v with parts of it, as drawn, shredded.
func shred(t *rapid.T, w *Writer, e *encoding, v any) error {
	if rapid.IntRange(0, 2).Draw(t, "whole") == 0 {
		return w.Value(e.value(v))
	}
	switch v := v.(type) {
	case int64:
		return w.Int(v)
	case string:
		return w.String([]byte(v))
	case []any:
		err := w.BeginArray()
		for _, item := range v {
			err = all(err, w.Element(), shred(t, w, e, item))
		}
		return all(err, w.EndArray())
	case map[string]any:
		return shredObject(t, w, e, v)
	}
	return w.Value(e.value(v))
}

// shredObject also has shredded members that are absent.
func shredObject(t *rapid.T, w *Writer, e *encoding, v map[string]any) error {
	residual, shredded := map[string]any{}, map[string]any{}
	for _, name := range sortedNames(v) {
		if rapid.Bool().Draw(t, "residual") {
			residual[name] = v[name]
		} else {
			shredded[name] = v[name]
		}
	}
	err := w.BeginObject
	if len(residual) > 0 || rapid.Bool().Draw(t, "empty residual") {
		err = func() error { return w.BeginPartialObject(e.value(residual)) }
	}
	failed := err()
	for _, name := range append(sortedNames(shredded), "\U0010ffff absent") {
		member, present := shredded[name]
		failed = all(failed, w.Field([]byte(name), present))
		if present {
			failed = all(failed, shred(t, w, e, member))
		}
	}
	return all(failed, w.EndObject())
}

// TestEveryWayToStoreAValueHasTheTextOfEncodingJSON: unshredded, and shredded in any way, with numbers of any width.
func TestEveryWayToStoreAValueHasTheTextOfEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		v := drawModel(t, 4)
		width := rapid.IntRange(2, 4)
		e := &encoding{form: form{width.Draw(t, "ids"), width.Draw(t, "offsets"), rapid.Bool().Draw(t, "large")}}
		whole := e.value(v)
		metadata := dictionaryOf(width.Draw(t, "names"), e.names...)
		var want bytes.Buffer
		encoder := json.NewEncoder(&want)
		encoder.SetEscapeHTML(false)
		if err := encoder.Encode(v); err != nil {
			t.Fatal(err)
		}
		got, err := appendJSON(nil, metadata, whole)
		if text := string(got) + "\n"; err != nil || text != want.String() {
			t.Fatalf("want %s, got %s, %v", want.String(), text, err)
		}
		shredded, err := shreddedText(metadata, func(w *Writer) error { return shred(t, w, e, v) })
		if err != nil || shredded+"\n" != want.String() {
			t.Fatalf("shredded: want %s, got %s, %v", want.String(), shredded, err)
		}
	})
}
