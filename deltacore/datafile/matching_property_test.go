package datafile_test

import (
	"fmt"
	"math/bits"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/datafile"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/pruning"
	"github.com/benthos-delta/benthos-delta/pruning/rowfilter"
)

// columnForm is a column of a random table: what the file has, what the table makes of it, and its values, which ascend.
type columnForm struct {
	file, table schema.Type
	json        func(n int) string // of the file's row
	literal     func(n int) string
}

func number(format string) func(int) string {
	return func(n int) string { return fmt.Sprintf(format, n) }
}

func dayOf(n int) string { return fmt.Sprintf("20%02d-%02d-%02d", 10+n/360, n/30%12+1, n%28+1) }

func microsOf(n int) string { return fmt.Sprintf("%sT10:00:00.%06d", dayOf(n/3), n*37%1000000) }

func textOf(n int) string { return fmt.Sprintf("t%04d", n) }

func quoted(s string) string { return "'" + s + "'" }

func floating(n int) string {
	switch n % 23 {
	case 7:
		return `"NaN"`
	case 8:
		return `"Infinity"`
	case 9:
		return "-0.0"
	}
	return fmt.Sprintf("%d.5", n-20)
}

var columnForms = []columnForm{
	{schema.Long, schema.Long, number("%d"), number("%d")},
	{schema.Integer, schema.Long, number("%d"), number("%d")},
	{schema.Short, schema.Integer, number("%d"), number("%d")},
	{schema.Byte, schema.Byte, func(n int) string { return fmt.Sprint(n%200 - 100) }, func(n int) string { return fmt.Sprint(n%200 - 100) }},
	{schema.Integer, schema.Double, number("%d"), number("%d.0")},
	{schema.Integer, schema.Decimal{Precision: 14, Scale: 3}, number("%d"), number("%d.000")},
	{schema.Decimal{Precision: 7, Scale: 1}, schema.Decimal{Precision: 20, Scale: 3}, number(`"%d.5"`), number("%d.5")},
	{schema.Decimal{Precision: 25, Scale: 2}, schema.Decimal{Precision: 25, Scale: 2}, number(`"-%d.25"`), number("-%d.25")},
	{schema.Double, schema.Double, floating, number("%d.5")},
	{schema.Float, schema.Double, floating, number("%d.5")},
	{schema.Float, schema.Float, floating, number("%d.5")},
	{
		schema.String, schema.String, func(n int) string { return fmt.Sprintf("%q", textOf(n)) },
		func(n int) string { return quoted(textOf(n)) },
	},
	{
		schema.Date, schema.Date, func(n int) string { return fmt.Sprintf("%q", dayOf(n)) },
		func(n int) string { return "DATE " + quoted(dayOf(n)) },
	},
	{
		schema.Date, schema.TimestampNTZ, func(n int) string { return fmt.Sprintf("%q", dayOf(n)) },
		func(n int) string { return "TIMESTAMP " + quoted(dayOf(n)+" 00:00:00") },
	},
	{
		schema.Timestamp, schema.Timestamp, func(n int) string { return fmt.Sprintf("%q", microsOf(n)+"Z") },
		func(n int) string { return "TIMESTAMP " + quoted(strings.Replace(microsOf(n), "T", " ", 1)+"Z") },
	},
	{schema.Binary, schema.Binary, func(n int) string { return fmt.Sprintf(`"AA%02d"`, n%100) }, func(int) string { return "X'000D35'" }},
	{
		schema.Boolean, schema.Boolean, func(n int) string { return fmt.Sprint(n%2 == 0) },
		func(n int) string { return fmt.Sprint(n%2 == 0) },
	},
}

// randomTable is one file with its table.
type randomTable struct {
	reading
	forms []columnForm
	paths []string
}

func drawTable(t *rapid.T) randomTable {
	var r randomTable
	file, table := &schema.Struct{}, &schema.Struct{}
	inner, outer := &schema.Struct{}, &schema.Struct{}
	for i := range rapid.IntRange(1, 4).Draw(t, "columns") {
		form := rapid.SampledFrom(columnForms).Draw(t, "form")
		name := fmt.Sprintf("c%d", i)
		f, g := schema.Field{Name: name, Type: form.file, Nullable: true}, schema.Field{Name: name, Type: form.table, Nullable: true}
		path := name
		if rapid.IntRange(0, 3).Draw(t, "nested") == 0 {
			inner.Fields, outer.Fields, path = append(inner.Fields, f), append(outer.Fields, g), "s."+name
		} else {
			file.Fields, table.Fields = append(file.Fields, f), append(table.Fields, g)
		}
		r.forms, r.paths = append(r.forms, form), append(r.paths, path)
	}
	if len(inner.Fields) > 0 {
		file.Fields = append(file.Fields, schema.Field{Name: "s", Type: inner, Nullable: true})
		table.Fields = append(table.Fields, schema.Field{Name: "s", Type: outer, Nullable: true})
	}
	list := schema.Field{Name: "l", Type: &schema.Array{Element: schema.Long, ContainsNull: true}, Nullable: true}
	missing := schema.Field{Name: "missing", Type: schema.Long, Nullable: true}
	part := schema.Field{Name: "part", Type: schema.Integer, Nullable: true}
	file.Fields = append(file.Fields, list)
	table.Fields = append(table.Fields, list, missing, part)
	r.partition = []string{"part"}
	if v := "7"; rapid.Bool().Draw(t, "partition value") {
		r.values = map[string]*string{"part": &v}
	}
	r.columns = table
	r.draw(t, file)
	return r
}

func (r *randomTable) draw(t *rapid.T, file *schema.Struct) {
	rows := rapid.IntRange(1, 300).Draw(t, "rows")
	spread := rapid.SampledFrom([]int{1, 1, 3, 50}).Draw(t, "spread")
	nulls := rapid.SampledFrom([]int{2, 5, 1000}).Draw(t, "nulls")
	random := rapid.Uint64().Draw(t, "seed")
	next := func(n int) int {
		random = random*6364136223846793005 + 1442695040888963407
		return int(random >> 33 % uint64(n))
	}
	lines := make([]string, rows)
	for i := range lines {
		lines[i] = r.line(i, next, spread, nulls)
	}
	columns := file
	if rapid.Bool().Draw(t, "mapped") {
		r.columns = deltatest.Mapped(r.columns)
		columns = &schema.Struct{}
		for _, f := range file.Fields {
			for _, g := range r.columns.Fields {
				if f.Name == g.Name {
					columns.Fields = append(columns.Fields, withTypes(g, f))
				}
			}
		}
		r.mapping = rapid.SampledFrom([]schema.Mapping{schema.MapByName, schema.MapByID}).Draw(t, "mapping")
		if r.values != nil {
			physical := r.mapping.PhysicalName(r.columns.Fields[len(r.columns.Fields)-1])
			r.values = map[string]*string{physical: r.values["part"]}
		}
	}
	form := deltatest.Parquet{
		RowGroupRows: rapid.SampledFrom([]int64{0, 64, 120}).Draw(t, "row group"),
		PageVersion:  rapid.IntRange(1, 2).Draw(t, "page version"),
		PageBytes:    rapid.SampledFrom([]int64{1, 100, 1 << 20}).Draw(t, "page bytes"),
		BatchRows:    rapid.SampledFrom([]int64{5, 16}).Draw(t, "write batch"),
		NoDictionary: rapid.Bool().Draw(t, "no dictionary"),
		WideDecimals: rapid.Bool().Draw(t, "wide decimals"),
		PageIndex:    rapid.IntRange(0, 3).Draw(t, "page index") > 0,
		Bloom:        rapid.Bool().Draw(t, "bloom"),
		NoStatistics: rapid.IntRange(0, 5).Draw(t, "no statistics") == 0,
		Codec:        rapid.SampledFrom([]string{"SNAPPY", "UNCOMPRESSED"}).Draw(t, "codec"),
	}
	r.content = form.File(deltatest.Physical(deltatest.Rows(columns, lines...)))
	r.batchRows = rapid.SampledFrom([]int64{3, 50, 8192}).Draw(t, "batch")
	r.from = int64(rapid.SampledFrom([]int{0, 0, rows / 2}).Draw(t, "from"))
	if rapid.Bool().Draw(t, "vector") {
		var deleted []int64
		some := rapid.IntRange(1, 40).Draw(t, "deleted")
		for row := range int64(rows) {
			if next(some) == 0 {
				deleted = append(deleted, row)
			}
		}
		f := deltatest.NewVectorFile("", vectorID)
		d := f.Add(deltatest.Bitmap{}, deleted...)
		r.vector, r.others = &d, map[string][]byte{f.Path: f.Content}
	}
}

// withTypes is g with the leaf types of f.
func withTypes(g, f schema.Field) schema.Field {
	outer, ok := g.Type.(*schema.Struct)
	if !ok {
		if _, list := f.Type.(*schema.Array); !list {
			g.Type = f.Type
		}
		return g
	}
	inner, s := f.Type.(*schema.Struct), &schema.Struct{}
	for i := range outer.Fields {
		s.Fields = append(s.Fields, withTypes(outer.Fields[i], inner.Fields[i]))
	}
	g.Type = s
	return g
}

func (r *randomTable) line(row int, next func(int) int, spread, nulls int) string {
	var top, inner []string
	for i, form := range r.forms {
		value := form.json(row/2 + next(spread))
		if next(nulls) == 0 {
			value = "null"
		}
		name := fmt.Sprintf("c%d", i)
		if strings.HasPrefix(r.paths[i], "s.") {
			inner = append(inner, fmt.Sprintf("%q: %s", name, value))
		} else {
			top = append(top, fmt.Sprintf("%q: %s", name, value))
		}
	}
	if len(inner) > 0 && next(nulls) > 0 {
		top = append(top, `"s": {`+strings.Join(inner, ",")+"}")
	}
	top = append(top, fmt.Sprintf(`"l": [%d, null]`, row))
	return "{" + strings.Join(top, ",") + "}"
}

func (r *randomTable) drawPredicate(t *rapid.T, depth int) string {
	if kind := rapid.IntRange(0, 5).Draw(t, "kind"); depth > 0 && kind < 3 {
		a, b := r.drawPredicate(t, depth-1), r.drawPredicate(t, depth-1)
		return []string{"(" + a + ") AND (" + b + ")", "(" + a + ") OR (" + b + ")", "NOT (" + a + ")"}[kind]
	}
	switch rapid.IntRange(0, 14).Draw(t, "other") {
	case 0:
		return "part = 7"
	case 1:
		return "missing IS NULL"
	case 2:
		return "missing > 3"
	case 3:
		return "l IS NOT NULL"
	}
	i := rapid.IntRange(0, len(r.forms)-1).Draw(t, "column")
	form, path := r.forms[i], r.paths[i]
	value := func() string { return form.literal(rapid.IntRange(0, 160).Draw(t, "value")) }
	switch op := rapid.SampledFrom([]string{"=", "=", "!=", "<", "<=", ">", ">=", "in", "null", "not null", "between", "not in"}).Draw(t, "op"); op {
	case "in", "not in":
		return fmt.Sprintf("%s %s (%s, %s)", path, op, value(), value())
	case "null":
		return path + " IS NULL"
	case "not null":
		return path + " IS NOT NULL"
	case "between":
		return fmt.Sprintf("%s BETWEEN %s AND %s", path, value(), value())
	default:
		return path + " " + op + " " + value()
	}
}

// row is what is known of a row that came out.
type outRow struct {
	physical int64
	json     string
}

func (r reading) outRows(t testing.TB, keep func(arrow.RecordBatch) []uint64) (rows []outRow, err error) {
	for batch, err := range r.reader(t).Read(t.Context(), r.task()) {
		if err != nil {
			return nil, err
		}
		var bitmap []uint64
		if keep != nil {
			bitmap = slices.Clone(keep(batch.Record))
		}
		for i, line := range jsonRows(batch.Record) {
			row := batch.FirstRow + int64(i)
			if batch.Index != nil {
				row = batch.Index[i]
			}
			if bitmap == nil || bitmap[i/64]>>(i%64)&1 == 1 {
				rows = append(rows, outRow{row, line})
			}
		}
		batch.Record.Release()
	}
	return rows, nil
}

// TestSkippingNeverLosesARow compares what a read with a predicate yields, with every way of reading less, with each alone and
// with none, with the predicate's rows of all.
func TestSkippingNeverLosesARow(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		table := drawTable(rt)
		predicate := table.drawPredicate(rt, 2)
		parsed, err := pruning.Parse(predicate)
		if err != nil {
			rt.Fatalf("%s: %v", predicate, err)
		}
		where, err := parsed.Bind(schema.Resolver(table.columns))
		if err != nil {
			rt.Fatalf("%s: %v", predicate, err)
		}
		all, err := schema.ArrowSchema(table.columns)
		if err != nil {
			rt.Fatal(err)
		}
		filter, err := rowfilter.New(where, all)
		if err != nil {
			rt.Fatal(err)
		}
		want, err := table.outRows(t, func(b arrow.RecordBatch) []uint64 {
			matches, _ := filter.Match(b)
			return matches
		})
		if err != nil {
			rt.Fatal(err)
		}
		for _, without := range []datafile.Levels{
			0, datafile.AllLevels, datafile.AllLevels &^ datafile.RowGroupStatistics, datafile.AllLevels &^ datafile.ColumnIndex,
			datafile.AllLevels &^ datafile.BloomFilters, datafile.AllLevels &^ datafile.Dictionaries,
			datafile.AllLevels &^ datafile.LateMaterialisation, datafile.AllLevels &^ datafile.Searches,
		} {
			read := table.reading
			read.where, read.without = where, without
			got, err := read.outRows(t, nil)
			if err != nil {
				rt.Fatal(err)
			}
			if !slices.Equal(want, got) {
				rt.Fatalf("%s without %0*b: want %d rows, got %d\nwant %v\ngot  %v", where.Text, bits.Len(uint(datafile.AllLevels)), without,
					len(want), len(got), want, got)
			}
		}
		table.checkProjection(t, rt, where, want)
	})
}

// checkProjection reads some of the columns only: those of the predicate are not seen.
func (r randomTable) checkProjection(t *testing.T, rt *rapid.T, where *pruning.Bound, want []outRow) {
	table := r.columns
	n := rapid.IntRange(0, len(table.Fields)).Draw(rt, "projected")
	r.columns = &schema.Struct{Fields: table.Fields[:n]}
	r.where, r.table = where, table
	got, err := r.outRows(t, nil)
	if err != nil {
		rt.Fatal(err)
	}
	if len(got) != len(want) {
		rt.Fatalf("%s with %d columns: want %d rows, got %d", where.Text, n, len(want), len(got))
	}
	for i := range want {
		if want[i].physical != got[i].physical {
			rt.Fatalf("%s with %d columns: want row %d, got %d", where.Text, n, want[i].physical, got[i].physical)
		}
	}
}
