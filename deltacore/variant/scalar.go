package variant

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"math"
	"math/bits"
	"strconv"

	"github.com/benthos-delta/benthos-delta/deltacore/jsonform"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
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
	w.text = jsonform.AppendFloat(w.text, v, size)
	return nil
}

func (w *Writer) plain(text string) error {
	w.text = append(w.text, text...)
	return nil
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
	w.text = append(jsonform.AppendDay(append(w.text, '"'), int64(days)), '"')
	return nil
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
	perMicro := int64(1)
	if form.Nanos {
		perMicro = 1000
	}
	micros := schema.FloorDiv(v, perMicro)
	nanos := v - micros*perMicro
	day := schema.FloorDiv(micros, schema.MicrosPerDay)
	text := append(jsonform.AppendDay(append(w.text, '"'), day), ' ')
	text = jsonform.AppendClock(text, micros-day*schema.MicrosPerDay)
	if form.Nanos {
		text = append(text, '0'+byte(nanos/100), '0'+byte(nanos/10%10), '0'+byte(nanos%10))
	}
	w.text = bytes.TrimRight(bytes.TrimRight(text, "0"), ".") // a clock always has a fraction here
	if form.Zone {
		w.text = append(w.text, "+00:00"...)
	}
	return w.plain(`"`)
}

// Time writes microseconds since midnight as "01:02:03.000004".
func (w *Writer) Time(micros int64) error {
	if micros < 0 || micros >= schema.MicrosPerDay {
		return corrupt("a time is %d microseconds after midnight, which is no time of a day", micros)
	}
	w.text = append(jsonform.AppendClock(append(w.text, '"'), micros), '"')
	return nil
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
