package datafile

import (
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// TestOfADictionaryOnlyWhatIsAskedForIsKept, however many values it has.
func TestOfADictionaryOnlyWhatIsAskedForIsKept(t *testing.T) {
	predicate, err := pruning.Parse("s IN ('v7', 'gone') AND NOT s = 'v9' OR s < 'v3'")
	if err != nil {
		t.Fatal(err)
	}
	where, err := predicate.Bind(schema.Resolver(deltatest.Columns("s string")))
	if err != nil {
		t.Fatal(err)
	}
	b := array.NewStringBuilder(memory.NewGoAllocator())
	for i := range 100_000 {
		b.Append(fmt.Sprintf("v%d", i))
	}
	f := &File{reader: &Reader{layout: Layout{Where: where}}, sources: []source{{typ: where.Columns[0].Type}}}
	h := &held{file: f}
	got := h.found(0, b.NewArray())
	text := func(s string) pruning.Value { return pruning.Value{Kind: pruning.String, Bytes: s} }
	if want := map[pruning.Value]bool{text("v7"): true, text("gone"): false, text("v9"): true}; fmt.Sprint(want) != fmt.Sprint(got) {
		t.Fatalf("want %v, got %v", want, got)
	}
	h.asking, h.lists = true, map[int]*valueList{0: {values: got}}
	for value, want := range map[string]bool{"v7": true, "gone": false, "v9": true, "not asked for": true} {
		if may := h.mayHold(0, text(value)); may != want || !may && h.last != scanplan.ByDictionary {
			t.Errorf("%s: want %t, got %t by %s", value, want, may, h.last)
		}
	}
}
