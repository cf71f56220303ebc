package variant

import (
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

func seed(f *testing.F, add func(metadata, value []byte)) {
	f.Helper()
	metadata := dictionaryOf(1, "a", "b", "name")
	add(metadata, small.object(idValue{0, small.array(int8Value(1), short("x"))}, idValue{1, double(1.5)}, idValue{2, small.object()}))
	add(metadata, small.object(idValue{2, int8Value(1)}, idValue{0, primitive(typeNull)}))
	add(metadata, form{2, 3, true}.object(idValue{0, form{2, 3, true}.array()}))
	for id, p := range primitives {
		if p.size >= 0 {
			add(noNames, primitive(byte(id), make([]byte, p.size)...))
		}
	}
	add(noNames, long(typeString, "text\u2028"))
	add(noNames, long(typeBinary, "\xff"))
	add([]byte{0xd1, 0xff, 0xff, 0xff, 0xff}, []byte{basicArray | 7<<2, 0xff, 0xff, 0xff, 0xff})
}

// FuzzVariant: any bytes are an error or one JSON value without repeated names.
func FuzzVariant(f *testing.F) {
	seed(f, func(metadata, value []byte) { f.Add(metadata, value) })
	f.Fuzz(func(t *testing.T, metadata, value []byte) {
		if text, err := appendJSON(nil, metadata, value); err == nil {
			requireJSON(t, text)
		}
	})
}

// FuzzWriter: so are any bytes as the residual of an object of objects, next to a member that is a value.
func FuzzWriter(f *testing.F) {
	seed(f, func(metadata, value []byte) { f.Add(metadata, value, value, "aa") })
	f.Fuzz(func(t *testing.T, metadata, residual, value []byte, name string) {
		text, err := shreddedText(metadata, func(w *Writer) error {
			steps := []func() error{
				func() error { return w.BeginPartialObject(residual) },
				func() error { return w.Field([]byte(name), true) },
				func() error { return w.BeginPartialObject(residual) },
				func() error { return w.Field([]byte(name), true) },
				func() error { return w.Value(value) },
				w.EndObject, w.EndObject,
			}
			for _, step := range steps {
				if err := step(); err != nil {
					return err
				}
			}
			return nil
		})
		if err == nil {
			requireJSON(t, []byte(text))
		}
	})
}

func requireJSON(t *testing.T, text []byte) {
	t.Helper()
	if !jsontext.Value(text).IsValid() {
		t.Errorf("want JSON, got %q", text)
	}
}
