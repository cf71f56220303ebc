package deltalog

import (
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// hasBounds says whether a leaf of a type has a least and a greatest value that can be used (ST8).
func hasBounds(t pruning.Type) bool {
	switch t.Kind {
	case pruning.Opaque, pruning.Boolean, pruning.Binary:
		return false
	}
	return true
}

// valueOf reads a value of the JSON of statistics as one of the leaf's type, which may be wider than the one it was written
// as (TW4). up says which way a decimal with too many digits is rounded. The zero Value is none; odd is one that is there
// but cannot be used.
func valueOf(t pruning.Type, raw string, up bool) (v pruning.Value, odd bool) {
	if raw == "" || raw == "null" {
		return pruning.Value{}, false
	}
	var ok bool
	switch v.Kind = t.Kind; t.Kind {
	case pruning.Integer:
		v.Int, ok = integerOf(raw, t.Bits)
	case pruning.Float:
		v.Float, ok = floatOf(raw, 32)
	case pruning.Double:
		v.Float, ok = floatOf(raw, 64)
	case pruning.Decimal:
		v.Decimal, ok = decimalOf(raw, t, up)
	default:
		v, ok = quotedValueOf(t, raw)
	}
	if !ok {
		return pruning.Value{}, true
	}
	return v, false
}

func integerOf(raw string, bits int) (int64, bool) {
	n, err := strconv.ParseInt(raw, 10, bits)
	return n, err == nil
}

// floatOf reads a number. NaN and the infinities are written as text (ST5) and say nothing.
func floatOf(raw string, bits int) (float64, bool) {
	if !isNumber(raw) {
		return 0, false
	}
	f, err := strconv.ParseFloat(raw, bits)
	return f, err == nil
}

// isNumber says whether a value of JSON is a number, and not another form that Go or a sloppy writer has.
func isNumber(raw string) bool {
	first := strings.TrimPrefix(raw, "-")
	return first != "" && '0' <= first[0] && first[0] <= '9' && strings.Trim(raw, "0123456789+-.eE") == ""
}

// decimalOf reads a number with all its digits: it is never a float on the way (ST1).
func decimalOf(raw string, t pruning.Type, up bool) (pruning.Int128, bool) {
	if !isNumber(raw) {
		return pruning.Int128{}, false
	}
	return schema.ReadDecimal(raw, t.Scale, up)
}

// quotedValueOf reads the values that are text in JSON.
func quotedValueOf(t pruning.Type, raw string) (v pruning.Value, ok bool) {
	if raw[0] != '"' {
		return v, false
	}
	text, ok := unquote(raw)
	if !ok {
		return v, false
	}
	v.Kind = t.Kind
	switch t.Kind {
	case pruning.String:
		v.Bytes, ok = text, utf8.ValidString(text)
	case pruning.Date:
		v.Int, ok = schema.ReadDate(text)
	case pruning.Timestamp, pruning.TimestampNTZ: // without a zone, a timestamp is in one that is not known
		var zoned bool
		v.Int, zoned, ok = schema.ReadInstant(text)
		ok = ok && zoned == (t.Kind == pruning.Timestamp)
	default:
		ok = false
	}
	return v, ok
}

// loosen makes a bound of what statistics say: below every value of the file, or above. The zero Value is no bound.
func loosen(t pruning.Type, v pruning.Value, up bool) pruning.Value {
	if !known(v) {
		return v
	}
	ok := true
	switch t.Kind {
	case pruning.Float, pruning.Double:
		v.Float, ok = looseFloat(v.Float, up)
	case pruning.Decimal:
		v.Decimal = looseDecimal(t, v.Decimal, up)
	case pruning.String:
		v.Bytes, ok = looseText(v.Bytes, up)
	case pruning.Date:
		ok = v.Int > gregorianDay
	case pruning.Timestamp, pruning.TimestampNTZ:
		ok = v.Int > gregorianDay*schema.MicrosPerDay
		v.Int = looseInstant(v.Int, up)
	}
	if !ok {
		return pruning.Value{}
	}
	return v
}

// gregorianDay is the day after 1582-10-15, in days since 1970. The statistics of a file are made by an engine from the
// values that it wrote: as text, a date is the same calendar date as the one that a file of the Julian calendar is read as
// (Q6). But stats_parsed has day numbers, in the calendar of whoever wrote the checkpoint, and a tool that adds statistics
// to old files may take the numbers of their footers for today's dates. So what is before that day is no bound. A bound
// after it holds in any case: both calendars have the same order, and one numbering from there on.
const gregorianDay = -141_426

// looseInstant makes up for statistics that are cut to milliseconds (ST4): the greatest value is up to 999 µs later. Towards
// which side times before 1970 were cut depends on the writer.
func looseInstant(micros int64, up bool) int64 {
	const cut = 999
	switch {
	case up && micros > math.MaxInt64-cut:
		return math.MaxInt64
	case up:
		return micros + cut
	case micros <= 0:
		return micros - cut // far from the smallest: it is after 1582
	}
	return micros
}

// looseFloat lets a bound that was written in 32 bits be read in 64: 3.4 is the text of a float that is 3.4000000953…, and
// the column may have been widened since (TW4). Not a number and the infinities bound nothing.
func looseFloat(f float64, up bool) (float64, bool) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return 0, false
	}
	narrow := float64(float32(f))
	if math.IsInf(narrow, 0) { // no float can have been it
		return f, true
	}
	if up {
		return max(f, narrow), true
	}
	return min(f, narrow), true
}

// looseDecimal makes up for writers that compute the statistics of decimals as doubles. Such a bound is off by a few units
// in the last of its 53 bits where the value has more digits than a double keeps. A number of more than 17 digits is no
// double's text, hence exact.
func looseDecimal(t pruning.Type, v pruning.Int128, up bool) pruning.Int128 {
	const exactDigits = 15
	if t.Precision <= exactDigits {
		return v
	}
	n := decimal128.New(v.High, v.Low)
	size := n.Abs()
	if size.Less(decimal128.FromU64(1e15)) || !fewDigits(size) {
		return v
	}
	slack := decimal128.New(size.HighBits()>>50, size.LowBits()>>50|uint64(size.HighBits())<<14).Add(decimal128.FromU64(1))
	if up {
		n = n.Add(slack)
	} else {
		n = n.Sub(slack)
	}
	return pruning.Int128{High: n.HighBits(), Low: n.LowBits()}
}

// fewDigits says whether a number has at most 17 digits before its trailing zeros.
func fewDigits(n decimal128.Num) bool {
	most, ten := decimal128.FromU64(1e17), decimal128.FromU64(10)
	for !n.Less(most) {
		quotient, rest := n.Div(ten)
		if rest != (decimal128.Num{}) {
			return false
		}
		n = quotient
	}
	return true
}

// shortText is the number of UTF-16 units from which on a text may have been cut (ST3).
const shortText = 32

// looseText makes a bound of the bytes of a text that may have been cut, by a writer that may compare UTF-16 units. Those
// order the characters above U+FFFF, which take four bytes, before the ones from U+E000.
//
// What was cut is below what it was cut from. A greatest text that was cut counts only where a character follows that says
// so; U+FFFD, which old writers took, is below characters of four bytes, and also stands for bytes that are no text.
func looseText(text string, up bool) (string, bool) {
	if !up {
		if i := strings.IndexFunc(text, func(r rune) bool { return r > 0xFFFF || r == utf8.RuneError }); i >= 0 {
			text = text[:i]
		}
		return text, true
	}
	if hasHighPlaneOne(text) {
		return "", false
	}
	if len(text) < shortText || unitsOf(text) < shortText {
		return text, true
	}
	last, _ := utf8.DecodeLastRuneInString(text)
	return text, last == 0x7F || last == utf8.MaxRune
}

// hasHighPlaneOne says whether a text has a character from U+E000 to U+FFFF.
func hasHighPlaneOne(text string) bool {
	for i := range len(text) {
		if text[i] == 0xEE || text[i] == 0xEF {
			return true
		}
	}
	return false
}

// unitsOf is the length of a text in UTF-16.
func unitsOf(text string) (n int) {
	for _, r := range text {
		n++
		if r > 0xFFFF {
			n++
		}
	}
	return n
}
