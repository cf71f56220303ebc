package pruning

import (
	"errors"

	"github.com/alecthomas/participle/v2"
	"github.com/alecthomas/participle/v2/lexer"
)

// The grammar. Its types are what the parser fills; [builder] makes the expression of them.
type (
	anyOf struct {
		Parts []*allOf `parser:"@@ ('OR' @@)*"`
	}

	allOf struct {
		Parts []*condition `parser:"@@ ('AND' @@)*"`
	}

	condition struct {
		Nots   []string    `parser:"@'NOT'*"`
		Group  *anyOf      `parser:"( '(' @@ ')'"`
		Column *columnTest `parser:"| @@"`
		Value  *valueTest  `parser:"| @@ )"`
	}

	// columnTest begins with a column: a.b = 1, a IN (1, 2), a.
	columnTest struct {
		Column  columnName   `parser:"@@"`
		Compare *compareTest `parser:"( @@"`
		Null    *nullTest    `parser:"| 'IS' @@"`
		Not     bool         `parser:"| @'NOT'?"`
		In      *valueList   `parser:"( 'IN' @@"`
		Between *betweenTest `parser:"| 'BETWEEN' @@"`
		Like    *likeTest    `parser:"| 'LIKE' @@ ) )?"`
	}

	// valueTest begins with a value: 1 < a, TRUE.
	valueTest struct {
		Value    writtenValue `parser:"@@"`
		Operator string       `parser:"( @Operator"`
		Column   *columnName  `parser:"@@ )?"`
	}

	compareTest struct {
		Operator string       `parser:"@Operator"`
		Value    writtenValue `parser:"@@"`
	}

	nullTest struct {
		Not  bool `parser:"@'NOT'?"`
		Null bool `parser:"@'NULL'"`
	}

	betweenTest struct {
		Low  writtenValue `parser:"@@"`
		High writtenValue `parser:"'AND' @@"`
	}

	likeTest struct {
		Pos     lexer.Position
		Pattern string  `parser:"@Text"`
		Escape  *string `parser:"('ESCAPE' @Text)?"`
	}

	columnName struct {
		Pos   lexer.Position
		Names []string `parser:"@Name ('.' @(Name | Keyword))*"`
	}

	// writtenValue is a literal.
	writtenValue struct {
		Text string
		Type lexer.TokenType
		At   int
	}

	// valueList reads itself, since it may be long.
	valueList struct{ Values []writtenValue }
)

// Parse reads one literal, with its sign.
func (i *writtenValue) Parse(from *lexer.PeekingLexer) error {
	token := from.Peek()
	i.At, i.Type = token.Pos.Offset, token.Type
	if token.Type == punctToken && (token.Value == "-" || token.Value == "+") {
		if token.Value == "-" {
			i.Text = "-"
		}
		from.Next()
		if token = from.Peek(); token.Type != numberToken {
			return unexpected(token, "a number")
		}
		i.Type = numberToken
	}
	if !isLiteral(token) {
		return participle.NextMatch
	}
	i.Text += token.Value
	from.Next()
	return nil
}

// Parse reads a list with its parentheses.
func (l *valueList) Parse(from *lexer.PeekingLexer) error {
	if token := from.Peek(); token.Value != "(" {
		return unexpected(token, "( and a list of values")
	}
	for separator := "("; separator != ")"; {
		from.Next()
		var value writtenValue
		if err := value.Parse(from); errors.Is(err, participle.NextMatch) {
			return unexpected(from.Peek(), valueExpected)
		} else if err != nil {
			return err
		}
		l.Values = append(l.Values, value)
		token := from.Peek()
		if separator = token.Value; separator != "," && separator != ")" {
			return unexpected(token, "a comma or )")
		}
	}
	from.Next()
	return nil
}

func unexpected(token *lexer.Token, expected string) error {
	return &participle.UnexpectedTokenError{Unexpected: *token, Expect: expected}
}

func isLiteral(t *lexer.Token) bool {
	switch t.Type {
	case numberToken, textToken, typedToken:
		return true
	case keywordToken:
		return isWordLiteral(t.Value)
	}
	return false
}

var grammar = participle.MustBuild[anyOf](participle.Lexer(tokens{}), participle.CaseInsensitive("Keyword", "Name"))
