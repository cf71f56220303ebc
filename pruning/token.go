package pruning

import (
	"io"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/alecthomas/participle/v2/lexer"
)

// The tokens of the language. A token's value is the text as written.
const (
	endToken      = lexer.EOF
	keywordToken  = lexer.EOF - 1 - iota
	nameToken     // of a column, with its backticks
	numberToken   // without a sign
	textToken     // '…'
	typedToken    // DATE '…', TIMESTAMP '…', X'…'
	operatorToken // a comparison
	punctToken    // ( ) , . + -
)

// keywords cannot be names of columns, unless they stand in backticks or after a point. DATE, TIMESTAMP, X and ESCAPE can:
// they only mean something where no name can stand.
var keywords = map[string]bool{
	"AND": true, "OR": true, "NOT": true, "IN": true, "IS": true, "NULL": true, "BETWEEN": true, "LIKE": true,
	"TRUE": true, "FALSE": true,
}

// tokens defines the tokens to the parser.
type tokens struct{}

func (tokens) Symbols() map[string]lexer.TokenType {
	return map[string]lexer.TokenType{
		"EOF": endToken, "Keyword": keywordToken, "Name": nameToken, "Number": numberToken, "Text": textToken,
		"Typed": typedToken, "Operator": operatorToken, "Punct": punctToken,
	}
}

func (t tokens) Lex(_ string, r io.Reader) (lexer.Lexer, error) {
	text, err := io.ReadAll(io.LimitReader(r, maxText+1))
	if err != nil {
		return nil, err
	}
	return t.LexString("", string(text))
}

func (tokens) LexString(_, text string) (lexer.Lexer, error) { return &tokenizer{text: text}, nil }

// tokenizer cuts a text into tokens.
type tokenizer struct {
	text   string
	at     int // in bytes
	depth  int // of parentheses
	joints int // words and points that join names and conditions
}

// Next returns the next token, or endToken for ever.
func (t *tokenizer) Next() (lexer.Token, error) {
	t.at = t.skipSpace(t.at)
	start := t.at
	kind, end, err := t.scan()
	if err != nil {
		return lexer.Token{}, err
	}
	if err = t.count(t.text[start:end]); err != nil {
		return lexer.Token{}, err
	}
	t.at = end
	return lexer.Token{Type: kind, Value: t.text[start:end], Pos: lexer.Position{Offset: start}}, nil
}

// scan finds the kind and the end of the token that begins here.
func (t *tokenizer) scan() (kind lexer.TokenType, end int, err error) {
	if t.at == len(t.text) {
		return endToken, t.at, nil
	}
	switch c := t.text[t.at]; {
	case c == '\'':
		end, err = t.quoted(t.at)
		return textToken, end, err
	case c == '`':
		end, err = t.quoted(t.at)
		return nameToken, end, err
	case isDigit(c), c == '.' && t.at+1 < len(t.text) && isDigit(t.text[t.at+1]):
		end, err = t.number()
		return numberToken, end, err
	case strings.IndexByte("=<>!", c) >= 0:
		return t.operator()
	case strings.IndexByte("(),.+-", c) >= 0:
		return punctToken, t.at + 1, t.nest(c)
	}
	return t.word()
}

// count keeps the parser, which takes about 2 KiB for a condition, from taking hundreds of MiB.
func (t *tokenizer) count(token string) error {
	if token == "." || len(token) <= len("NOT") && keywords[upper(token)] {
		t.joints++
	}
	if t.joints > maxJoints {
		return t.errorf(t.at, "more than %d conditions and fields: write many values of a column as a list, in IN (…)", maxJoints)
	}
	return nil
}

// nest keeps the parser, which calls itself for parentheses, from using up the stack.
func (t *tokenizer) nest(c byte) error {
	switch c {
	case '(':
		t.depth++
	case ')':
		t.depth--
	}
	if t.depth > maxDepth {
		return t.errorf(t.at, "parentheses are nested deeper than %d", maxDepth)
	}
	return nil
}

// quoted finds the end of what begins with a quote and ends with the same, doubled ones inside.
func (t *tokenizer) quoted(start int) (end int, err error) {
	quote := t.text[start]
	for end = start + 1; ; end += 2 {
		next := strings.IndexByte(t.text[end:], quote)
		if next < 0 {
			return 0, t.errorf(start, "the quote %c is not closed", quote)
		}
		end += next
		if end+1 == len(t.text) || t.text[end+1] != quote {
			break
		}
	}
	if quote == '`' && end == start+1 {
		return 0, t.errorf(start, "a column's name is empty")
	}
	return end + 1, nil
}

// number finds the end of digits with a point and an exponent.
func (t *tokenizer) number() (end int, err error) {
	end = t.digits(t.at)
	if end < len(t.text) && t.text[end] == '.' {
		end = t.digits(end + 1)
	}
	if end < len(t.text) && (t.text[end] == 'e' || t.text[end] == 'E') {
		first := end + 1
		if first < len(t.text) && (t.text[first] == '+' || t.text[first] == '-') {
			first++
		}
		if end = t.digits(first); end == first {
			return 0, t.errorf(t.at, "the number %s has no digits in its exponent", t.text[t.at:end])
		}
	}
	if after := t.name(end); after > end {
		return 0, t.errorf(t.at, "%s is neither a number nor a name: quote a column's name in backticks", clip(t.text[t.at:after]))
	}
	return end, nil
}

// operator reads a comparison.
func (t *tokenizer) operator() (kind lexer.TokenType, end int, err error) {
	end = t.at
	for end < len(t.text) && strings.IndexByte("=<>!", t.text[end]) >= 0 {
		end++
	}
	if _, ok := operators[t.text[t.at:end]]; !ok {
		return 0, 0, t.errorf(t.at, "%s is no comparison; there are = == != <> < <= > >=", clip(t.text[t.at:end]))
	}
	return operatorToken, end, nil
}

// word reads a keyword, a name, or a literal that begins with a word.
func (t *tokenizer) word() (kind lexer.TokenType, end int, err error) {
	end = t.name(t.at)
	if end == t.at {
		return 0, 0, t.unknown()
	}
	word := upper(t.text[t.at:end])
	if keywords[word] {
		return keywordToken, end, nil
	}
	quote := t.skipSpace(end)
	if literalOf(word) != noLiteral && quote < len(t.text) && t.text[quote] == '\'' {
		end, err = t.quoted(quote)
		return typedToken, end, err
	}
	return nameToken, end, nil
}

// unknown explains a character that begins no token.
func (t *tokenizer) unknown() error {
	c, _ := utf8.DecodeRuneInString(t.text[t.at:])
	switch c {
	case '"':
		return t.errorf(t.at, `double quotes have no meaning here: write '…' for text and backticks for a column's name`)
	case ';':
		return t.errorf(t.at, "a predicate is a single condition, without ;")
	}
	return t.errorf(t.at, "the character %q has no meaning here", c)
}

func (t *tokenizer) errorf(at int, format string, args ...any) error {
	return errorAt(t.text, at, format, args...)
}

func (t *tokenizer) digits(at int) (end int) {
	for at < len(t.text) && isDigit(t.text[at]) {
		at++
	}
	return at
}

// name passes over letters, digits and underscores.
func (t *tokenizer) name(at int) (end int) {
	for i, c := range t.text[at:] {
		if c != '_' && !unicode.IsLetter(c) && !unicode.IsDigit(c) && !unicode.IsMark(c) {
			return at + i
		}
	}
	return len(t.text)
}

func (t *tokenizer) skipSpace(at int) (end int) {
	for i, c := range t.text[at:] {
		if !unicode.IsSpace(c) {
			return at + i
		}
	}
	return len(t.text)
}

func isDigit(c byte) bool { return '0' <= c && c <= '9' }

// upper is strings.ToUpper of ASCII, which keywords are in.
func upper(word string) string {
	return strings.Map(func(c rune) rune {
		if 'a' <= c && c <= 'z' {
			return c - 'a' + 'A'
		}
		return c
	}, word)
}
