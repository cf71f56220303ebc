package pruning

import (
	"strconv"
	"strings"
	"testing"
)

// longList is a predicate with a list of 10,000 values.
func longList() string {
	values := make([]string, 10_000)
	for i := range values {
		values[i] = strconv.Itoa(i * 7919 % 100_003)
	}
	return "l IN (" + strings.Join(values, ", ") + ")"
}

func BenchmarkParseLongList(b *testing.B) {
	text := longList()
	b.ReportAllocs()
	for b.Loop() {
		if _, err := Parse(text); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkBindLongList(b *testing.B) {
	p, err := Parse(longList())
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		if _, err := p.Bind(testResolver); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecideLongList(b *testing.B) {
	bound := bindText(b, longList())
	for name, bounds := range map[string]Bounds{"skips": ints(100_003, 200_000), "keeps": ints(50_000, 50_100)} {
		var e Evidence = facts{columns: bound.Columns, bounds: map[string]Bounds{"l": bounds}}
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				bound.Decide(e)
			}
		})
	}
}

func BenchmarkDecideComparisons(b *testing.B) {
	bound := bindText(b, "i >= 7 AND i < 9 AND s LIKE 'b%'")
	var e Evidence = facts{columns: bound.Columns, bounds: map[string]Bounds{"i": ints(5, 9), "s": texts("a", "c")}}
	b.ReportAllocs()
	for b.Loop() {
		bound.Decide(e)
	}
}

func BenchmarkPatternMatch(b *testing.B) {
	p, err := NewPattern("%needle_%", DefaultEscape)
	if err != nil {
		b.Fatal(err)
	}
	text := []byte(strings.Repeat("hay", 20) + "needles" + strings.Repeat("hay", 20))
	b.SetBytes(int64(len(text)))
	for b.Loop() {
		p.Match(text)
	}
}
