package schema

import (
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// one reads a partition text through an Arrow array of three and returns its second value as Arrow prints it.
func one(t testing.TB, typ Type, text *string) string {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	defer mem.AssertSize(t, 0)
	a, err := partitionColumn(mem, typ, text, 3)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Release()
	if want, err := ArrowType(typ); err != nil || a.Len() != 3 || a.DataType().String() != want.String() {
		t.Errorf("want 3 values of %s, got %d of %s", want, a.Len(), a.DataType())
	}
	if a.ValueStr(0) != a.ValueStr(1) || a.ValueStr(1) != a.ValueStr(2) {
		t.Errorf("want one value thrice, got %s", a)
	}
	return a.ValueStr(1)
}

func TestPartitionTexts(t *testing.T) {
	cases := []struct {
		t          Type
		text, want string
	}{
		{String, "null", "null"},
		{String, "__HIVE_DEFAULT_PARTITION__", "__HIVE_DEFAULT_PARTITION__"},
		{String, "a+b%21/ ä", "a+b%21/ ä"},
		{Binary, "aé\u0000", "YcOpAA=="},
		{Byte, "-128", "-128"},
		{Byte, "127", "127"},
		{Short, "-32768", "-32768"},
		{Integer, "+2147483647", "2147483647"},
		{Long, "-9223372036854775808", "-9223372036854775808"},
		{Long, "007", "7"},
		{Float, "1.0E10", "1e+10"},
		{Float, "3.4", "3.4"},
		{Double, "-1.0", "-1"},
		{Double, "4.9E-324", "5e-324"},
		{Double, "NaN", "NaN"},
		{Double, "Infinity", "+Inf"},
		{Float, "-Infinity", "-Inf"},
		{Boolean, "true", "true"},
		{Boolean, "FALSE", "false"},
		{Decimal{5, 2}, "1.5", "1.5"},
		{Decimal{5, 2}, "-000123.450000000000000000000000000000000000000000000", "-123.45"},
		{Decimal{5, 2}, "0E-10", "0"},
		{Decimal{5, 2}, "1.5E+2", "150"},
		{Decimal{5, 0}, "1e4", "10000"},
		{Decimal{38, 0}, "99999999999999999999999999999999999999", "99999999999999999999999999999999999999"},
		{Decimal{38, 38}, "-1e-38", "-1e-38"},
		{Decimal{38, 0}, ".5e1", "5"},
		{Date, "2020-02-29", "2020-02-29"},
		{Date, "2020-1-5", "2020-01-05"},
		{Date, "0001-01-01", "0001-01-01"},
		{Timestamp, "2020-01-02 03:04:05", "2020-01-02T03:04:05Z"},
		{Timestamp, "2020-01-02 03:04:05.1", "2020-01-02T03:04:05.1Z"},
		{Timestamp, "2020-01-02 03:04:05.123456789", "2020-01-02T03:04:05.123456Z"},
		{Timestamp, "1969-12-31 23:59:59.999999999", "1969-12-31T23:59:59.999999Z"},
		{Timestamp, "2020-01-02T03:04:05Z", "2020-01-02T03:04:05Z"},
		{Timestamp, "2020-01-02T03:04:05.678+05:30", "2020-01-01T21:34:05.678Z"},
		{Timestamp, "2020-01-02T03:04:05-0800", "2020-01-02T11:04:05Z"},
		{Timestamp, "2020-01-02T03:04+01", "2020-01-02T02:04:00Z"},
		{Timestamp, "0001-01-01 00:00:00", "0001-01-01T00:00:00Z"},
		{Timestamp, "9999-12-31 23:59:59.999999", "9999-12-31T23:59:59.999999Z"},
		{Timestamp, "2020-01-02", "2020-01-02T00:00:00Z"},
		{TimestampNTZ, "2020-01-02 03:04:05.5", "2020-01-02T03:04:05.5"},
		{TimestampNTZ, "2020-01-02", "2020-01-02T00:00:00"},
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s %s", c.t, c.text), func(t *testing.T) {
			// Arrow prints times of no zone in UTC as well; ntz differs in its type only.
			if got := one(t, c.t, &c.text); c.want != got && c.want+"Z" != got {
				t.Errorf("want %s, got %s", c.want, got)
			}
		})
	}
}

func TestPartitionTextsBeyondYear9999(t *testing.T) {
	cases := []struct {
		t    Type
		text string
		want int64
	}{
		{Date, "+10000-01-01", 2932897},
		{Date, "10000-01-01", 2932897},
		{Date, "-0001-01-01", -719893},
		{Date, "+5881580-07-11", math.MaxInt32},
		{Date, "-5877641-06-23", math.MinInt32},
		{Timestamp, "+10000-01-01 00:00:00", 253402300800_000000},
		{Timestamp, "+294247-01-10 04:00:54.775807", math.MaxInt64},
		{Timestamp, "-290308-12-21T19:59:05.224192Z", math.MinInt64},
		{TimestampNTZ, "0000-01-01 00:00:00.000001", -62167219200_000000 + 1},
	}
	for _, c := range cases {
		v, err := ParsePartition(Field{Name: "p", Type: c.t}, &c.text)
		if err != nil || v.Int != c.want {
			t.Errorf("%s %s: want %d, got %d, %v", c.t, c.text, c.want, v.Int, err)
		}
	}
}

func TestPartitionTextsThatAreNoValue(t *testing.T) {
	const noDecimal = "is not a decimal(5,2)"
	cases := []struct {
		t          Type
		text, want string
	}{
		{Integer, "12x", "is not an integer"},
		{Integer, " 12", "is not an integer"},
		{Integer, "1_000", "is not an integer"},
		{Integer, "2147483648", "is outside the range of an integer"},
		{Long, "9223372036854775808", "is outside the range of a long"},
		{Long, "1.0", "is not a long"},
		{Short, "-32769", "is outside the range of a short"},
		{Byte, "128", "is outside the range of a byte"},
		{Float, "1e39", "is outside the range of a float"},
		{Double, "0x1p-2", "is not a double"},
		{Double, "1_0", "is not a double"},
		{Double, "1,5", "is not a double"},
		{Double, "1e400", "is outside the range of a double"},
		{Boolean, "1", "is not a boolean"},
		{Decimal{5, 2}, "1.005", "has more digits after the point than decimal(5,2)"},
		{Decimal{5, 2}, "1e-3", "has more digits after the point than decimal(5,2)"},
		{Decimal{5, 2}, "1000", "is outside the range of decimal(5,2)"},
		{Decimal{5, 2}, "1" + strings.Repeat("0", 60), "is outside the range of decimal(5,2)"},
		{Decimal{5, 2}, strings.Repeat("9", 80), "is outside the range of decimal(5,2)"},
		{Decimal{5, 2}, "1.0.0", noDecimal},
		{Decimal{5, 2}, ".", noDecimal},
		{Decimal{5, 2}, "-", noDecimal},
		{Decimal{5, 2}, "--1", noDecimal},
		{Decimal{5, 2}, "1e", noDecimal},
		{Decimal{5, 2}, "1e99999999999", noDecimal},
		{Decimal{5, 2}, "NaN", noDecimal},
		{Date, "2021-02-29", "is not a date"},
		{Date, "2021-13-01", "is not a date"},
		{Date, "2021-00-01", "is not a date"},
		{Date, "2021-01-00", "is not a date"},
		{Date, "21-01-01", "is not a date"},
		{Date, "2021-001-01", "is not a date"},
		{Date, "2021-01-01 ", "is not a date"},
		{Date, "20210101", "is not a date"},
		{Date, "99999999-01-01", "is not a date"},
		{Date, "9999999-01-01", "is outside the range of a date"},
		{Timestamp, "2020-01-02 24:00:00", "is not a timestamp"},
		{Timestamp, "2020-01-02 23:59:60", "is not a timestamp"},
		{Timestamp, "2020-01-02 03:04:05.", "is not a timestamp"},
		{Timestamp, "2020-01-02 03:04:05.1234567890", "is not a timestamp"},
		{Timestamp, "2020-01-02 03:04:05 CET", "is not a timestamp"},
		{Timestamp, "2020-01-02T03:04:05+5", "is not a timestamp"},
		{Timestamp, "2020-01-02T03:04:05+19:00", "is not a timestamp"},
		{Timestamp, "2020-01-02T03:04:05Z0", "is not a timestamp"},
		{Timestamp, "2020-01-02x03:04:05", "is not a timestamp"},
		{Timestamp, "1577934245", "is not a timestamp"},
		{Timestamp, "+294247-01-10 04:00:54.775808", "is outside the range of a timestamp"},
		{Timestamp, "-290308-12-21 19:59:05.224191", "is outside the range of a timestamp"},
		{Timestamp, "9999999-12-31", "is outside the range of a timestamp"},
		{TimestampNTZ, "2020-01-02 03:04:05Z", "has a time zone, which a timestamp_ntz cannot have"},
		{TimestampNTZ, "2020-01-02T03:04:05+00:00", "has a time zone, which a timestamp_ntz cannot have"},
		{Void, "x", "is given for a void column, which can only be null"},
		{Variant, "x", "is of type variant, which no partition column can have"},
		{&Array{Element: Long}, "[1]", "is of type array<long>, which no partition column can have"},
	}
	for _, c := range cases {
		t.Run(fmt.Sprintf("%s %s", c.t, clip(c.text)), func(t *testing.T) {
			_, err := ParsePartition(Field{Name: "p", Type: c.t}, &c.text)
			want := "column p: partition value '" + clip(c.text) + "' " + c.want
			if err == nil || err.Error() != want || deltaerr.KindOf(err) != deltaerr.Corrupt {
				t.Errorf("want %q\ngot  %q", want, err)
			}
		})
	}
}

func TestPartitionValueOfUnknownTypeIsUnsupported(t *testing.T) {
	text := "1"
	_, err := ParsePartition(Field{Name: "p", Type: Unknown("interval")}, &text)
	if want := "column p: partition value '1' is of type interval, which is not supported"; err == nil || err.Error() != want || deltaerr.KindOf(err) != deltaerr.Unsupported {
		t.Errorf("want %q, got %q", want, err)
	}
}

func TestPartitionErrorsStayOnOneShortLine(t *testing.T) {
	text := "a\n'b" + strings.Repeat("x", 10_000)
	_, err := ParsePartition(Field{Name: "p", Type: Long}, &text)
	if err == nil || strings.Contains(err.Error(), "\n") || len(err.Error()) > 250 {
		t.Errorf("want one short line, got %q", err)
	}
}

func TestNullAndEmptyPartitionTextIsNullForEveryType(t *testing.T) {
	empty := ""
	for _, typ := range []Type{
		String, Long, Integer, Short, Byte, Float, Double, Boolean, Binary, Date, Timestamp, TimestampNTZ, Void,
		Decimal{10, 2},
		&Array{Element: Long}, &Map{Key: String, Value: Long}, &Struct{Fields: []Field{{Name: "a", Type: Long}}},
	} {
		for _, text := range []*string{nil, &empty} {
			if got := one(t, typ, text); got != array.NullValueStr {
				t.Errorf("%s: want null, got %s", typ, got)
			}
		}
	}
}

func TestPartitionColumnOfNoRows(t *testing.T) {
	for _, typ := range []Type{String, Long, Boolean} {
		text := "true"
		if typ == Long {
			text = "1"
		}
		mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
		a, err := partitionColumn(mem, typ, &text, 0)
		if err != nil || a.Len() != 0 {
			t.Fatalf("%s: want no rows, got %v, %v", typ, a, err)
		}
		a.Release()
		mem.AssertSize(t, 0)
	}
}

func TestPartitionColumnRefusesToRepeatALongTextTooOften(t *testing.T) {
	text := strings.Repeat("x", 1<<20)
	_, err := partitionColumn(memory.DefaultAllocator, String, &text, 8192)
	want := "a partition value of 1048576 bytes is too long for batches of 8192 rows"
	if err == nil || err.Error() != want || deltaerr.KindOf(err) != deltaerr.Unsupported {
		t.Errorf("want %q, got %v", want, err)
	}
}

func TestDecimalTextsKeepTheirValue(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := Decimal{Precision: rapid.IntRange(1, 38).Draw(t, "precision")}
		d.Scale = rapid.IntRange(0, d.Precision).Draw(t, "scale")
		digits := rapid.StringMatching(`[0-9]{1,`+strconv.Itoa(d.Precision)+`}`).Draw(t, "digits")
		unscaled, _ := new(big.Int).SetString(digits, 10)
		if rapid.Bool().Draw(t, "negative") {
			unscaled.Neg(unscaled)
		}
		want := decimal128.FromBigInt(unscaled)
		shift := rapid.IntRange(-50, 50).Draw(t, "shift")
		for _, text := range []string{want.ToString(int32(d.Scale)), unscaled.String() + fmt.Sprintf("E%d", -d.Scale), shifted(unscaled, shift, d.Scale)} {
			if got, wrong := parseDecimalText(text, d); wrong != "" || got != want {
				t.Fatalf("%s as %s: want %s, got %s, %s", text, d, want.ToString(0), got.ToString(0), wrong)
			}
		}
	})
}

// shifted writes unscaled / 10^scale with the exponent moved by shift and zeros in between.
func shifted(unscaled *big.Int, shift, scale int) string {
	digits := new(big.Int).Abs(unscaled).String()
	sign := ""
	if unscaled.Sign() < 0 {
		sign = "-"
	}
	if shift < 0 {
		return sign + digits + strings.Repeat("0", -shift) + fmt.Sprintf(".000e%d", shift-scale)
	}
	return sign + "0." + strings.Repeat("0", shift) + digits + fmt.Sprintf("00e%+d", shift+len(digits)-scale)
}

func TestTimestampTextsAgreeWithTheTimePackage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		offset := rapid.IntRange(-18*60, 18*60).Draw(t, "offset") * 60
		low, high := time.Date(1, 1, 2, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 30, 0, 0, 0, 0, time.UTC)
		want := rapid.Int64Range(low.UnixMicro(), high.UnixMicro()).Draw(t, "micros")
		at := time.UnixMicro(want).In(time.FixedZone("", offset))
		if got, wrong := parseTimestamp(at.Format("2006-01-02T15:04:05.000000Z07:00")); wrong != "" || got != want {
			t.Fatalf("%s: want %d, got %d, %s", at, want, got, wrong)
		}
		if got, wrong := parseTimestampNTZ(at.UTC().Format("2006-01-02 15:04:05.999999")); wrong != "" || got != want {
			t.Fatalf("%s: want %d, got %d, %s", at, want, got, wrong)
		}
	})
}

func TestCivilDatesAgreeWithTheTimePackage(t *testing.T) {
	check := func(t interface {
		Helper()
		Fatalf(format string, args ...any)
	}, days int64,
	) {
		t.Helper()
		year, month, day := CivilFromDays(days)
		if y, m, d := time.Unix(days*86_400, 0).UTC().Date(); int64(y) != year || int(m) != month || d != day {
			t.Fatalf("day %d: want %d-%d-%d, got %d-%d-%d", days, y, m, d, year, month, day)
		}
		if got := DaysFromCivil(year, month, day); got != days {
			t.Fatalf("%d-%d-%d: want %d, got %d", year, month, day, days, got)
		}
	}
	const first, last = math.MinInt64/86_400_000_000 - 1, math.MaxInt64 / 86_400_000_000
	for _, days := range []int64{first, last, 0, -1, math.MinInt32, math.MaxInt32, -719_162, -719_163, 2_932_896, 2_932_897} {
		check(t, days)
	}
	for days := int64(-800_000); days < 800_000; days += 11 { // about the years -220 to 4160
		check(t, days)
	}
	rapid.Check(t, func(t *rapid.T) { check(t, rapid.Int64Range(first, last).Draw(t, "days")) })
}

// partitionColumn parses a value and repeats it. The caller releases the array.
func partitionColumn(mem memory.Allocator, t Type, text *string, n int) (arrow.Array, error) {
	v, err := ParsePartition(Field{Type: t}, text)
	if err != nil {
		return nil, err
	}
	return v.Repeat(mem, t, n)
}

func TestPartitionColumnsAreThoseOfTheSchema(t *testing.T) {
	s := &Struct{Fields: []Field{{Name: "id", Type: Long}, {Name: "Country", Type: String}, {Name: "day", Type: Date}}}
	tests := []struct {
		names []string
		want  []string
		text  string
	}{
		{nil, []string{}, ""},
		{[]string{"day", "country"}, []string{"day", "Country"}, ""},
		{[]string{"day", "month"}, nil, `the table is partitioned by "month", but its schema has no such column`},
		{[]string{"Country", "COUNTRY"}, nil, `the table is partitioned by "Country" twice`},
	}
	for _, test := range tests {
		got, err := s.PartitionNames(test.names)
		if !slices.Equal(test.want, got) || (err == nil) != (test.text == "") || err != nil && (err.Error() != test.text || deltaerr.KindOf(err) != deltaerr.Corrupt) {
			t.Errorf("%v: want %v, %q, got %v, %v", test.names, test.want, test.text, got, err)
		}
	}
}
