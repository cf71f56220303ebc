package pruning

// Count is a number of rows or values that may not be known. The zero Count is not known.
type Count struct {
	n     int64
	known bool
}

// Exactly is a known count.
func Exactly(n int64) Count { return Count{n, true} }

// Get returns the count, and whether it is known.
func (c Count) Get() (n int64, known bool) { return c.n, c.known }

// Bounds are what is known about the values of one column in a piece of data. The zero value knows nothing. What is said must
// be true of every live row: whoever makes Bounds leaves out what may not be (truncated, stale, of another order).
type Bounds struct {
	Min, Max Value // no value is below Min or above Max, NaN aside; the zero Value: not known
	Rows     Count // rows of the piece, or more than its live rows when Nulls counts the same ones
	Nulls    Count // of those Rows
	NaNs     Count // of Float and Double. Unless it is known to be 0, Min and Max only exclude equality with a number
	Constant bool  // every row that is not null has the value Min, which is Max, exactly
}

// Evidence is what is known about a piece of data: a file, a row group, a page. Columns are numbered as in [Bound.Columns].
type Evidence interface {
	Bounds(column int) Bounds
	// MayHold tells whether any row can have the value; true whenever that is not known. It is asked for = and IN only, and
	// only after the bounds did not exclude the value.
	MayHold(column int, v Value) bool
}

// Decision is the answer to whether a piece of data can hold a row that matches.
type Decision struct {
	Skip    bool
	Because Node // when Skip: the smallest part of the predicate that no row can fulfil; nil when it is the piece that has no rows
}
