package encode

import (
	"math"
	"math/big"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

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
