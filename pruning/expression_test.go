package pruning

import (
	"reflect"
	"strconv"
	"testing"

	"pgregory.net/rapid"
)

// literals draws literals as the parser makes them.
func literals() *rapid.Generator[literal] {
	text := rapid.StringN(0, 6, -1)
	return rapid.OneOf(
		rapid.Just(literal{kind: nullLiteral}),
		rapid.Map(rapid.SampledFrom([]string{"TRUE", "FALSE"}), func(s string) literal { return literal{kind: truthLiteral, text: s} }),
		rapid.Map(rapid.StringMatching(`-?([0-9]{1,20}(\.[0-9]{0,5})?|\.[0-9]{1,3})([eE][-+]?[0-9]{1,3})?`), func(s string) literal {
			return literal{kind: numberLiteral, text: s}
		}),
		rapid.Map(text, func(s string) literal { return literal{kind: textLiteral, text: s} }),
		rapid.Map(text, func(s string) literal { return literal{kind: binaryLiteral, text: s} }),
		rapid.Map(rapid.StringMatching(`-?[12][0-9]{3}-0[1-9]-1[0-9]`), func(s string) literal { return literal{kind: dateLiteral, text: s} }),
		rapid.Map(rapid.StringMatching(`[12][0-9]{3}-0[1-9]-1[0-9]( [01][0-9]:[0-5][0-9](:[0-5][0-9](\.[0-9]{1,9})?)?(Z|[-+]0[0-9]:30)?)?`), func(s string) literal {
			return literal{kind: timestampLiteral, text: s}
		}),
	)
}

func names() *rapid.Generator[name] {
	part := rapid.OneOf(rapid.SampledFrom([]string{"a", "b1", "order", "and", "null", "date", "x`y", "é", "1x", "a b", "."}), rapid.StringN(1, 3, -1))
	return rapid.Map(rapid.SliceOfN(part, 1, 3), func(path []string) name { return name{path: path} })
}

// conditions draws what is no AND, OR or NOT.
func conditions() *rapid.Generator[expression] {
	return rapid.Custom(func(t *rapid.T) expression {
		column := names().Draw(t, "column")
		switch rapid.IntRange(0, 6).Draw(t, "condition") {
		case 0:
			return comparison{column, rapid.SampledFrom([]Op{Equal, NotEqual, Less, LessEqual, Greater, GreaterEqual}).Draw(t, "op"), literals().Draw(t, "value")}
		case 1:
			return membership{column, rapid.SliceOfN(literals(), 1, 4).Draw(t, "values")}
		case 2:
			return nullness{column}
		case 3:
			pattern := rapid.SampledFrom([]string{"", "a%", "_'b%", "a!%", "!!"}).Draw(t, "pattern")
			return likeness{column: column, pattern: pattern, escape: rapid.SampledFrom([]string{`\`, "!", "", "'"}).Filter(func(escape string) bool {
				_, err := NewPattern(pattern, escape)
				return err == nil
			}).Draw(t, "escape")}
		case 4:
			return flag{column}
		case 5:
			return between{column, literals().Draw(t, "low"), literals().Draw(t, "high")}
		}
		return constant{rapid.SampledFrom([]Truth{Null, False, True}).Draw(t, "truth")}
	})
}

// expressions draws trees of conditions, as the parser makes them.
func expressions(conditions *rapid.Generator[expression], depth int) *rapid.Generator[expression] {
	if depth == 0 {
		return conditions
	}
	inner := expressions(conditions, depth-1)
	return rapid.OneOf(
		conditions,
		rapid.Map(inner, negate),
		rapid.Map(rapid.SliceOfN(inner, 2, 3), func(parts []expression) expression {
			var flat []expression
			for _, part := range parts {
				if same, ok := part.(conjunction); ok {
					flat = append(flat, same.parts...)
				} else {
					flat = append(flat, part)
				}
			}
			return conjunction{flat}
		}),
		rapid.Map(rapid.SliceOfN(inner, 2, 3), func(parts []expression) expression {
			var flat []expression
			for _, part := range parts {
				if same, ok := part.(disjunction); ok {
					flat = append(flat, same.parts...)
				} else {
					flat = append(flat, part)
				}
			}
			return disjunction{flat}
		}),
	)
}

// placeless is an expression without its places in the text.
func placeless(e expression) expression {
	switch e := e.(type) {
	case conjunction:
		return conjunction{placelessAll(e.parts)}
	case disjunction:
		return disjunction{placelessAll(e.parts)}
	case negation:
		return negation{placeless(e.part)}
	case comparison:
		e.column.at, e.value.at = 0, 0
		return e
	case membership:
		e.column.at = 0
		for i := range e.values {
			e.values[i].at = 0
		}
		return e
	case nullness:
		e.column.at = 0
		return e
	case likeness:
		e.column.at, e.at = 0, 0
		return e
	case flag:
		e.column.at = 0
		return e
	case between:
		e.column.at, e.low.at, e.high.at = 0, 0, 0
		return e
	}
	return e
}

func placelessAll(parts []expression) []expression {
	all := make([]expression, len(parts))
	for i, part := range parts {
		all[i] = placeless(part)
	}
	return all
}

func TestNormalFormParsesBackToTheSameTree(t *testing.T) {
	trees := expressions(conditions(), 3)
	rapid.Check(t, func(t *rapid.T) {
		want := trees.Draw(t, "expression")
		text := normalForm(want)
		p, err := Parse(text)
		if err != nil {
			t.Fatalf("%s: %v", strconv.Quote(text), err)
		}
		if got := placeless(p.root); !reflect.DeepEqual(want, got) {
			t.Fatalf("%s:\nwant %#v\n got %#v", text, want, got)
		}
		if text != p.String() {
			t.Fatalf("want %s, got %s", text, p)
		}
	})
}
