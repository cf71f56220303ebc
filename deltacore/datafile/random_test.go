package datafile_test

import (
	"fmt"
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

var leafTypes = []schema.Type{
	schema.Long, schema.Integer, schema.Short, schema.String, schema.Boolean, schema.Double, schema.Binary,
	schema.Decimal{Precision: 9, Scale: 2},
	schema.Decimal{Precision: 38, Scale: 3},
	schema.Date, schema.Timestamp,
}

func drawType(t *rapid.T, depth int) schema.Type {
	kind := 0
	if depth > 0 {
		kind = rapid.IntRange(0, 5).Draw(t, "kind")
	}
	switch kind {
	case 3:
		return &schema.Array{Element: drawType(t, depth-1), ContainsNull: true}
	case 4:
		return &schema.Map{Key: schema.String, Value: drawType(t, depth-1), ValueContainsNull: true}
	case 5:
		return drawStruct(t, depth-1)
	}
	return rapid.SampledFrom(leafTypes).Draw(t, "leaf")
}

func drawStruct(t *rapid.T, depth int) *schema.Struct {
	s := &schema.Struct{}
	for i := range rapid.IntRange(1, 3).Draw(t, "members") {
		s.Fields = append(s.Fields, schema.Field{Name: fmt.Sprintf("m%d", i), Type: drawType(t, depth), Nullable: true})
	}
	return s
}

func drawValue(t *rapid.T, typ schema.Type) string {
	if rapid.IntRange(0, 3).Draw(t, "null") == 0 {
		return "null"
	}
	n := rapid.IntRange(0, 99).Draw(t, "n")
	switch typ := typ.(type) {
	case *schema.Array:
		return "[" + strings.Join(drawValues(t, typ.Element), ",") + "]"
	case *schema.Map:
		entries := drawValues(t, typ.Value)
		for i, v := range entries {
			entries[i] = fmt.Sprintf(`{"key": "k%d", "value": %s}`, i, v)
		}
		return "[" + strings.Join(entries, ",") + "]"
	case *schema.Struct:
		return drawRow(t, typ)
	case schema.Decimal:
		return fmt.Sprintf(`"%d.5"`, n-50)
	}
	switch typ {
	case schema.Type(schema.String):
		return fmt.Sprintf(`"s%d"`, n)
	case schema.Type(schema.Binary):
		return `"AAEC"`
	case schema.Type(schema.Boolean):
		return strconv.FormatBool(n%2 == 0)
	case schema.Type(schema.Date):
		return fmt.Sprintf(`"2024-05-%02d"`, n%28+1)
	case schema.Type(schema.Timestamp):
		return fmt.Sprintf(`"2024-05-01T10:00:00.%06dZ"`, n)
	}
	return strconv.Itoa(n - 50)
}

func drawValues(t *rapid.T, element schema.Type) []string {
	list := make([]string, rapid.IntRange(0, 3).Draw(t, "length"))
	for i := range list {
		list[i] = drawValue(t, element)
	}
	return list
}

func drawRow(t *rapid.T, s *schema.Struct) string {
	members := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		members[i] = fmt.Sprintf("%q: %s", f.Name, drawValue(t, f.Type))
	}
	return "{" + strings.Join(members, ",") + "}"
}

// TestAnyNestingReadsBack writes random values of random types in random forms and reads them back, from any row on.
func TestAnyNestingReadsBack(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		columns := drawStruct(rt, 3)
		rows := make([]string, rapid.IntRange(0, 40).Draw(rt, "rows"))
		for i := range rows {
			rows[i] = drawRow(rt, columns)
		}
		record := deltatest.Rows(columns, rows...)
		form := deltatest.Parquet{
			RowGroupRows: rapid.SampledFrom([]int64{0, 7, 30}).Draw(rt, "row group"),
			PageVersion:  rapid.IntRange(1, 2).Draw(rt, "page version"),
			PageBytes:    rapid.SampledFrom([]int64{1, 50, 1 << 20}).Draw(rt, "page bytes"),
			BatchRows:    rapid.SampledFrom([]int64{1, 3, 1024}).Draw(rt, "write batch"),
			NoDictionary: rapid.Bool().Draw(rt, "no dictionary"),
			WideDecimals: rapid.Bool().Draw(rt, "wide decimals"),
			PageIndex:    rapid.Bool().Draw(rt, "page index"),
		}
		from := rapid.IntRange(0, len(rows)).Draw(rt, "from")
		r := reading{
			content: form.File(record), columns: columns, from: int64(from),
			batchRows: rapid.SampledFrom([]int64{1, 2, 5, 8192}).Draw(rt, "batch"),
		}
		want := []string{}
		if len(rows) > 0 {
			want = jsonRows(record)[from:]
		}
		got, err := r.rows(t)
		if err != nil {
			rt.Fatal(err)
		}
		if fmt.Sprint(want) != fmt.Sprint(got) {
			rt.Fatalf("%+v of %s:\nwant %s\ngot  %s", form, columns, strings.Join(want, "\n"), strings.Join(got, "\n"))
		}
	})
}
