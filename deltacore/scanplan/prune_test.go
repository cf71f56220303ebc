package scanplan

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltalog"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// prunerOf makes a pruner of a table that is partitioned by those of the columns whose names begin with p.
func prunerOf(t *testing.T, where string, s *schema.Struct, m schema.Mapping) *Pruner {
	t.Helper()
	predicate, err := pruning.Parse(where)
	if err != nil {
		t.Fatal(err)
	}
	bound, err := predicate.Bind(schema.Resolver(s))
	if err != nil {
		t.Fatal(err)
	}
	c := Columns{Schema: s, Mapping: m}
	for _, f := range s.Fields {
		if f.Name[0] == 'p' {
			c.Partition = append(c.Partition, f.Name)
		}
	}
	p, err := NewPruner(bound, c)
	if err != nil {
		t.Fatal(err)
	}
	p.Skipped = &Skipped{}
	return p
}

// keep asks about a file with the statistics of a text.
func keep(p *Pruner, stats string, values map[string]*string) bool {
	f := deltalog.ActiveFile{Add: action.Add{PartitionValues: values, Stats: stats}}
	f.Statistics = p.Selection(nil).Statistics(f.Add)
	return p.Keep(f)
}

func text(s string) *string { return &s }

// TestPartitionValuesDecideAboutFiles covers section 12, P16, P18, P27, P29 and P33 of what others got wrong.
func TestPartitionValuesDecideAboutFiles(t *testing.T) {
	for _, c := range []struct {
		of, where string
		value     *string
		keep      bool
	}{
		{"integer", "p = 2450824", text("2450824"), true},
		{"integer", "p = 2450824", text("2450825"), false},
		{"integer", "p = 2450824", nil, false},
		{"integer", "p <> 2450824", nil, false},
		{"integer", "p IS NULL", nil, true},
		{"integer", "p IS NOT NULL", nil, false},
		{"integer", "p IS NULL", text("1"), false},
		{"integer", "NOT p IN (1, 2)", text("1"), false},
		{"integer", "p < 3 OR p > 9", text("5"), false},
		{"integer", "p = 1 AND a = 1", text("1"), true},
		{"integer", "p = 1 OR a = 1", text("2"), true},
		{"integer", "p = 1", text("one"), true}, // the read says what is wrong
		{"integer", "a = 1 AND p = 1", text("one"), true},
		{"string", "p IS NULL", text("null"), false},
		{"string", "p IS NULL", text(""), true},
		{"string", "p = ''", text(""), false},
		{"string", "p = '__HIVE_DEFAULT_PARTITION__'", text("__HIVE_DEFAULT_PARTITION__"), true},
		{"string", "p <> 'X'", text("Y"), true},
		{"string", "p <> 'X'", text("X"), false},
		{"string", "p LIKE 'a%'", text("b"), false},
		{"string", "p < '2025-11-13'", text("2025-11-12"), true},
		{"date", "p = DATE '2024-05-01'", text("2024-5-1"), true},
		{"date", "p > DATE '2024-05-01'", text("2024-05-01"), false},
		{"date", "p > DATE '1500-01-01'", text("1400-01-01"), false}, // exact: no file writes it
		{"double", "p > 1.0", text("NaN"), true},
		{"double", "p = 1.0", text("NaN"), true},
		{"double", "p <> 1.5", text("1.5"), false},
		{"boolean", "p = true", text("FALSE"), false},
		{"decimal(4,2)", "p = 1.5", text("1.50"), true},
		{"decimal(4,2)", "p > 1.5", text("1.50"), false},
		{"timestamp", "p = TIMESTAMP '2024-05-01T12:00:00Z'", text("2024-05-01 12:00:00"), true},
		{"timestamp", "p > TIMESTAMP '2024-05-01T12:00:00Z'", text("2024-05-01 12:00:00"), false}, // exact: not cut to ms
	} {
		p := prunerOf(t, c.where, deltatest.Columns("p "+c.of, "a long"), schema.MapByDisplayName)
		if got := keep(p, "", map[string]*string{"p": c.value}); got != c.keep {
			t.Errorf("%s of %v: want %t, got %t", c.where, show(c.value), c.keep, got)
		}
		if want := map[bool]int64{false: 1}[c.keep]; p.Skipped.Snapshot().By[ByPartition].Files != want {
			t.Errorf("%s of %v: want %d files skipped, got %v", c.where, show(c.value), want, p.Skipped.Snapshot())
		}
	}
}

func show(s *string) string {
	if s == nil {
		return "null"
	}
	return fmt.Sprintf("%q", *s)
}

func TestStatisticsDecideAboutFiles(t *testing.T) {
	const stats = `{"numRecords":9,"minValues":{"a":1,"s":{"x":1}},"maxValues":{"a":5,"s":{"x":5}},"nullCount":{"a":0,"s":{"x":9},"l":0}}`
	for _, c := range []struct {
		where, stats string
		keep         bool
		unusable     int64
	}{
		{"a = 5", stats, true, 0},
		{"a = 6", stats, false, 0},
		{"a IN (0, 6, 7)", stats, false, 0},
		{"a IS NULL", stats, false, 0},
		{"a IS NOT NULL", stats, true, 0},
		{"A > 5", stats, false, 0},
		{"s.x IS NOT NULL", stats, false, 0},
		{"s IS NULL", stats, true, 0}, // what is counted is x
		{"s.x = 3", stats, false, 0},
		{"l IS NULL", stats, false, 0},
		{"b = 6", stats, true, 0},
		{"b = 6 AND a = 6", stats, false, 0},
		{"b = 6 OR a = 6", stats, true, 0},
		{"p = 1 AND a = 6", stats, false, 0},
		{"a = 6", `{"numRecords":0}`, false, 0},
		{"a = 6", "", true, 0},
		{"a = 6", "{", true, 1},
		{"a = 6", `{"numRecords":9,"minValues":{"a":5},"maxValues":{"a":1}}`, true, 1},
		{"a = 6", `{"numRecords":9,"minValues":{"A":1},"maxValues":{"A":5}}`, true, 0},
		{"p = 7", `{"numRecords":9,"minValues":{"p":7},"maxValues":{"p":7}}`, false, 0}, // P88: of a partition column
	} {
		p := prunerOf(t, c.where, deltatest.Columns("a long", "b long", "s struct<x:long>", "l array<long>", "p long"), schema.MapByDisplayName)
		var because string
		p.Explain = func(e Explanation) { because = fmt.Sprint(e) }
		if got := keep(p, c.stats, map[string]*string{"p": text("1")}); got != c.keep || (because == "") != c.keep {
			t.Errorf("%s with %s: want %t, got %t because of %s", c.where, c.stats, c.keep, got, because)
		}
		if got := p.Skipped.Snapshot().Unusable[ByStatistics]; got != c.unusable {
			t.Errorf("%s with %s: want %d unusable, got %d", c.where, c.stats, c.unusable, got)
		}
	}
}

func TestPrunerExplainsWhatItSkips(t *testing.T) {
	p := prunerOf(t, "p = 1 AND (b = 2 OR b = 3) AND a = 6", deltatest.Columns("a long", "b long", "p long"), schema.MapByDisplayName)
	var got []string
	p.Explain = func(e Explanation) {
		if e.RowGroup != WholeFile {
			t.Errorf("want files alone, got %v", e)
		}
		got = append(got, fmt.Sprintf("%s: %s", e.Reason, e.Because))
	}
	const stats = `{"minValues":{"a":1},"maxValues":{"a":5}}`
	keep(p, "", map[string]*string{"p": text("2")})
	keep(p, stats, map[string]*string{"p": text("1")})
	keep(p, `{"numRecords":0}`, map[string]*string{"p": text("1")})
	want := []string{"partition: p = 1", "statistics: a = 6", "statistics: "}
	if !slices.Equal(want, got) {
		t.Errorf("want %q, got %q", want, got)
	}
}

// TestStatisticsAgainstTheSchemaSkipNothing: nulls of a column that is never null; reading it says so (S5).
func TestStatisticsAgainstTheSchemaSkipNothing(t *testing.T) {
	for _, c := range []struct {
		columns, where, stats string
		keep                  bool
	}{
		{"a long not null", "a = 6", `{"numRecords":2,"nullCount":{"a":2}}`, true},
		{"a long not null", "a = 6", `{"numRecords":2,"nullCount":{"a":1},"minValues":{"a":1},"maxValues":{"a":1}}`, true},
		{"a long not null", "a = 6", `{"numRecords":2,"nullCount":{"a":0},"minValues":{"a":1},"maxValues":{"a":1}}`, false},
		{"a long not null", "a = 6 AND b = 1", `{"numRecords":2,"nullCount":{"a":2,"b":2}}`, false},
		{"a long", "a = 6", `{"numRecords":2,"nullCount":{"a":2}}`, false},
		{"a struct<x:long not null> not null", "a.x = 6", `{"numRecords":2,"nullCount":{"a":{"x":2}}}`, true},
		{"a struct<x:long not null>", "a.x = 6", `{"numRecords":2,"nullCount":{"a":{"x":2}}}`, false},
	} {
		p := prunerOf(t, c.where, deltatest.Columns(c.columns, "b long"), schema.MapByDisplayName)
		if got := keep(p, c.stats, nil); got != c.keep {
			t.Errorf("%s of %s with %s: want kept %t, got %t", c.where, c.columns, c.stats, c.keep, got)
		}
	}
}

// TestPrunerUsesPhysicalNames covers CM4 and CM8: the display name of a column means nothing to files that are mapped.
func TestPrunerUsesPhysicalNames(t *testing.T) {
	s := deltatest.Columns("a long", "p long")
	for i, name := range []string{"col-1", "col-2"} {
		s.Fields[i].Metadata = map[string]jsontext.Value{
			"delta.columnMapping.physicalName": jsontext.Value(`"` + name + `"`), "delta.columnMapping.id": jsontext.Value(fmt.Sprint(i)),
		}
	}
	for _, m := range []schema.Mapping{schema.MapByName, schema.MapByID} {
		p := prunerOf(t, "a = 6 AND p = 1", s, m)
		for stats, want := range map[string]bool{
			`{"minValues":{"a":1},"maxValues":{"a":5}}`:         true,
			`{"minValues":{"col-1":1},"maxValues":{"col-1":5}}`: false,
		} {
			if got := keep(p, stats, map[string]*string{"col-2": text("1"), "p": text("9")}); got != want {
				t.Errorf("%s, %s: want %t, got %t", m, stats, want, got)
			}
		}
		if keep(p, "", map[string]*string{"p": text("1")}) {
			t.Errorf("%s: want no value of a column that is not named: it is null", m)
		}
	}
	if p := prunerOf(t, "p = 1", s, schema.MapByDisplayName); keep(p, "", map[string]*string{"P": text("2")}) {
		t.Error("want the value of a partition column in another case")
	}
}

// TestPartitionValueThatCannotBeNullIsLeftToTheRead: skipping the file would hide what is wrong with it.
func TestPartitionValueThatCannotBeNullIsLeftToTheRead(t *testing.T) {
	p := prunerOf(t, "p = 1", deltatest.Columns("a long", "p long not null"), schema.MapByDisplayName)
	if !keep(p, "", nil) {
		t.Error("want the file kept")
	}
}

// TestCheckComesBeforePruning: what is refused does not depend on the predicate.
func TestCheckComesBeforePruning(t *testing.T) {
	p := prunerOf(t, "p = 1", deltatest.Columns("a long", "p long"), schema.MapByDisplayName)
	refused := errors.New("refused")
	s := p.Selection(func(deltalog.ActiveFile) error { return refused })
	if _, err := s.Keep(deltalog.ActiveFile{Add: action.Add{PartitionValues: map[string]*string{"p": text("2")}}}); !errors.Is(err, refused) {
		t.Errorf("want %v, got %v", refused, err)
	}
}

func BenchmarkKeep(b *testing.B) {
	s := deltatest.Columns("id long", "p date")
	predicate, err := pruning.Parse("p = DATE '2024-05-01' AND id = 7")
	if err != nil {
		b.Fatal(err)
	}
	bound, err := predicate.Bind(schema.Resolver(s))
	if err != nil {
		b.Fatal(err)
	}
	p, err := NewPruner(bound, Columns{Schema: s, Partition: []string{"p"}})
	if err != nil {
		b.Fatal(err)
	}
	f := deltalog.ActiveFile{Add: action.Add{PartitionValues: map[string]*string{"p": text("2024-05-02")}}}
	b.ReportAllocs()
	for b.Loop() {
		if p.Keep(f) {
			b.Fatal("want it skipped")
		}
	}
}
