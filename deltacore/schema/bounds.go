package schema

import (
	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/benthos-delta/benthos-delta/pruning"
)

// The texts of statistics, read as the values of predicates. Other than partition values they may say less than a value:
// what cannot be read is no error.

// ReadDate reads a date as days since 1970-01-01.
func ReadDate(text string) (days int64, ok bool) {
	days, wrong := parseDate(text)
	return days, wrong == ""
}

// ReadInstant reads a date, or a date and a time, as microseconds since 1970 and says whether the text names a time zone.
// Without one it is read as if in UTC. Digits below the microsecond are cut off, towards the past.
func ReadInstant(text string) (micros int64, zoned, ok bool) {
	micros, zoned, wrong := parseInstant(text, "")
	return micros, zoned, wrong == ""
}

// ReadDecimal reads a number in plain or scientific form as an unscaled number of a scale. Where the text has more digits
// after the point, up says which way it is rounded. Numbers of more than 38 digits are not read.
func ReadDecimal(text string, scale int, up bool) (unscaled pruning.Int128, ok bool) {
	n, ok := scanDecimal(text)
	if !ok || n.count == len(n.digits) {
		return unscaled, false
	}
	zeros := n.exponent + int64(scale)
	if n.count > 0 && int64(n.count)+zeros > maxDecimalDigits {
		return unscaled, false
	}
	value := decimal128.Num{}
	for _, digit := range n.digits[:max(0, min(int64(n.count), int64(n.count)+zeros))] {
		value = value.Mul(ten).Add(decimal128.FromU64(uint64(digit)))
	}
	if n.count > 0 {
		for range zeros {
			value = value.Mul(ten)
		}
	}
	if zeros < 0 && n.count > 0 && up != n.negative { // away from zero
		value = value.Add(decimal128.FromU64(1))
	}
	if n.negative {
		value = value.Negate()
	}
	return pruning.Int128{High: value.HighBits(), Low: value.LowBits()}, true
}

const maxDecimalDigits = 38

var ten = decimal128.FromU64(10)

// Value is the partition value of a column as predicates compare it. Null is no value.
func (v PartitionValue) Value(t pruning.Type) (value pruning.Value, ok bool) {
	if v.Null {
		return pruning.Value{}, false
	}
	value.Kind = t.Kind
	switch t.Kind {
	case pruning.Boolean:
		if v.Bool {
			value.Int = 1
		}
	case pruning.Integer, pruning.Date, pruning.Timestamp, pruning.TimestampNTZ:
		value.Int = v.Int
	case pruning.Float, pruning.Double:
		value.Float = v.Float
	case pruning.Decimal:
		value.Decimal = pruning.Int128{High: v.Decimal.HighBits(), Low: v.Decimal.LowBits()}
	case pruning.String, pruning.Binary:
		value.Bytes = v.Text
	default:
		return pruning.Value{}, false
	}
	return value, true
}
