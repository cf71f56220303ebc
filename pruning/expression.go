package pruning

import (
	"strings"
	"unicode"
)

// expression is a part of a predicate as written, before it knows columns and types.
type expression interface {
	write(to *strings.Builder)
}

type (
	// conjunction and disjunction have two parts at least, none of their own kind.
	conjunction struct{ parts []expression }
	disjunction struct{ parts []expression }

	// negation has no negation inside, as two of them are none.
	negation struct{ part expression }

	// comparison has its column at the left.
	comparison struct {
		column name
		op     Op
		value  literal
	}

	membership struct {
		column name
		values []literal
	}

	between struct {
		column    name
		low, high literal
	}

	nullness struct{ column name }

	likeness struct {
		column          name
		pattern, escape string
		at              int // of the pattern
	}

	// flag is a boolean column by itself.
	flag struct{ column name }

	// constant is TRUE, FALSE or NULL.
	constant struct{ truth Truth }
)

// name is a column's path as written.
type name struct {
	path []string
	at   int // where it stands in the text, in bytes
}

func (e conjunction) write(to *strings.Builder) {
	for i, part := range e.parts {
		if i > 0 {
			to.WriteString(" AND ")
		}
		_, loose := part.(disjunction)
		writeGroup(to, part, loose)
	}
}

func (e disjunction) write(to *strings.Builder) {
	for i, part := range e.parts {
		if i > 0 {
			to.WriteString(" OR ")
		}
		part.write(to)
	}
}

// write puts NOT where SQL wants it to be read.
func (e negation) write(to *strings.Builder) {
	switch part := e.part.(type) {
	case nullness:
		to.WriteString(part.column.String() + " IS NOT NULL")
	case membership:
		part.writeWith(to, " NOT IN (")
	case between:
		part.writeWith(to, " NOT BETWEEN ")
	case likeness:
		part.writeWith(to, " NOT LIKE ")
	case conjunction, disjunction:
		to.WriteString("NOT ")
		writeGroup(to, part, true)
	default:
		to.WriteString("NOT ")
		part.write(to)
	}
}

func (e comparison) write(to *strings.Builder) {
	to.WriteString(e.column.String() + " " + e.op.String() + " " + e.value.String())
}

func (e membership) write(to *strings.Builder) { e.writeWith(to, " IN (") }

func (e membership) writeWith(to *strings.Builder, verb string) {
	to.WriteString(e.column.String() + verb)
	for i, value := range e.values {
		if i > 0 {
			to.WriteString(", ")
		}
		to.WriteString(value.String())
	}
	to.WriteByte(')')
}

func (e between) write(to *strings.Builder) { e.writeWith(to, " BETWEEN ") }

func (e between) writeWith(to *strings.Builder, verb string) {
	to.WriteString(e.column.String() + verb + e.low.String() + " AND " + e.high.String())
}

func (e nullness) write(to *strings.Builder) { to.WriteString(e.column.String() + " IS NULL") }

func (e likeness) write(to *strings.Builder) { e.writeWith(to, " LIKE ") }

func (e likeness) writeWith(to *strings.Builder, verb string) {
	to.WriteString(e.column.String() + verb + quoteText(e.pattern))
	if e.escape != DefaultEscape {
		to.WriteString(" ESCAPE " + quoteText(e.escape))
	}
}

func (e flag) write(to *strings.Builder) { to.WriteString(e.column.String()) }

func (e constant) write(to *strings.Builder) { to.WriteString(e.truth.String()) }

func writeGroup(to *strings.Builder, part expression, parentheses bool) {
	if !parentheses {
		part.write(to)
		return
	}
	to.WriteByte('(')
	part.write(to)
	to.WriteByte(')')
}

// normalForm returns the text of an expression that parses back to it.
func normalForm(e expression) string {
	var to strings.Builder
	e.write(&to)
	return to.String()
}

// negate avoids a negation of a negation.
func negate(e expression) expression {
	if inner, ok := e.(negation); ok {
		return inner.part
	}
	return negation{e}
}

// String returns the path with the backticks that it needs.
func (n name) String() string {
	parts := make([]string, len(n.path))
	for i, part := range n.path {
		if parts[i] = part; !isPlainName(part) {
			parts[i] = "`" + strings.ReplaceAll(part, "`", "``") + "`"
		}
	}
	return strings.Join(parts, ".")
}

// isPlainName tells whether a name needs no backticks.
func isPlainName(s string) bool {
	for i, c := range s {
		if c != '_' && !unicode.IsLetter(c) && (i == 0 || !unicode.IsDigit(c) && !unicode.IsMark(c)) {
			return false
		}
	}
	return s != "" && !keywords[upper(s)]
}

// operators are the comparisons as they may be written.
var operators = map[string]Op{
	"=": Equal, "==": Equal, "!=": NotEqual, "<>": NotEqual, "<": Less, "<=": LessEqual, ">": Greater, ">=": GreaterEqual,
}

// String is the comparison as the normal form spells it.
func (o Op) String() string { return [...]string{"=", "!=", "<", "<=", ">", ">="}[o] }

// flip is the comparison with its sides exchanged.
func (o Op) flip() Op { return [...]Op{Equal, NotEqual, Greater, GreaterEqual, Less, LessEqual}[o] }
