package pruning

import (
	"errors"
	"slices"
)

// binder gives a predicate its columns.
type binder struct {
	text    string
	resolve Resolver
	columns []Column
	written map[string]int // numbers of columns by the name in the predicate
	spelled map[string]int // and by the schema's
}

// Bind gives the predicate its columns. It fails where a comparison cannot be decided exactly: a column that is not there, a
// literal of another kind, a column of a kind that has no order. The error names the position; the resolver's is inside.
//
// A literal that the column's type does not have moves the bound to the next value there is, or becomes [Known]: i < 2.5 is
// i <= 2, and a tinyint is never 300. Decimals of any scale and parts of a µs are decided in the same way. On Float and Double
// columns, a number with a point or an exponent means the nearest value of the column's type, so that f = 0.1 finds what was
// written as 0.1; one of plain digits means itself, so that d = 9007199254740993 is never true. What is not finite is written
// as text: 'NaN', 'Infinity', '-Infinity'. Texts stand for dates and timestamps, too, if they have their form; a timestamp
// without zone is in UTC, and a date is its midnight. A comparison with NULL is null.
func (p *Predicate) Bind(resolve Resolver) (*Bound, error) {
	b := binder{text: p.text, resolve: resolve, written: map[string]int{}, spelled: map[string]int{}}
	root, err := b.bind(p.root)
	if err != nil {
		return nil, err
	}
	return &Bound{Root: root, Columns: b.columns, Text: p.String()}, nil
}

func (b *binder) bind(e expression) (Node, error) {
	switch e := e.(type) {
	case conjunction:
		return b.conjunction(e)
	case disjunction:
		parts, err := b.bindAll(e.parts)
		return Or{parts}, err
	case negation:
		part, err := b.bind(e.part)
		return Not{part}, err
	case comparison:
		return b.comparison(e)
	case membership:
		return b.membership(e)
	case between:
		return b.conjunction(e.comparisons())
	case nullness:
		column, err := b.column(e.column)
		return IsNull{column, said(normalForm(e))}, err
	case likeness:
		return b.likeness(e)
	case flag:
		return b.flag(e)
	case constant:
		return Constant{e.truth, ""}, nil
	}
	return nil, errors.ErrUnsupported
}

// conjunction takes the parts of a BETWEEN among its own.
func (b *binder) conjunction(e conjunction) (Node, error) {
	parts := make([]expression, 0, len(e.parts))
	for _, part := range e.parts {
		if bounds, ok := part.(between); ok {
			parts = append(parts, bounds.comparisons().parts...)
		} else {
			parts = append(parts, part)
		}
	}
	nodes, err := b.bindAll(parts)
	return And{nodes}, err
}

// comparisons are what SQL defines BETWEEN to be.
func (e between) comparisons() conjunction {
	return conjunction{[]expression{comparison{e.column, GreaterEqual, e.low}, comparison{e.column, LessEqual, e.high}}}
}

func (b *binder) bindAll(parts []expression) ([]Node, error) {
	nodes := make([]Node, len(parts))
	for i, part := range parts {
		var err error
		if nodes[i], err = b.bind(part); err != nil {
			return nil, err
		}
	}
	return nodes, nil
}

// column returns the number of a column.
func (b *binder) column(n name) (int, error) {
	key := n.String()
	if number, ok := b.written[key]; ok {
		return number, nil
	}
	column, err := b.resolve(n.path)
	if err != nil {
		return 0, errorAt(b.text, n.at, "%w", err)
	}
	spelled := name{path: column.Path}.String()
	number, ok := b.spelled[spelled]
	if !ok {
		number = len(b.columns)
		b.columns = append(b.columns, column)
		b.spelled[spelled] = number
	}
	b.written[key] = number
	return number, nil
}

// ordered returns the number and the type of a column whose values can be compared.
func (b *binder) ordered(n name) (int, Type, error) {
	column, err := b.column(n)
	if err != nil {
		return 0, Type{}, err
	}
	t := b.columns[column].Type
	if t.Kind == Opaque {
		return 0, Type{}, errorAt(b.text, n.at, "column %s is %s, whose values are not compared: only IS NULL and IS NOT NULL are possible", n, t.Name)
	}
	return column, t, nil
}

// place finds a literal's place among a column's values.
func (b *binder) place(n name, t Type, l literal) (place, error) {
	p, err := t.place(l)
	if err != nil {
		return place{}, errorAt(b.text, l.at, "column %s is %s: %w", n, t.Name, err)
	}
	return p, nil
}

func (b *binder) comparison(e comparison) (Node, error) {
	column, t, err := b.ordered(e.column)
	if err != nil {
		return nil, err
	}
	text := said(normalForm(e))
	if e.value.kind == nullLiteral {
		return Constant{Null, text}, nil
	}
	p, err := b.place(e.column, t, e.value)
	if err != nil {
		return nil, err
	}
	return p.compare(column, e.op, text), nil
}

// membership leaves out what the column cannot have: it is as if that were compared and found to be another value.
func (b *binder) membership(e membership) (Node, error) {
	column, t, err := b.ordered(e.column)
	if err != nil {
		return nil, err
	}
	in := In{Column: column, Values: make([]Value, 0, len(e.values)), said: said(normalForm(e))}
	for _, l := range e.values {
		if l.kind == nullLiteral {
			in.HasNull = true
			continue
		}
		p, err := b.place(e.column, t, l)
		if err != nil {
			return nil, err
		}
		if p.isExact() {
			in.Values = append(in.Values, p.value)
		}
	}
	return in.simplify(), nil
}

// simplify sorts the values, or finds that there are none.
func (n In) simplify() Node {
	switch {
	case len(n.Values) > 0:
		slices.SortFunc(n.Values, Value.Compare)
		n.Values = slices.CompactFunc(n.Values, func(a, b Value) bool { return a.Compare(b) == 0 })
		return n
	case n.HasNull:
		return Constant{Null, n.said}
	}
	return Known{n.Column, False, n.said}
}

// likeness takes a pattern that only one text matches as that text, which more can be known about.
func (b *binder) likeness(e likeness) (Node, error) {
	column, t, err := b.ordered(e.column)
	if err != nil {
		return nil, err
	}
	if t.Kind != String {
		return nil, errorAt(b.text, e.column.at, "column %s is %s: LIKE is for strings", e.column, t.Name)
	}
	p, err := NewPattern(e.pattern, e.escape)
	if err != nil {
		return nil, errorAt(b.text, e.at, "%w", err)
	}
	if text, ok := p.literal(); ok {
		return Compare{column, Equal, Value{Kind: String, Bytes: text}, said(normalForm(e))}, nil
	}
	return Like{column, p, said(normalForm(e))}, nil
}

func (b *binder) flag(e flag) (Node, error) {
	column, t, err := b.ordered(e.column)
	if err != nil {
		return nil, err
	}
	if t.Kind != Boolean {
		return nil, errorAt(b.text, e.column.at, "column %s is %s, which by itself is no condition: compare it with a value", e.column, t.Name)
	}
	return Compare{column, Equal, Value{Kind: Boolean, Int: 1}, said(normalForm(e))}, nil
}
