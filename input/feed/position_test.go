package feed

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
)

func anyPosition(t *rapid.T) Position {
	return Position{
		TableID:    "t",
		Version:    rapid.Int64Range(0, 2).Draw(t, "version"),
		Phase:      rapid.SampledFrom([]Phase{PhaseSnapshot, PhaseTail}).Draw(t, "phase"),
		Part:       rapid.SampledFrom([]Part{PartCDC, PartRemove, PartAdd}).Draw(t, "part"),
		File:       scanplan.Key{ModificationTime: rapid.Int64Range(0, 1).Draw(t, "time"), Path: rapid.SampledFrom([]string{"", "a", "b"}).Draw(t, "path")},
		Row:        rapid.Int64Range(-1, 2).Draw(t, "row"),
		FileDone:   rapid.Bool().Draw(t, "file done"),
		Done:       rapid.Bool().Draw(t, "done"),
		SchemaHash: "h",
		Commit:     "c",
	}
}

func TestPositionsAreATotalOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := anyPosition(t), anyPosition(t), anyPosition(t)
		switch {
		case a.Compare(b) != -b.Compare(a):
			t.Fatalf("%v and %v compare differently the other way round", a, b)
		case a.Compare(b) <= 0 && b.Compare(c) <= 0 && a.Compare(c) > 0:
			t.Fatalf("%v, %v, %v are in no order", a, b, c)
		case a.Compare(b) == 0 && a != b:
			t.Fatalf("%v and %v are taken for equal", a, b)
		}
	})
}

func TestPositionsAscendOnTheWayThroughATable(t *testing.T) {
	a, b := scanplan.Key{ModificationTime: 1, Path: "b"}, scanplan.Key{ModificationTime: 2, Path: "a"}
	way := []Position{
		{Phase: PhaseSnapshot, Row: -1},
		{Phase: PhaseSnapshot, File: a, Row: 4},
		{Phase: PhaseSnapshot, File: a, Row: 9},
		{Phase: PhaseSnapshot, File: a, Row: 9, FileDone: true},
		{Phase: PhaseSnapshot, File: b, Row: -1, FileDone: true},
		{Phase: PhaseSnapshot, File: b, Row: -1, FileDone: true, Done: true},
		{Phase: PhaseTail, Part: PartCDC, File: b, Row: 3, FileDone: true},
		{Phase: PhaseTail, Part: PartRemove, Row: -1},
		{Phase: PhaseTail, Part: PartAdd, File: a, Row: 0},
		{Version: 1, Phase: PhaseSnapshot, Row: -1},
	}
	for i := range len(way) - 1 {
		if way[i].Compare(way[i+1]) >= 0 {
			t.Errorf("want %v before %v", way[i], way[i+1])
		}
	}
}

func TestPositionReadsBackFromItsText(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := anyPosition(t)
		got, err := ParsePosition([]byte(p.String()))
		if err != nil || got != p {
			t.Fatalf("want %v, got %v and %v", p, got, err)
		}
	})
}

func TestUnreadablePositionsSayWhy(t *testing.T) {
	for text, want := range map[string]string{
		"":                                "reading a position",
		"{}":                              "table_id is missing",
		`{"table_id":"t","version":-1}`:   "version is negative",
		`{"table_id":"t","phase":"x"}`:    "phase is neither",
		`{"table_id":"t","color":1}`:      "color",
		`{"table_id":"t","phase":"tail"}`: "part is none of",
		`{"table_id":"t","phase":"tail","part":"x"}`:            "part is none of",
		`{"table_id":"t","phase":"tail","part":"add","row":-2}`: "row is below",
		`{"table_id":"t","table_id":"u"}`:                       "duplicate",
		`7`:                                                     "it must be a JSON object, as delta position show prints it, not a number",
		`{"version":"x"}`:                                       "version cannot be a string",
		`{"file":{"path":7}}`:                                   "file/path cannot be a number",
		`{"file":{"x":7}}`:                                      "there is no field file/x",
		`x`:                                                     "reading a position: invalid character 'x'",
	} {
		_, err := ParsePosition([]byte(text))
		if deltaerr.KindOf(err) != deltaerr.Unresumable || !strings.Contains(err.Error(), want) {
			t.Errorf("want an unresumable error with %q for %s, got %v", want, text, err)
		}
	}
}

func FuzzParsePosition(f *testing.F) {
	f.Add(`{"table_id":"t","version":3,"phase":"snapshot","part":"add","file":{"modification_time":1,"path":"a"},"row":-1,"file_done":false,"done":false,"schema_hash":""}`)
	f.Add(`{"table_id":"t"}`)
	f.Add(`{"table_id":"t","version":3,"phase":"tail","part":"add","done":true,"schema_hash":"h","commit":"0123456789abcdef"}`)
	f.Fuzz(func(t *testing.T, text string) {
		p, err := ParsePosition([]byte(text))
		if err != nil {
			return
		}
		again, err := ParsePosition([]byte(p.String()))
		if err != nil || again != p {
			t.Fatalf("want %v to read back, got %v and %v", p, again, err)
		}
	})
}
