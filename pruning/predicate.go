package pruning

import (
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

const (
	maxText   = 1 << 20 // bytes of a predicate
	maxJoints = 20_000  // AND, OR, NOT and points between names
	maxDepth  = 200     // of parentheses, for each of which the parser calls itself
)

// Predicate is a predicate as written: names and literals, no types yet. It is immutable.
type Predicate struct {
	text   string // as written, which positions in errors refer to
	normal string
	root   expression
}

// Parse reads a predicate of at most 1 MiB, 20,000 conditions, and parentheses 200 deep; lists may have more values than
// that. An error names the position in the text, in characters from 1, and what was expected there.
func Parse(text string) (*Predicate, error) {
	switch {
	case len(text) > maxText:
		return nil, fmt.Errorf("a predicate of %d bytes is longer than the limit of %d", len(text), maxText)
	case !utf8.ValidString(text):
		return nil, errors.New("a predicate must be UTF-8")
	case strings.TrimSpace(text) == "":
		return nil, errors.New("a predicate is empty: expected a condition, such as a = 1")
	}
	tree, err := grammar.ParseString("", text)
	if err != nil {
		return nil, explain(text, err)
	}
	root, err := builder{text}.anyOf(tree)
	if err != nil {
		return nil, err
	}
	p := &Predicate{text, normalForm(root), root}
	if len(p.normal) > maxText {
		return nil, fmt.Errorf("the normal form of a predicate, of %d bytes, is longer than the limit of %d", len(p.normal), maxText)
	}
	return p, nil
}

// String returns the normal form, which parses back to the same predicate.
func (p *Predicate) String() string { return p.normal }
