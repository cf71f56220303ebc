package pruning

import (
	"cmp"
	"strconv"
	"strings"
)

// Bound is a predicate bound to the columns of a table. It is immutable and safe for concurrent use.
type Bound struct {
	Root    Node
	Columns []Column // every column that the tree refers to, once; nodes name them by their number here
	Text    string   // the normal form
}

// Node is a part of a bound predicate's tree: [And], [Or], [Not], [Compare], [In], [IsNull], [Like], [Known], [Constant].
type Node interface {
	String() string // what was written, in the normal form
	isNode()
}

// Op is a comparison.
type Op uint8

// The comparisons.
const (
	Equal Op = iota
	NotEqual
	Less
	LessEqual
	Greater
	GreaterEqual
)

// Truth is a value of three-valued logic.
type Truth uint8

// The truths.
const (
	Null Truth = iota
	False
	True
)

type (
	// And is true where all parts are; of no parts: true.
	And struct{ Parts []Node }
	// Or is true where a part is; of no parts: false.
	Or struct{ Parts []Node }
	// Not turns true and false around.
	Not struct{ Part Node }

	// Compare compares a column with a value of its kind. Null where the column is.
	Compare struct {
		Column int
		Op     Op
		Value  Value
		said   said
	}

	// In is true where the column has one of the values; null where the column is null, and instead of false when the list
	// held a null.
	In struct {
		Column  int
		Values  []Value // ascending, without repetition
		HasNull bool
		said    said
	}

	// IsNull is true where the column, or a struct around it, is null. It is never null itself.
	IsNull struct {
		Column int
		said   said
	}

	// Like matches a String column with a pattern of literal runs, % and _. Null where the column is.
	Like struct {
		Column  int
		Pattern Pattern
		said    said
	}

	// Known has one truth, True or False, wherever the column is not null, and is null elsewhere: what a comparison with a
	// value that the column's type cannot hold comes to.
	Known struct {
		Column int
		Truth  Truth
		said   said
	}

	// Constant has the same truth for all rows.
	Constant struct {
		Truth Truth
		said  said
	}
)

func (And) isNode()      {}
func (Or) isNode()       {}
func (Not) isNode()      {}
func (Compare) isNode()  {}
func (In) isNode()       {}
func (IsNull) isNode()   {}
func (Like) isNode()     {}
func (Known) isNode()    {}
func (Constant) isNode() {}

func (n And) String() string      { return joinNodes(n.Parts, " AND ", "TRUE") }
func (n Or) String() string       { return joinNodes(n.Parts, " OR ", "FALSE") }
func (n Not) String() string      { return "NOT (" + n.Part.String() + ")" }
func (n Compare) String() string  { return n.said.of(n.Column) }
func (n In) String() string       { return n.said.of(n.Column) }
func (n IsNull) String() string   { return n.said.of(n.Column) }
func (n Like) String() string     { return n.said.of(n.Column) }
func (n Known) String() string    { return n.said.of(n.Column) }
func (n Constant) String() string { return cmp.Or(string(n.said), n.Truth.String()) }

// String is the truth as the language spells it.
func (t Truth) String() string { return [...]string{"NULL", "FALSE", "TRUE"}[t] }

// said is the condition of the predicate's text, in the normal form, that became a node.
type said string

func (s said) of(column int) string {
	return cmp.Or(string(s), "a condition on column "+strconv.Itoa(column))
}

func joinNodes(parts []Node, operator, empty string) string {
	texts := make([]string, len(parts))
	for i, part := range parts {
		texts[i] = part.String()
		if _, loose := part.(Or); loose {
			texts[i] = "(" + texts[i] + ")"
		}
	}
	return cmp.Or(strings.Join(texts, operator), empty)
}
