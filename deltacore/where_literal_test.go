package deltacore_test

import (
	"encoding/hex"
	"fmt"
	"math"
	"math/big"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// drawing is a source of numbers: rapid's, or one with a fixed seed.
type drawing interface {
	below(n int) int // 0 to n-1
}

func oneOf[T any](d drawing, list ...T) T { return list[d.below(len(list))] }

// pool is the values of a column that are not null, as the product writes them: literals are drawn near them.
type pool struct {
	column named
	values []any
}

func newPool(column named, rows []map[string]any) pool {
	p := pool{column: column}
	for _, row := range rows {
		if v := column.in(row); v != nil {
			p.values = append(p.values, v)
		}
	}
	return p
}

func (p pool) text(d drawing, otherwise string) string {
	if len(p.values) == 0 {
		return otherwise
	}
	return fmt.Sprint(oneOf(d, p.values...))
}

// literal draws a value of the column, or one that lies beside it, or where no value of the type is.
func (p pool) literal(d drawing) literal {
	if t, is := p.column.typ.(schema.Decimal); is {
		return numberLiteral(decimalText(d, p.text(d, "0"), t.Scale))
	}
	switch p.column.typ {
	case schema.String:
		text := textNear(d, p.text(d, "a"))
		return literal{quotedText(text), cell{text: text}}
	case schema.Binary:
		raw := cellOf(schema.Binary, p.text(d, "AAE=")).text + oneOf(d, "", "", "\x00", "\xff")
		return literal{"X'" + hex.EncodeToString([]byte(raw)) + "'", cell{text: raw}}
	case schema.Boolean:
		text := p.text(d, "true")
		return literal{oneOf(d, strings.ToUpper, strings.ToLower)(text), cellOf(schema.Boolean, text)}
	case schema.Float:
		return floatLiteral(d, p.text(d, "0"), 32)
	case schema.Double:
		return floatLiteral(d, p.text(d, "0"), 64)
	case schema.Date:
		return p.dateLiteral(d)
	case schema.Timestamp, schema.TimestampNTZ:
		return p.timeLiteral(d)
	}
	return integerLiteral(d, p.text(d, "0"))
}

func numberLiteral(text string) literal { return literal{text, cell{number: rational(text)}} }

func integerLiteral(d drawing, text string) literal {
	switch d.below(12) {
	case 0:
		return numberLiteral(text + ".5")
	case 1:
		return numberLiteral(text + ".0")
	case 2:
		return numberLiteral(oneOf(d, "-129", "128", "32768", "-2147483649", "9223372036854775808", "1e30", "-99999999999999999999"))
	case 3, 4:
		near := rational(text)
		return numberLiteral(near.Add(near, big.NewRat(int64(d.below(3)-1), 1)).RatString())
	}
	return numberLiteral(text)
}

func decimalText(d drawing, text string, scale int) string {
	point := ""
	if scale == 0 {
		point = "."
	}
	switch d.below(10) {
	case 0:
		return text + point + "5" // between two values
	case 1:
		return text + point + "00"
	case 2:
		return oneOf(d, "1e40", "-1e40", "0", "-0.0001")
	}
	return text
}

// floatLiteral knows that a number with a point or an exponent means the nearest one of the type, and plain digits themselves.
func floatLiteral(d drawing, text string, bits int) literal {
	f, err := strconv.ParseFloat(text, bits)
	if err != nil {
		panic(err)
	}
	switch d.below(12) {
	case 0:
		name := oneOf(d, "NaN", "Infinity", "-Infinity")
		return literal{quotedText(name), floatCell(name, 64)}
	case 1:
		return numberLiteral(oneOf(d, "9007199254740993", "16777217", "0", "-3", "7"))
	case 2:
		far := oneOf(d, "1e400", "-1e400")
		return numberLiteral(far)
	case 3:
		f += oneOf(d, 0.25, -0.25)
	}
	if math.IsNaN(f) || math.IsInf(f, 0) {
		name := map[bool]string{true: "NaN"}[math.IsNaN(f)]
		if name == "" {
			name = map[bool]string{true: "Infinity", false: "-Infinity"}[f > 0]
		}
		return literal{quotedText(name), cell{beyond: f}}
	}
	written := strconv.FormatFloat(f, 'e', -1, bits)
	return literal{written, floatCell(written, bits)}
}

func textNear(d drawing, text string) string {
	runes := []rune(text)
	switch d.below(8) {
	case 0:
		return text + oneOf(d, "a", "\x01", "\U0010FFFF", "'", "%")
	case 1:
		return string(runes[:d.below(len(runes)+1)])
	case 2:
		return string(runes[:min(32, len(runes))]) + oneOf(d, "", "\uFFFD", "zz")
	}
	return text
}

func (p pool) dateLiteral(d drawing) literal {
	at := writable(time.Unix(dayOf(p.text(d, "2024-02-29"))*86400, 0).UTC().AddDate(0, 0, oneOf(d, 0, 0, 0, 1, -1)))
	text := quotedText(at.Format("2006-01-02"))
	return literal{oneOf(d, "DATE "+text, text), cell{number: big.NewRat(at.Unix()/86400, 1)}}
}

func (p pool) timeLiteral(d drawing) literal {
	zoned := p.column.typ == schema.Type(schema.Timestamp)
	at := writable(time.UnixMicro(microsOf(p.text(d, "2024-02-29T10:00:00.000000Z"))).UTC())
	switch d.below(8) {
	case 0:
		at = at.Truncate(time.Millisecond)
	case 1:
		at = at.Add(oneOf(d, time.Microsecond, -time.Microsecond, time.Millisecond, 999*time.Microsecond))
	case 2:
		at = at.Add(500 * time.Nanosecond)
	case 3:
		at = at.Truncate(24 * time.Hour)
		return literal{"DATE '" + at.Format("2006-01-02") + "'", instantCell(at)}
	}
	text := at.Format("2006-01-02" + oneOf(d, " ", "T") + "15:04:05.999999999")
	if zoned {
		text = oneOf(d, text, text+"Z", at.Add(2*time.Hour).Format("2006-01-02 15:04:05.999999999")+"+02:00")
	}
	return literal{oneOf(d, "TIMESTAMP ", "TIMESTAMP ", "") + quotedText(text), instantCell(at)}
}

// writable is a time that a literal of package time's form can say.
func writable(at time.Time) time.Time {
	if at.Year() < 1 {
		return time.Date(1, 1, 2, 3, 4, 5, 0, time.UTC)
	}
	return at
}

// instantCell counts microseconds, and parts of them.
func instantCell(at time.Time) cell {
	n := new(big.Rat).SetFrac(new(big.Int).Add(
		new(big.Int).Mul(big.NewInt(at.Unix()), big.NewInt(1e9)), big.NewInt(int64(at.Nanosecond()))), big.NewInt(1000))
	return cell{number: n}
}

// pattern draws a pattern for a text of the column. It has no backslashes.
func (p pool) pattern(d drawing) string {
	runes := []rune(strings.ReplaceAll(textNear(d, p.text(d, "a")), `\`, ""))
	cut := d.below(len(runes) + 1)
	switch d.below(4) {
	case 0:
		return string(runes[:cut]) + "%"
	case 1:
		return "%" + string(runes[cut:])
	case 2:
		if cut < len(runes) {
			runes[cut] = '_'
		}
	}
	return string(slices.Clone(runes))
}
