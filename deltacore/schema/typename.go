package schema

import (
	"strconv"
	"strings"
)

// namedType returns the type of a name (S1). What is not a legal name is Unknown.
func namedType(name string) Type {
	switch t := Primitive(name); t {
	case String, Long, Integer, Short, Byte, Float, Double, Boolean, Binary, Date, Timestamp, TimestampNTZ, Void, Variant:
		return t
	}
	if name == "decimal" {
		return Decimal{Precision: 10, Scale: 0}
	}
	if d, ok := parseDecimal(name); ok {
		return d
	}
	return Unknown(name)
}

// parseDecimal reads "decimal(p,s)", with or without spaces around the numbers.
func parseDecimal(name string) (Decimal, bool) {
	inner, ok := strings.CutPrefix(name, "decimal(")
	if !ok {
		return Decimal{}, false
	}
	inner, ok = strings.CutSuffix(inner, ")")
	if !ok {
		return Decimal{}, false
	}
	left, right, ok := strings.Cut(inner, ",")
	precision, err1 := strconv.Atoi(strings.TrimSpace(left))
	scale, err2 := strconv.Atoi(strings.TrimSpace(right))
	legal := ok && err1 == nil && err2 == nil && 1 <= precision && precision <= 38 && 0 <= scale && scale <= precision
	return Decimal{Precision: precision, Scale: scale}, legal
}
