package pruning

import (
	"cmp"
	"math"
	"math/big"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// cell is a value or, as the zero Value, null. A row has one for each of the property's columns.
type (
	cell = Value
	row  []cell
)

// propertyColumns have few values each, so that predicates hit them and their edges.
var propertyColumns = []struct {
	name     string
	cells    []cell
	literals []string
}{
	{"t", []cell{{Kind: Boolean}, {Kind: Boolean, Int: 1}}, []string{"TRUE", "FALSE"}},
	{
		"i8",
		[]cell{{Kind: Integer, Int: -128}, {Kind: Integer, Int: -1}, {Kind: Integer}, {Kind: Integer, Int: 1}, {Kind: Integer, Int: 127}},
		[]string{"-129", "-128", "-1.5", "-1", "0", "0.5", "1", "1.0", "127", "127.5", "300", "1e2000"},
	},
	{
		"d",
		[]cell{
			{Kind: Double, Float: math.NaN()},
			{Kind: Double, Float: math.Inf(1)},
			{Kind: Double, Float: math.Inf(-1)},
			{Kind: Double},
			{Kind: Double, Float: math.Copysign(0, -1)},
			{Kind: Double, Float: 0.1},
			{Kind: Double, Float: 9007199254740992},
			{Kind: Double, Float: -5},
		},
		[]string{"'NaN'", "'Infinity'", "'-Infinity'", "0", "-0.0", "0.1", "9007199254740993", "9007199254740992", "1e400", "-1e400", "-5", "7"},
	},
	{
		"f",
		[]cell{{Kind: Float, Float: math.NaN()}, {Kind: Float, Float: float64(float32(0.1))}, {Kind: Float, Float: 16777216}, {Kind: Float, Float: -1}},
		[]string{"'nan'", "0.1", "0.10000000000000001", "16777217", "16777216", "-16777217", "-1", "1e39"},
	},
	{
		"m",
		[]cell{decimalCell(-99999), decimalCell(-101), decimalCell(-100), decimalCell(0), decimalCell(99), decimalCell(100), decimalCell(99999)},
		[]string{"-1000", "-999.99", "-999.995", "-1.005", "-1", "0", "0.995", "1.00", "1", "999.99", "1000"},
	},
	{
		"s",
		[]cell{{Kind: String}, {Kind: String, Bytes: "a"}, {Kind: String, Bytes: "ab"}, {Kind: String, Bytes: "abc"}, {Kind: String, Bytes: "b\xff"}, {Kind: String, Bytes: "é"}},
		[]string{"''", "'a'", "'ab'", "'aa'", "'b'", "'é'", "'z'"},
	},
	{
		"ts",
		[]cell{{Kind: Timestamp, Int: -1}, {Kind: Timestamp}, {Kind: Timestamp, Int: 1}, {Kind: Timestamp, Int: 86_400_000_000}},
		[]string{"DATE '1970-01-01'", "'1970-01-02'", "'1970-01-01 00:00:00.0000005'", "'1970-01-01 01:00:00.000001+01:00'", "'300000-01-01'"},
	},
}

func decimalCell(unscaled int64) cell {
	return cell{Kind: Decimal, Decimal: Int128{unscaled >> 63, uint64(unscaled)}}
}

// tables draws rows of the property's columns.
func tables() *rapid.Generator[[]row] {
	one := rapid.Custom(func(t *rapid.T) row {
		r := make(row, len(propertyColumns))
		for i, column := range propertyColumns {
			if !rapid.Bool().Draw(t, "null") {
				r[i] = rapid.SampledFrom(column.cells).Draw(t, column.name)
			}
		}
		return r
	})
	return rapid.SliceOfN(one, 0, 4)
}

// typedConditions draws conditions on the property's columns that can be bound.
func typedConditions() *rapid.Generator[expression] {
	return rapid.Custom(func(t *rapid.T) expression {
		column := rapid.SampledFrom(propertyColumns).Draw(t, "column")
		n := name{path: []string{column.name}}
		value := rapid.Custom(func(t *rapid.T) literal {
			text := rapid.SampledFrom(append([]string{"NULL"}, column.literals...)).Draw(t, "literal")
			p, err := Parse("x = " + text)
			if err != nil {
				t.Fatal(err)
			}
			return p.root.(comparison).value
		})
		switch rapid.IntRange(0, 5).Draw(t, "condition") {
		case 0:
			return membership{n, rapid.SliceOfN(value, 1, 4).Draw(t, "values")}
		case 1:
			return nullness{n}
		case 2:
			return between{n, value.Draw(t, "low"), value.Draw(t, "high")}
		case 3:
			pattern := rapid.SampledFrom([]string{"", "a%", "ab", "%", "_", "a_", "%b%", "b%", "ab%"}).Draw(t, "pattern")
			return likeness{column: name{path: []string{"s"}}, pattern: pattern, escape: DefaultEscape}
		}
		return comparison{n, rapid.SampledFrom([]Op{Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual}).Draw(t, "op"), value.Draw(t, "value")}
	})
}

// bindExpression binds by way of the text.
func bindExpression(t *rapid.T, e expression) *Bound {
	p, err := Parse(normalForm(e))
	if err != nil {
		t.Fatal(err)
	}
	b, err := p.Bind(testResolver)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// and3, not3: three-valued logic, whose AND is the least of false, null, true.
func rank(t Truth) int { return [...]int{False: 0, Null: 1, True: 2}[t] }

func and3(a, b Truth) Truth {
	if rank(a) < rank(b) {
		return a
	}
	return b
}

func not3(t Truth) Truth { return [...]Truth{Null: Null, False: True, True: False}[t] }

// truthIn evaluates a bound node for a row, plainly.
func truthIn(n Node, value func(column int) cell) Truth {
	switch n := n.(type) {
	case And:
		result := True
		for _, part := range n.Parts {
			result = and3(result, truthIn(part, value))
		}
		return result
	case Or:
		result := True
		for _, part := range n.Parts {
			result = and3(result, not3(truthIn(part, value)))
		}
		return not3(result)
	case Not:
		return not3(truthIn(n.Part, value))
	case Constant:
		return n.Truth
	case IsNull:
		return truthOf(value(n.Column).Kind == Opaque)
	case Known:
		return unlessNull(value(n.Column), func(Value) Truth { return n.Truth })
	case Compare:
		return unlessNull(value(n.Column), func(v Value) Truth { return holds(n.Op, v.Compare(n.Value)) })
	case In:
		return unlessNull(value(n.Column), func(v Value) Truth {
			has := slices.ContainsFunc(n.Values, func(other Value) bool { return v.Compare(other) == 0 })
			if !has && n.HasNull {
				return Null
			}
			return truthOf(has)
		})
	case Like:
		return unlessNull(value(n.Column), func(v Value) Truth { return truthOf(n.Pattern.Match([]byte(v.Bytes))) })
	}
	panic("no such node")
}

func unlessNull(v cell, then func(Value) Truth) Truth {
	if v.Kind == Opaque {
		return Null
	}
	return then(v)
}

func holds(op Op, order int) Truth {
	switch op {
	case Equal:
		return truthOf(order == 0)
	case NotEqual:
		return truthOf(order != 0)
	case Less:
		return truthOf(order < 0)
	case LessEqual:
		return truthOf(order <= 0)
	case Greater:
		return truthOf(order > 0)
	}
	return truthOf(order >= 0)
}

// writtenTruth evaluates an expression for a row as its text says, in rational numbers.
func writtenTruth(e expression, value func(n name) cell) Truth {
	compare := func(n name, op Op, l literal) Truth {
		v := value(n)
		if v.Kind == Opaque || l.kind == nullLiteral {
			return Null
		}
		return holds(op, exactOrder(v, l))
	}
	switch e := e.(type) {
	case conjunction:
		result := True
		for _, part := range e.parts {
			result = and3(result, writtenTruth(part, value))
		}
		return result
	case disjunction:
		result := True
		for _, part := range e.parts {
			result = and3(result, not3(writtenTruth(part, value)))
		}
		return not3(result)
	case negation:
		return not3(writtenTruth(e.part, value))
	case comparison:
		return compare(e.column, e.op, e.value)
	case between:
		return and3(compare(e.column, GreaterEqual, e.low), compare(e.column, LessEqual, e.high))
	case membership:
		result := True
		for _, l := range e.values {
			result = and3(result, not3(compare(e.column, Equal, l)))
		}
		return not3(result)
	case nullness:
		return truthOf(value(e.column).Kind == Opaque)
	case likeness:
		return unlessNull(value(e.column), func(v Value) Truth {
			p, err := NewPattern(e.pattern, e.escape)
			return truthOf(err == nil && p.Match([]byte(v.Bytes)))
		})
	}
	panic("no such expression")
}

// exactOrder compares a value with what a literal means, without the types' own arithmetic.
func exactOrder(v Value, l literal) int {
	switch v.Kind {
	case Boolean:
		return cmp.Compare(v.Int, int64(truthOf(l.text == "TRUE")-False))
	case String:
		return cmp.Compare(v.Bytes, l.text)
	case Timestamp:
		i, _ := parseInstant(l.text)
		exact := new(big.Int).Add(new(big.Int).Mul(big.NewInt(i.seconds), big.NewInt(1e9)), big.NewInt(i.nanos))
		return new(big.Int).Mul(big.NewInt(v.Int), big.NewInt(1000)).Cmp(exact)
	case Float, Double:
		return floatOrder(v, l)
	case Decimal:
		unscaled := new(big.Int).Add(new(big.Int).Lsh(big.NewInt(v.Decimal.High), 64), new(big.Int).SetUint64(v.Decimal.Low))
		return new(big.Rat).SetFrac(unscaled, big.NewInt(100)).Cmp(rational(l.text))
	}
	return new(big.Rat).SetInt64(v.Int).Cmp(rational(l.text))
}

func floatOrder(v Value, l literal) int {
	if l.kind == textLiteral {
		named := map[string]float64{"NaN": math.NaN(), "nan": math.NaN(), "Infinity": math.Inf(1), "-Infinity": math.Inf(-1)}
		return v.Compare(Value{Kind: v.Kind, Float: named[l.text]})
	}
	exact := rational(l.text)
	if nearest, finite := nearestFloat(exact, v.Kind); finite && newNumber(l.text).approximate {
		exact = new(big.Rat).SetFloat64(nearest)
	}
	switch {
	case v.IsNaN() || math.IsInf(v.Float, 1):
		return 1
	case math.IsInf(v.Float, -1):
		return -1
	}
	return new(big.Rat).SetFloat64(v.Float).Cmp(exact)
}

func nearestFloat(exact *big.Rat, kind Kind) (nearest float64, finite bool) {
	if kind == Float {
		f, _ := exact.Float32()
		nearest = float64(f)
	} else {
		nearest, _ = exact.Float64()
	}
	return nearest, !math.IsInf(nearest, 0)
}

func rational(text string) *big.Rat {
	r, ok := new(big.Rat).SetString(text)
	if !ok {
		panic(text)
	}
	return r
}

func TestBindKeepsTheMeaningOfTheText(t *testing.T) {
	trees := expressions(typedConditions(), 2)
	rapid.Check(t, func(t *rapid.T) {
		e := trees.Draw(t, "expression")
		b := bindExpression(t, e)
		for _, r := range tables().Draw(t, "table") {
			want := writtenTruth(e, func(n name) cell { return r[propertyColumn(n.path[0])] })
			got := truthIn(b.Root, func(column int) cell { return r[propertyColumn(b.Columns[column].Path[0])] })
			if want != got {
				t.Fatalf("%s in %v: want %v, got %v", b.Text, r, want, got)
			}
		}
	})
}

func propertyColumn(name string) int {
	return slices.IndexFunc(propertyColumns, func(c struct {
		name     string
		cells    []cell
		literals []string
	},
	) bool {
		return c.name == name
	})
}

func TestDecideNeverSkipsARowThatMatches(t *testing.T) {
	trees := expressions(typedConditions(), 2)
	skips := 0
	rapid.Check(t, func(t *rapid.T) {
		b := bindExpression(t, trees.Draw(t, "expression"))
		rows := tables().Draw(t, "table")
		evidence := drawFacts(t, b.Columns, rows)
		decision := b.Decide(evidence)
		d := decider{evidence: evidence}
		possible := d.of(b.Root)
		for _, r := range rows {
			value := func(column int) cell { return r[propertyColumn(b.Columns[column].Path[0])] }
			truth := truthIn(b.Root, value)
			if truth == True && decision.Skip || !possible.has(truth) {
				t.Fatalf("%s: skips %v, thinks %03b possible, but is %v in %v", b.Text, decision.Skip, possible, truth, r)
			}
			if decision.Because != nil && truthIn(decision.Because, value) == True {
				t.Fatalf("%s: skips because of %s, which is true in %v", b.Text, decision.Because, r)
			}
		}
		if decision.Skip && len(rows) > 0 {
			skips++
		}
	})
	if skips == 0 {
		t.Error("nothing was ever skipped")
	}
}

// drawFacts draws evidence that is true of the rows: what they are, made vague here and there.
func drawFacts(t *rapid.T, columns []Column, rows []row) facts {
	f := facts{columns: columns, bounds: map[string]Bounds{}}
	for _, column := range columns {
		name := column.Path[0]
		var cells []cell
		for _, r := range rows {
			cells = append(cells, r[propertyColumn(name)])
		}
		f.bounds[name] = drawBounds(t, name, cells)
	}
	blind := rapid.Bool().Draw(t, "blind")
	f.holds = func(column string, v Value) bool {
		return blind || slices.ContainsFunc(rows, func(r row) bool {
			c := r[propertyColumn(column)]
			return c.Kind == v.Kind && c.Compare(v) == 0
		})
	}
	return f
}

func drawBounds(t *rapid.T, name string, cells []cell) Bounds {
	b := Bounds{Rows: Exactly(int64(len(cells)))}
	var nulls, nans int64
	var values []Value
	for _, c := range cells {
		switch {
		case c.Kind == Opaque:
			nulls++
		case isFloat(c) && c.IsNaN():
			nans++
		default:
			values = append(values, c)
		}
	}
	b.Nulls, b.NaNs = Exactly(nulls), Exactly(nans)
	if len(values) > 0 {
		b.Min, b.Max = slices.MinFunc(values, Value.Compare), slices.MaxFunc(values, Value.Compare)
		b.Constant = nans == 0 && b.Min.Compare(b.Max) == 0 && rapid.Bool().Draw(t, "constant")
	}
	if !b.Constant {
		b.blur(t, propertyColumns[propertyColumn(name)].cells)
	}
	return b
}

// blur makes bounds say less, or less exactly, without making them untrue.
func (b *Bounds) blur(t *rapid.T, cells []cell) {
	forget := rapid.SliceOfN(rapid.Bool(), 5, 5).Draw(t, "forget")
	other := rapid.SampledFrom(cells).Draw(t, "other")
	if !isFloat(other) || !other.IsNaN() {
		if b.Min.Kind != Opaque && other.Compare(b.Min) < 0 {
			b.Min = other
		}
		if b.Max.Kind != Opaque && other.Compare(b.Max) > 0 {
			b.Max = other
		}
	}
	for i, drop := range []func(){
		func() { b.Min = Value{} },
		func() { b.Max = Value{} },
		func() { b.Rows = Count{} },
		func() { b.Nulls = Count{} },
		func() { b.NaNs = Count{} },
	} {
		if forget[i] {
			drop()
		}
	}
}
