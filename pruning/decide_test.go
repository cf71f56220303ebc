package pruning

import (
	"math"
	"testing"
)

// facts are Evidence about columns by their first name.
type facts struct {
	columns []Column
	bounds  map[string]Bounds
	holds   func(column string, v Value) bool // nil: always
}

func (f facts) Bounds(column int) Bounds { return f.bounds[f.columns[column].Path[0]] }

func (f facts) MayHold(column int, v Value) bool {
	return f.holds == nil || f.holds(f.columns[column].Path[0], v)
}

// Bounds of some kinds, all counts known unless changed.
func ints(low, high int64) Bounds {
	return Bounds{Min: Value{Kind: Integer, Int: low}, Max: Value{Kind: Integer, Int: high}, Rows: Exactly(10), Nulls: Exactly(0)}
}

func texts(low, high string) Bounds {
	return Bounds{Min: Value{Kind: String, Bytes: low}, Max: Value{Kind: String, Bytes: high}, Rows: Exactly(10), Nulls: Exactly(0)}
}

func doubles(low, high float64) Bounds {
	return Bounds{Min: Value{Kind: Double, Float: low}, Max: Value{Kind: Double, Float: high}, Rows: Exactly(10), Nulls: Exactly(0), NaNs: Exactly(0)}
}

func (b Bounds) with(change func(*Bounds)) Bounds { change(&b); return b }

func someNulls(b *Bounds)    { b.Nulls = Exactly(3) }
func allNulls(b *Bounds)     { b.Nulls = b.Rows }
func noMin(b *Bounds)        { b.Min = Value{} }
func noMax(b *Bounds)        { b.Max = Value{} }
func noCounts(b *Bounds)     { b.Rows, b.Nulls = Count{}, Count{} }
func unknownNaNs(b *Bounds)  { b.NaNs = Count{} }
func someNaNs(b *Bounds)     { b.NaNs = Exactly(1) }
func everyRowHas(b *Bounds)  { b.Constant = true }
func noRows(b *Bounds)       { b.Rows = Exactly(0) }
func negativeNul(b *Bounds)  { b.Nulls = Exactly(-1) }
func tooManyNulls(b *Bounds) { b.Nulls = Exactly(11) }

func TestDecideSkipsWhatCannotMatch(t *testing.T) {
	nan, infinity := math.NaN(), math.Inf(1)
	for _, c := range []struct {
		text    string
		bounds  Bounds // of all columns
		because string // "": kept
	}{
		{"i = 4", ints(5, 9), "i = 4"},
		{"i = 10", ints(5, 9), "i = 10"},
		{"i = 5", ints(5, 9), ""},
		{"i < 5", ints(5, 9), "i < 5"},
		{"i < 6", ints(5, 9), ""},
		{"i <= 4", ints(5, 9), "i <= 4"},
		{"i <= 5", ints(5, 9), ""},
		{"i > 9", ints(5, 9), "i > 9"},
		{"i > 8", ints(5, 9), ""},
		{"i >= 10", ints(5, 9), "i >= 10"},
		{"i >= 9", ints(5, 9), ""},
		{"i != 5", ints(5, 5), "i != 5"},
		{"i != 5", ints(5, 6), ""},
		{"i != 5", ints(5, 5).with(someNulls), "i != 5"},
		{"NOT i < 10", ints(5, 9), "NOT (i < 10)"},
		{"NOT i < 10", ints(5, 9).with(someNulls), "NOT (i < 10)"},
		{"NOT i < 9", ints(5, 9), ""},
		{"i BETWEEN 10 AND 20", ints(5, 9), "i >= 10"},
		{"i NOT BETWEEN 5 AND 9", ints(5, 9), "NOT (i >= 5 AND i <= 9)"},
		{"i < 2.5", ints(3, 9), "i < 2.5"},
		{"i8 = 300", Bounds{}, "i8 = 300"},
		{"i8 < 300", Bounds{}, ""},
		{"i8 < 300", ints(1, 1).with(allNulls), "i8 < 300"},
		{"NOT i8 < 300", Bounds{}, "NOT (i8 < 300)"},

		{"i = 4", ints(5, 9).with(noCounts), "i = 4"},
		{"i = 4", ints(5, 9).with(noMin), ""},
		{"i = 10", ints(5, 9).with(noMin), "i = 10"},
		{"i = 10", ints(5, 9).with(noMax), ""},
		{"i = 4", ints(9, 5), ""},    // the wrong way round
		{"i = 4", doubles(5, 9), ""}, // of another kind
		{"i = 4", Bounds{}, ""},
		{"i = 7", ints(5, 9).with(allNulls), "i = 7"},
		{"i = 7", ints(5, 9).with(tooManyNulls), ""},

		{"i IS NULL", ints(5, 9), "i IS NULL"},
		{"i IS NULL", ints(5, 9).with(someNulls), ""},
		{"i IS NULL", ints(5, 9).with(noCounts), ""},
		{"i IS NULL", ints(5, 9).with(negativeNul), ""},
		{"i IS NOT NULL", ints(5, 9).with(allNulls), "NOT (i IS NULL)"},
		{"i IS NOT NULL", ints(5, 9).with(someNulls), ""},
		{"map IS NULL", ints(5, 9), "map IS NULL"},

		{"i IN (1, 2, 10, 11)", ints(5, 9), "i IN (1, 2, 10, 11)"},
		{"i IN (1, 2, 7, 11)", ints(5, 9), ""},
		{"i NOT IN (1, 5)", ints(5, 5), "NOT (i IN (1, 5))"},
		{"i NOT IN (1, 5)", ints(5, 6), ""},
		{"i NOT IN (1, NULL)", ints(5, 6), "NOT (i IN (1, NULL))"},
		{"i NOT IN (1)", ints(5, 6), ""},

		{"s LIKE 'b%'", texts("c", "d"), "s LIKE 'b%'"},
		{"s LIKE 'b%'", texts("a", "az"), "s LIKE 'b%'"},
		{"s LIKE 'b%'", texts("a", "c"), ""},
		{"s LIKE 'b%'", texts("a", "b"), ""},
		{"s LIKE 'b%'", texts("bz", "c"), ""},
		{"s NOT LIKE 'b%'", texts("ba", "bz"), "NOT (s LIKE 'b%')"},
		{"s NOT LIKE 'b%x'", texts("ba", "bz"), ""},
		{"s NOT LIKE 'b%'", texts("ba", "c"), ""},
		{"s LIKE '%x'", texts("ay", "ay").with(everyRowHas), "s LIKE '%x'"},
		{"s LIKE '%y'", texts("ay", "ay").with(everyRowHas), ""},
		{"s LIKE 'b_'", texts("c", "d"), "s LIKE 'b_'"},

		{"d < 5", doubles(5, 9), "d < 5"},
		{"d > 9", doubles(5, 9), "d > 9"},
		{"d != 5", doubles(5, 5), "d != 5"},
		{"d = 'NaN'", doubles(5, 9), "d = 'NaN'"},
		{"d >= 'NaN'", doubles(5, 9), "d >= 'NaN'"},
		{"d = 'NaN'", doubles(5, 9).with(noMax), "d = 'NaN'"},
		{"d = 'Infinity'", doubles(5, 9), "d = 'Infinity'"},
		{"d < 5", doubles(5, 9).with(unknownNaNs), ""},
		{"d <= 4", doubles(5, 9).with(someNaNs), ""},
		{"d > 9", doubles(5, 9).with(unknownNaNs), ""},
		{"d >= 10", doubles(5, 9).with(someNaNs), ""},
		{"d != 5", doubles(5, 5).with(unknownNaNs), ""},
		{"NOT d = 5", doubles(5, 5).with(unknownNaNs), ""},
		{"NOT d IN (5)", doubles(5, 5).with(someNaNs), ""},
		{"NOT d < 10", doubles(5, 9).with(unknownNaNs), ""},
		{"d = 4", doubles(5, 9).with(unknownNaNs), "d = 4"},
		{"d IN (4, 10)", doubles(5, 9).with(someNaNs), "d IN (4, 10)"},
		{"d = 'NaN'", doubles(5, 9).with(unknownNaNs), ""},
		{"d = 'Infinity'", doubles(5, 9).with(unknownNaNs), ""},
		{"d IN (4, 'NaN')", doubles(5, 9).with(unknownNaNs), ""},
		{"d IS NULL", doubles(5, 9).with(unknownNaNs), "d IS NULL"},
		{"d > 9 AND d = 4", doubles(5, 9).with(unknownNaNs), "d = 4"},
		{"d = 4", doubles(nan, 9), ""},
		{"d = 10", doubles(5, nan), ""},
		{"d = 0", doubles(math.Copysign(0, -1), 0), ""},
		{"d < 0", doubles(math.Copysign(0, -1), 5), "d < 0"},
		{"d > 0", doubles(-5, math.Copysign(0, -1)), "d > 0"},
		{"d > 1e400", doubles(5, 9), "d > 1e400"},
		{"d > 1e400", doubles(5, infinity), ""},
		{"d > 5", doubles(nan, nan).with(everyRowHas).with(unknownNaNs), ""},
		{"d = 5", doubles(nan, nan).with(everyRowHas).with(unknownNaNs), "d = 5"},
		{"d > 9", doubles(5, 5).with(everyRowHas).with(unknownNaNs), "d > 9"},
		{"d != 5", doubles(5, 5).with(everyRowHas).with(unknownNaNs), "d != 5"},
		{"d NOT IN (5)", doubles(5, 5).with(everyRowHas).with(unknownNaNs), "NOT (d IN (5))"},

		{"i = 7 AND i = 4 AND i = 3", ints(5, 9), "i = 4"},
		{"i = 7 AND (i = 6 OR i IS NULL AND i = 7)", ints(5, 9), ""},
		{"i = 4 OR i = 10", ints(5, 9), "i = 4 OR i = 10"},
		{"i = 4 OR i = 7", ints(5, 9), ""},
		{"i = 7 AND (i = 4 OR i = 10)", ints(5, 9), "i = 4 OR i = 10"},
		{"NOT (i = 7 OR i >= 5)", ints(5, 9), "NOT (i = 7 OR i >= 5)"},
		{"NOT (i >= 5 AND i = NULL)", ints(5, 9), "NOT (i >= 5 AND i = NULL)"},
		{"NOT (i >= 6 AND i = NULL)", ints(5, 9), ""},
		{"i = NULL", ints(5, 9), "i = NULL"},
		{"NOT i = NULL", ints(5, 9), "NOT (i = NULL)"},
		{"FALSE", Bounds{}, "FALSE"},
		{"TRUE", Bounds{}, ""},
		{"NULL OR i = 7", ints(5, 9), ""},
	} {
		b := bindText(t, c.text)
		bounds := map[string]Bounds{}
		for _, column := range b.Columns {
			bounds[column.Path[0]] = c.bounds
		}
		got := b.Decide(facts{columns: b.Columns, bounds: bounds})
		because := ""
		if got.Because != nil {
			because = got.Because.String()
		}
		if c.because != because || got.Skip != (c.because != "") {
			t.Errorf("%s in %+v: want %q, got %v %q", c.text, c.bounds, c.because, got.Skip, because)
		}
	}
}

func TestDecideSkipsWhatHasNoRows(t *testing.T) {
	for _, text := range []string{"i = 7", "i IS NULL", "NOT i = 7", "s = 'x' OR i = 7", "s = 'x' AND i IN (1)"} {
		b := bindText(t, text)
		got := b.Decide(facts{columns: b.Columns, bounds: map[string]Bounds{"i": ints(5, 9).with(noRows)}})
		if !got.Skip || got.Because != nil {
			t.Errorf("%s: got %v", text, got)
		}
	}
}

func TestDecideAsksForValuesThatTheBoundsLeave(t *testing.T) {
	for _, c := range []struct {
		text   string
		bounds Bounds
		asked  int
		skip   bool
	}{
		{"i = 7", ints(5, 9), 1, true},
		{"i = 4", ints(5, 9), 0, true},
		{"i = 7", Bounds{}, 1, true},
		{"i = 7", ints(7, 7), 0, false},
		{"i IN (1, 6, 8, 20)", ints(5, 9), 2, true},
		{"i IN (1, 6, 8, 20)", Bounds{}, 4, true},
		{"i != 7", ints(5, 9), 0, false},
		{"i < 7", ints(5, 9), 0, false},
		{"NOT i = 7", ints(5, 9), 1, false},
		{"s LIKE 'x'", texts("a", "z"), 1, true},
		{"d = 0", doubles(-1, 1), 0, false},
		{"d = 'NaN'", Bounds{}, 0, false},
		{"d = 1", Bounds{}, 1, true},
	} {
		b := bindText(t, c.text)
		asked := 0
		got := b.Decide(facts{
			columns: b.Columns,
			bounds:  map[string]Bounds{b.Columns[0].Path[0]: c.bounds},
			holds:   func(string, Value) bool { asked++; return false },
		})
		if c.asked != asked || c.skip != got.Skip {
			t.Errorf("%s in %+v: want %d questions and %v, got %d and %v", c.text, c.bounds, c.asked, c.skip, asked, got.Skip)
		}
	}
}

func TestDecideDoesNotAllocate(t *testing.T) {
	b := bindText(t, "i = 7 AND (s LIKE 'b%' OR d IN (1, 2, 3)) AND NOT l BETWEEN 3 AND 5")
	var e Evidence = facts{columns: b.Columns, bounds: map[string]Bounds{"i": ints(5, 9), "s": texts("a", "c"), "d": doubles(1, 2)}}
	if got := testing.AllocsPerRun(100, func() { b.Decide(e) }); got != 0 {
		t.Errorf("%v allocations", got)
	}
}
