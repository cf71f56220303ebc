package encode

import (
	"bytes"
	"encoding/json"
	"errors"
	"reflect"
	"strings"
	"sync"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

func drawOptions(t *rapid.T) valuesOption {
	choose := func(name string, values ...string) string { return rapid.SampledFrom(values).Draw(t, name) }
	return valuesOption{
		Decimal:   choose("decimal", "string", "number"),
		Int64:     choose("int64", "number", "string"),
		Timestamp: choose("timestamp", "rfc3339", "unix_micros"),
		Binary:    choose("binary", "base64", "hex"),
		NonFinite: choose("non_finite", "string", "null", "fail"),
	}
}

// sample is a random batch, sliced out of a larger one, with the rows that it must hold.
type sample struct {
	schema *schema.Struct
	batch  arrow.RecordBatch
	rows   []record
	values valuesOption
	want   []string // reference texts
}

func drawSample(t *rapid.T, mem memory.Allocator) sample {
	s := sample{schema: drawStruct(t, 3, 0), values: drawOptions(t)}
	rows := drawRows(t, s.schema)
	from := rapid.IntRange(0, len(rows)).Draw(t, "from")
	to := rapid.IntRange(from, len(rows)).Draw(t, "to")
	whole := buildBatch(t, mem, s.schema, rows)
	s.batch, s.rows = whole.NewSlice(int64(from), int64(to)), rows[from:to]
	whole.Release()
	for _, row := range s.rows {
		s.want = append(s.want, reference{s.values}.row(s.schema, row))
	}
	return s
}

func (s sample) fails() bool { return strings.Contains(strings.Join(s.want, ""), failed) }

func TestEveryFormatCarriesWhatTheReferenceEncoderWrites(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
		s := drawSample(t, mem)
		e := mustEncoder(t, s.schema, s.values)
		checkJSON(t, e, s)
		checkLines(t, e, s)
		checkStructured(t, e, s)
		s.batch.Release()
		if left := mem.CurrentAlloc(); left != 0 {
			t.Fatalf("want no Arrow memory left, got %d bytes", left)
		}
	})
}

// Random schemas seldom hold a given type in a sliced batch: here every one is.
func TestSlicedBatchOfEveryTypeIsWhatTheReferenceEncoderWrites(t *testing.T) {
	every := &schema.Struct{}
	add := func(typ schema.Type) {
		name := string(rune('a' + len(every.Fields)))
		every.Fields = append(every.Fields, schema.Field{Name: name, Type: typ, Nullable: true})
	}
	for _, typ := range primitives {
		add(typ)
	}
	add(&schema.Struct{Fields: every.Fields[:4]})
	add(&schema.Array{Element: &schema.Struct{Fields: every.Fields[4:12]}, ContainsNull: true})
	add(&schema.Map{Key: schema.String, Value: schema.Boolean, ValueContainsNull: true})
	add(&schema.Map{Key: schema.Long, Value: schema.String, ValueContainsNull: true})
	rapid.Check(t, func(t *rapid.T) {
		mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
		s := sample{schema: every, values: valuesOption{NonFinite: "null"}}
		for range 4 {
			s.rows = append(s.rows, drawRecord(t, every))
			s.want = append(s.want, reference{s.values}.row(every, s.rows[len(s.rows)-1]))
		}
		whole := buildBatch(t, mem, every, s.rows)
		defer whole.Release()
		s.batch, s.rows, s.want = whole.NewSlice(1, 4), s.rows[1:], s.want[1:]
		defer s.batch.Release()
		e := mustEncoder(t, every, s.values)
		checkJSON(t, e, s)
		checkStructured(t, e, s)
	})
}

func checkJSON(t *rapid.T, e *Encoder, s sample) {
	rows, err := e.JSON(s.batch, Part{})
	if s.fails() {
		if deltaerr.KindOf(err) != deltaerr.Config {
			t.Fatalf("want a config error for a non-finite value, got %v", err)
		}
		return
	}
	if err != nil {
		t.Fatalf("JSON: %v", err)
	}
	if rows.Len() != len(s.want) {
		t.Fatalf("want %d rows, got %d", len(s.want), rows.Len())
	}
	for i, want := range s.want {
		if got := string(rows.Row(i)); got != want {
			t.Fatalf("row %d:\nwant %s\n got %s", i, want, got)
		}
		if !jsontext.Value(rows.Row(i)).IsValid() { // also refuses repeated names and bad UTF-8
			t.Fatalf("row %d is no JSON: %s", i, rows.Row(i))
		}
		canonical(t, rows.Row(i))
	}
}

func checkLines(t *rapid.T, e *Encoder, s sample) {
	chunk, rows, err := e.Lines(s.batch, Part{})
	if s.fails() {
		if err == nil {
			t.Fatalf("want an error for a non-finite value")
		}
		return
	}
	if want := strings.Join(s.want, "\n"); err != nil || string(chunk) != want || rows != len(s.want) {
		t.Fatalf("want %s\n got %d rows, %s, %v", want, rows, chunk, err)
	}
}

func checkStructured(t *rapid.T, e *Encoder, s sample) {
	rows, err := e.Structured(s.batch, Part{})
	if s.fails() {
		if err == nil {
			t.Fatalf("want an error for a non-finite value")
		}
		return
	}
	if err != nil || len(rows.Rows) != len(s.want) {
		t.Fatalf("want %d rows, got %d, %v", len(s.want), len(rows.Rows), err)
	}
	for i, row := range rows.Rows {
		checkLeaves(t, row)
		want, got := canonical(t, []byte(s.want[i])), canonical(t, []byte(plainJSON(row)))
		if !reflect.DeepEqual(want, got) {
			t.Fatalf("row %d:\nwant %v\n got %v", i, want, got)
		}
	}
}

// checkLeaves fails on a type that engines do not know.
func checkLeaves(t *rapid.T, v any) {
	switch v := v.(type) {
	case nil, string, json.Number, int64, bool, float64, float32:
	case []any:
		for _, element := range v {
			checkLeaves(t, element)
		}
	case map[string]any:
		for _, member := range v {
			checkLeaves(t, member)
		}
	default:
		t.Fatalf("a structured value is a %T", v)
	}
}

// canonical reads JSON through two parsers, which have to agree; numbers keep their text.
func canonical(t *rapid.T, text []byte) any {
	var first, second any
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	if err := dec.Decode(&first); err != nil {
		t.Fatalf("encoding/json: %v in %s", err, text)
	}
	numbers := jsonv2.WithUnmarshalers(jsonv2.UnmarshalFromFunc(func(d *jsontext.Decoder, v *any) error {
		if d.PeekKind() != '0' {
			return errors.ErrUnsupported
		}
		raw, err := d.ReadValue()
		*v = json.Number(string(raw))
		return err
	}))
	if err := jsonv2.Unmarshal(text, &second, numbers); err != nil {
		t.Fatalf("go-json-experiment: %v in %s", err, text)
	}
	if !reflect.DeepEqual(first, second) {
		t.Fatalf("two parsers disagree: %v and %v", first, second)
	}
	return first
}

func TestRowsKeepTheirBytesWhateverIsEncodedLater(t *testing.T) {
	mem := checked(t)
	s := &schema.Struct{Fields: []schema.Field{{Name: "id", Type: schema.Long}, {Name: "s", Type: schema.String}}}
	e := mustEncoder(t, s, valuesOption{})
	encode := func(rows ...record) Rows {
		batch := buildBatch(t, mem, s, rows)
		defer batch.Release()
		got, err := e.JSON(batch, Part{})
		if err != nil {
			t.Fatal(err)
		}
		return got
	}
	first := encode(record{int64(1), "a"}, record{int64(2), "b"})
	encode(record{int64(3), "longer than the first"}, record{int64(4), "d"})
	_ = append(first.Row(0), "overwritten"...)
	if got := string(first.Row(0)) + string(first.Row(1)); got != `{"id":1,"s":"a"}{"id":2,"s":"b"}` {
		t.Errorf("want the first batch's rows, got %s", got)
	}
}

func TestEncoderIsUsedByManyAtOnce(t *testing.T) {
	batch := eventsBatch(t, 500)
	defer batch.Release()
	e := mustEncoder(t, eventsSchema, valuesOption{})
	want, _, err := e.Lines(batch, Part{})
	if err != nil {
		t.Fatal(err)
	}
	var wait sync.WaitGroup
	for range 4 {
		wait.Go(func() {
			for range 5 {
				if got, _, err := e.Lines(batch, Part{}); err != nil || !bytes.Equal(want, got) {
					t.Errorf("want the same bytes from each goroutine, got %v", err)
				}
			}
		})
	}
	wait.Wait()
}

func TestBatchesOfAllSizesHaveTheirRows(t *testing.T) {
	mem := checked(t)
	s := &schema.Struct{Fields: []schema.Field{
		{Name: "s", Type: schema.String},
		{Name: "l", Type: &schema.Array{Element: schema.String}},
		{Name: "m", Type: &schema.Map{Key: schema.String, Value: schema.Binary}},
	}}
	e := mustEncoder(t, s, valuesOption{})
	for _, c := range []struct {
		name string
		rows []record
		want string
	}{
		{"none", nil, ""},
		{"all null", []record{{nil, nil, nil}, {nil, nil, nil}}, `{"s":null,"l":null,"m":null}` + "\n" + `{"s":null,"l":null,"m":null}`},
		{"all empty", []record{{"", []any{}, []pair{}}}, `{"s":"","l":[],"m":{}}`},
	} {
		batch := buildBatch(t, mem, s, c.rows)
		if got, _, err := e.Lines(batch, Part{}); err != nil || string(got) != c.want {
			t.Errorf("%s: want %q, got %q, %v", c.name, c.want, got, err)
		}
		batch.Release()
	}
}

func TestRowsWithoutColumnsAreEmptyObjects(t *testing.T) {
	mem := checked(t)
	s := &schema.Struct{}
	batch := buildBatch(t, mem, s, []record{{}, {}})
	defer batch.Release()
	e := mustEncoder(t, s, valuesOption{})
	if got, _, err := e.Lines(batch, Part{}); err != nil || string(got) != "{}\n{}" {
		t.Errorf("want two empty objects, got %q, %v", got, err)
	}
}

func TestEncodingAllocatesPerBatchAndNotPerRow(t *testing.T) {
	const rows = 8192
	batch := eventsBatch(t, rows)
	defer batch.Release()
	e := mustEncoder(t, eventsSchema, valuesOption{})
	for name, encode := range map[string]func() error{
		"JSON":  func() error { _, err := e.JSON(batch, Part{}); return err },
		"Lines": func() error { _, _, err := e.Lines(batch, Part{}); return err },
		"Keys":  func() error { _, err := e.Keys(batch, []int{0, 3}, Part{}); return err },
	} {
		allocs := testing.AllocsPerRun(10, func() {
			if err := encode(); err != nil {
				t.Fatal(err)
			}
		})
		if perRow := allocs / rows; perRow > 0.01 { // a session is made anew where the pool has lost it
			t.Errorf("%s: want at most 0.01 allocations a row, got %.4f", name, perRow)
		}
	}
}
