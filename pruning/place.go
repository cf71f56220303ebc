package pruning

import (
	"fmt"
	"math"
	"strings"
)

// place says where a literal stands among the values that a column's type has.
type place struct {
	value Value // the greatest value that is not above the literal; no value where the literal is below or above all
	above bool  // the literal is above value, and below the next; without a value: it is above all
}

// outside is the place of a literal below or above all values of a type.
func outside(above bool) place { return place{above: above} }

func (p place) isExact() bool   { return p.value.Kind != Opaque && !p.above }
func (p place) isOutside() bool { return p.value.Kind == Opaque }

// place finds a literal's place among a type's values. The error says what the type is compared with instead.
func (t Type) place(l literal) (place, error) {
	switch {
	case t.Kind == Boolean && l.kind == truthLiteral:
		return exactly(Value{Kind: Boolean, Int: int64(truthOf(l.text == "TRUE") - False)})
	case t.Kind == Integer && l.kind == numberLiteral:
		return newNumber(l.text).placeInteger(t.Bits), nil
	case t.Kind == Decimal && l.kind == numberLiteral:
		return newNumber(l.text).placeDecimal(t.Precision, t.Scale), nil
	case (t.Kind == Float || t.Kind == Double) && l.kind == numberLiteral:
		return newNumber(l.text).placeFloat(t.Kind), nil
	case t.Kind == String && l.kind == textLiteral, t.Kind == Binary && l.kind == binaryLiteral:
		return exactly(Value{Kind: t.Kind, Bytes: l.text})
	case t.Kind == Date && (l.kind == dateLiteral || l.kind == textLiteral):
		return placeDate(l.text)
	case t.Kind == Timestamp || t.Kind == TimestampNTZ:
		return t.placeInstant(l)
	case (t.Kind == Float || t.Kind == Double) && l.kind == textLiteral:
		return t.placeNonFinite(l)
	}
	return place{}, t.mismatch(l)
}

func exactly(v Value) (place, error) { return place{value: v}, nil }

// placeDate finds a date among the days that 32 bits can count.
func placeDate(text string) (place, error) {
	days, err := parseDate(text)
	if err != nil {
		return place{}, err
	}
	if days != int64(int32(days)) {
		return outside(days > 0), nil
	}
	return exactly(Value{Kind: Date, Int: days})
}

// placeInstant takes a text and a date, too. Without a zone, a timestamp column's literal is in UTC.
func (t Type) placeInstant(l literal) (place, error) {
	if l.kind != timestampLiteral && l.kind != dateLiteral && l.kind != textLiteral {
		return place{}, t.mismatch(l)
	}
	i, err := parseInstant(l.text)
	if err != nil {
		return place{}, err
	}
	if t.Kind == TimestampNTZ && i.zoned {
		return place{}, fmt.Errorf("%q has a zone, which such a column has not", clip(l.text))
	}
	return i.place(t.Kind), nil
}

// placeNonFinite takes the names that Spark has for what is no number.
func (t Type) placeNonFinite(l literal) (place, error) {
	switch strings.ToLower(l.text) {
	case "nan":
		return exactly(Value{Kind: t.Kind, Float: math.NaN()})
	case "infinity", "+infinity", "inf", "+inf":
		return exactly(Value{Kind: t.Kind, Float: math.Inf(1)})
	case "-infinity", "-inf":
		return exactly(Value{Kind: t.Kind, Float: math.Inf(-1)})
	}
	return place{}, t.mismatch(l)
}

// mismatch says what a literal for the type looks like.
func (t Type) mismatch(l literal) error {
	return fmt.Errorf("expected %s, found %s", wanted[t.Kind], l.noun())
}

var wanted = [...]string{
	Opaque:       "IS NULL or IS NOT NULL",
	Boolean:      "TRUE or FALSE",
	Integer:      "a number without quotes",
	Decimal:      "a number without quotes",
	Float:        "a number without quotes, or 'NaN', 'Infinity', '-Infinity'",
	Double:       "a number without quotes, or 'NaN', 'Infinity', '-Infinity'",
	String:       "a text in single quotes, as in 'abc'",
	Binary:       "hexadecimal digits, as in X'00FF'",
	Date:         "DATE 'YYYY-MM-DD'",
	Timestamp:    "TIMESTAMP 'YYYY-MM-DD HH:MM:SS'",
	TimestampNTZ: "TIMESTAMP 'YYYY-MM-DD HH:MM:SS'",
}

// compare is the comparison of a column with a literal at the place.
func (p place) compare(column int, op Op, text said) Node {
	switch {
	case p.isExact():
		return Compare{column, op, p.value, text}
	case op == Equal || op == NotEqual:
		return Known{column, truthOf(op == NotEqual), text}
	case p.isOutside():
		less := op == Less || op == LessEqual
		return Known{column, truthOf(less == p.above), text}
	case op == Less || op == LessEqual:
		return Compare{column, LessEqual, p.value, text}
	}
	return Compare{column, Greater, p.value, text}
}
