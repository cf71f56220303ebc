package encode

import (
	"encoding/json"
	"math/bits"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/decimal128"
)

// decimals is a column of exact numbers, always written with all digits of the scale.
type decimals struct {
	values []decimal128.Num
	scale  int
	quoted bool
}

func (d *decimals) bind(arr arrow.Array) (bool, error) {
	a, ok := arr.(*array.Decimal128)
	if !ok || int(a.DataType().(*arrow.Decimal128Type).Scale) != d.scale {
		return false, nil
	}
	d.values = a.Values()
	return true, nil
}

func (d *decimals) unbind() { d.values = nil }

func (d *decimals) append(dst []byte, i int) ([]byte, error) {
	if !d.quoted {
		return appendDecimal(dst, d.values[i], d.scale), nil
	}
	return append(appendDecimal(append(dst, '"'), d.values[i], d.scale), '"'), nil
}

func (d *decimals) value(i int) (any, error) {
	text := string(appendDecimal(nil, d.values[i], d.scale))
	if d.quoted {
		return text, nil
	}
	return json.Number(text), nil
}

// appendDecimal adds n·10^-scale with exactly scale digits after the point; 0 <= scale <= 38.
func appendDecimal(dst []byte, n decimal128.Num, scale int) []byte {
	hi, lo := uint64(n.HighBits()), n.LowBits()
	if n.HighBits() < 0 {
		dst = append(dst, '-')
		var borrow uint64
		lo, borrow = bits.Sub64(0, lo, 0)
		hi, _ = bits.Sub64(0, hi, borrow)
	}
	if hi == 0 && scale < len(powers) {
		return appendSmallDecimal(dst, lo, scale)
	}
	return appendLargeDecimal(dst, hi, lo, scale)
}

// powers holds 10^0 to 10^18.
var powers = func() (p [19]uint64) {
	p[0] = 1
	for i := 1; i < len(p); i++ {
		p[i] = p[i-1] * 10
	}
	return p
}()

func appendSmallDecimal(dst []byte, n uint64, scale int) []byte {
	if scale == 0 {
		return strconv.AppendUint(dst, n, 10)
	}
	fraction := n % powers[scale]
	dst = append(strconv.AppendUint(dst, n/powers[scale], 10), '.')
	dst = append(dst, "000000000000000000"[:scale]...)
	for k := len(dst) - 1; fraction > 0; k-- {
		dst[k] = '0' + byte(fraction%10)
		fraction /= 10
	}
	return dst
}

func appendLargeDecimal(dst []byte, hi, lo uint64, scale int) []byte {
	var buf [64]byte // at most 39 digits, in whole chunks
	at := len(buf)
	for digits := 0; digits <= scale || hi != 0 || lo != 0; digits += chunkDigits {
		var chunk uint64
		hi, lo, chunk = divideChunk(hi, lo)
		for range chunkDigits {
			at--
			buf[at] = '0' + byte(chunk%10)
			chunk /= 10
		}
	}
	point := len(buf) - scale
	for at < point-1 && buf[at] == '0' {
		at++
	}
	dst = append(dst, buf[at:point]...)
	if scale == 0 {
		return dst
	}
	return append(append(dst, '.'), buf[point:]...)
}

const (
	chunkDigits = 19
	chunkSize   = 1e19
)

// divideChunk takes the lowest 19 digits off a number below 2^127.
func divideChunk(hi, lo uint64) (_, rest, chunk uint64) {
	if hi == 0 {
		return 0, lo / chunkSize, lo % chunkSize
	}
	rest, chunk = bits.Div64(hi, lo, chunkSize) // hi < 2^63 < 10^19: no overflow
	return 0, rest, chunk
}
