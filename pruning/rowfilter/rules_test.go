package rowfilter_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/pruning"
	"github.com/benthos-delta/benthos-delta/pruning/rowfilter"
)

func double(v float64) pruning.Value { return pruning.Value{Kind: pruning.Double, Float: v} }

func text(v string) pruning.Value { return pruning.Value{Kind: pruning.String, Bytes: v} }

func compare(op pruning.Op, v pruning.Value) pruning.Node {
	return pruning.Compare{Op: op, Value: v}
}

// The rows are 0: null, 1: -Inf, 2: -0, 3: 0, 4: 5, 5: +Inf, 6: NaN, 7: NaN with its sign and other bits.
func TestFloatsAreInTheOrderOfSpark(t *testing.T) {
	of := oneColumn(t, pruning.Type{Kind: pruning.Double}, nil, double(math.Inf(-1)), double(math.Copysign(0, -1)), double(0),
		double(5), double(math.Inf(1)), double(math.NaN()), double(math.Float64frombits(0xfff8_0000_0000_0007)))
	nan := double(math.NaN())
	for _, c := range []struct {
		name string
		root pruning.Node
		want []int
	}{
		{"= 0", compare(pruning.Equal, double(0)), []int{2, 3}},
		{"= -0", compare(pruning.Equal, double(math.Copysign(0, -1))), []int{2, 3}},
		{"< 0", compare(pruning.Less, double(0)), []int{1}},
		{"<= -0", compare(pruning.LessEqual, double(math.Copysign(0, -1))), []int{1, 2, 3}},
		{"> 5", compare(pruning.Greater, double(5)), []int{5, 6, 7}},
		{">= 5", compare(pruning.GreaterEqual, double(5)), []int{4, 5, 6, 7}},
		{"!= 5", compare(pruning.NotEqual, double(5)), []int{1, 2, 3, 5, 6, 7}},
		{"= NaN", compare(pruning.Equal, nan), []int{6, 7}},
		{"!= NaN", compare(pruning.NotEqual, nan), []int{1, 2, 3, 4, 5}},
		{"< NaN", compare(pruning.Less, nan), []int{1, 2, 3, 4, 5}},
		{"<= NaN", compare(pruning.LessEqual, nan), []int{1, 2, 3, 4, 5, 6, 7}},
		{"> NaN", compare(pruning.Greater, nan), nil},
		{">= NaN", compare(pruning.GreaterEqual, nan), []int{6, 7}},
		{"IN", pruning.In{Values: []pruning.Value{double(0), nan}}, []int{2, 3, 6, 7}},
		{"NOT IN", pruning.Not{Part: pruning.In{Values: []pruning.Value{double(0), nan}}}, []int{1, 4, 5}},
	} {
		t.Run(c.name, func(t *testing.T) { wantRows(t, c.root, of, c.want) })
	}
}

// The rows are 0: null, 1: "", 2: "a", 3: "b".
func TestNullIsNeitherTrueNorFalse(t *testing.T) {
	of := oneColumn(t, pruning.Type{Kind: pruning.String}, nil, text(""), text("a"), text("b"))
	isA := compare(pruning.Equal, text("a"))
	aOrNull := pruning.In{Values: []pruning.Value{text("a")}, HasNull: true}
	unknown := pruning.Constant{Truth: pruning.Null}
	for _, c := range []struct {
		name string
		root pruning.Node
		want []int
	}{
		{"= a", isA, []int{2}},
		{"NOT = a", pruning.Not{Part: isA}, []int{1, 3}},
		{"= a OR NOT = a", pruning.Or{Parts: []pruning.Node{isA, pruning.Not{Part: isA}}}, []int{1, 2, 3}},
		{"NOT (= a AND NOT = a)", pruning.Not{Part: pruning.And{Parts: []pruning.Node{isA, pruning.Not{Part: isA}}}}, []int{1, 2, 3}},
		{"IN (a, NULL)", aOrNull, []int{2}},
		{"NOT IN (a, NULL)", pruning.Not{Part: aOrNull}, nil},
		{"NOT NOT IN (a, NULL)", pruning.Not{Part: pruning.Not{Part: aOrNull}}, []int{2}},
		{"NOT IN ()", pruning.Not{Part: pruning.In{}}, []int{1, 2, 3}},
		{"NULL", unknown, nil},
		{"NOT NULL", pruning.Not{Part: unknown}, nil},
		{"NULL OR = a", pruning.Or{Parts: []pruning.Node{unknown, isA}}, []int{2}},
		{"NOT (NULL AND = a)", pruning.Not{Part: pruning.And{Parts: []pruning.Node{unknown, isA}}}, []int{1, 3}},
		{"NOT false where not null", pruning.Not{Part: pruning.Known{Truth: pruning.False}}, []int{1, 2, 3}},
		{"IS NULL", pruning.IsNull{}, []int{0}},
		{"IS NOT NULL", pruning.Not{Part: pruning.IsNull{}}, []int{1, 2, 3}},
		{"AND of nothing", pruning.And{}, []int{0, 1, 2, 3}},
		{"OR of nothing", pruning.Or{}, nil},
	} {
		t.Run(c.name, func(t *testing.T) { wantRows(t, c.root, of, c.want) })
	}
}

// Lists with and without gaps, short and long, near and far, in columns of each width.
func TestInFindsIntegersHoweverTheyLie(t *testing.T) {
	lists := [][]int64{{4}, {4, 5, 6}, {4, 6}, {-128, 127}, steps(20, 1), steps(20, 2), steps(7, 16), append(steps(20, 3), math.MaxInt64)}
	for _, bits := range []int{8, 16, 32, 64} {
		typ := pruning.Type{Kind: pruning.Integer, Bits: bits}
		of := oneColumn(t, typ, mappedTo[any](steps(128, 1), integer)...)
		for _, list := range lists {
			var want []int
			for i := range 128 {
				if slices.Contains(list, int64(i)) {
					want = append(want, i)
				}
			}
			wantRows(t, pruning.In{Values: mappedTo[pruning.Value](list, integer)}, of, want)
		}
	}
}

func integer(v int64) pruning.Value { return pruning.Value{Kind: pruning.Integer, Int: v} }

// steps counts from 0.
func steps(n, width int64) []int64 {
	var list []int64
	for i := range n {
		list = append(list, i*width)
	}
	return list
}

func mappedTo[To any](list []int64, value func(int64) pruning.Value) []To {
	var out []To
	for _, v := range list {
		out = append(out, any(value(v)).(To))
	}
	return out
}

func TestLikeWithPercentAsEscapeIsNoPrefix(t *testing.T) {
	of := oneColumn(t, pruning.Type{Kind: pruning.String}, text("a"), text("a%"), text("a%b"))
	p, err := pruning.NewPattern("a%%", "%")
	if err != nil {
		t.Fatal(err)
	}
	wantRows(t, pruning.Like{Pattern: p}, of, []int{1})
}

func TestVoidColumnIsNullEverywhere(t *testing.T) {
	void := array.NewNull(3)
	defer void.Release()
	batch := array.NewRecordBatch(arrow.NewSchema([]arrow.Field{{Name: "v", Type: arrow.Null}}, nil), []arrow.Array{void}, 3)
	defer batch.Release()
	of := table{batch: batch, columns: []pruning.Column{{Path: []string{"v"}, Type: pruning.Type{Kind: pruning.Opaque}}}}
	wantRows(t, pruning.IsNull{}, of, []int{0, 1, 2})
	wantRows(t, pruning.Not{Part: pruning.IsNull{}}, of, nil)
}

func TestNewRefusesWhatDoesNotFitTheBatches(t *testing.T) {
	schema := arrow.NewSchema([]arrow.Field{
		{Name: "text", Type: arrow.BinaryTypes.String},
		{Name: "twice", Type: arrow.BinaryTypes.String},
		{Name: "twice", Type: arrow.BinaryTypes.String},
		{Name: "amount", Type: &arrow.Decimal128Type{Precision: 10, Scale: 2}},
		{Name: "seen", Type: &arrow.TimestampType{Unit: arrow.Microsecond}},
		{Name: "milli", Type: &arrow.TimestampType{Unit: arrow.Millisecond, TimeZone: "UTC"}},
	}, nil)
	one := func(kind pruning.Kind, path ...string) []pruning.Column {
		return []pruning.Column{{Path: path, Type: pruning.Type{Kind: kind, Name: "its type"}}}
	}
	for _, c := range []struct {
		name    string
		columns []pruning.Column
		root    pruning.Node
		want    string
	}{
		{"no such column", one(pruning.String, "nothing"), pruning.IsNull{}, "is 0 times"},
		{"two such columns", one(pruning.String, "twice"), pruning.IsNull{}, "is 2 times"},
		{"no such field", one(pruning.String, "text", "inner"), pruning.IsNull{}, "is 0 times"},
		{"no path", one(pruning.String), pruning.IsNull{}, "is <nil> in the batches"},
		{"another type", one(pruning.Binary, "text"), pruning.IsNull{}, "is utf8 in the batches, its type in the predicate"},
		{"another scale", one(pruning.Decimal, "amount"), pruning.IsNull{}, "is decimal(10, 2) in the batches"},
		{"without a zone", one(pruning.Timestamp, "seen"), pruning.IsNull{}, "is timestamp[us] in the batches"},
		{"another unit", one(pruning.Timestamp, "milli"), pruning.IsNull{}, "is timestamp[ms, tz=UTC] in the batches"},
		{"an unknown kind", one(pruning.TimestampNTZ+1, "text"), pruning.IsNull{}, "is utf8 in the batches"},
		{"a value of another kind", one(pruning.String, "text"), compare(pruning.Less, double(1)), "another kind"},
		{"a list of another kind", one(pruning.String, "text"), pruning.In{Values: []pruning.Value{double(1)}}, "another kind"},
		{"a value of no kind", one(pruning.Opaque, "text"), compare(pruning.Less, pruning.Value{}), "another kind"},
		{"a pattern for a number", one(pruning.Decimal, "text"), pruning.Like{}, "is utf8"},
		{"a pattern for what is no string", one(pruning.Opaque, "text"), pruning.Like{}, "is no string"},
		{"a column that is not there", nil, pruning.Like{}, "no column 0"},
		{"a part that does not fit", nil, pruning.Not{Part: pruning.Or{Parts: []pruning.Node{pruning.Known{}}}}, "no column 0"},
		{"no predicate", nil, nil, "does not know"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := rowfilter.New(&pruning.Bound{Root: c.root, Columns: c.columns}, schema)
			if err == nil || deltaerr.KindOf(err) != deltaerr.Internal || !strings.Contains(err.Error(), c.want) {
				t.Errorf("want an internal error with %q, got %v", c.want, err)
			}
		})
	}
}

// oneColumn is a table of one column. Nil is null.
func oneColumn(t *testing.T, typ pruning.Type, rows ...any) table {
	t.Helper()
	mem := memory.NewCheckedAllocator(memory.DefaultAllocator)
	builder := array.NewRecordBuilder(mem, arrow.NewSchema([]arrow.Field{{Name: "v", Type: arrowType(typ), Nullable: true}}, nil))
	defer builder.Release()
	for _, row := range rows {
		if v, ok := row.(pruning.Value); ok {
			appendValue(builder.Field(0), v)
		} else {
			builder.Field(0).AppendNull()
		}
	}
	batch := builder.NewRecordBatch()
	t.Cleanup(func() {
		batch.Release()
		mem.AssertSize(t, 0)
	})
	return table{batch: batch, columns: []pruning.Column{{Path: []string{"v"}, Type: typ}}}
}

func wantRows(t *testing.T, root pruning.Node, of table, want []int) {
	t.Helper()
	matches, count := newFilter(t, root, of).Match(of.batch)
	var got []int
	for i := range int(of.batch.NumRows()) {
		if matches[i/64]>>(i%64)&1 != 0 {
			got = append(got, i)
		}
	}
	if !slices.Equal(want, got) || int(count) != len(want) {
		t.Errorf("want %v, got %v and the count %d", want, got, count)
	}
}
