package pruning

import "strings"

// builder makes an expression of what the parser read.
type builder struct{ text string }

func (b builder) anyOf(g *anyOf) (expression, error) {
	parts := make([]expression, 0, len(g.Parts))
	for _, part := range g.Parts {
		e, err := b.allOf(part)
		if err != nil {
			return nil, err
		}
		if inner, ok := e.(disjunction); ok {
			parts = append(parts, inner.parts...)
		} else {
			parts = append(parts, e)
		}
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return disjunction{parts}, nil
}

func (b builder) allOf(g *allOf) (expression, error) {
	parts := make([]expression, 0, len(g.Parts))
	for _, part := range g.Parts {
		e, err := b.condition(part)
		if err != nil {
			return nil, err
		}
		if inner, ok := e.(conjunction); ok {
			parts = append(parts, inner.parts...)
		} else {
			parts = append(parts, e)
		}
	}
	if len(parts) == 1 {
		return parts[0], nil
	}
	return conjunction{parts}, nil
}

func (b builder) condition(g *condition) (e expression, err error) {
	switch {
	case g.Group != nil:
		e, err = b.anyOf(g.Group)
	case g.Column != nil:
		e, err = b.columnTest(g.Column)
	default:
		e, err = b.valueTest(g.Value)
	}
	if err == nil && len(g.Nots)%2 == 1 {
		e = negate(e)
	}
	return e, err
}

func (b builder) columnTest(g *columnTest) (e expression, err error) {
	column := b.name(&g.Column)
	not := g.Not
	switch {
	case g.Compare != nil:
		return b.compare(column, operators[g.Compare.Operator], g.Compare.Value)
	case g.Null != nil:
		e, not = nullness{column}, g.Null.Not
	case g.In != nil:
		e, err = b.in(column, g.In.Values)
	case g.Between != nil:
		e, err = b.between(column, g.Between)
	case g.Like != nil:
		e, err = b.like(column, g.Like)
	default:
		return flag{column}, nil
	}
	if err == nil && not {
		e = negate(e)
	}
	return e, err
}

func (b builder) valueTest(g *valueTest) (expression, error) {
	if g.Column != nil {
		return b.compare(b.name(g.Column), operators[g.Operator].flip(), g.Value)
	}
	value, err := b.literal(g.Value)
	switch {
	case err != nil:
		return nil, err
	case value.kind == nullLiteral:
		return constant{Null}, nil
	case value.kind == truthLiteral:
		return constant{truthOf(value.text == "TRUE")}, nil
	}
	return nil, errorAt(b.text, value.at, "%s by itself is no condition: compare it with a column", value.noun())
}

func (b builder) compare(column name, op Op, v writtenValue) (expression, error) {
	value, err := b.literal(v)
	return comparison{column, op, value}, err
}

func (b builder) in(column name, items []writtenValue) (expression, error) {
	values := make([]literal, len(items))
	for i, item := range items {
		var err error
		if values[i], err = b.literal(item); err != nil {
			return nil, err
		}
	}
	return membership{column, values}, nil
}

func (b builder) between(column name, g *betweenTest) (expression, error) {
	low, err := b.literal(g.Low)
	if err != nil {
		return nil, err
	}
	high, err := b.literal(g.High)
	return between{column, low, high}, err
}

func (b builder) like(column name, g *likeTest) (expression, error) {
	e := likeness{column, unquote(g.Pattern), DefaultEscape, g.Pos.Offset}
	if g.Escape != nil {
		e.escape = unquote(*g.Escape)
	}
	if _, err := NewPattern(e.pattern, e.escape); err != nil {
		return nil, errorAt(b.text, e.at, "%w", err)
	}
	return e, nil
}

func (b builder) literal(v writtenValue) (literal, error) {
	l, err := newLiteral(v)
	if err != nil {
		return literal{}, errorAt(b.text, v.At, "%w", err)
	}
	return l, nil
}

func (b builder) name(g *columnName) name {
	n := name{make([]string, len(g.Names)), g.Pos.Offset}
	for i, part := range g.Names {
		if n.path[i] = part; strings.HasPrefix(part, "`") {
			n.path[i] = unquote(part)
		}
	}
	return n
}

func truthOf(b bool) Truth {
	if b {
		return True
	}
	return False
}
