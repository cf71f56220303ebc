package pruning

import (
	"math"
	"sort"
	"strings"
)

// columnFacts is what can be relied on in the bounds of a column.
type columnFacts struct {
	min, max      Value // no values where not known
	constant      bool  // min is the only value
	nulls, values bool  // there may be rows where the column is null; where it is not
	nans          bool  // there may be NaNs, if it is of floats
}

// dropNonsense forgets bounds that cannot be: the wrong way round, of two kinds, or NaN, which some writers put there though
// others leave it out.
func (c *columnFacts) dropNonsense() {
	nan := !c.constant && (isFloat(c.min) && c.min.IsNaN() || isFloat(c.max) && c.max.IsNaN())
	both := c.min.Kind != Opaque && c.max.Kind != Opaque
	if nan || both && (c.min.Kind != c.max.Kind || c.min.Compare(c.max) > 0) {
		c.min, c.max, c.constant = Value{}, Value{}, false
	}
	c.constant = c.constant && both && c.min.Compare(c.max) == 0
}

// count takes over what the counts say about nulls. Those that cannot be say nothing.
func (c *columnFacts) count(b Bounds) {
	rows, rowsKnown := b.Rows.Get()
	nulls, nullsKnown := b.Nulls.Get()
	switch {
	case rowsKnown && rows == 0:
		c.nulls, c.values = false, false
	case !nullsKnown || nulls < 0 || rowsKnown && nulls > rows:
	case nulls == 0:
		c.nulls = false
	case rowsKnown:
		c.values = nulls < rows
	}
}

// where adds what is so in the rows where the column is null.
func (c columnFacts) where(notNull truths) truths {
	if !c.values {
		notNull = 0
	}
	return notNull | onlyIf(c.nulls, Null)
}

// relations are those that values of a column may have to one value.
type relations struct{ less, equal, greater bool }

// isCertain tells whether all values of the column are equal to the value, given that they may be.
func (r relations) isCertain() bool { return !r.less && !r.greater }

// truths are those of the column OP the value.
func (r relations) truths(op Op) truths {
	var can, cannot bool
	switch op {
	case Equal:
		can, cannot = r.equal, r.less || r.greater
	case NotEqual:
		can, cannot = r.less || r.greater, r.equal
	case Less:
		can, cannot = r.less, r.equal || r.greater
	case LessEqual:
		can, cannot = r.less || r.equal, r.greater
	case Greater:
		can, cannot = r.greater, r.equal || r.less
	case GreaterEqual:
		can, cannot = r.greater || r.equal, r.less
	}
	return onlyIf(can, True) | onlyIf(cannot, False)
}

// relations tells how the column's values may stand to v. Where there may be NaNs, bounds of floats exclude no more than that
// a number is there: they may have been taken with NaNs left out, or with NaNs taking part in some order of the writer.
func (c columnFacts) relations(v Value) relations {
	low, high := compareBound(c.min, v), compareBound(c.max, v)
	outside := low > 0 || high < 0
	switch {
	case c.constant || !isFloat(v):
	case c.nans:
		return relations{true, !outside || math.IsInf(v.Float, 0) || v.IsNaN(), true}
	case v.IsNaN():
		return relations{less: true}
	}
	return relations{
		less:    low < 0 || c.min.Kind != v.Kind,
		equal:   !outside,
		greater: high > 0 || c.max.Kind != v.Kind,
	}
}

// compareBound compares a bound with v: 0 when it is not known.
func compareBound(bound, v Value) int {
	if bound.Kind != v.Kind {
		return 0
	}
	return bound.Compare(v)
}

// near returns the part of ascending values that the bounds do not exclude.
func (c columnFacts) near(values []Value) []Value {
	if len(values) == 0 || isFloat(values[0]) && c.nans && !c.constant {
		return values
	}
	if c.min.Kind == values[0].Kind {
		values = values[sort.Search(len(values), func(i int) bool { return values[i].Compare(c.min) >= 0 }):]
	}
	if len(values) > 0 && c.max.Kind == values[0].Kind {
		values = values[:sort.Search(len(values), func(i int) bool { return values[i].Compare(c.max) > 0 })]
	}
	return values
}

// like tells how the column's values may match a pattern.
func (c columnFacts) like(p Pattern) truths {
	low, high := c.min.Bytes, c.max.Bytes
	hasLow, hasHigh := c.min.Kind == String, c.max.Kind == String
	lowBegins, highBegins := strings.HasPrefix(low, p.Prefix), strings.HasPrefix(high, p.Prefix)
	switch {
	case hasLow && hasHigh && low == high:
		return only(truthOf(p.Match([]byte(low))))
	case hasHigh && high < p.Prefix, hasLow && low > p.Prefix && !lowBegins:
		return only(False)
	case hasLow && hasHigh && lowBegins && highBegins && p.IsPrefix():
		return only(True)
	}
	return only(True) | only(False)
}

func isFloat(v Value) bool { return v.Kind == Float || v.Kind == Double }
