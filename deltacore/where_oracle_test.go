package deltacore_test

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// The oracle of predicates: it knows rows as the JSON that the product writes and predicates as they were drawn, and shares
// nothing with the code that parses, prunes and filters.

// truth is a value of SQL's logic, in its order: AND is the least, OR the greatest.
type truth int

const (
	isFalse truth = iota - 1
	isNull
	isTrue
)

func truthOf(b bool) truth {
	if b {
		return isTrue
	}
	return isFalse
}

// condition is a predicate: how it is written, and what it is for a row.
type condition struct {
	text string
	of   func(row map[string]any) truth
}

func both(a, b condition) condition {
	return condition{"(" + a.text + ") AND (" + b.text + ")", func(row map[string]any) truth { return min(a.of(row), b.of(row)) }}
}

func either(a, b condition) condition {
	return condition{"(" + a.text + ") OR (" + b.text + ")", func(row map[string]any) truth { return max(a.of(row), b.of(row)) }}
}

func negated(a condition) condition {
	return condition{"NOT (" + a.text + ")", func(row map[string]any) truth { return -a.of(row) }}
}

func constantly(text string, t truth) condition {
	return condition{text, func(map[string]any) truth { return t }}
}

// named is a column of a table that predicates can name, or a field of a struct.
type named struct {
	path []string
	typ  schema.Type
}

// String writes the path as predicates do.
func (n named) String() string {
	names := make([]string, len(n.path))
	for i, name := range n.path {
		names[i] = "`" + strings.ReplaceAll(name, "`", "``") + "`"
		if plainName.MatchString(name) {
			names[i] = name
		}
	}
	return strings.Join(names, ".")
}

var plainName = regexp.MustCompile(`^[a-z][0-9]*$`)

// in is the value in a row; nil is null.
func (n named) in(row map[string]any) any {
	var v any = row
	for _, name := range n.path {
		members, is := v.(map[string]any)
		if !is {
			return nil
		}
		v = members[name]
	}
	return v
}

// isNull is IS NULL or IS NOT NULL, of columns of any type.
func (n named) isNull(want bool) condition {
	text := n.String() + " IS NULL"
	if !want {
		text = n.String() + " IS NOT NULL"
	}
	return condition{text, func(row map[string]any) truth { return truthOf((n.in(row) == nil) == want) }}
}

// itself is a boolean column as a condition.
func (n named) itself() condition {
	c := n.compared("=", literal{"TRUE", cell{number: big.NewRat(1, 1)}})
	c.text = n.String()
	return c
}

// literal is how a value is written and what it is, exactly.
type literal struct {
	text string
	cell
}

var operators = map[string]func(order int) bool{
	"=":  func(o int) bool { return o == 0 },
	"==": func(o int) bool { return o == 0 },
	"!=": func(o int) bool { return o != 0 },
	"<>": func(o int) bool { return o != 0 },
	"<":  func(o int) bool { return o < 0 },
	"<=": func(o int) bool { return o <= 0 },
	">":  func(o int) bool { return o > 0 },
	">=": func(o int) bool { return o >= 0 },
}

func (n named) compared(op string, l literal) condition {
	return condition{fmt.Sprintf("%s %s %s", n, op, l.text), n.test(func(c cell) truth { return truthOf(operators[op](c.compare(l.cell))) })}
}

// test is null where the column is.
func (n named) test(of func(cell) truth) func(map[string]any) truth {
	return func(row map[string]any) truth {
		v := n.in(row)
		if v == nil {
			return isNull
		}
		return of(cellOf(n.typ, v))
	}
}

// listed is IN or NOT IN.
func (n named) listed(not, withNull bool, list []literal) condition {
	texts := make([]string, 0, len(list)+1)
	for _, l := range list {
		texts = append(texts, l.text)
	}
	if withNull {
		texts = append(texts, "NULL")
	}
	in := condition{fmt.Sprintf("%s IN (%s)", n, strings.Join(texts, ", ")), n.test(func(c cell) truth {
		switch {
		case slices.ContainsFunc(list, func(l literal) bool { return c.compare(l.cell) == 0 }):
			return isTrue
		case withNull:
			return isNull
		}
		return isFalse
	})}
	if not {
		return condition{strings.Replace(in.text, " IN (", " NOT IN (", 1), negated(in).of}
	}
	return in
}

func (n named) between(not bool, low, high literal) condition {
	in := both(n.compared(">=", low), n.compared("<=", high))
	if not {
		return condition{fmt.Sprintf("%s NOT BETWEEN %s AND %s", n, low.text, high.text), negated(in).of}
	}
	return condition{fmt.Sprintf("%s BETWEEN %s AND %s", n, low.text, high.text), in.of}
}

// like knows patterns without escapes.
func (n named) like(pattern string) condition {
	expression := regexp.QuoteMeta(pattern)
	expression = strings.ReplaceAll(strings.ReplaceAll(expression, "%", ".*"), "_", ".")
	matcher := regexp.MustCompile("(?s)^" + expression + "$")
	return condition{fmt.Sprintf("%s LIKE %s", n, quotedText(pattern)), n.test(func(c cell) truth { return truthOf(matcher.MatchString(c.text)) })}
}

func quotedText(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

// cell is a value: a text, or a number, or one that is not finite. Booleans, dates and times are numbers.
type cell struct {
	text   string
	number *big.Rat
	beyond float64 // ±Inf, NaN
}

// compare orders cells as Spark does: NaN equals itself and is above everything.
func (c cell) compare(d cell) int {
	if order := cmp.Compare(c.rank(), d.rank()); order != 0 {
		return order
	}
	if c.number != nil {
		return c.number.Cmp(d.number)
	}
	return strings.Compare(c.text, d.text)
}

func (c cell) rank() int {
	switch {
	case math.IsNaN(c.beyond):
		return 2
	case c.beyond != 0:
		return int(math.Copysign(1, c.beyond))
	}
	return 0
}

// cellOf reads a value of the product's JSON.
func cellOf(t schema.Type, v any) cell {
	if _, is := t.(schema.Decimal); is {
		return cell{number: rational(fmt.Sprint(v))}
	}
	text := fmt.Sprint(v)
	switch t {
	case schema.String:
		return cell{text: text}
	case schema.Binary:
		raw, err := base64.StdEncoding.DecodeString(text)
		if err != nil {
			panic(err)
		}
		return cell{text: string(raw)}
	case schema.Boolean:
		return cell{number: map[string]*big.Rat{"true": big.NewRat(1, 1), "false": new(big.Rat)}[text]}
	case schema.Float:
		return floatCell(text, 32)
	case schema.Double:
		return floatCell(text, 64)
	case schema.Date:
		return cell{number: big.NewRat(dayOf(text), 1)}
	case schema.Timestamp, schema.TimestampNTZ:
		return cell{number: big.NewRat(microsOf(text), 1)}
	}
	return cell{number: rational(text)}
}

func rational(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic("not a number: " + text)
	}
	return r
}

func floatCell(text string, bits int) cell {
	f, err := strconv.ParseFloat(text, bits)
	if err != nil {
		panic(err)
	}
	return finiteCell(f)
}

func finiteCell(f float64) cell {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return cell{beyond: f}
	}
	return cell{number: new(big.Rat).SetFloat64(f)}
}

// dayOf counts the days to a date as the product writes it: years beyond 9999 have more digits, those before 0 a sign.
func dayOf(text string) int64 {
	var year, month, day int
	if n, err := fmt.Sscanf(strings.TrimPrefix(text, "-"), "%d-%02d-%02d", &year, &month, &day); n != 3 || err != nil {
		panic("not a date: " + text)
	}
	if text[0] == '-' {
		year = -year
	}
	midnight := time.Date(year, time.Month(month), day, 0, 0, 0, 0, time.UTC).Unix()
	return (midnight - (midnight%86400+86400)%86400) / 86400
}

func microsOf(text string) int64 {
	date, clock, _ := strings.Cut(strings.TrimSuffix(text, "Z"), "T")
	since := timeOf("15:04:05.000000", clock).Sub(timeOf("15:04:05.000000", "00:00:00.000000"))
	return dayOf(date)*86_400_000_000 + since.Microseconds()
}

func timeOf(layout, text string) time.Time {
	at, err := time.Parse(layout, text)
	if err != nil {
		panic(err)
	}
	return at
}

// matching are the rows for which a condition is true.
func (c condition) matching(rows []placedRow, values []map[string]any) (list []placedRow) {
	for i, row := range rows {
		if c.of(values[i]) == isTrue {
			list = append(list, row)
		}
	}
	return list
}

// valuesOf reads rows that the product wrote.
func valuesOf(rows []placedRow) ([]map[string]any, error) {
	list := make([]map[string]any, len(rows))
	for i, row := range rows {
		d := json.NewDecoder(strings.NewReader(row.text))
		d.UseNumber()
		if err := d.Decode(&list[i]); err != nil {
			return nil, err
		}
	}
	return list, nil
}
