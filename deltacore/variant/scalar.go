package variant

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"math"
	"math/bits"
	"strconv"
	"time"
)

// Null writes a variant's own null, which is a value.
func (w *Writer) Null() error { return w.plain("null") }

// Bool writes true or false.
func (w *Writer) Bool(v bool) error {
	w.text = strconv.AppendBool(w.text, v)
	return nil
}

// Int writes a whole number of any width.
func (w *Writer) Int(v int64) error {
	w.text = strconv.AppendInt(w.text, v, 10)
	return nil
}

// Float writes a number with the fewest digits that read back the same at 32 bits.
func (w *Writer) Float(v float32) error { return w.float(float64(v), 32) }

// Double writes a number with the fewest digits that read back the same at 64 bits.
func (w *Writer) Double(v float64) error { return w.float(v, 64) }

func (w *Writer) float(v float64, size int) error {
	switch {
	case math.IsNaN(v):
		return w.plain(`"NaN"`)
	case math.IsInf(v, 1):
		return w.plain(`"Infinity"`)
	case math.IsInf(v, -1):
		return w.plain(`"-Infinity"`)
	}
	w.text = appendFloat(w.text, v, size)
	return nil
}

func (w *Writer) plain(text string) error {
	w.text = append(w.text, text...)
	return nil
}

// appendFloat has the form of encoding/json: an exponent below 1e-6 and from 1e21 on, written as 1e-7 and 1e+21.
func appendFloat(dst []byte, v float64, size int) []byte {
	abs := math.Abs(v)
	small, large := abs < 1e-6, abs >= 1e21
	if size == 32 {
		small, large = float32(abs) < 1e-6, float32(abs) >= 1e21
	}
	if abs == 0 || !small && !large {
		return strconv.AppendFloat(dst, v, 'f', -1, size)
	}
	dst = strconv.AppendFloat(dst, v, 'e', -1, size)
	if n := len(dst); dst[n-4] == 'e' && dst[n-3] == '-' && dst[n-2] == '0' { // e-09 is written e-9
		dst[n-2] = dst[n-1]
		dst = dst[:n-1]
	}
	return dst
}

// Decimal is the number High·2⁶⁴+Low, in two's complement, divided by 10 to the power Scale.
type Decimal struct {
	High  int64
	Low   uint64
	Scale int
}

// maxScale is that of the format.
const maxScale = 38

// Decimal writes all digits, without zeros that end the fraction.
func (w *Writer) Decimal(d Decimal) error {
	if d.Scale < 0 || d.Scale > maxScale {
		return corrupt("a decimal has the scale %d, the highest is %d", d.Scale, maxScale)
	}
	high, low := uint64(d.High), d.Low
	if d.High < 0 {
		w.text = append(w.text, '-')
		low, high = -low, ^high
		if low == 0 {
			high++
		}
	}
	w.text = appendUnscaled(w.text, high, low, d.Scale)
	return nil
}

// appendUnscaled writes (high·2⁶⁴+low)/10^scale.
func appendUnscaled(dst []byte, high, low uint64, scale int) []byte {
	var digits [maxScale + 2]byte // 2¹²⁸ has 39 digits
	first := len(digits)
	for high|low != 0 || len(digits)-first <= scale {
		var rest uint64
		high, rest = high/10, high%10
		low, rest = bits.Div64(rest, low, 10)
		first--
		digits[first] = '0' + byte(rest)
	}
	point := len(digits) - scale
	dst = append(dst, digits[first:point]...)
	last := len(digits)
	for last > point && digits[last-1] == '0' {
		last--
	}
	if last == point {
		return dst
	}
	return append(append(dst, '.'), digits[point:last]...)
}

// Date writes days since 1970-01-01 as "2024-02-29". Years have four digits or all that they need; the year before 0001 is
// 0000, those before it are negative.
func (w *Writer) Date(days int32) error {
	w.text = append(w.text, '"')
	w.text = appendDate(w.text, time.Unix(int64(days)*24*60*60, 0).UTC())
	return w.plain(`"`)
}

// TimestampForm says what a timestamp counts.
type TimestampForm struct {
	Nanos bool // nanoseconds, otherwise microseconds
	Zone  bool // the number is in UTC, otherwise it has no zone
}

// Timestamp writes a point in time since 1970-01-01 as "2024-02-29 01:02:03.000004+00:00", without the zone where it has
// none and without zeros that end the fraction: the text that Spark's to_json gives, so that a variant reads the same
// from both.
func (w *Writer) Timestamp(v int64, form TimestampForm) error {
	t, fraction := time.UnixMicro(v).UTC(), 6
	if form.Nanos {
		t, fraction = time.Unix(0, v).UTC(), 9
	}
	w.text = append(w.text, '"')
	w.text = append(appendDate(w.text, t), ' ')
	w.text = appendClock(w.text, t, fraction)
	w.text = bytes.TrimRight(bytes.TrimRight(w.text, "0"), ".") // a clock always has a fraction here
	if form.Zone {
		w.text = append(w.text, "+00:00"...)
	}
	return w.plain(`"`)
}

const microsPerDay = 24 * 60 * 60 * 1_000_000

// Time writes microseconds since midnight as "01:02:03.000004".
func (w *Writer) Time(micros int64) error {
	if micros < 0 || micros >= microsPerDay {
		return corrupt("a time is %d microseconds after midnight, which is no time of a day", micros)
	}
	w.text = append(w.text, '"')
	w.text = appendClock(w.text, time.UnixMicro(micros).UTC(), 6)
	return w.plain(`"`)
}

func appendDate(dst []byte, t time.Time) []byte {
	year, month, day := t.Date()
	if year < 0 {
		dst = append(dst, '-')
		year = -year
	}
	dst = append(appendPadded(dst, year, 4), '-')
	dst = append(appendPadded(dst, int(month), 2), '-')
	return appendPadded(dst, day, 2)
}

// appendClock writes the time of the day with digits of a second's fraction.
func appendClock(dst []byte, t time.Time, digits int) []byte {
	hour, minute, second := t.Clock()
	dst = append(appendPadded(dst, hour, 2), ':')
	dst = append(appendPadded(dst, minute, 2), ':')
	dst = append(appendPadded(dst, second, 2), '.')
	fraction := t.Nanosecond()
	if digits == 6 {
		fraction /= 1000
	}
	return appendPadded(dst, fraction, digits)
}

// appendPadded writes a number with zeros before it up to a width.
func appendPadded(dst []byte, n, width int) []byte {
	for limit := 10; width > 1; width-- {
		if n < limit {
			dst = append(dst, '0')
		}
		limit *= 10
	}
	return strconv.AppendInt(dst, int64(n), 10)
}

// Binary writes bytes as standard base64.
func (w *Writer) Binary(v []byte) error {
	w.text = base64.StdEncoding.AppendEncode(append(w.text, '"'), v)
	return w.plain(`"`)
}

// UUID writes "f81d4fae-7dec-11d0-a765-00a0c91e6bf6".
func (w *Writer) UUID(v [16]byte) error {
	text := append(w.text, '"')
	for i, end := range [...]int{4, 6, 8, 10, 16} {
		start := [...]int{0, 4, 6, 8, 10}[i]
		if i > 0 {
			text = append(text, '-')
		}
		text = hex.AppendEncode(text, v[start:end])
	}
	w.text = append(text, '"')
	return nil
}
