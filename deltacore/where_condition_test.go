package deltacore_test

import (
	"slices"

	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// conditions draws predicates for the rows of a table.
type conditions struct {
	drawing
	pools  []pool  // of columns whose values are compared
	opaque []named // columns that are only asked for nulls
}

// draw returns a predicate of so many levels at most.
func (c conditions) draw(depth int) condition {
	if depth == 0 {
		return c.leaf()
	}
	switch c.below(6) {
	case 0:
		return both(c.draw(depth-1), c.draw(depth-1))
	case 1:
		return either(c.draw(depth-1), c.draw(depth-1))
	case 2:
		return negated(c.draw(depth - 1))
	}
	return c.leaf()
}

func (c conditions) leaf() condition {
	switch c.below(40) {
	case 0:
		return constantly("TRUE", isTrue)
	case 1:
		return constantly("FALSE", isFalse)
	case 2:
		return constantly("NULL", isNull)
	case 3, 4:
		if len(c.opaque) > 0 {
			return oneOf(c, c.opaque...).isNull(c.below(2) == 0)
		}
	}
	return c.about(oneOf(c, c.pools...))
}

// about draws a condition on one column. Equality comes most, since more is asked for it.
func (c conditions) about(p pool) condition {
	switch c.below(16) {
	case 0:
		return p.column.isNull(true)
	case 1:
		return p.column.isNull(false)
	case 2, 3:
		return p.column.listed(c.below(4) == 0, c.below(8) == 0, c.literals(p, 1+c.below(4)))
	case 4:
		low, high := p.literal(c), p.literal(c)
		if low.compare(high.cell) > 0 && c.below(4) > 0 {
			low, high = high, low
		}
		return p.column.between(c.below(4) == 0, low, high)
	case 5, 6, 7, 8:
		return p.column.compared(oneOf(c, "=", "="), p.literal(c))
	case 9:
		return p.column.compared(oneOf(c, "!=", "<>"), p.literal(c))
	case 10:
		return c.special(p)
	case 11:
		l := p.literal(c)
		return condition{l.text + " < " + p.column.String(), p.column.compared(">", l).of}
	}
	return p.column.compared(oneOf(c, "<", "<=", ">", ">="), p.literal(c))
}

// special is a condition that only columns of some types have.
func (c conditions) special(p pool) condition {
	switch p.column.typ {
	case schema.String:
		return p.column.like(p.pattern(c))
	case schema.Boolean:
		return p.column.itself()
	}
	return condition{p.column.String() + " = NULL", constantly("", isNull).of}
}

func (c conditions) literals(p pool, n int) []literal {
	list := make([]literal, n)
	for i := range list {
		list[i] = p.literal(c)
	}
	return list
}

// conditionsFor sorts the columns of a schema, fields of structs included, by what can be asked of them.
func conditionsFor(d drawing, columns *schema.Struct, rows []map[string]any) conditions {
	c := conditions{drawing: d}
	c.add(columns, nil, rows)
	return c
}

func (c *conditions) add(s *schema.Struct, above []string, rows []map[string]any) {
	for _, f := range s.Fields {
		n := named{path: append(slices.Clone(above), f.Name), typ: f.Type}
		switch inner, is := f.Type.(*schema.Struct); {
		case is:
			c.opaque = append(c.opaque, n)
			c.add(inner, n.path, rows)
		case isCompared(f):
			c.pools = append(c.pools, newPool(n, rows))
		case f.Type != schema.Type(schema.Variant): // whose JSON does not tell its null from none
			c.opaque = append(c.opaque, n)
		}
	}
}

func isCompared(f schema.Field) bool {
	if _, decimal := f.Type.(schema.Decimal); decimal {
		return true
	}
	p, primitive := f.Type.(schema.Primitive)
	_, collated := f.Metadata["__COLLATIONS"]
	return primitive && p != schema.Void && p != schema.Variant && !collated
}
