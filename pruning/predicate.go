package pruning

// Predicate is a predicate as written: names and literals, no types yet. It is immutable.
type Predicate struct{ text string }

// Parse reads a predicate. An error names the position in the text.
func Parse(text string) (*Predicate, error) { panic("stub") }

// String returns the normal form, which parses back to the same predicate.
func (p *Predicate) String() string { panic("stub") }

// Paths yields the columns that the predicate names, each once, in the order of their first mention.
func (p *Predicate) Paths() [][]string { panic("stub") }

// Bind gives the predicate its columns. It fails where a comparison cannot be decided exactly: a column that is not there, a
// literal of another kind, a column of a kind that has no order.
func (p *Predicate) Bind(resolve Resolver) (*Bound, error) { panic("stub") }
