package rowfilter

import (
	"fmt"
	"slices"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// compiler turns a predicate's nodes into conditions.
type compiler struct{ columns []column }

// condition returns the condition of a node, or of its negation.
func (c compiler) condition(n pruning.Node, negated bool) (condition, error) {
	switch n := n.(type) {
	case pruning.And:
		return c.join(n.Parts, negated, !negated)
	case pruning.Or:
		return c.join(n.Parts, negated, negated)
	case pruning.Not:
		return c.condition(n.Part, !negated)
	case pruning.Constant:
		return constant(n.Truth, negated), nil
	}
	return c.columnTest(n, negated)
}

// join asks the cheaper parts first: what they settle the others need not look at.
func (c compiler) join(parts []pruning.Node, negated, every bool) (condition, error) {
	conditions := make([]condition, len(parts))
	for i, part := range parts {
		var err error
		if conditions[i], err = c.condition(part, negated); err != nil {
			return nil, err
		}
	}
	slices.SortStableFunc(conditions, func(a, b condition) int { return a.cost() - b.cost() })
	if every {
		return all(conditions), nil
	}
	return some(conditions), nil
}

func constant(t pruning.Truth, negated bool) condition {
	if isTrue(t, negated) {
		return all{}
	}
	return never{}
}

func isTrue(t pruning.Truth, negated bool) bool {
	return t == pruning.True && !negated || t == pruning.False && negated
}

func (c compiler) columnTest(n pruning.Node, negated bool) (condition, error) {
	switch n := n.(type) {
	case pruning.Compare:
		return c.compare(n, negated)
	case pruning.In:
		return c.in(n, negated)
	case pruning.Like:
		return c.like(n, negated)
	case pruning.Known:
		return c.known(n, negated)
	case pruning.IsNull:
		return c.isNull(n, negated)
	}
	return nil, deltaerr.New(deltaerr.Internal, fmt.Sprintf("the row filter does not know predicate nodes of type %T", n))
}

// column returns a column whose values are of the kinds given.
func (c compiler) column(number int, values ...pruning.Value) (*column, error) {
	if number < 0 || number >= len(c.columns) {
		return nil, deltaerr.New(deltaerr.Internal, fmt.Sprintf("the predicate has no column %d", number))
	}
	column := &c.columns[number]
	for _, v := range values {
		if v.Kind != column.kind || v.Kind == pruning.Opaque {
			return nil, column.mismatch("is compared with a value of another kind")
		}
	}
	return column, nil
}

func (c compiler) known(n pruning.Known, negated bool) (condition, error) {
	_, err := c.column(n.Column)
	if isTrue(n.Truth, negated) {
		return isNotNull{n.Column}, err
	}
	return never{}, err
}

func (c compiler) isNull(n pruning.IsNull, negated bool) (condition, error) {
	_, err := c.column(n.Column)
	if negated {
		return isNotNull{n.Column}, err
	}
	return isNull{n.Column}, err
}

// compare makes one of three comparisons of six: the others are their negations, for values are in a total order.
func (c compiler) compare(n pruning.Compare, negated bool) (condition, error) {
	column, err := c.column(n.Column, n.Value)
	if err != nil {
		return nil, err
	}
	switch n.Op {
	case pruning.NotEqual:
		n.Op, negated = pruning.Equal, !negated
	case pruning.Greater:
		n.Op, negated = pruning.LessEqual, !negated
	case pruning.GreaterEqual:
		n.Op, negated = pruning.Less, !negated
	}
	return newLeaf(n.Column, compareTest(column, n.Op, n.Value), negated), nil
}

// in is never true of the negation of a list with a null: it is false or null.
func (c compiler) in(n pruning.In, negated bool) (condition, error) {
	column, err := c.column(n.Column, n.Values...)
	if err != nil {
		return nil, err
	}
	if n.HasNull && negated {
		return never{}, nil
	}
	if len(n.Values) == 0 {
		return c.known(pruning.Known{Column: n.Column, Truth: pruning.False}, negated)
	}
	return newLeaf(n.Column, inTest(column, n.Values), negated), nil
}

func (c compiler) like(n pruning.Like, negated bool) (condition, error) {
	column, err := c.column(n.Column)
	if err != nil {
		return nil, err
	}
	if column.kind != pruning.String {
		return nil, column.mismatch("is matched with a pattern but is no string")
	}
	return newLeaf(n.Column, likeTest(n.Pattern), negated), nil
}

func newLeaf(column int, values valueTest, negated bool) leaf {
	l := leaf{column: column, values: values}
	if negated {
		l.flip = ^uint64(0)
	}
	return l
}

// compareTest tests a column for =, < or <= a value of its kind.
func compareTest(c *column, op pruning.Op, v pruning.Value) valueTest {
	switch c.kind {
	case pruning.Boolean:
		return compareBoolean(op, v.Int != 0)
	case pruning.Float:
		return compareFloat(op, float32(v.Float))
	case pruning.Double:
		return compareFloat(op, v.Float)
	case pruning.Decimal:
		return compareDecimal(op, v.Decimal)
	case pruning.String, pruning.Binary:
		return compareText(op, v.Bytes)
	default:
		return ofWidth(c.arrow, compareInteger(op, v.Int))
	}
}

// inTest tests a column for being one of some values of its kind, at least one.
func inTest(c *column, values []pruning.Value) valueTest {
	switch c.kind {
	case pruning.Boolean:
		return inBooleans(values)
	case pruning.Float:
		return inFloats(mapped(values, func(v pruning.Value) float32 { return float32(v.Float) }))
	case pruning.Double:
		return inFloats(mapped(values, func(v pruning.Value) float64 { return v.Float }))
	case pruning.Decimal:
		return inDecimals(values)
	case pruning.String, pruning.Binary:
		return inTexts(mapped(values, func(v pruning.Value) string { return v.Bytes }))
	default:
		return ofWidth(c.arrow, inIntegers(mapped(values, func(v pruning.Value) int64 { return v.Int })))
	}
}

func mapped[T any](values []pruning.Value, f func(pruning.Value) T) []T {
	out := make([]T, len(values))
	for i, v := range values {
		out[i] = f(v)
	}
	return out
}
