package schema

import (
	"reflect"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// FuzzParse: any text gives a schema that survives writing and reading, or a classified error.
func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		table(`"long"`), table(`"decimal(10,2)"`), table(`{"type":"array","elementType":"void","containsNull":false}`),
		table(`{"type":"map","keyType":"string","valueType":{"type":"struct","fields":[{"name":"a.b","type":"variant","metadata":{"k":[1]}}]}}`),
		`{"fields":[{"metadata":{},"nullable":false,"type":"udt","name":"x"}],"type":"struct"}`, `{"type":"struct","fields":[{`, "[[[[", "",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := Parse(text)
		if err != nil {
			if k := deltaerr.KindOf(err); k != deltaerr.Corrupt && k != deltaerr.Unsupported {
				t.Fatalf("want corrupt or unsupported, got %s: %v", k, err)
			}
			return
		}
		if _, err := ArrowSchema(s); err != nil && deltaerr.KindOf(err) != deltaerr.Unsupported {
			t.Fatal(err)
		}
		written, err := s.MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		if again, err := Parse(string(written)); err != nil || !reflect.DeepEqual(s, again) {
			t.Fatalf("want %s, got %v, %v", s, again, err)
		}
	})
}

// FuzzPartition: any text gives a value that makes an array, or an error, for every type.
func FuzzPartition(f *testing.F) {
	for _, seed := range []string{
		"", "12", "-1.50E-3", "NaN", "true", "2020-02-29", "+294247-01-10 04:00:54.775807", "-290308-12-21T19:59:05.224192Z",
		"2020-01-02 03:04:05.123456789+05:30", "9999999-12-31", ".", "1e2147483647", "0e-2147483648",
	} {
		f.Add(seed)
	}
	all := []Type{
		String, Long, Integer, Short, Byte, Float, Double, Boolean, Binary, Date, Timestamp, TimestampNTZ, Void, Variant,
		Decimal{1, 1},
		Decimal{10, 2},
		Decimal{38, 0},
		&Array{Element: Long}, Unknown("x"),
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, typ := range all {
			mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
			a, err := partitionColumn(mem, typ, &text, 2)
			if err == nil {
				a.Release()
			} else if k := deltaerr.KindOf(err); k != deltaerr.Corrupt && k != deltaerr.Unsupported {
				t.Fatalf("want corrupt or unsupported, got %s: %v", k, err)
			}
			mem.AssertSize(t, 0)
		}
	})
}
