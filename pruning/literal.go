package pruning

import (
	"encoding/hex"
	"fmt"
	"strings"
)

// literalKind is how a literal is written, which is less than what it means: that is its column's matter.
type literalKind uint8

const (
	noLiteral literalKind = iota
	nullLiteral
	truthLiteral // text is TRUE or FALSE
	numberLiteral
	textLiteral
	dateLiteral
	timestampLiteral
	binaryLiteral // text is the bytes
)

// literal is a value as written, its quotes and escapes resolved.
type literal struct {
	kind literalKind
	text string
	at   int // where it stands in the text, in bytes
}

// literalOf tells what a word means in front of a quote.
func literalOf(word string) literalKind {
	switch word {
	case "DATE":
		return dateLiteral
	case "TIMESTAMP":
		return timestampLiteral
	case "X":
		return binaryLiteral
	}
	return noLiteral
}

func isWordLiteral(word string) bool {
	return strings.EqualFold(word, "NULL") || strings.EqualFold(word, "TRUE") || strings.EqualFold(word, "FALSE")
}

// newLiteral resolves a literal and sees to it that it is one.
func newLiteral(v writtenValue) (literal, error) {
	switch v.Type {
	case numberToken:
		return literal{numberLiteral, v.Text, v.At}, nil
	case textToken:
		return literal{textLiteral, unquote(v.Text), v.At}, nil
	case typedToken:
		return newTypedLiteral(v)
	}
	word := strings.ToUpper(v.Text)
	if word == "NULL" {
		return literal{kind: nullLiteral, at: v.At}, nil
	}
	return literal{truthLiteral, word, v.At}, nil
}

func newTypedLiteral(v writtenValue) (l literal, err error) {
	quote := strings.IndexByte(v.Text, '\'')
	l = literal{literalOf(upper(strings.TrimSpace(v.Text[:quote]))), unquote(v.Text[quote:]), v.At}
	switch l.kind {
	case dateLiteral:
		_, err = parseDate(l.text)
	case timestampLiteral:
		_, err = parseInstant(l.text)
	default:
		var raw []byte
		raw, err = hex.DecodeString(l.text)
		if err != nil {
			err = fmt.Errorf("expected pairs of hexadecimal digits, found %q", clip(l.text))
		}
		l.text = string(raw)
	}
	return l, err
}

// unquote takes the quotes off and halves those inside.
func unquote(quoted string) string {
	quote := quoted[:1]
	return strings.ReplaceAll(quoted[1:len(quoted)-1], quote+quote, quote)
}

func quoteText(text string) string { return "'" + strings.ReplaceAll(text, "'", "''") + "'" }

// String returns the literal in the normal form.
func (l literal) String() string {
	switch l.kind {
	case nullLiteral:
		return "NULL"
	case textLiteral:
		return quoteText(l.text)
	case dateLiteral:
		return "DATE " + quoteText(l.text)
	case timestampLiteral:
		return "TIMESTAMP " + quoteText(l.text)
	case binaryLiteral:
		return fmt.Sprintf("X'%X'", l.text)
	}
	return l.text
}

// noun names the kind in messages.
func (l literal) noun() string {
	return [...]string{"nothing", "NULL", "a boolean", "a number", "a text", "a date", "a timestamp", "bytes"}[l.kind]
}
