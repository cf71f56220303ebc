package variant

import (
	"errors"
	"strings"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// shreddedText writes one variant with the calls of write.
func shreddedText(metadata []byte, write func(w *Writer) error) (string, error) {
	var w Writer
	err := w.Begin(nil, metadata)
	if err == nil {
		err = write(&w)
	}
	return string(w.Text()), err
}

// all stops at nothing: it joins the errors.
func all(errs ...error) error { return errors.Join(errs...) }

func TestShreddedObjectsAreMergedWithTheirResidual(t *testing.T) {
	metadata := dictionaryOf(1, "a", "c", "e", "z")
	residual := func(members ...idValue) []byte { return small.object(members...) }
	fields := func(w *Writer) error {
		return all(w.Field([]byte("b"), true), w.Int(1), w.Field([]byte("c2"), false), w.Field([]byte("d"), true), w.Bool(true), w.EndObject())
	}
	cases := []struct {
		name     string
		residual []byte
		want     string
	}{
		{"none", nil, `{"b":1,"d":true}`},
		{"empty", residual(), `{"b":1,"d":true}`},
		{"before", residual(idValue{0, int8Value(7)}), `{"a":7,"b":1,"d":true}`},
		{"between", residual(idValue{1, int8Value(7)}), `{"b":1,"c":7,"d":true}`},
		{"behind", residual(idValue{2, int8Value(7)}, idValue{3, int8Value(8)}), `{"b":1,"d":true,"e":7,"z":8}`},
		{"all around, unsorted", residual(idValue{3, int8Value(9)}, idValue{0, int8Value(6)}, idValue{1, int8Value(7)}), `{"a":6,"b":1,"c":7,"d":true,"z":9}`},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := shreddedText(metadata, func(w *Writer) error {
				if c.residual == nil {
					return all(w.BeginObject(), fields(w))
				}
				return all(w.BeginPartialObject(c.residual), fields(w))
			})
			if err != nil || got != c.want {
				t.Errorf("want %s, got %s, %v", c.want, got, err)
			}
		})
	}
}

func TestShreddedValuesInOneAnother(t *testing.T) {
	metadata := dictionaryOf(1, "a", "r", "s")
	got, err := shreddedText(metadata, func(w *Writer) error {
		return all(
			w.BeginPartialObject(small.object(idValue{2, small.object(idValue{0, int8Value(1)}, idValue{1, short("x")})})),
			w.Field([]byte("list"), true), w.BeginArray(),
			w.Element(), w.BeginPartialObject(small.object(idValue{1, small.array()})), w.Field([]byte("a"), true), w.Value(short("y")), w.EndObject(),
			w.Element(), w.Null(),
			w.Element(), w.BeginArray(), w.EndArray(),
			w.Element(), w.BeginObject(), w.Field([]byte("a"), false), w.EndObject(),
			w.EndArray(),
			w.Field([]byte("o"), true), w.BeginObject(), w.Field([]byte("p"), true), w.Double(0.5), w.EndObject(),
			w.EndObject())
	})
	want := `{"list":[{"a":"y","r":[]},null,[],{}],"o":{"p":0.5},"s":{"a":1,"r":"x"}}`
	if err != nil || got != want {
		t.Errorf("want %s, got %s, %v", want, got, err)
	}
}

func TestResidualsThatContradictAreRefused(t *testing.T) {
	metadata := dictionaryOf(1, "a", "b")
	begin := func(residual []byte, name string, present bool) error {
		_, err := shreddedText(metadata, func(w *Writer) error {
			if err := w.BeginPartialObject(residual); err != nil {
				return err
			}
			return w.Field([]byte(name), present)
		})
		return err
	}
	both := small.object(idValue{0, int8Value(1)}, idValue{1, int8Value(2)})
	wantRefused(t, deltaerr.Corrupt, `the member "a" stands in typed_value and in value`, nil, begin(both, "a", true))
	wantRefused(t, deltaerr.Corrupt, `the member "b" stands in typed_value and in value`, nil, begin(both, "b", false))
	wantRefused(t, deltaerr.Corrupt, "the value is no object", nil, begin(small.array(), "a", true))
	wantRefused(t, deltaerr.Corrupt, "the value is no object", nil, begin(nil, "a", true))
	wantRefused(t, deltaerr.Corrupt, "ends after", nil, begin(append(both, 0), "a", true))
	wantRefused(t, deltaerr.Corrupt, `the name "a" twice`, nil, begin(small.object(idValue{0, int8Value(1)}, idValue{0, int8Value(1)}), "c", true))
}

func TestShreddedNestingHasALimit(t *testing.T) {
	_, err := shreddedText(noNames, func(w *Writer) error {
		for range maxDepth {
			if err := all(w.BeginArray(), w.Element()); err != nil {
				return err
			}
		}
		if err := w.Value(primitive(typeNull)); err != nil {
			return err
		}
		return w.Value(small.array())
	})
	wantRefused(t, deltaerr.Unsupported, "deeper than 1000 levels", nil, err)
}

func TestShreddedTextHasALimit(t *testing.T) {
	name := []byte(strings.Repeat("x", 1<<20))
	_, err := shreddedText(noNames, func(w *Writer) error {
		err := w.BeginArray()
		for range 200 {
			if err == nil {
				err = all(w.Element(), w.BeginObject())
			}
			if err == nil {
				err = w.Field(name, true)
			}
			if err == nil {
				err = all(w.Null(), w.EndObject())
			}
		}
		return err
	})
	wantRefused(t, deltaerr.Unsupported, "longer than 128 MiB", nil, err)
}

func TestAWriterGoesOnAfterAnError(t *testing.T) {
	var w Writer
	metadata := dictionaryOf(1, "a", "b")
	value := small.object(idValue{0, int8Value(1)}, idValue{1, int8Value(2)})
	for range 3 {
		if err := w.Begin(nil, []byte{9}); err == nil {
			t.Error("want metadata of an unknown version refused")
		}
		if err := all(w.Begin(nil, metadata), w.BeginArray(), w.Element(), w.BeginPartialObject(value)); err != nil {
			t.Fatal(err)
		}
		if err := w.Field([]byte("a"), true); err == nil {
			t.Error("want a member in both places refused")
		}
		if err := all(w.Begin([]byte("> "), metadata), w.Value(value)); err != nil {
			t.Fatal(err)
		}
		if want, got := `> {"a":1,"b":2}`, string(w.Text()); want != got {
			t.Errorf("want %s, got %s", want, got)
		}
	}
}

func TestAColumnOfOneDictionaryAllocatesNothingPerValue(t *testing.T) {
	var w Writer
	metadata := dictionaryOf(1, "a", "b")
	value := small.object(idValue{0, small.array(short("x"), double(0.5))}, idValue{1, number(typeTimestamp, 1e15, 8)})
	buf := make([]byte, 0, 256)
	allocations := testing.AllocsPerRun(100, func() {
		if err := all(w.Begin(buf, metadata), w.Value(value)); err != nil {
			t.Fatal(err)
		}
		buf = w.Text()[:0]
	})
	if allocations > 0 {
		t.Errorf("want none, got %v", allocations)
	}
}

// BenchmarkColumn reads the variants of a column of small events that share their metadata.
func BenchmarkColumn(b *testing.B) {
	var w Writer
	metadata := dictionaryOf(1, "country", "id", "price", "tags", "time")
	value := small.object(idValue{0, short("NL")}, idValue{1, number(typeInt64, 123456789, 8)}, idValue{2, number(typeDecimal4, 1234<<8|2, 5)},
		idValue{3, small.array(short("red"), short("large"))}, idValue{4, number(typeTimestamp, 1709168523000004, 8)})
	var buf []byte
	b.ReportAllocs()
	for b.Loop() {
		if err := all(w.Begin(buf[:0], metadata), w.Value(value)); err != nil {
			b.Fatal(err)
		}
		buf = w.Text()
	}
	b.SetBytes(int64(len(buf)))
}
