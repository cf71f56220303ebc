package scanplan

import (
	"bytes"
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf16"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltalog"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// TestPruningNeverLosesARow draws a file, the statistics that some real writer would give it, and a predicate: a file with a
// live row that matches is kept (ST2). The oracle looks at every row.
func TestPruningNeverLosesARow(t *testing.T) {
	skipped := 0
	rapid.Check(t, func(t *rapid.T) {
		f := drawFile(t)
		root := drawNode(t, f, 2)
		p, err := NewPruner(&pruning.Bound{Root: root, Columns: f.columns()}, Columns{Schema: f.schema, Partition: []string{"p"}})
		if err != nil {
			t.Fatal(err)
		}
		active := deltalog.ActiveFile{Add: f.add}
		active.Statistics = p.Selection(nil).Statistics(f.add)
		if p.Keep(active) {
			return
		}
		skipped++
		for i, row := range f.rows {
			if f.live[i] && truthOf(root, []*pruning.Value{row, f.partition}) == pruning.True {
				t.Fatalf("row %d of %v, partition %v, matches, but the file is skipped; its statistics are %s", i, row, f.partition, f.add.Stats)
			}
		}
	})
	if skipped == 0 {
		t.Error("want some files skipped")
	}
}

// drawnFile has a column a and a partition column p.
type drawnFile struct {
	schema    *schema.Struct
	rows      []*pruning.Value // of a
	live      []bool
	partition *pruning.Value
	add       action.Add
}

func (f drawnFile) columns() (list []pruning.Column) {
	for _, field := range f.schema.Fields {
		list = append(list, pruning.Column{Path: []string{field.Name}, Type: field.PruningType()})
	}
	return list
}

var drawnTypes = []string{
	"byte", "long", "float", "double", "decimal(10,2)", "decimal(20,1)", "string", "string", "string", "binary", "boolean", "date",
	"timestamp", "timestamp_ntz",
}

func drawFile(t *rapid.T) drawnFile {
	a := rapid.SampledFrom(drawnTypes).Draw(t, "type")
	p := rapid.SampledFrom(drawnTypes).Draw(t, "partition type")
	f := drawnFile{schema: deltatest.Columns("a "+a, "p "+p)}
	kinds := f.columns()
	for range rapid.IntRange(0, 5).Draw(t, "rows") {
		f.rows = append(f.rows, drawValue(t, kinds[0].Type))
		f.live = append(f.live, true)
	}
	f.partition = drawValue(t, kinds[1].Type)
	text := partitionText(f.partition, kinds[1].Type)
	if text == nil || *text == "" {
		f.partition = nil // section 12: an empty text is null
	}
	f.add.PartitionValues = map[string]*string{"p": text}
	vector := rapid.Bool().Draw(t, "vector")
	if vector {
		f.add.DeletionVector = &action.DeletionVector{}
		for i := range f.live {
			f.live[i] = rapid.Bool().Draw(t, "live")
		}
	}
	f.add.Stats = drawStats(t, f, kinds[0].Type)
	return f
}

// drawValue draws a value or null. Values are few, so that predicates meet them.
func drawValue(t *rapid.T, k pruning.Type) *pruning.Value {
	if rapid.IntRange(0, 4).Draw(t, "null") == 0 {
		return nil
	}
	v := pruning.Value{Kind: k.Kind}
	switch k.Kind {
	case pruning.Boolean:
		v.Int = rapid.Int64Range(0, 1).Draw(t, "value")
	case pruning.Integer:
		v.Int = rapid.SampledFrom([]int64{-128, -1, 0, 1, 7, 127}).Draw(t, "value")
		if k.Bits == 64 && rapid.Bool().Draw(t, "large") {
			v.Int += 1 << 53
		}
	case pruning.Float, pruning.Double:
		v.Float = rapid.SampledFrom([]float64{
			math.NaN(), math.Inf(1), math.Inf(-1), math.Copysign(0, -1), 0, 3.4, float64(float32(3.4)), -3.3, 1e300,
		}).Draw(t, "value")
		if k.Kind == pruning.Float {
			v.Float = float64(float32(v.Float))
		}
	case pruning.Decimal:
		n := rapid.SampledFrom([]int64{0, 1, -1, 999, -12345, 1 << 33}).Draw(t, "value")
		if k.Precision == 20 && rapid.Bool().Draw(t, "large") {
			n += 1e18 + 7
		}
		v.Decimal = pruning.Int128{High: n >> 63, Low: uint64(n)}
	case pruning.String, pruning.Binary:
		head := rapid.SampledFrom([]string{"", "a", strings.Repeat("x", 31), strings.Repeat("x", 32), strings.Repeat("🌼", 16)}).Draw(t, "head")
		v.Bytes = head + rapid.SampledFrom([]string{"", "a", "z", "\x7f", "é", "\uFFFD", "\uFF5E", "🌼", "\U0010FFFF", "zz"}).Draw(t, "tail")
	case pruning.Date:
		v.Int = rapid.SampledFrom([]int64{-200_000, -1, 0, 1, 19_844}).Draw(t, "value")
	default:
		v.Int = rapid.SampledFrom([]int64{-2e16, -1_000_001, -1, 0, 1, 999, 1000, 1714564800123456, 1714564800123999}).Draw(t, "value")
	}
	return &v
}

func partitionText(v *pruning.Value, k pruning.Type) *string {
	if v == nil {
		return nil
	}
	text := strings.Trim(jsonOf(*v, k, false), `"`)
	switch k.Kind {
	case pruning.String, pruning.Binary:
		text = v.Bytes
	case pruning.Boolean:
		text = fmt.Sprint(v.Int == 1)
	case pruning.Timestamp, pruning.TimestampNTZ:
		text = time.UnixMicro(v.Int).UTC().Format("2006-01-02 15:04:05.000000")
	}
	return &text
}

// jsonOf writes a value as statistics do; lossy takes decimals through doubles, floats as 32 bits, times towards 1970.
func jsonOf(v pruning.Value, k pruning.Type, lossy bool) string {
	switch k.Kind {
	case pruning.Float, pruning.Double:
		switch {
		case math.IsNaN(v.Float):
			return `"NaN"`
		case math.IsInf(v.Float, 0):
			return map[bool]string{true: `"Infinity"`, false: `"-Infinity"`}[v.Float > 0]
		case k.Kind == pruning.Float, lossy && float64(float32(v.Float)) == v.Float:
			return fmt.Sprint(float32(v.Float))
		}
		return fmt.Sprint(v.Float)
	case pruning.Decimal:
		unscaled := int64(v.Decimal.Low)
		if lossy {
			return fmt.Sprint(float64(unscaled) / math.Pow10(k.Scale))
		}
		return fmt.Sprintf("%de-%d", unscaled, k.Scale)
	case pruning.String, pruning.Binary:
		text, err := json.Marshal(v.Bytes)
		if err != nil {
			panic(err)
		}
		return string(text)
	case pruning.Date:
		return time.Unix(v.Int*86400, 0).UTC().Format(`"2006-01-02"`)
	case pruning.Timestamp:
		return instant(v, lossy).Format(`"2006-01-02T15:04:05.000Z"`)
	case pruning.TimestampNTZ:
		return instant(v, lossy).Format(`"2006-01-02T15:04:05.000"`)
	}
	return fmt.Sprint(v.Int)
}

// instant is a time as it is cut to milliseconds: down, or towards 1970.
func instant(v pruning.Value, lossy bool) time.Time {
	if lossy {
		return time.UnixMilli(v.Int / 1000).UTC()
	}
	return time.UnixMicro(v.Int).UTC()
}

// drawStats writes the statistics of a file with any of the weaknesses that writers are known for.
func drawStats(t *rapid.T, f drawnFile, k pruning.Type) string {
	weak := func(name string) bool { return rapid.IntRange(0, 5).Draw(t, name) == 0 }
	if weak("no statistics") {
		return rapid.SampledFrom([]string{"", "{", "null"}).Draw(t, "nothing")
	}
	wide := f.add.DeletionVector != nil && rapid.Bool().Draw(t, "wide")
	var values []pruning.Value
	nulls, rows := 0, len(f.rows)
	for i, v := range f.rows {
		if !wide && !f.live[i] { // made anew for the live rows
			continue
		}
		if v == nil {
			nulls++
		} else {
			values = append(values, *v)
		}
	}
	members := map[string]any{}
	if !weak("no rows") {
		members["numRecords"] = rows
	}
	if wide {
		members["tightBounds"] = false
		if weak("other nulls") && nulls > 0 && nulls < rows { // neither none nor all: they may be any
			nulls = rapid.IntRange(1, rows-1).Draw(t, "nulls")
		}
	}
	if !weak("no nulls") {
		members["nullCount"] = map[string]any{"a": nulls}
	}
	if least, greatest, ok := drawBounds(t, values, k); ok {
		members["minValues"] = map[string]any{"a": jsontext.Value(least)}
		members["maxValues"] = map[string]any{"a": jsontext.Value(greatest)}
		switch {
		case weak("the wrong way round") && reversible(k):
			members["minValues"], members["maxValues"] = members["maxValues"], members["minValues"]
		case weak("another case"): // of another column, then
			members["minValues"] = map[string]any{"A": jsontext.Value("127")}
		case weak("another type"):
			members["minValues"] = map[string]any{"a": jsontext.Value(rapid.SampledFrom([]string{"true", `{"x":1}`, "[]"}).Draw(t, "wrong"))}
		case weak("no least"):
			delete(members, "minValues")
		case weak("no greatest"):
			delete(members, "maxValues")
		}
	}
	text, err := json.Marshal(members, json.Deterministic(true))
	if err != nil {
		panic(err)
	}
	return string(text)
}

// reversible says whether bounds in the wrong order show it: those of numbers do that are written as they are.
func reversible(k pruning.Type) bool { return k.Kind == pruning.Integer || k.Kind == pruning.Date }

func drawBounds(t *rapid.T, values []pruning.Value, k pruning.Type) (least, greatest string, ok bool) {
	order := pruning.Value.Compare
	switch k.Kind {
	case pruning.Boolean, pruning.Binary:
		return "", "", false
	case pruning.Float, pruning.Double: // NaN is left out by some
		if rapid.Bool().Draw(t, "without NaN") {
			values = slices.DeleteFunc(values, pruning.Value.IsNaN)
		}
	case pruning.String:
		if rapid.Bool().Draw(t, "UTF-16") {
			order = func(a, b pruning.Value) int {
				return slices.Compare(utf16.Encode([]rune(a.Bytes)), utf16.Encode([]rune(b.Bytes)))
			}
		}
	}
	if len(values) == 0 {
		return "", "", false
	}
	lossy := rapid.Bool().Draw(t, "lossy")
	lo, hi := slices.MinFunc(values, order), slices.MaxFunc(values, order)
	if k.Kind == pruning.String {
		lo.Bytes, hi.Bytes = cutText(lo.Bytes), cutText(hi.Bytes)+rapid.SampledFrom([]string{"", "\uFFFD", "\U0010FFFF"}).Draw(t, "more")
	}
	least, greatest = jsonOf(lo, k, lossy), jsonOf(hi, k, lossy)
	return least, greatest, true
}

// cutText cuts as writers do, whose text says so only where it was longer.
func cutText(text string) string {
	runes := []rune(text)
	return string(runes[:min(32, len(runes))])
}

func drawNode(t *rapid.T, f drawnFile, depth int) pruning.Node {
	kind := rapid.IntRange(0, 7).Draw(t, "node")
	if depth > 0 && kind < 3 {
		parts := []pruning.Node{drawNode(t, f, depth-1), drawNode(t, f, depth-1)}
		switch kind {
		case 0:
			return pruning.And{Parts: parts}
		case 1:
			return pruning.Or{Parts: parts}
		}
		return pruning.Not{Part: parts[0]}
	}
	column := rapid.IntRange(0, 1).Draw(t, "column")
	k := f.columns()[column].Type
	literal := func() pruning.Value {
		for {
			if v := drawValue(t, k); v != nil {
				return *v
			}
		}
	}
	switch kind {
	case 3:
		return pruning.IsNull{Column: column}
	case 4:
		values := []pruning.Value{literal(), literal()}
		slices.SortFunc(values, pruning.Value.Compare)
		values = slices.CompactFunc(values, func(a, b pruning.Value) bool { return a.Compare(b) == 0 })
		return pruning.In{Column: column, Values: values, HasNull: rapid.Bool().Draw(t, "null in list")}
	case 5:
		return pruning.Known{Column: column, Truth: rapid.SampledFrom([]pruning.Truth{pruning.True, pruning.False}).Draw(t, "truth")}
	}
	return pruning.Compare{Column: column, Op: pruning.Op(rapid.IntRange(0, 5).Draw(t, "op")), Value: literal()}
}

// truthOf evaluates a predicate over one row, as SQL says.
func truthOf(n pruning.Node, row []*pruning.Value) pruning.Truth {
	switch n := n.(type) {
	case pruning.And:
		return junction(n.Parts, row, pruning.True, pruning.False)
	case pruning.Or:
		return junction(n.Parts, row, pruning.False, pruning.True)
	case pruning.Not:
		switch truthOf(n.Part, row) {
		case pruning.True:
			return pruning.False
		case pruning.False:
			return pruning.True
		}
		return pruning.Null
	case pruning.IsNull:
		return truth(row[n.Column] == nil)
	case pruning.Known:
		return ofValue(row[n.Column], func(pruning.Value) pruning.Truth { return n.Truth })
	case pruning.In:
		return ofValue(row[n.Column], func(v pruning.Value) pruning.Truth {
			switch {
			case slices.ContainsFunc(n.Values, func(w pruning.Value) bool { return order(v, w) == 0 }):
				return pruning.True
			case n.HasNull:
				return pruning.Null
			}
			return pruning.False
		})
	case pruning.Compare:
		return ofValue(row[n.Column], func(v pruning.Value) pruning.Truth {
			o := order(v, n.Value)
			return truth([]bool{o == 0, o != 0, o < 0, o <= 0, o > 0, o >= 0}[n.Op])
		})
	}
	panic(fmt.Sprintf("%T", n))
}

func junction(parts []pruning.Node, row []*pruning.Value, all, one pruning.Truth) pruning.Truth {
	result := all
	for _, p := range parts {
		switch truthOf(p, row) {
		case one:
			return one
		case pruning.Null:
			result = pruning.Null
		}
	}
	return result
}

func ofValue(v *pruning.Value, f func(pruning.Value) pruning.Truth) pruning.Truth {
	if v == nil {
		return pruning.Null
	}
	return f(*v)
}

func truth(b bool) pruning.Truth {
	if b {
		return pruning.True
	}
	return pruning.False
}

// order is the reference's order of values, written anew.
func order(a, b pruning.Value) int {
	switch a.Kind {
	case pruning.Float, pruning.Double:
		nan := func(f float64) int { return map[bool]int{true: 1}[math.IsNaN(f)] }
		if nan(a.Float)+nan(b.Float) > 0 {
			return nan(a.Float) - nan(b.Float)
		}
		return cmp.Compare(a.Float+0, b.Float+0)
	case pruning.Decimal:
		return cmp.Compare(int64(a.Decimal.Low), int64(b.Decimal.Low))
	case pruning.String, pruning.Binary:
		return bytes.Compare([]byte(a.Bytes), []byte(b.Bytes))
	}
	return cmp.Compare(a.Int, b.Int)
}
