package deltalog

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// tenOf is a predicate that the tests decide by themselves: a file may fulfil it where the bounds of one column hold 10.
func tenOf(t *testing.T) *pruning.Predicate {
	t.Helper()
	p, err := pruning.Parse("ten IS NULL")
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// byColumn looks at the column that the version's table is named after.
func byColumn(p *pruning.Predicate, asked *int) *Exclusion {
	return &Exclusion{Where: p, In: func(_ *action.Protocol, m *action.Metadata) Selection {
		*asked++
		ten := pruning.Value{Kind: longType.Kind, Int: 10}
		return Selection{
			Leaves: []Leaf{{Path: []string{m.Name}, Type: longType}},
			Keep: func(f ActiveFile) (bool, error) {
				b := f.Statistics.Bounds(0)
				return !known(b.Min) || b.Min.Compare(ten) <= 0 && b.Max.Compare(ten) >= 0, nil
			},
		}
	}}
}

func addWith(path, stats string) deltatest.Action {
	f := file(path)
	f.Stats = stats
	return deltatest.Add(f)
}

// bounds are statistics of the columns a and b.
func bounds(a, b string) string {
	low, high := [2]string{}, [2]string{}
	for i, s := range []string{a, b} {
		low[i], high[i], _ = strings.Cut(s, "-")
	}
	return fmt.Sprintf(`{"numRecords":5,"minValues":{"a":%s,"b":%s},"maxValues":{"a":%s,"b":%s}}`, low[0], low[1], high[0], high[1])
}

func renamed(table *deltatest.Table, name string) deltatest.Action {
	m := table.Metadata()
	m.Name = name
	return deltatest.Metadata(m)
}

// exclusions lists the files of commits, those that are excluded in parentheses.
func exclusions(t *testing.T, s *Snapshot, from int64, by *Exclusion) []string {
	t.Helper()
	var list []string
	for c, err := range s.CommitsExcluding(context.Background(), from, s.Version, by) {
		if err != nil {
			t.Fatal(err)
		}
		var text []string
		for i := range c.Files.Len() {
			name := c.Files.At(i).Add.Path
			if by != nil && c.Excludes(i, by.Where) {
				name = "(" + name + ")"
			}
			if c.Excludes(i, nil) || c.Excludes(i, tenOf(t)) {
				t.Errorf("version %d: %s is excluded by another predicate, too", c.Version, name)
			}
			text = append(text, name)
		}
		list = append(list, strings.Join(text, " "))
	}
	return list
}

// TestCommitsKnowWhatStatisticsExclude in the schema of their own version (T8), wherever in the commit that stands. What a file
// does not say excludes nothing.
func TestCommitsKnowWhatStatisticsExclude(t *testing.T) {
	in, out := bounds("0-20", "30-40"), bounds("30-40", "0-20")
	table := deltatest.New(deltatest.Columns("a long", "b long"), deltatest.Options{Name: "a"})
	table.Commit(addWith("a", out), addWith("b", in))
	table.Commit(addWith("z", in), addWith("c", out), addWith("d", ""), addWith("e", "{"), addWith("f", `{"numRecords":1}`))
	quiet := file("quiet")
	quiet.DataChange, quiet.Stats = false, out
	table.Commit(deltatest.Add(quiet), remove("a"))
	table.Commit(renamed(table, "b"), addWith("g", in), addWith("h", out))
	table.Commit(addWith("i", in), addWith("j", out), renamed(table, "a"))
	table.Commit(addWith("k", in), addWith("l", out))
	s := logOf(table).mustLoad(t)
	for _, c := range []struct {
		from int64
		by   *Exclusion
		want []string
	}{
		{0, byColumn(tenOf(t), new(int)), []string{"(a) b", "(c) d e f z", "", "(g) h", "i (j)", "k (l)"}},
		{4, byColumn(tenOf(t), new(int)), []string{"i j", "k (l)"}}, // its protocol is found later
		{5, byColumn(tenOf(t), new(int)), []string{"k (l)"}},
		{3, nil, []string{"g h", "i j", "k l"}},
	} {
		if got := exclusions(t, s, c.from, c.by); fmt.Sprint(c.want) != fmt.Sprint(got) {
			t.Errorf("from version %d: want %q, got %q", c.from, c.want, got)
		}
	}
}

// TestColumnsThatComeBehindFilesCountForAllOfThem: what was excluded before them may match by them.
func TestColumnsThatComeBehindFilesCountForAllOfThem(t *testing.T) {
	in, out := bounds("0-20", "30-40"), bounds("30-40", "0-20")
	table := deltatest.New(deltatest.Columns("a long", "b long"), deltatest.Options{Name: "a"})
	table.Commit()
	var lines []deltatest.Action
	for i := range 3 * partActions {
		lines = append(lines, addWith(fmt.Sprintf("f%05d", i), out))
	}
	lines = append(lines, renamed(table, "b"))
	for i := range partActions {
		lines = append(lines, addWith(fmt.Sprintf("g%05d", i), in))
	}
	table.Commit(lines...)
	asked := 0
	for c, err := range logOf(table).mustLoad(t).CommitsExcluding(context.Background(), 1, 1, byColumn(tenOf(t), &asked)) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range c.Files.Len() {
			path := c.Files.At(i).Add.Path
			if excluded := c.Excludes(i, c.where); excluded && path[0] == 'f' || !excluded && path > fmt.Sprintf("g%05d", partActions/2) {
				t.Fatalf("%s: excluded %v", path, excluded)
			}
		}
	}
	if asked > 2 {
		t.Errorf("want the selection made once a schema, got %d", asked)
	}
}

// TestStatisticsOfCommitsAreNotKept: a commit costs the same memory with them.
func TestStatisticsOfCommitsAreNotKept(t *testing.T) {
	table := deltatest.New(deltatest.Columns("a long", "b long"), deltatest.Options{Name: "a"})
	table.Commit()
	table.Commit(addWith("f", bounds("30-40", "0-20")+strings.Repeat(" ", 1<<20)))
	for c, err := range logOf(table).mustLoad(t).CommitsExcluding(context.Background(), 1, 1, byColumn(tenOf(t), new(int))) {
		if err != nil || !c.Excludes(0, c.where) || c.Files.At(0).Add.Stats != "" || c.Files.At(0).Statistics != nil {
			t.Errorf("want the file excluded, and nothing more kept of it, got %v, %+v", err, c.Files.At(0).Add.Stats)
		}
	}
}

func TestErrorOfAnExclusionEndsTheCommits(t *testing.T) {
	table := historyTable()
	failing := errors.New("no")
	by := &Exclusion{Where: tenOf(t), In: func(*action.Protocol, *action.Metadata) Selection {
		return Selection{Leaves: []Leaf{{Path: []string{"id"}, Type: longType}}, Keep: func(ActiveFile) (bool, error) { return false, failing }}
	}}
	var last error
	for _, last = range logOf(table).mustLoad(t).CommitsExcluding(context.Background(), 0, 1, by) {
	}
	if !errors.Is(last, failing) {
		t.Errorf("want the error, got %v", last)
	}
}
