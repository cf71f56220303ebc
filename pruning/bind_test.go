package pruning

import (
	"errors"
	"fmt"
	"math"
	"reflect"
	"strings"
	"testing"
)

var errNoColumn = errors.New("there is no such column")

// testColumns are those that testResolver knows, by name.
var testColumns = map[string]Type{
	"t":    {Kind: Boolean, Name: "boolean"},
	"i8":   {Kind: Integer, Bits: 8, Name: "byte"},
	"i":    {Kind: Integer, Bits: 32, Name: "integer"},
	"l":    {Kind: Integer, Bits: 64, Name: "long"},
	"f":    {Kind: Float, Name: "float"},
	"d":    {Kind: Double, Name: "double"},
	"m":    {Kind: Decimal, Precision: 5, Scale: 2, Name: "decimal(5,2)"},
	"huge": {Kind: Decimal, Precision: 38, Scale: 0, Name: "decimal(38,0)"},
	"s":    {Kind: String, Name: "string"},
	"b":    {Kind: Binary, Name: "binary"},
	"day":  {Kind: Date, Name: "date"},
	"ts":   {Kind: Timestamp, Name: "timestamp"},
	"ntz":  {Kind: TimestampNTZ, Name: "timestamp_ntz"},
	"map":  {Kind: Opaque, Name: "map<string,integer>"},
	"s.i":  {Kind: Integer, Bits: 32, Name: "integer"},
}

// testResolver finds columns in any case, as tables do.
func testResolver(path []string) (Column, error) {
	for name, t := range testColumns {
		if strings.EqualFold(name, strings.Join(path, ".")) {
			return Column{Path: strings.Split(name, "."), Type: t}, nil
		}
	}
	return Column{}, errNoColumn
}

func bindText(t testing.TB, text string) *Bound {
	t.Helper()
	p, err := Parse(text)
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Bind(testResolver)
	if err != nil {
		t.Fatalf("%s: %v", text, err)
	}
	return b
}

// unsaid is a node without the text that it came from.
func unsaid(n Node) Node {
	all := func(parts []Node) []Node {
		nodes := make([]Node, len(parts))
		for i, part := range parts {
			nodes[i] = unsaid(part)
		}
		return nodes
	}
	switch n := n.(type) {
	case And:
		return And{all(n.Parts)}
	case Or:
		return Or{all(n.Parts)}
	case Not:
		return Not{unsaid(n.Part)}
	case Compare:
		n.said = ""
		return n
	case In:
		n.said = ""
		return n
	case IsNull:
		n.said = ""
		return n
	case Like:
		n.said = ""
		return n
	case Known:
		n.said = ""
		return n
	case Constant:
		n.said = ""
		return n
	}
	return n
}

// compared is what a column compared with a value becomes.
func compared(op Op, v Value) Node { return Compare{Op: op, Value: v} }

func known(t Truth) Node { return Known{Truth: t} }

func TestBindDecidesLiteralsExactly(t *testing.T) {
	integer := func(i int64) Value { return Value{Kind: Integer, Int: i} }
	float := func(f float64) Value { return Value{Kind: Float, Float: f} }
	double := func(f float64) Value { return Value{Kind: Double, Float: f} }
	decimal := func(i int64) Value { return Value{Kind: Decimal, Decimal: Int128{i >> 63, uint64(i)}} }
	micros := func(kind Kind, i int64) Value { return Value{Kind: kind, Int: i} }
	text := func(s string) Value { return Value{Kind: String, Bytes: s} }
	for _, c := range []struct {
		text string
		want Node
	}{
		{"t", compared(Equal, Value{Kind: Boolean, Int: 1})},
		{"t != FALSE", compared(NotEqual, Value{Kind: Boolean})},
		{"t = NULL", Constant{Truth: Null}},
		{"NULL < i", Constant{Truth: Null}},

		{"i = 5", compared(Equal, integer(5))},
		{"i = 5.0", compared(Equal, integer(5))},
		{"i = 0.5e1", compared(Equal, integer(5))},
		{"i = 500e-2", compared(Equal, integer(5))},
		{"i = -0", compared(Equal, integer(0))},
		{"i = 2.5", known(False)},
		{"i != 2.5", known(True)},
		{"i < 2.5", compared(LessEqual, integer(2))},
		{"i <= 2.5", compared(LessEqual, integer(2))},
		{"i > 2.5", compared(Greater, integer(2))},
		{"i >= 2.5", compared(Greater, integer(2))},
		{"i < -2.5", compared(LessEqual, integer(-3))},
		{"i > -2.5", compared(Greater, integer(-3))},
		{"i > -1e-30", compared(Greater, integer(-1))},
		{"i = 3e9", known(False)},
		{"i < 3e9", known(True)},
		{"i >= 3000000000", known(False)},
		{"i > -3e9", known(True)},
		{"i <= -3e9", known(False)},
		{"i8 < 127.5", compared(LessEqual, integer(127))},
		{"i8 = 128", known(False)},
		{"i8 >= -128", compared(GreaterEqual, integer(-128))},
		{"i8 > -128.5", known(True)},
		{"l = 9223372036854775807", compared(Equal, integer(math.MaxInt64))},
		{"l = -9223372036854775808", compared(Equal, integer(math.MinInt64))},
		{"l < 9223372036854775808", known(True)},
		{"l < -9223372036854775809", known(False)},
		{"l = 1e999999999999999999999", known(False)},
		{"l > -1e999999999999999999999", known(True)},
		{"l > 1e-999999999999999999999", compared(Greater, integer(0))},

		{"f = 0.1", compared(Equal, float(float64(float32(0.1))))},
		{"d = 0.1", compared(Equal, double(0.1))},
		{"d = 1e23", compared(Equal, double(1e23))},
		{"d = -0.0", compared(Equal, double(0))},
		{"d = 1e-999", compared(Equal, double(0))},
		{"d = 15" + strings.Repeat("0", 20_000) + "e-20001", compared(Equal, double(1.5))},
		{"d = 0." + strings.Repeat("0", 20_000) + "15e20001", compared(Equal, double(1.5))},
		{"d > " + strings.Repeat("1", 20_000) + "e-19999", compared(Greater, double(1.1111111111111112))},
		{"f = 16777216", compared(Equal, float(16777216))},
		{"f = 16777217", known(False)},
		{"f < 16777217", compared(LessEqual, float(16777216))},
		{"f > 16777219", compared(Greater, float(16777218))},
		{"f >= -16777217", compared(Greater, float(-16777218))},
		{"d = 9007199254740993", known(False)},
		{"d <= 9007199254740993", compared(LessEqual, double(9007199254740992))},
		{"d < 1e400", compared(LessEqual, double(math.MaxFloat64))},
		{"d > 1e400", compared(Greater, double(math.MaxFloat64))},
		{"d >= -1e400", compared(Greater, double(math.Inf(-1)))},
		{"f > 1e39", compared(Greater, float(math.MaxFloat32))},
		{"d = 'Infinity'", compared(Equal, double(math.Inf(1)))},
		{"d > '-infinity'", compared(Greater, double(math.Inf(-1)))},

		{"m = 1.5", compared(Equal, decimal(150))},
		{"m = 1.005", known(False)},
		{"m < 1.005", compared(LessEqual, decimal(100))},
		{"m < -1.005", compared(LessEqual, decimal(-101))},
		{"m <= 999.99", compared(LessEqual, decimal(99999))},
		{"m < 1000", known(True)},
		{"m < 999.995", compared(LessEqual, decimal(99999))},
		{"m > -999.995", known(True)},
		{"m = 1e-2", compared(Equal, decimal(1))},
		{"huge = -99999999999999999999999999999999999999", compared(Equal, Value{Kind: Decimal, Decimal: Int128{-5421010862427522171, 17759344522308878337}})},
		{"huge > 1e38", known(False)},

		{"s = ''", compared(Equal, text(""))},
		{"s >= 'it''s'", compared(GreaterEqual, text("it's"))},
		{"s LIKE 'abc'", compared(Equal, text("abc"))},
		{`s LIKE 'a\%'`, compared(Equal, text("a%"))},
		{"b = X'00fF'", compared(Equal, Value{Kind: Binary, Bytes: "\x00\xff"})},

		{"day = DATE '1970-01-02'", compared(Equal, micros(Date, 1))},
		{"day >= '1969-12-31'", compared(GreaterEqual, micros(Date, -1))},
		{"day < '5881581-01-01'", known(True)},
		{"day < '-5881581-01-01'", known(False)},
		{"ts = TIMESTAMP '1970-01-01 00:00:01'", compared(Equal, micros(Timestamp, 1_000_000))},
		{"ts = TIMESTAMP '1970-01-01T02:00:00.5+02:00'", compared(Equal, micros(Timestamp, 500_000))},
		{"ts = '1969-12-31 19:00:00-0500'", compared(Equal, micros(Timestamp, 0))},
		{"ts = '1970-01-01 00:00 Z'", compared(Equal, micros(Timestamp, 0))},
		{"ts > DATE '1970-01-02'", compared(Greater, micros(Timestamp, 86_400_000_000))},
		{"ts < TIMESTAMP '1970-01-01 00:00:00.0000015'", compared(LessEqual, micros(Timestamp, 1))},
		{"ts = TIMESTAMP '1970-01-01 00:00:00.0000015'", known(False)},
		{"ts >= TIMESTAMP '1969-12-31 23:59:59.999999999'", compared(Greater, micros(Timestamp, -1))},
		{"ts < '300000-01-01'", known(True)},
		{"ts < '-300000-01-01'", known(False)},
		{"ntz <= '1970-01-01 00:00:01'", compared(LessEqual, micros(TimestampNTZ, 1_000_000))},

		{"i IN (3, 1, 2.5, 3e9, 3.0)", In{Values: []Value{integer(1), integer(3)}}},
		{"i IN (3, NULL)", In{Values: []Value{integer(3)}, HasNull: true}},
		{"i IN (NULL)", Constant{Truth: Null}},
		{"i IN (2.5, NULL)", Constant{Truth: Null}},
		{"i IN (2.5)", known(False)},
		{"i NOT IN (2.5)", Not{known(False)}},
		{"i BETWEEN 1.5 AND 2", And{[]Node{compared(Greater, integer(1)), compared(LessEqual, integer(2))}}},
		{"i BETWEEN 1 AND NULL", And{[]Node{compared(GreaterEqual, integer(1)), Constant{Truth: Null}}}},
		{"map IS NULL", IsNull{}},
		{"s.i IS NOT NULL", Not{IsNull{}}},
		{"TRUE", Constant{Truth: True}},
	} {
		if got := unsaid(bindText(t, c.text).Root); !reflect.DeepEqual(c.want, got) {
			t.Errorf("%s:\nwant %#v\n got %#v", c.text, c.want, got)
		}
	}
}

func TestBindTakesNaNAsAValue(t *testing.T) {
	in, ok := bindText(t, "d IN ('NaN', 1, 'nan')").Root.(In)
	if !ok || len(in.Values) != 2 || !in.Values[1].IsNaN() {
		t.Errorf("got %v", in)
	}
}

func TestBindErrorsNameThePositionAndTheColumn(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"i = 1 AND nope > 2", "at character 11: there is no such column"},
		{"nope = NULL", "at character 1: there is no such column"},
		{"i", "at character 1: column i is integer, which by itself is no condition: compare it with a value"},
		{"map", "at character 1: column map is map<string,integer>, whose values are not compared: only IS NULL and IS NOT NULL are possible"},
		{"map = NULL", "at character 1: column map is map<string,integer>, whose values are not compared: only IS NULL and IS NOT NULL are possible"},
		{"map IN (1)", "at character 1: column map is map<string,integer>, whose values are not compared: only IS NULL and IS NOT NULL are possible"},
		{"i LIKE 'x'", "at character 1: column i is integer: LIKE is for strings"},
		{"i = '5'", "at character 5: column i is integer: expected a number without quotes, found a text"},
		{"i IN (1, TRUE)", "at character 10: column i is integer: expected a number without quotes, found a boolean"},
		{"t = 1", "at character 5: column t is boolean: expected TRUE or FALSE, found a number"},
		{"s = 5", "at character 5: column s is string: expected a text in single quotes, as in 'abc', found a number"},
		{"b = 'x'", "at character 5: column b is binary: expected hexadecimal digits, as in X'00FF', found a text"},
		{"d = 'x'", "at character 5: column d is double: expected a number without quotes, or 'NaN', 'Infinity', '-Infinity', found a text"},
		{"day = 5", "at character 7: column day is date: expected DATE 'YYYY-MM-DD', found a number"},
		{"day = TIMESTAMP '2024-01-01 00:00'", "at character 7: column day is date: expected DATE 'YYYY-MM-DD', found a timestamp"},
		{"day = '2024-1'", `at character 7: column day is date: "2024-1" is no date: write YYYY-MM-DD`},
		{"ts = 5", "at character 6: column ts is timestamp: expected TIMESTAMP 'YYYY-MM-DD HH:MM:SS', found a number"},
		{"ts = '2024'", `at character 6: column ts is timestamp: "2024" is no timestamp: write YYYY-MM-DD HH:MM:SS, with .ffffff and Z or +HH:MM as needed`},
		{"ntz BETWEEN '2024-01-01' AND '2024-01-01 00:00Z'", `at character 30: column ntz is timestamp_ntz: "2024-01-01 00:00Z" has a zone, which such a column has not`},
	} {
		p, err := Parse(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if _, err = p.Bind(testResolver); err == nil || c.want != err.Error() {
			t.Errorf("%s:\nwant %s\n got %v", c.text, c.want, err)
		}
	}
}

func TestBindKeepsTheResolversError(t *testing.T) {
	p, err := Parse("nope = 1")
	if err != nil {
		t.Fatal(err)
	}
	if _, err = p.Bind(testResolver); !errors.Is(err, errNoColumn) {
		t.Errorf("got %v", err)
	}
}

func TestBindNumbersColumnsOnce(t *testing.T) {
	b := bindText(t, "I = 1 AND s IS NULL AND i = 2 AND `I` IN (3)")
	if len(b.Columns) != 2 || b.Columns[0].Path[0] != "i" || b.Columns[1].Path[0] != "s" {
		t.Errorf("got %v", b.Columns)
	}
	if want := "I = 1 AND s IS NULL AND i = 2 AND I IN (3)"; want != b.Text {
		t.Errorf("want %s, got %s", want, b.Text)
	}
}

func TestNodesSayWhatWasWritten(t *testing.T) {
	for text, want := range map[string]string{
		"i<2.5 AND (s LIKE 'a' OR NOT t) AND i IN (9, 1, NULL) AND TRUE": "i < 2.5 AND (s LIKE 'a' OR NOT (t)) AND i IN (9, 1, NULL) AND TRUE",
		"i BETWEEN 1 AND 2":   "i >= 1 AND i <= 2",
		"i = NULL":            "i = NULL",
		"i8 = 300":            "i8 = 300",
		"s NOT LIKE 'a%'":     "NOT (s LIKE 'a%')",
		"s.i IS NOT NULL":     "NOT (s.i IS NULL)",
		"`i` = 1 OR `s` > ''": "i = 1 OR s > ''",
	} {
		if got := bindText(t, text).Root.String(); want != got {
			t.Errorf("%s: want %s, got %s", text, want, got)
		}
	}
	if want, got := "a condition on column 3", fmt.Sprint(Compare{Column: 3}); want != got {
		t.Errorf("want %s, got %s", want, got)
	}
}
