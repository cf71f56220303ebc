package schema

import (
	"strconv"

	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// parseDecimalText reads a decimal in plain or scientific form ("12.50", "0E-10", "-1.5e+3") and brings it to the scale
// of d. The text may have any number of zeros; digits that d cannot hold are an error, never rounded away.
func parseDecimalText(text string, d Decimal) (value decimal128.Num, wrong string) {
	n, ok := scanDecimal(text)
	if !ok {
		return decimal128.Num{}, "is not a " + d.String()
	}
	zeros := n.exponent + int64(d.Scale) // to append to the digits
	switch {
	case n.count == 0:
		return decimal128.Num{}, ""
	case zeros < 0:
		return decimal128.Num{}, "has more digits after the point than " + d.String()
	case int64(n.count)+zeros > int64(d.Precision):
		return decimal128.Num{}, "is outside the range of " + d.String()
	}
	ten := decimal128.FromU64(10)
	for _, digit := range n.digits[:n.count] {
		value = value.Mul(ten).Add(decimal128.FromU64(uint64(digit)))
	}
	for range zeros {
		value = value.Mul(ten)
	}
	if n.negative {
		value = value.Negate()
	}
	return value, ""
}

// number is ±digits × 10^exponent, without zeros at either end of the digits.
type number struct {
	negative bool
	digits   [39]byte // one more than any decimal has: a 39th says that there are too many
	count    int
	exponent int64
}

// scanDecimal takes a decimal apart. Its work is linear in the text and its memory fixed.
func scanDecimal(text string) (n number, ok bool) {
	mantissa, exponent, ok := cutExponent(text)
	if !ok {
		return n, false
	}
	if mantissa != "" && (mantissa[0] == '-' || mantissa[0] == '+') {
		n.negative = mantissa[0] == '-'
		mantissa = mantissa[1:]
	}
	var seen, pointAt, zeros int64 = 0, -1, 0 // zeros: not yet known to lie between digits
	for i := range len(mantissa) {
		c := mantissa[i]
		switch {
		case c == '.' && pointAt < 0:
			pointAt = seen
			continue
		case c < '0' || c > '9':
			return n, false
		}
		seen++
		if c == '0' {
			zeros++
			continue
		}
		if n.count > 0 {
			n.push(0, zeros)
		}
		n.push(c-'0', 1)
		zeros = 0
	}
	if pointAt < 0 {
		pointAt = seen
	}
	n.exponent = exponent + zeros - (seen - pointAt)
	return n, seen > 0
}

// push appends a digit some times, as far as there is room.
func (n *number) push(digit byte, times int64) {
	for ; times > 0 && n.count < len(n.digits); times-- {
		n.digits[n.count] = digit
		n.count++
	}
}

// cutExponent divides "1.5e+3" into "1.5" and 3.
func cutExponent(text string) (mantissa string, exponent int64, ok bool) {
	for i := range len(text) {
		if text[i] == 'e' || text[i] == 'E' {
			exponent, err := strconv.ParseInt(text[i+1:], 10, 32)
			return text[:i], exponent, err == nil
		}
	}
	return text, 0, true
}
