package deltalog

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// The types of the tests.
var (
	longType    = pruning.Type{Kind: pruning.Integer, Bits: 64}
	byteType    = pruning.Type{Kind: pruning.Integer, Bits: 8}
	floatType   = pruning.Type{Kind: pruning.Float}
	doubleType  = pruning.Type{Kind: pruning.Double}
	textType    = pruning.Type{Kind: pruning.String}
	dateType    = pruning.Type{Kind: pruning.Date}
	instantType = pruning.Type{Kind: pruning.Timestamp}
	localType   = pruning.Type{Kind: pruning.TimestampNTZ}
)

func decimalType(precision, scale int) pruning.Type {
	return pruning.Type{Kind: pruning.Decimal, Precision: precision, Scale: scale}
}

// statsOf is what a text says about a leaf c.
func statsOf(t pruning.Type, text string, vector bool) (pruning.Bounds, bool) {
	add := action.Add{Stats: text}
	if vector {
		add.DeletionVector = &action.DeletionVector{}
	}
	s := Selection{Leaves: []Leaf{{Path: []string{"c"}, Type: t}}}.Statistics(add)
	return s.Bounds(0), s.Odd()
}

// minMax is a text with the bounds of c.
func minMax(least, greatest string) string {
	return fmt.Sprintf(`{"numRecords":9,"minValues":{"c":%s},"maxValues":{"c":%s},"nullCount":{"c":0}}`, least, greatest)
}

// show writes a bound: "-" is none.
func show(v pruning.Value) string {
	switch v.Kind {
	case pruning.Opaque:
		return "-"
	case pruning.Float, pruning.Double:
		return fmt.Sprint(v.Float)
	case pruning.String:
		return fmt.Sprintf("%q", v.Bytes)
	case pruning.Decimal:
		return fmt.Sprint(v.Decimal.High, v.Decimal.Low)
	default:
		return fmt.Sprint(v.Int)
	}
}

// TestBoundsOfStatisticsHold covers ST1, ST3, ST4, ST5, ST8, TW4: what the values of a column can be when a writer gives
// these bounds, whatever is known to be wrong with some writers.
func TestBoundsOfStatisticsHold(t *testing.T) {
	const noon = 1714564800000000 // 2024-05-01T12:00:00Z
	long := strings.Repeat("a", 32)
	for _, c := range []struct {
		name            string
		of              pruning.Type
		min, max        string
		least, greatest string
		odd             bool
	}{
		{"integers", longType, "-9223372036854775808", "9223372036854775807", "-9223372036854775808", "9223372036854775807", false},
		{"an integer beyond 2^53", longType, "9007199254740993", "9007199254740993", "9007199254740993", "9007199254740993", false},
		{"an integer out of range", byteType, "-129", "127", "-", "127", true},
		{"an integer with a point", longType, "1.0", "2", "-", "2", true},
		{"an integer as text", longType, `"1"`, "2", "-", "2", true},
		{"a truth value", longType, "true", "2", "-", "2", true},
		{"a list", longType, "[1]", "2", "-", "2", true},
		{"an object", longType, `{"a":1}`, "2", "-", "2", true},
		{"nulls", longType, "null", "null", "-", "-", false},
		{"bounds in the wrong order", longType, "2", "1", "-", "-", true},

		{"doubles", doubleType, "-2.5", "1e300", "-2.5", "1e+300", false},
		{"a float in a column that was widened", doubleType, "3.3", "3.4", "3.299999952316284", "3.4000000953674316", false},
		{"floats", floatType, "3.4", "3.5", fmt.Sprint(float64(float32(3.4))), "3.5", false},
		{"not a number", doubleType, `"NaN"`, `"NaN"`, "-", "-", true},
		{"infinities", doubleType, `"-Infinity"`, `"+INF"`, "-", "-", true},
		{"a float out of range", floatType, "0", "1e39", "0", "-", true},

		{"decimals", decimalType(10, 2), "-12.5", "1E+2", "-1 18446744073709550366", "0 10000", false},
		{"a decimal of scale 0 with a point", decimalType(4, 0), "1234.0", "1234.0", "0 1234", "0 1234", false},
		{"an integer in a decimal column", decimalType(12, 2), "5", "5", "0 500", "0 500", false},
		{"a decimal of too many digits", decimalType(10, 2), "0.30000000000000004", "0.30000000000000004", "0 30", "0 31", false},
		{"a negative decimal of too many digits", decimalType(10, 2), "-0.305", "-0.305", "-1 18446744073709551585", "-1 18446744073709551586", false},
		{"a decimal with all its digits", decimalType(20, 0), "12345678901234567890", "12345678901234567891", "0 12345678901234567890", "0 12345678901234567891", false},
		{"a decimal that was a double", decimalType(20, 0), "10000000000000000000", "10000000000000000000", "0 9999999999999991118", "0 10000000000000008882", false},
		{"a decimal beyond 38 digits", decimalType(38, 0), "1e38", "-1e38", "-", "-", true},
		{"a decimal as text", decimalType(10, 2), `"1.5"`, `"1.5"`, "-", "-", true},

		{"dates", dateType, `"1970-01-01"`, `"1970-01-02"`, "0", "1", false},
		{"a date of the Julian calendar", dateType, `"1500-01-01"`, `"1970-01-02"`, "-", "1", false},
		{"a date in old form", dateType, `"1970-1-1"`, `"soon"`, "0", "-", true},

		{"timestamps, cut to milliseconds", instantType, `"2024-05-01T12:00:00.000Z"`, `"2024-05-01T12:00:00.000Z"`, fmt.Sprint(noon), fmt.Sprint(noon + 999), false},
		{"timestamps with an offset", instantType, `"2024-05-01T04:00:00.000-08:00"`, `"2024-05-01T14:00:00.000+02:00"`, fmt.Sprint(noon), fmt.Sprint(noon + 999), false},
		{"timestamps before 1970", instantType, `"1969-12-31T23:59:59.999Z"`, `"1969-12-31T23:59:59.999Z"`, "-1999", "-1", false},
		{"a timestamp without a zone", instantType, `"2024-05-01T12:00:00.000"`, `"2024-05-01T12:00:00.000Z"`, "-", fmt.Sprint(noon + 999), true},
		{"a timestamp of the year 9999", instantType, `"2024-05-01T12:00:00Z"`, `"9999-12-31T23:59:59.999Z"`, fmt.Sprint(noon), "253402300799999999", false},
		{"a timestamp of the year 48690", instantType, `"2024-05-01T12:00:00Z"`, `"+48690-07-02T00:00:00Z"`, fmt.Sprint(noon), "1474356556800000999", false},
		{"local timestamps", localType, `"2024-05-01T12:00:00.000"`, `"2024-05-01T12:00:00.000"`, fmt.Sprint(noon), fmt.Sprint(noon + 999), false},
		{"a local timestamp with a zone", localType, `"2024-05-01T12:00:00.000Z"`, `"2024-05-01T12:00:00"`, "-", fmt.Sprint(noon + 999), true},
		{"dates in a column that is a local timestamp now", localType, `"1970-01-01"`, `"1970-01-02"`, "-999", fmt.Sprint(schema.MicrosPerDay + 999), false},

		{"texts", textType, `"a"`, `"b\"\u00e9"`, `"a"`, `"b\"é"`, false},
		{"an empty text", textType, `""`, `""`, `""`, `""`, false},
		{"a text that may be cut", textType, `"` + long + `"`, `"` + long + `"`, `"` + long + `"`, "-", false},
		{"a text that was cut", textType, `"a"`, `"` + long + `\udbff\udfff"`, `"a"`, fmt.Sprintf("%q", long+"\U0010FFFF"), false},
		{"a text that was cut among ASCII", textType, `"a"`, `"` + long + `\u007f"`, `"a"`, fmt.Sprintf("%q", long+"\x7f"), false},
		{"a text with the character of old writers", textType, `"a"`, `"` + long + "\uFFFD" + `"`, `"a"`, "-", false},
		{"16 emoji are 32 units", textType, `"a"`, `"` + strings.Repeat("🌼", 16) + `"`, `"a"`, "-", false},
		{"31 letters", textType, `"a"`, `"` + long[1:] + `"`, `"a"`, fmt.Sprintf("%q", long[1:]), false},
		{"a greatest text of UTF-16 order", textType, `"a"`, `"x\uffee"`, `"a"`, "-", false},
		{"a least text of UTF-16 order", textType, `"a🌼b"`, `"🌼"`, `"a"`, `"🌼"`, false},
		{"half a character", textType, `"a\ud83c"`, `"b"`, "-", `"b"`, true},
		{"a number where a text belongs", textType, "1", `"b"`, "-", `"b"`, true},

		{"truth values", pruning.Type{Kind: pruning.Boolean}, "false", "true", "-", "-", false},
		{"bytes", pruning.Type{Kind: pruning.Binary}, `"a"`, `"b"`, "-", "-", false},
		{"variants, collated texts, intervals", pruning.Type{Kind: pruning.Opaque}, `"a"`, `"b"`, "-", "-", false},
	} {
		b, odd := statsOf(c.of, minMax(c.min, c.max), false)
		if show(b.Min) != c.least || show(b.Max) != c.greatest || odd != c.odd {
			t.Errorf("%s: want %s to %s, odd %t, got %s to %s, odd %t", c.name, c.least, c.greatest, c.odd, show(b.Min), show(b.Max), odd)
		}
		if _, known := b.NaNs.Get(); known || b.Constant {
			t.Errorf("%s: nothing says that there is no NaN, or one value only: %+v", c.name, b)
		}
	}
}

// TestCountsOfStatistics covers ST6, ST7, A7: which counts hold for the live rows.
func TestCountsOfStatistics(t *testing.T) {
	for _, c := range []struct {
		name, text  string
		vector      bool
		rows, nulls string
	}{
		{"both", `{"numRecords":9,"nullCount":{"c":3}}`, false, "9", "3"},
		{"tight by its own word", `{"numRecords":9,"tightBounds":true,"nullCount":{"c":3}}`, false, "9", "3"},
		{"wide", `{"numRecords":9,"tightBounds":false,"nullCount":{"c":3}}`, false, "9", "?"},
		{"wide and no nulls", `{"numRecords":9,"tightBounds":false,"nullCount":{"c":0}}`, false, "9", "0"},
		{"wide and nothing else", `{"numRecords":9,"tightBounds":false,"nullCount":{"c":9}}`, false, "9", "9"},
		{"tightBounds that is none", `{"numRecords":9,"tightBounds":"yes","nullCount":{"c":3}}`, false, "9", "?"},
		{"a vector", `{"numRecords":9,"nullCount":{"c":3}}`, true, "9", "?"},
		{"a vector and no nulls", `{"numRecords":9,"nullCount":{"c":0}}`, true, "9", "0"},
		{"a vector and nothing else", `{"numRecords":9,"nullCount":{"c":9}}`, true, "9", "9"},
		{"no number of rows", `{"nullCount":{"c":0}}`, false, "?", "0"},
		{"a negative number of rows", `{"numRecords":-1,"nullCount":{"c":0}}`, false, "?", "0"},
		{"more nulls than rows", `{"numRecords":2,"nullCount":{"c":3}}`, false, "2", "?"},
		{"negative nulls", `{"numRecords":2,"nullCount":{"c":-3}}`, false, "2", "?"},
		{"nulls of a struct", `{"numRecords":2,"nullCount":{"c":{"d":0}}}`, false, "2", "?"},
		{"nulls as text", `{"numRecords":"2","nullCount":{"c":"0"}}`, false, "?", "?"},
	} {
		b, _ := statsOf(longType, c.text, c.vector)
		if countText(b.Rows) != c.rows || countText(b.Nulls) != c.nulls {
			t.Errorf("%s: want %s rows, %s nulls, got %s, %s", c.name, c.rows, c.nulls, countText(b.Rows), countText(b.Nulls))
		}
	}
}

func countText(c pruning.Count) string {
	if n, known := c.Get(); known {
		return fmt.Sprint(n)
	}
	return "?"
}

// TestOddStatisticsSayNothing covers A7, ST1, ST9: text that is no JSON, that says a thing twice, that lacks the column or
// names it in another case.
func TestOddStatisticsSayNothing(t *testing.T) {
	whole := minMax("1", "2")
	for text, odd := range map[string]bool{
		"": false, "{}": false, `{"numRecords":null,"minValues":null}`: false, `{"minValues":{"C":1},"maxValues":{"C":2}}`: false,
		`{"minValues":{"d":1},"statsWithCollation":{"x":{"min":{"c":1}}}}`: false, `{"MinValues":{"c":1}}`: false, `{"minValues":{"x":{"c":1}}}`: false,
		"null": true, "7": true, "[]": true, "{": true, whole[:len(whole)-1]: true, whole[:len(whole)/2]: true, whole + "x": true, whole + whole: true,
		`{"minValues":{"c":1,"c":0}}`: true, `{"minValues":{"c":1},"minValues":{"c":0}}`: true, `{"minValues":{"c":NaN}}`: true,
		`{"minValues":{"c":1]}`: true, `{"minValues":{"c":1},}`: true, `{"minValues":{"c" 1}}`: true, `{"minValues":{"\c":1}}`: true, `{"minValues":{"c":"1}}`: true,
	} {
		b, got := statsOf(longType, text, false)
		if (b != pruning.Bounds{}) || got != odd {
			t.Errorf("%s: want nothing, odd %t, got %+v, %t", text, odd, b, got)
		}
	}
}

// TestStatisticsOfMembersOfStructs covers ST1 and CM4: names are whole, and physical.
func TestStatisticsOfMembersOfStructs(t *testing.T) {
	s := Selection{Leaves: []Leaf{
		{Path: []string{"s", "a"}, Type: longType}, {Path: []string{"s", "t.u", `b"`}, Type: textType}, {Path: []string{"s.a"}, Type: longType},
	}}.Statistics(action.Add{Stats: ` { "maxValues" : { "s.a" : 9 , "s" : { "t.u" : { "b\"" : "z" } , "x" : [ { "a" : "]" } ] , "a" : 7 } } ,
		"other" : { "minValues" : { "s" : { "a" : 1 } } } , "minValues" : { "s.a" : 8 , "s" : { "a" : -7 , "a\\" : 3 } } } `})
	for leaf, want := range []string{"-7 7", `- "z"`, "8 9"} {
		if b := s.Bounds(leaf); show(b.Min)+" "+show(b.Max) != want {
			t.Errorf("leaf %d: want %s, got %s %s", leaf, want, show(b.Min), show(b.Max))
		}
	}
	if s.Odd() {
		t.Error("want nothing odd")
	}
}

// FuzzStatistics: any text says something consistent, or nothing, and the same when it is written with blanks.
func FuzzStatistics(f *testing.F) {
	for _, seed := range []string{
		minMax("1", "2"), minMax(`"a"`, `"b\\"`), minMax(`"2024-05-01"`, `"2024-05-01T12:00:00.000Z"`), minMax("1.5", "1e400"), minMax("-", "+1"),
		`{"numRecords":1,"tightBounds":false,"minValues":{"c":{"d":[{"e":"}"}]}},"nullCount":{"c":1}}`, `{"a":"\u12"}`, "{", "",
	} {
		f.Add(seed)
	}
	types := []pruning.Type{longType, floatType, doubleType, textType, dateType, instantType, localType, decimalType(38, 10), {Kind: pruning.Boolean}}
	f.Fuzz(func(t *testing.T, text string) {
		for _, of := range types {
			b, _ := statsOf(of, text, false)
			if b.Min.Kind != pruning.Opaque && b.Max.Kind != pruning.Opaque && b.Min.Compare(b.Max) > 0 {
				t.Fatalf("bounds in the wrong order: %+v", b)
			}
			if math.IsNaN(b.Min.Float) || math.IsNaN(b.Max.Float) {
				t.Fatal("a bound is not a number")
			}
			rows, known := b.Rows.Get()
			if nulls, counted := b.Nulls.Get(); nulls < 0 || rows < 0 || known && counted && nulls > rows {
				t.Fatalf("want counts that can be, got %+v", b)
			}
			blank := jsontext.Value(text)
			if blank.Indent() != nil {
				continue
			}
			if again, _ := statsOf(of, string(blank), false); again != b {
				t.Fatalf("want %+v, got %+v from %s", b, again, blank)
			}
		}
	})
}

func BenchmarkStatisticsText(b *testing.B) {
	text := `{"numRecords":1000,"minValues":{"id":1000499000,"ts":"2024-01-01T00:00:00.000Z","amount":50.8,"name":"n03199a"},` +
		`"maxValues":{"id":1000499999,"ts":"2024-01-01T23:59:59.000Z","amount":100.8,"name":"n03199z"},"nullCount":{"id":0,"ts":0,"amount":3,"name":0}}`
	s := newStatistics(newStatsForm([]Leaf{{Path: []string{"id"}, Type: longType}}))
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		if known := s.of(text, false).Bounds(0); known.Min.Int != 1000499000 {
			b.Fatal(known)
		}
	}
}
