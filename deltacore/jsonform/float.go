package jsonform

import (
	"math"
	"strconv"
)

// AppendFloat adds the shortest text that reads back as the finite x at 32 or 64 bits, in the form of encoding/json.
func AppendFloat(dst []byte, x float64, bits int) []byte {
	if out, ok := appendShortDecimal(dst, x, bits); ok {
		return out
	}
	abs := math.Abs(x)
	small, large := abs < 1e-6, abs >= 1e21
	if bits == 32 {
		small, large = float32(abs) < 1e-6, float32(abs) >= 1e21
	}
	if abs == 0 || !small && !large {
		return strconv.AppendFloat(dst, x, 'f', -1, bits)
	}
	dst = strconv.AppendFloat(dst, x, 'e', -1, bits)
	if n := len(dst); dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' { // e-09 is written e-9
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// appendShortDecimal is the fast path for numbers with up to four decimals and few digits, the common ones in tables:
// |x| = n/10⁴ for a whole n. It is exact. The division rounds correctly, so n/10⁴ reads back as |x|; and among decimals
// of at most 15 digits (6 at 32 bits) no two read back as the same number, so once trailing zeros are gone none is shorter.
// (At 32 bits the quotient is rounded twice, which is harmless: a quotient that is no tie itself is further from the
// nearest tie between two such numbers than the first rounding moves it.)
func appendShortDecimal(dst []byte, x float64, bits int) ([]byte, bool) {
	abs := math.Abs(x)
	scaled := abs*1e4 + 0.5
	if !(scaled < 1e15) {
		return dst, false
	}
	n := uint64(scaled)
	back := float64(n) / 1e4
	if bits == 32 {
		back = shortFloat32(n, back)
	}
	if back != abs {
		return dst, false
	}
	if math.Signbit(x) {
		dst = append(dst, '-')
	}
	dst = strconv.AppendUint(dst, n/1e4, 10)
	if fraction := uint32(n % 1e4); fraction != 0 {
		dst = appendFraction(dst, fraction)
	}
	return dst, true
}

// shortFloat32 rounds the quotient to 32 bits; NaN where n/10⁴ has more than 6 digits or more than 9 before the point.
func shortFloat32(n uint64, quotient float64) float64 {
	if n >= 1e13 {
		return math.NaN()
	}
	for n >= 1e6 && n%10 == 0 {
		n /= 10
	}
	if n >= 1e6 {
		return math.NaN()
	}
	return float64(float32(quotient))
}

// appendFraction adds a point and the four digits of a fraction that is not zero, without trailing zeros.
func appendFraction(dst []byte, fraction uint32) []byte {
	dst = append(dst, '.', digit(fraction/1000), digit(fraction/100), digit(fraction/10), digit(fraction))
	for dst[len(dst)-1] == '0' {
		dst = dst[:len(dst)-1]
	}
	return dst
}

// digit is the last decimal digit of n.
func digit(n uint32) byte { return '0' + byte(n%10) }
