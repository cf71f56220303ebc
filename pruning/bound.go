package pruning

// Bound is a predicate bound to the columns of a table. It is immutable and safe for concurrent use.
type Bound struct {
	Root    Node
	Columns []Column // every column that the tree refers to, once; nodes name them by their number here
	Text    string   // the normal form
}

// Node is a part of a bound predicate's tree: [And], [Or], [Not], [Compare], [In], [IsNull], [Like], [Known], [Constant].
type Node interface {
	String() string // in the normal form
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
	}

	// In is true where the column has one of the values; null where the column is null, and instead of false when the list
	// held a null.
	In struct {
		Column  int
		Values  []Value // ascending, without repetition
		HasNull bool
	}

	// IsNull is true where the column, or a struct around it, is null. It is never null itself.
	IsNull struct{ Column int }

	// Like matches a String column with a pattern of literal runs, % and _. Null where the column is.
	Like struct {
		Column  int
		Pattern Pattern
	}

	// Known has one truth, True or False, wherever the column is not null, and is null elsewhere: what a comparison with a
	// value that the column's type cannot hold comes to.
	Known struct {
		Column int
		Truth  Truth
	}

	// Constant has the same truth for all rows.
	Constant struct{ Truth Truth }
)

// Pattern is a LIKE pattern.
type Pattern struct {
	Text   string // as written, with its escapes
	Prefix string // every match begins with it
	// more: the matcher's own form
}

// Match tells whether a value matches. It does not allocate.
func (p Pattern) Match(s []byte) bool { panic("stub") }

func (And) isNode()      {}
func (Or) isNode()       {}
func (Not) isNode()      {}
func (Compare) isNode()  {}
func (In) isNode()       {}
func (IsNull) isNode()   {}
func (Like) isNode()     {}
func (Known) isNode()    {}
func (Constant) isNode() {}

func (n And) String() string      { panic("stub") }
func (n Or) String() string       { panic("stub") }
func (n Not) String() string      { panic("stub") }
func (n Compare) String() string  { panic("stub") }
func (n In) String() string       { panic("stub") }
func (n IsNull) String() string   { panic("stub") }
func (n Like) String() string     { panic("stub") }
func (n Known) String() string    { panic("stub") }
func (n Constant) String() string { panic("stub") }
