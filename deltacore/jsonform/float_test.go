package jsonform

import (
	"bytes"
	"encoding/json"
	"math"
	"testing"

	"pgregory.net/rapid"
)

type fataler interface {
	Helper()
	Fatalf(string, ...any)
}

func checkFloat64(t fataler, x float64) {
	t.Helper()
	want, err := json.Marshal(x)
	if err != nil {
		return // not finite
	}
	if got := AppendFloat(nil, x, 64); !bytes.Equal(want, got) {
		t.Fatalf("%x: want %s, got %s", x, want, got)
	}
}

func checkFloat32(t fataler, x float32) {
	t.Helper()
	want, err := json.Marshal(x)
	if err != nil {
		return
	}
	if got := AppendFloat(nil, float64(x), 32); !bytes.Equal(want, got) {
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
