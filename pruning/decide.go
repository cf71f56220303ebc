package pruning

// Decide tells whether no row of the piece can match. It keeps whatever it does not know: bounds that are missing, of another
// kind, or the wrong way round exclude nothing.
func (b *Bound) Decide(e Evidence) Decision {
	d := decider{evidence: e}
	because := d.impossible(b.Root)
	if d.empty {
		return Decision{Skip: true}
	}
	return Decision{Skip: because != nil, Because: because}
}

// decider asks which truths a node can have in the rows of a piece of data.
type decider struct {
	evidence Evidence
	empty    bool // the evidence says that there are no rows
}

// truths is a set of Truth. What is in it may occur; what is not cannot.
type truths uint8

const anyTruth = truths(1<<Null | 1<<False | 1<<True)

func only(t Truth) truths           { return 1 << t }
func (t truths) has(one Truth) bool { return t&only(one) != 0 }

// onlyIf is the truth where the condition holds, else no truth.
func onlyIf(condition bool, t Truth) truths {
	if condition {
		return only(t)
	}
	return 0
}

// impossible returns the smallest part of a node because of which it cannot be true; nil: it can.
func (d *decider) impossible(n Node) Node {
	if and, ok := n.(And); ok {
		for _, part := range and.Parts {
			if because := d.impossible(part); because != nil {
				return because
			}
		}
		return nil
	}
	if d.of(n).has(True) {
		return nil
	}
	return n
}

// of returns the truths that a node can have.
func (d *decider) of(n Node) truths {
	switch n := n.(type) {
	case And:
		return d.junction(n.Parts, True, False)
	case Or:
		return d.junction(n.Parts, False, True)
	case Not:
		inner := d.of(n.Part)
		return inner&only(Null) | onlyIf(inner.has(True), False) | onlyIf(inner.has(False), True)
	case Constant:
		return only(n.Truth)
	case IsNull:
		c := d.column(n.Column)
		return onlyIf(c.nulls, True) | onlyIf(c.values, False)
	case Known:
		return d.column(n.Column).where(only(n.Truth))
	case Compare:
		return d.compare(n)
	case In:
		return d.in(n)
	case Like:
		c := d.column(n.Column)
		return c.where(c.like(n.Pattern))
	}
	return anyTruth
}

// junction is AND, or OR: it has the weak truth where all parts have, the strong one where one part has, else it is null.
func (d *decider) junction(parts []Node, weak, strong Truth) truths {
	allWeak, noneStrong := true, true
	var some truths
	for _, part := range parts {
		t := d.of(part)
		allWeak = allWeak && t.has(weak)
		noneStrong = noneStrong && t&^only(strong) != 0
		some |= t
	}
	return onlyIf(allWeak, weak) | some&only(strong) | some&onlyIf(noneStrong, Null)
}

func (d *decider) compare(n Compare) truths {
	c := d.column(n.Column)
	r := c.relations(n.Value)
	if n.Op == Equal && r.equal && !r.isCertain() {
		r.equal = d.mayHold(n.Column, n.Value)
	}
	return c.where(r.truths(n.Op))
}

func (d *decider) in(n In) truths {
	c := d.column(n.Column)
	otherwise := only(False)
	if n.HasNull {
		otherwise = only(Null)
	}
	for _, v := range c.near(n.Values) {
		switch r := c.relations(v); {
		case r.equal && r.isCertain():
			return c.where(only(True))
		case r.equal && d.mayHold(n.Column, v):
			return c.where(only(True) | otherwise)
		}
	}
	return c.where(otherwise)
}

// mayHold asks for a value itself. Zeros and NaNs have several forms, of which other evidence may know one.
func (d *decider) mayHold(column int, v Value) bool {
	if isFloat(v) && (v.Float == 0 || v.IsNaN()) {
		return true
	}
	return d.evidence.MayHold(column, v)
}

func (d *decider) column(number int) columnFacts {
	bounds := d.evidence.Bounds(number)
	c := columnFacts{min: bounds.Min, max: bounds.Max, nulls: true, values: true, constant: bounds.Constant}
	nans, known := bounds.NaNs.Get()
	c.nans = !known || nans != 0
	c.dropNonsense()
	c.count(bounds)
	if !c.nulls && !c.values {
		d.empty = true
	}
	return c
}
