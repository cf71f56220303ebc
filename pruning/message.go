package pruning

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

const valueExpected = "a value"

// expectations are what the grammar's parts are called in messages, by the beginning of the parser's words for them.
var expectations = []struct{ grammar, message string }{
	{"writtenValue", valueExpected},
	{`")"`, "AND, OR or )"},
	{`(("(" AnyOf`, "a condition"},
	{"ColumnName", "a column"},
	{"(<name>", "the name of a field"},
	{`"NULL"`, "NULL or NOT NULL"},
	{"LikeTest", "a text in single quotes"},
	{"<text>", "a text in single quotes"},
	{`(("IN"`, "IN, BETWEEN or LIKE"},
	{`"AND"`, "AND and the upper bound"},
}

// explain turns the parser's error into one that speaks of the language.
func explain(text string, err error) error {
	var e *participle.UnexpectedTokenError
	if !errors.As(err, &e) {
		return err
	}
	token := e.Unexpected
	found := clip(token.Value)
	if token.Type == endToken {
		found = "the end"
	}
	before := tokenBefore(text, token.Pos.Offset)
	wanted := expectation(e.Message(), before)
	return errorAt(text, token.Pos.Offset, "expected %s, found %s%s", wanted, found, hint(token, before, wanted))
}

// expectation finds what the parser's message says was expected.
func expectation(message string, before lexer.Token) string {
	_, grammar, stated := strings.Cut(message, "(expected ")
	for _, e := range expectations {
		if strings.HasPrefix(grammar, e.grammar) {
			return afterColumn(before, e.message)
		}
	}
	if stated {
		return strings.TrimSuffix(grammar, ")")
	}
	return afterColumn(before, "AND, OR or the end")
}

// afterColumn adds what may follow a column.
func afterColumn(before lexer.Token, expected string) string {
	if before.Type == nameToken && strings.HasPrefix(expected, "AND, OR") {
		return "a comparison, " + expected
	}
	return expected
}

// hint explains what SQL has and this language has not.
func hint(found, before lexer.Token, wanted string) string {
	switch {
	case found.Value == "(" && before.Type == nameToken:
		return ": there are no functions"
	case wanted == valueExpected && found.Type == nameToken:
		return ": a column is compared with a value, not with another column"
	case wanted == "a column" && isLiteral(&found):
		return ": two values are not compared"
	case found.Type == keywordToken && (wanted == "a condition" || wanted == "a column"):
		return ": a column of this name needs backticks"
	case found.Value == "+" || found.Value == "-":
		return ": there is no arithmetic"
	}
	return ""
}

// tokenBefore returns the last token in front of a place in the text.
func tokenBefore(text string, at int) (last lexer.Token) {
	t := tokenizer{text: text[:at]}
	for {
		next, err := t.Next()
		if err != nil || next.Type == endToken {
			return last
		}
		last = next
	}
}

// errorAt says where in the text something is wrong. Places are in bytes; people count characters, from 1.
func errorAt(text string, at int, format string, args ...any) error {
	return fmt.Errorf("at character %d: %w", utf8.RuneCountInString(text[:at])+1, fmt.Errorf(format, args...))
}

// clip shortens what is quoted in a message.
func clip(s string) string {
	const most = 40
	for i := range s {
		if i >= most {
			return s[:i] + "…"
		}
	}
	return s
}
