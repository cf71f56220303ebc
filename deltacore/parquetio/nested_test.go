package parquetio_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
)

var nestedColumns = deltatest.Columns("id long not null", "s struct<f: struct<g: long>, l: array<struct<x: long, y: string, z: array<long>>>>",
	"m map<string, struct<p: integer, q: array<array<string>>>>", "ll array<array<double>>", "sl array<struct<b: boolean>>")

// TestNestedColumnsAreReadAsTheyWereWritten: whatever is null or empty at whatever level, in pages and batches of any size.
func TestNestedColumnsAreReadAsTheyWereWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var rows []string
		for i := range rapid.IntRange(1, 30).Draw(t, "rows") {
			rows = append(rows, fmt.Sprintf(`{"id": %d, "s": %s, "m": %s, "ll": %s, "sl": %s}`, i,
				orNull(t, structOf("f", structOf("g", number), "l", listOf(structOf("x", number, "y", text, "z", listOf(number))))),
				orNull(t, mapOf(structOf("p", number, "q", listOf(listOf(text))))),
				orNull(t, listOf(listOf(number))), orNull(t, listOf(structOf("b", truth)))))
		}
		record := deltatest.Rows(nestedColumns, rows...)
		defer record.Release()
		form := deltatest.Parquet{
			PageBytes: rapid.Int64Range(1, 200).Draw(t, "page"), BatchRows: rapid.Int64Range(1, 7).Draw(t, "write"),
			PageVersion: rapid.IntRange(1, 2).Draw(t, "version"), NoDictionary: rapid.Bool().Draw(t, "plain"),
		}
		content := form.File(record)
		f, err := parquetio.Open(context.Background(), storeWith(content), path, int64(len(content)),
			parquetio.Options{BatchRows: rapid.Int64Range(1, 40).Draw(t, "batch")})
		if err != nil {
			t.Fatal(err)
		}
		got, err := readJSON(f, allLeaves(f))
		if want := jsonRows(record); err != nil || !slices.Equal(want, got) {
			t.Fatalf("%v\nwant %s\ngot  %s", err, strings.Join(want, "\n     "), strings.Join(got, "\n     "))
		}
	})
}

type draw func(t *rapid.T) string

func number(t *rapid.T) string { return fmt.Sprint(rapid.IntRange(0, 9).Draw(t, "n")) }
func text(t *rapid.T) string {
	return fmt.Sprintf(`"%s"`, strings.Repeat("t", rapid.IntRange(0, 3).Draw(t, "t")))
}
func truth(t *rapid.T) string { return fmt.Sprint(rapid.Bool().Draw(t, "b")) }

func orNull(t *rapid.T, d draw) string {
	if rapid.IntRange(0, 3).Draw(t, "null") == 0 {
		return "null"
	}
	return d(t)
}

func listOf(element draw) draw {
	return func(t *rapid.T) string {
		var parts []string
		for range rapid.IntRange(0, 3).Draw(t, "elements") {
			parts = append(parts, orNull(t, element))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
}

func mapOf(value draw) draw {
	return func(t *rapid.T) string {
		var parts []string
		for i := range rapid.IntRange(0, 3).Draw(t, "pairs") {
			parts = append(parts, fmt.Sprintf(`{"key": "k%d", "value": %s}`, i, orNull(t, value)))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	}
}

func structOf(members ...any) draw {
	return func(t *rapid.T) string {
		var parts []string
		for i := 0; i < len(members); i += 2 {
			d, ok := members[i+1].(draw)
			if !ok {
				d = members[i+1].(func(*rapid.T) string)
			}
			parts = append(parts, fmt.Sprintf("%q: %s", members[i], orNull(t, d)))
		}
		return "{" + strings.Join(parts, ", ") + "}"
	}
}

const siblings = `message m {
	optional group l (LIST) { repeated group list { optional group element {
		optional int32 a;
		optional int32 b;
		optional group z (LIST) { repeated group list { optional int32 element; } }
	} } }
}`

// leafLevels are the levels of one of the siblings; highest is the definition level of a value.
type leafLevels struct {
	def, rep []int16
	highest  int16
}

func (l *leafLevels) add(rep, def int16) { l.rep, l.def = append(l.rep, rep), append(l.def, def) }

func (l leafLevels) column() deltatest.RawColumn {
	values := []int32{}
	for i, def := range l.def {
		if def == l.highest {
			values = append(values, int32(i))
		}
	}
	return deltatest.RawColumn{Values: values, Def: l.def, Rep: l.rep}
}

// drawSiblings makes the levels of random lists: null (0), empty (1), of null elements (2) and of others (3).
func drawSiblings(t *rapid.T) (rows int, leaves []*leafLevels) {
	a, b, z := &leafLevels{highest: 4}, &leafLevels{highest: 4}, &leafLevels{highest: 6}
	leaves = []*leafLevels{a, b, z}
	rows = rapid.IntRange(1, 12).Draw(t, "rows")
	for range rows {
		elements := rapid.IntRange(-2, 3).Draw(t, "elements")
		for i := range max(1, elements) {
			rep := int16(min(1, i))
			if elements < 1 {
				def := int16(min(1, elements+2))
				a.add(rep, def)
				b.add(rep, def)
				z.add(rep, def)
				continue
			}
			def := rapid.Int16Range(2, 4).Draw(t, "a")
			a.add(rep, def)
			b.add(rep, min(def, 3)+min(max(0, def-2), rapid.Int16Range(0, 1).Draw(t, "b")))
			z.add(rep, min(def, 3))
			if def > 2 {
				z.def[len(z.def)-1] = rapid.Int16Range(3, 6).Draw(t, "z")
				for z.def[len(z.def)-1] > 4 && rapid.Bool().Draw(t, "more") {
					z.add(2, rapid.Int16Range(5, 6).Draw(t, "z"))
				}
			}
		}
	}
	return rows, leaves
}

// shape is what a leaf says of the list of structs.
func (l leafLevels) shape() string {
	var out strings.Builder
	for i, rep := range l.rep {
		if rep < 2 {
			fmt.Fprint(&out, rep, min(l.def[i], 3), " ")
		}
	}
	return out.String()
}

// follows says whether every level that goes on with a list has one to go on with.
func (l leafLevels) follows() bool {
	for i, rep := range l.rep {
		element := []int16{0, 2, 5}[rep]
		if rep > 0 && (i == 0 || l.def[i] < element || l.def[i-1] < element) {
			return false
		}
	}
	return true
}

// TestSiblingsOfAListHaveOneShape changes a level of one of three leaves of a list: the lists are read as all say, or not at
// all.
func TestSiblingsOfAListHaveOneShape(t *testing.T) {
	refused := 0
	rapid.Check(t, func(t *rapid.T) {
		rows, leaves := drawSiblings(t)
		changed := rapid.SampledFrom(leaves).Draw(t, "leaf")
		at := rapid.IntRange(0, len(changed.def)-1).Draw(t, "at")
		if next := at + 1; next < len(changed.rep) && rapid.Bool().Draw(t, "swap") {
			if at > 0 {
				changed.rep[at], changed.rep[next] = changed.rep[next], changed.rep[at]
			}
		} else {
			changed.def[at] = rapid.Int16Range(0, changed.highest).Draw(t, "def")
		}
		group := deltatest.RawGroup{leaves[0].column(), leaves[1].column(), leaves[2].column()}
		content := deltatest.Parquet{PageBytes: 20, BatchRows: 3, NoDictionary: true}.RawFile(siblings, group)
		f, err := parquetio.Open(context.Background(), storeWith(content), path, int64(len(content)), parquetio.Options{BatchRows: 5})
		if err != nil {
			t.Fatal(err)
		}
		got, err := readValid(f)
		good := changed.follows() && leaves[0].shape() == leaves[1].shape() && leaves[0].shape() == leaves[2].shape()
		if good && (err != nil || got != rows) {
			t.Fatalf("want %d rows, got %d, %v", rows, got, err)
		}
		if !good {
			refused++
			if deltaerr.KindOf(err) != deltaerr.Corrupt || !strings.Contains(err.Error(), "column l") {
				t.Fatalf("want corrupt with the column, got %v", err)
			}
		}
	})
	if refused == 0 {
		t.Error("no damage was made")
	}
}

// readValid reads all and goes over the values as far as their offsets say.
func readValid(f *parquetio.File) (rows int, err error) {
	for batch, err := range f.ReadRowGroup(context.Background(), 0, allLeaves(f)) {
		if err != nil {
			return rows, err
		}
		rows += len(jsonRows(batch))
		for _, c := range batch.Columns() {
			checkData(c.Data())
		}
		batch.Release()
	}
	return rows, nil
}

// checkData panics when an array is not as Arrow wants it.
func checkData(d arrow.ArrayData) {
	if b := d.Buffers()[0]; b != nil && d.NullN() != 0 && b.Len()*8 < d.Offset()+d.Len() {
		panic("the bitmap is too short")
	}
	switch d.DataType().ID() {
	case arrow.LIST, arrow.MAP:
		offsets := arrow.Int32Traits.CastFromBytes(d.Buffers()[1].Bytes())[:d.Len()+1]
		if offsets[0] < 0 || !slices.IsSorted(offsets) || int(offsets[d.Len()]) > d.Children()[0].Len() {
			panic("the offsets do not fit")
		}
	case arrow.STRUCT:
		for _, c := range d.Children() {
			if c.Len() != d.Len() {
				panic("a member has another length")
			}
		}
	}
	for _, c := range d.Children() {
		checkData(c)
	}
}
