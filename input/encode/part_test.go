package encode

import (
	"io"
	"math"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// partly is what a format made of a part: each row as text, where it has one, and the bytes that count.
type partly struct {
	rows  []string
	n     int
	bytes int
}

var formats = map[string]func(t fataler, e *Encoder, batch arrow.RecordBatch, p Part) partly{
	"json": func(t fataler, e *Encoder, batch arrow.RecordBatch, p Part) partly {
		got, err := e.JSON(batch, p)
		mustEncode(t, err)
		out := partly{n: got.Len(), bytes: len(got.Bytes)}
		for i := range got.Len() {
			out.rows = append(out.rows, string(got.Row(i)))
		}
		return out
	},
	"lines": func(t fataler, e *Encoder, batch arrow.RecordBatch, p Part) partly {
		got, n, err := e.Lines(batch, p)
		mustEncode(t, err)
		return partly{rows: strings.Split(string(got), "\n"), n: n, bytes: len(got)}
	},
	"lines into": func(t fataler, e *Encoder, batch arrow.RecordBatch, p Part) partly {
		old := []byte("what was there before")
		got, n, err := e.LinesInto(old, batch, p)
		mustEncode(t, err)
		return partly{rows: strings.Split(string(got), "\n"), n: n, bytes: len(got)}
	},
	"structured": func(t fataler, e *Encoder, batch arrow.RecordBatch, p Part) partly {
		got, err := e.Structured(batch, p)
		mustEncode(t, err)
		out := partly{n: len(got.Rows), bytes: got.Ends[len(got.Ends)-1]}
		for _, row := range got.Rows {
			out.rows = append(out.rows, plainJSON(row))
		}
		return out
	},
	"arrow": func(t fataler, e *Encoder, batch arrow.RecordBatch, p Part) partly {
		stream, n, err := ArrowIPC(batch, p)
		mustEncode(t, err)
		var out partly
		readOne(t, memory.NewGoAllocator(), stream, func(got arrow.RecordBatch) {
			lines, _, err := e.Lines(got, Part{})
			mustEncode(t, err)
			out = partly{rows: strings.Split(string(lines), "\n"), n: int(n), bytes: int(ValueBytes(got))}
		})
		return out
	},
}

func mustEncode(t fataler, err error) {
	t.Helper()
	if err != nil {
		t.Fatalf("%v", err)
	}
}

func TestPartsAreBoundedAndAddUpToTheBatch(t *testing.T) {
	events, nested := eventsBatch(t, 60), nestedBatch(t, 60)
	rapid.Check(t, func(t *rapid.T) {
		batch, e := events, mustEncoder(t, eventsSchema, valuesOption{})
		if rapid.Bool().Draw(t, "nested") {
			batch, e = nested, mustEncoder(t, nestedSchema, valuesOption{})
		}
		first := rapid.Int64Range(0, 10).Draw(t, "offset")
		batch = batch.NewSlice(first, 60)
		bounds := Part{Rows: rapid.IntRange(0, 70).Draw(t, "rows"), Bytes: rapid.IntRange(0, 9000).Draw(t, "bytes")}
		for name, encode := range formats {
			whole := encode(t, e, batch, Part{})
			var rows []string
			for p := bounds; p.From < int(batch.NumRows()); {
				part := encode(t, e, batch, p)
				switch {
				case part.n == 0 || part.n != len(part.rows):
					t.Fatalf("%s: want some rows, as many as it says, got %d and %d", name, len(part.rows), part.n)
				case p.Rows > 0 && part.n > p.Rows, p.Bytes > 0 && part.n > 1 && part.bytes > p.Bytes:
					t.Fatalf("%s: want at most %d rows and %d bytes, got %d of %d", name, p.Rows, p.Bytes, part.n, part.bytes)
				}
				rows = append(rows, part.rows...)
				p.From += part.n
			}
			if !slices.Equal(whole.rows, rows) {
				t.Fatalf("%s: want the whole batch from its parts, got\n%v\nof\n%v", name, rows, whole.rows)
			}
		}
	})
}

// A slice is written without the rows around it: else each part of a batch would have the bytes of the whole one.
func TestArrowStreamOfAPartIsAsSmallAsItsRows(t *testing.T) {
	for _, batch := range []arrow.RecordBatch{eventsBatch(t, 8000), nestedBatch(t, 8000)} {
		whole, _, err := ArrowIPC(batch, Part{})
		mustEncode(t, err)
		part, _, err := ArrowIPC(batch, Part{From: 4000, Rows: 80})
		mustEncode(t, err)
		if len(part) > len(whole)/20 {
			t.Errorf("want about a hundredth of %d bytes, got %d", len(whole), len(part))
		}
	}
}

func TestKeysOfAPart(t *testing.T) {
	batch := buildBatch(t, checked(t), keySchema, []record{
		{"a", nil, nil, nil, nil, nil}, {nil, nil, nil, nil, nil, nil}, {"c", nil, nil, nil, nil, nil},
	})
	defer batch.Release()
	keys, err := mustEncoder(t, keySchema, valuesOption{}).Keys(batch, []int{0}, Part{From: 1, Rows: 2})
	mustEncode(t, err)
	if _, ok := keys.Key(0); ok || keys.Len() != 2 {
		t.Errorf("want no key for the first of two rows, got %d", keys.Len())
	}
	if key, ok := keys.Key(1); !ok || key != "c" {
		t.Errorf("want the key c, got %q", key)
	}
}

// TestErrorOfARowSaysWhichRow tries each format: the row is that of the batch, also where encoding began later.
func TestErrorOfARowSaysWhichRow(t *testing.T) {
	rows := slices.Repeat([]record{{nil, nil, nil, nil, 1.5, nil}}, 6)
	rows[4] = record{nil, nil, nil, nil, math.NaN(), nil}
	batch := buildBatch(t, checked(t), keySchema, rows)
	defer batch.Release()
	e := mustEncoder(t, keySchema, valuesOption{NonFinite: "fail"})
	for name, encode := range map[string]func(Part) error{
		"json":       func(p Part) error { _, err := e.JSON(batch, p); return err },
		"lines":      func(p Part) error { _, _, err := e.Lines(batch, p); return err },
		"structured": func(p Part) error { _, err := e.Structured(batch, p); return err },
		"keys":       func(p Part) error { _, err := e.Keys(batch, []int{4}, p); return err },
	} {
		err := encode(Part{From: 2})
		if err == nil || !strings.Contains(err.Error(), "encoding row 4 of a batch") {
			t.Errorf("%s: want row 4 of the batch named, got %v", name, err)
		}
		err = Locate(err, func(row int) (string, int64) { return "f", int64(row) + 100 })
		if want := "file f, column d: encoding row 104: "; err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: want %q, got %v", name, want, err)
		}
		if deltaerr.KindOf(err) != deltaerr.Config {
			t.Errorf("%s: want the kind kept, got %v", name, deltaerr.KindOf(err))
		}
	}
	nowhere := func(int) (string, int64) { panic("there is no row") }
	if err := Locate(io.EOF, nowhere); err != io.EOF || Locate(nil, nowhere) != nil { //nolint:errorlint // as it is
		t.Errorf("want other errors as they are, got %v", err)
	}
}

func TestWeightOfAStructuredRowIsAboutWhatGoTakes(t *testing.T) {
	s := &schema.Struct{Fields: []schema.Field{
		{Name: "n", Type: schema.Long, Nullable: true},
		{Name: "l", Type: &schema.Array{Element: nestedSchema, ContainsNull: true}, Nullable: true},
	}}
	const elements = 1000
	item := record{int64(1), record{"city", 1.5}, []any{record{"sku", int64(2)}}}
	for len(item) < len(nestedSchema.Fields) {
		item = append(item, nil)
	}
	batch := buildBatch(t, checked(t), s, []record{{int64(1), slices.Repeat([]any{item}, elements)}})
	defer batch.Release()
	e := mustEncoder(t, s, valuesOption{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := e.Structured(batch, Part{})
	runtime.ReadMemStats(&after)
	mustEncode(t, err)
	taken := int64(after.TotalAlloc - before.TotalAlloc)
	if weight := int64(got.Ends[0]); weight < taken/3 || weight > taken*3 {
		t.Errorf("want about the %d bytes that were allocated, got %d", taken, weight)
	}
}

func TestValueBytesCountsASliceNotItsBuffers(t *testing.T) {
	batch := nestedBatch(t, 800)
	whole := ValueBytes(batch)
	if stream, _, err := ArrowIPC(batch, Part{}); err != nil || whole < int64(len(stream))/2 || whole > int64(len(stream)) {
		t.Fatalf("want a bit less than the %d bytes of a stream, got %d, %v", len(stream), whole, err)
	}
	if got := ValueBytes(batch.NewSlice(200, 280)); got < whole/12 || got > whole/8 {
		t.Fatalf("want about a tenth of %d, got %d", whole, got)
	}
	if got := ValueBytes(batch.NewSlice(5, 5)); got != 0 {
		t.Fatalf("want nothing for no rows, got %d", got)
	}
}
