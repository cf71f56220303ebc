package pruning

import (
	"math"
	"math/big"
	"math/bits"
	"strconv"
	"strings"
)

// number is a numeric literal: 0.DIGITS times ten to the power of point.
type number struct {
	negative    bool
	digits      string // the first and the last are not 0; of zero: none
	point       int64
	approximate bool // written with a point or an exponent
	text        string
}

// newNumber takes apart what the tokenizer accepted as a number, with a minus or without.
func newNumber(text string) number {
	n := number{text: text}
	mantissa, negative := strings.CutPrefix(text, "-")
	n.negative = negative
	var exponent int64
	if i := strings.IndexAny(mantissa, "eE"); i >= 0 {
		exponent = saturated(mantissa[i+1:])
		mantissa, n.approximate = mantissa[:i], true
	}
	whole, fraction, hasPoint := strings.Cut(mantissa, ".")
	n.approximate = n.approximate || hasPoint
	digits := strings.TrimLeft(whole+fraction, "0")
	n.point = int64(len(digits)-len(fraction)) + exponent
	n.digits = strings.TrimRight(digits, "0")
	return n
}

// saturated reads an exponent; one that leads out of every type's range may be any such.
func saturated(exponent string) int64 {
	const far = 1 << 40
	e, err := strconv.ParseInt(exponent, 10, 64)
	switch {
	case err == nil:
		return min(max(e, -far), far)
	case exponent[0] == '-':
		return -far
	}
	return far
}

// floor returns the greatest integer that is not above the number times ten to the power of scale, and whether the number is
// above it. Beyond 38 digits ok is false.
func (n number) floor(scale int) (unscaled Int128, above, ok bool) {
	count := n.point + int64(scale)
	if n.digits == "" {
		return Int128{}, false, true
	}
	if count > maxPrecision {
		return Int128{}, false, false
	}
	for i := range max(count, 0) {
		digit := byte('0')
		if i < int64(len(n.digits)) {
			digit = n.digits[i]
		}
		unscaled = unscaled.timesTenPlus(digit - '0')
	}
	above = count < int64(len(n.digits))
	if n.negative {
		if above {
			unscaled = unscaled.plusOne()
		}
		unscaled = unscaled.negated()
	}
	return unscaled, above, true
}

// placeInteger finds the number among integers of some bits.
func (n number) placeInteger(width int) place {
	if width <= 0 || width > 64 {
		width = 64
	}
	unscaled, above, ok := n.floor(0)
	small := int64(unscaled.Low)
	if !ok || unscaled.High != small>>63 || small != small<<(64-width)>>(64-width) {
		return outside(!n.negative)
	}
	return place{value: Value{Kind: Integer, Int: small}, above: above}
}

// placeDecimal finds the number among decimals of a precision and a scale.
func (n number) placeDecimal(precision, scale int) place {
	unscaled, above, ok := n.floor(scale)
	largest := Int128{}
	for range precision {
		largest = largest.timesTenPlus(9)
	}
	if !ok || unscaled.compare(largest) > 0 || unscaled.compare(largest.negated()) < 0 {
		return outside(!n.negative)
	}
	return place{value: Value{Kind: Decimal, Decimal: unscaled}, above: above}
}

// placeFloat finds the number among floats of 32 or 64 bits. With a point or an exponent it means the float that is nearest,
// as it did to whoever wrote the column's values: f = 0.1 is to find 0.1. Plain digits mean exactly themselves.
func (n number) placeFloat(kind Kind) place {
	width, largest := 64, math.MaxFloat64
	if kind == Float {
		width, largest = 32, math.MaxFloat32
	}
	f := n.nearest(width)
	switch {
	case math.IsInf(f, 1):
		return place{value: Value{Kind: kind, Float: largest}, above: true}
	case math.IsInf(f, -1):
		return place{value: Value{Kind: kind, Float: f}, above: true}
	case n.approximate || n.point <= 7: // each integer of 7 digits is a float of 32 bits
		return place{value: Value{Kind: kind, Float: f + 0}} // + 0: there is no -0
	}
	exact, _ := new(big.Int).SetString(n.text, 10)
	switch new(big.Float).SetInt(exact).Cmp(big.NewFloat(f)) {
	case 0:
		return place{value: Value{Kind: kind, Float: f}}
	case -1:
		f = floatBelow(f, kind)
	}
	return place{value: Value{Kind: kind, Float: f}, above: true}
}

// farPoint is beyond the range of 64-bit floats either way.
const farPoint = 400

// nearest returns the float of 32 or 64 bits that is nearest; out of range it is infinite. The number is written anew for that:
// strconv takes exponents beyond 10,000 for all the same, however many zeros stand against them.
func (n number) nearest(width int) float64 {
	text := "0." + n.digits + "e" + strconv.FormatInt(min(max(n.point, -farPoint), farPoint), 10)
	if n.negative {
		text = "-" + text
	}
	f, _ := strconv.ParseFloat(text, width)
	return f
}

func floatBelow(f float64, kind Kind) float64 {
	if kind == Float {
		return float64(math.Nextafter32(float32(f), float32(math.Inf(-1))))
	}
	return math.Nextafter(f, math.Inf(-1))
}

// maxPrecision is the number of digits that every Int128 has room for.
const maxPrecision = 38

func (i Int128) timesTenPlus(digit byte) Int128 {
	high, low := bits.Mul64(i.Low, 10)
	low, carry := bits.Add64(low, uint64(digit), 0)
	return Int128{i.High*10 + int64(high+carry), low}
}

func (i Int128) plusOne() Int128 {
	low, carry := bits.Add64(i.Low, 1, 0)
	return Int128{i.High + int64(carry), low}
}

func (i Int128) negated() Int128 { return Int128{^i.High, ^i.Low}.plusOne() }
