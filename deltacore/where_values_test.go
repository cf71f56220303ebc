package deltacore_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// variety is how many values a type has in a random table. They ascend with their numbers, as far as a type goes.
const variety = 256

// valueNumber is a value of a type as JSON of a row. Values of a type that others are widened from are values of those, too.
func valueNumber(t schema.Type, n, style int) string {
	if d, is := t.(schema.Decimal); is {
		return decimalNumber(d, n)
	}
	centred := n - variety/2
	switch t {
	case schema.Byte:
		return strconv.Itoa(centred)
	case schema.Short:
		return strconv.Itoa(centred * 37)
	case schema.Integer:
		return strconv.Itoa(centred * 700_001)
	case schema.Long:
		return strconv.Itoa(centred * oneStyle(style, 3, 700_001, 70_000_000_000_000_003))
	case schema.Float:
		return floatNumber(n, 32)
	case schema.Double:
		return floatNumber(n, 64)
	case schema.String:
		return textNumber(n, style)
	case schema.Binary:
		return strconv.Quote(base64.StdEncoding.EncodeToString([]byte{byte(n), 0xff, byte(n * 7)}[:n%4*3/4]))
	case schema.Boolean:
		return strconv.FormatBool(n >= variety/2)
	case schema.Date:
		return strconv.Quote(dayNumber(centred, style))
	case schema.Timestamp:
		return strconv.Quote(instantNumber(centred, style) + "Z")
	case schema.TimestampNTZ:
		return strconv.Quote(instantNumber(centred, style))
	}
	panic(fmt.Sprint("no values of ", t))
}

func oneStyle[T any](style int, list ...T) T { return list[style%len(list)] }

func decimalNumber(d schema.Decimal, n int) string {
	digits := strconv.Itoa(n - variety/2)
	sign := ""
	if digits[0] == '-' {
		sign, digits = "-", digits[1:]
	}
	digits += strings.Repeat("7", max(0, d.Precision-3-n%2)) // up to all digits of the type
	for len(digits) <= d.Scale {
		digits = "0" + digits
	}
	if d.Scale == 0 {
		return strconv.Quote(sign + digits)
	}
	return strconv.Quote(sign + digits[:len(digits)-d.Scale] + "." + digits[len(digits)-d.Scale:])
}

func floatNumber(n, bits int) string {
	switch {
	case n == 0:
		return `"-Infinity"`
	case n == variety-2:
		return `"Infinity"`
	case n == variety-1, n%41 == 40:
		return `"NaN"`
	case n == variety/2:
		return "-0.0"
	case n == variety/2+1:
		return "0.0"
	}
	return strconv.FormatFloat(float64(n-variety/2)/7, 'g', -1, bits)
}

var textHeads = []string{"", strings.Repeat("x", 31), strings.Repeat("x", 33), "é\uffee", "🌼"}

func textNumber(n, style int) string {
	text := ""
	if n > 0 {
		text = fmt.Sprintf("%s%03d", textHeads[style%len(textHeads)], n)
	}
	quoted, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	return string(quoted)
}

func dayNumber(n, style int) string {
	return timeOf("2006-01-02", "1970-01-01").AddDate(oneStyle(style, 0, 0, 15*n), 0, n).Format("2006-01-02")
}

// instantNumber ascends by one of some steps: values of one millisecond are alike to statistics.
func instantNumber(n, style int) string {
	at := timeOf("2006-01-02", "2001-01-01").UnixMicro() + int64(n)*oneStyle[int64](style, 1, 300, 86_399_999_999, 1e12)
	return time.UnixMicro(at).UTC().Format("2006-01-02T15:04:05.000000")
}

// widen adds values that the column might have had.
func (p *pool) widen(d drawing) {
	for range 1 + len(p.values)/3 {
		var v any
		text := valueNumber(p.column.typ, d.below(variety), d.below(60))
		if text[0] == '"' {
			fromJSON(text, &v)
		} else {
			v = text
		}
		p.values = append(p.values, v)
	}
}
