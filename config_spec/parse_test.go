package configspec

import (
	stdjson "encoding/json"
	"math"
	"testing"
)

func TestParseSizeIsExact(t *testing.T) {
	for text, want := range map[string]int64{
		"0": 0, "1": 1, "64KiB": 65536, "64 kib": 65536, "8MB": 8_000_000, "8MiB": 8 << 20, "1GiB": 1 << 30, "5b": 5,
		"9007199254740993": 9007199254740993, "9223372036854775807": math.MaxInt64,
	} {
		if got, err := ParseSize(text); err != nil || got != want {
			t.Errorf("%s: want %d, got %d, %v", text, want, got, err)
		}
	}
	for _, text := range []string{
		"", "-1", "1.5MiB", "1,5MB", "1e6", "0x10", "MiB", "12 apples", "9223372036854775808", "18446744073709551616", "9EiB", "٣KB",
	} {
		if got, err := ParseSize(text); err == nil {
			t.Errorf("%q: want an error, got %d", text, got)
		}
	}
}

func TestWholeNumbersLoseNothing(t *testing.T) {
	for _, raw := range []any{
		1.5, math.NaN(), math.Inf(1), float64(1 << 60), uint64(math.MaxUint64), stdjson.Number("1e400"), stdjson.Number("1.5"), true, "1",
	} {
		if n, ok := wholeNumber(raw); ok {
			t.Errorf("%v: want it refused, got %d", raw, n)
		}
	}
	for raw, want := range map[any]int64{7: 7, int64(-7): -7, 8.0: 8, stdjson.Number("9"): 9, uint64(math.MaxInt64): math.MaxInt64} {
		if n, ok := wholeNumber(raw); !ok || n != want {
			t.Errorf("%v: want %d, got %d, %v", raw, want, n, ok)
		}
	}
}

func FuzzDecode(f *testing.F) {
	f.Add("batch_rows", "1")
	f.Add("batch_bytes", "64KiB")
	f.Add("columns", "[\"a\"]")
	f.Add("values.decimal", "number")
	f.Fuzz(func(t *testing.T, path, text string) {
		raw, err := Assign([]string{"uri=t", path + "=" + text})
		if err != nil {
			return
		}
		if _, err := Decode(raw); err != nil && len(Problems(err)) == 0 {
			t.Errorf("want problems with a path, got %v", err)
		}
	})
}
