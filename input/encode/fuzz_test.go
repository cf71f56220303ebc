package encode

import (
	"bytes"
	"encoding/json"
	"math"
	"math/big"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

func FuzzQuotedStringIsThatOfEncodingJSON(f *testing.F) {
	for _, text := range oddTexts {
		f.Add([]byte(text))
		f.Add([]byte("ABCDEFGH" + text + "ABCDEFGH"))
	}
	for _, text := range []string{"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "abcdefg\xe2\x80"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, ok := appendQuoted([]byte("x"), text)
		if ok != utf8.Valid(text) {
			t.Fatalf("want valid %v, got %v for %q", utf8.Valid(text), ok, text)
		}
		if want := "x" + plainJSON(string(text)); ok && string(got) != want {
			t.Fatalf("want %s, got %s", want, got)
		}
	})
}

func TestEveryCodePointIsQuotedAsByEncodingJSON(t *testing.T) {
	text := make([]byte, 0, utf8.UTFMax*utf8.MaxRune)
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if utf8.ValidRune(r) {
			text = utf8.AppendRune(text, r)
		}
	}
	if got, ok := appendQuoted(nil, text); !ok || string(got) != plainJSON(string(text)) {
		t.Error("want the text of encoding/json")
	}
}

func TestEveryPairOfSpecialBytesIsFound(t *testing.T) {
	for at := range 24 {
		for b := range 256 {
			text := []byte(strings.Repeat("~", 24))
			text[at] = byte(b)
			want := at
			if b >= ' ' && b != '"' && b != '\\' && b < utf8.RuneSelf {
				want = len(text)
			}
			if got := plainPrefix(text); got != want {
				t.Fatalf("byte %#x at %d: want %d, got %d", b, at, want, got)
			}
		}
	}
}

func checkFloat64(t fataler, x float64) {
	t.Helper()
	want, err := json.Marshal(x)
	if err != nil {
		return // not finite
	}
	if got := appendFloat(nil, x, 64); !bytes.Equal(want, got) {
		t.Fatalf("%x: want %s, got %s", x, want, got)
	}
}

func checkFloat32(t fataler, x float32) {
	t.Helper()
	want, err := json.Marshal(x)
	if err != nil {
		return
	}
	if got := appendFloat(nil, float64(x), 32); !bytes.Equal(want, got) {
		t.Fatalf("%x: want %s, got %s", x, want, got)
	}
}

func FuzzFloatIsThatOfEncodingJSON(f *testing.F) {
	for _, x := range []float64{0, 0.1, 1.005, 99999999999.9999, 1e11, 123456.7, 1e-4, 1e-5, 1e15, 1e21, 5e-324, 999999.9, 16777217} {
		f.Add(math.Float64bits(x), math.Float32bits(float32(x)))
		f.Add(math.Float64bits(-x), math.Float32bits(float32(-x)))
	}
	f.Fuzz(func(t *testing.T, wide uint64, narrow uint32) {
		checkFloat64(t, math.Float64frombits(wide))
		checkFloat32(t, math.Float32frombits(narrow))
	})
}

// Numbers around the fast path: n/10^k and their neighbours, over all magnitudes.
func TestShortDecimalsAreThoseOfEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Uint64Range(0, 1<<rapid.IntRange(1, 63).Draw(t, "bits")).Draw(t, "n")
		x := float64(n) / math.Pow10(rapid.IntRange(0, 6).Draw(t, "decimals"))
		if rapid.Bool().Draw(t, "negative") {
			x = -x
		}
		for _, y := range []float64{x, math.Nextafter(x, math.Inf(1)), math.Nextafter(x, math.Inf(-1))} {
			checkFloat64(t, y)
			checkFloat32(t, float32(y))
			checkFloat32(t, math.Nextafter32(float32(y), float32(math.Inf(1))))
		}
	})
}

// Neighbours of every power of two: where the fast path ends, decimals of few digits lie closer than floats do.
func TestFloatsOfAllMagnitudesAreThoseOfEncodingJSON(t *testing.T) {
	for exponent := -30; exponent < 80; exponent++ {
		x := math.Ldexp(1.2345678, exponent)
		for range 300 {
			checkFloat64(t, x)
			checkFloat32(t, float32(x))
			checkFloat64(t, math.Round(x*1e4)/1e4)
			x = math.Nextafter(x, math.Inf(1))
		}
	}
}

func TestEveryShortFloat32IsThatOfEncodingJSON(t *testing.T) {
	for n := uint32(0); n < 1_000_000; n += 7 {
		for _, power := range []float64{1, 10, 100, 1e3, 1e4, 1e5} {
			checkFloat32(t, float32(float64(n)/power))
		}
	}
}

func FuzzDecimalIsThatOfBigInt(f *testing.F) {
	f.Add(int64(0), uint64(0), byte(0))
	f.Add(int64(-1), uint64(math.MaxUint64), byte(38))
	f.Add(int64(math.MinInt64), uint64(0), byte(37))
	f.Add(int64(0), uint64(math.MaxUint64), byte(18))
	f.Add(int64(1), uint64(0), byte(19))
	f.Add(int64(math.MaxInt64), uint64(math.MaxUint64), byte(0))
	f.Fuzz(func(t *testing.T, hi int64, lo uint64, scale byte) {
		n, typ := decimal128.New(hi, lo), schema.Decimal{Precision: 38, Scale: int(scale % 39)}
		want := reference{valuesOption{Decimal: "number"}}.decimal(typ, n.BigInt())
		if got := string(appendDecimal(nil, n, typ.Scale)); got != want {
			t.Fatalf("want %s, got %s", want, got)
		}
	})
}

func FuzzTimestampIsThatOfPackageTime(f *testing.F) {
	for _, micros := range []int64{0, -1, 1, math.MinInt64, math.MaxInt64, 253402300800000000, -62135596800000000, -62167219200000001} {
		f.Add(micros)
	}
	f.Fuzz(func(t *testing.T, micros int64) {
		s := newTimestamps("rfc3339", "UTC")
		want := strings.Trim(reference{}.timestamp(micros, "Z"), `"`)
		for range 2 { // the second comes from the day that is kept
			if got := string(s.appendText(nil, micros)); got != want {
				t.Fatalf("want %s, got %s", want, got)
			}
		}
		var day dayText
		days := int64(int32(micros))
		if got, want := string(day.append(nil, days)), dateText(time.Unix(days*86400, 0).UTC()); got != want {
			t.Fatalf("want %s, got %s", want, got)
		}
	})
}

func TestDecimalKeepsWhatComesBefore(t *testing.T) {
	got := appendDecimal([]byte("x"), decimal128.FromBigInt(new(big.Int).Lsh(big.NewInt(1), 100)), 3)
	if want := "x1267650600228229401496703205.376"; string(got) != want {
		t.Errorf("want %s, got %s", want, got)
	}
}
