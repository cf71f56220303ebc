package deltacore_test

import (
	"errors"
	"fmt"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/pruning"
)

func TestSurveyCountsTheRowGroupsThatAreRead(t *testing.T) {
	for where, want := range map[string]int64{"": 24, "id >= 0": 24, "id < 0": 0} {
		r := reading{table: manyRowGroups()}
		if where != "" {
			predicate, err := pruning.Parse(where)
			if err != nil {
				t.Fatal(err)
			}
			r.options.Where = predicate
		}
		scan, err := r.scan(t)
		if err != nil {
			t.Fatal(err)
		}
		s, err := scan.Survey(t.Context())
		if err != nil || s.RowGroups != want {
			t.Errorf("%q: want %d row groups, got %+v, %v", where, want, s, err)
		}
		if (s.Bytes > 0) != (want > 0) {
			t.Errorf("%q: want bytes of row groups alone, got %+v", where, s)
		}
	}
}

// Small files come with their footers: nothing is asked for a second time.
func TestSurveyOfSmallFilesMakesTheRequestsOfTheScan(t *testing.T) {
	r := reading{table: manyRowGroups()}
	scan, err := r.scan(t)
	if err != nil {
		t.Fatal(err)
	}
	survey, err := scan.Survey(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	before := len(r.store.Calls())
	if _, err := encodeRows(t.Context(), scan); err != nil {
		t.Fatal(err)
	}
	if got := int64(len(r.store.Calls()) - before); survey.Requests > got {
		t.Errorf("want at most the %d requests of the scan, got %d", got, survey.Requests)
	}
}

// Each row group is one task's, wherever files are cut.
func TestSurveySharesRowGroupsOutOverTheTasks(t *testing.T) {
	for _, policy := range []scanplan.Policy{scanplan.Off, scanplan.Always} {
		r := reading{table: manyRowGroups()}
		one := int64(1)
		r.options.TargetPartitions, r.options.Repartitioning, r.options.RepartitionMinSize = 7, policy, &one
		scan, err := r.scan(t)
		if err != nil {
			t.Fatal(err)
		}
		plan, err := scan.Plan()
		if err != nil {
			t.Fatal(err)
		}
		survey, err := scan.Survey(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		got := int64(0)
		for _, p := range plan.Partitions {
			for i := range p.Parts {
				got += survey.RowGroupsOf(p, i)
			}
		}
		if got != survey.RowGroups {
			t.Errorf("%s: want %d row groups over all tasks, got %d", policy, survey.RowGroups, got)
		}
	}
}

func TestSurveyNamesAFileThatIsGone(t *testing.T) {
	table := manyRowGroups()
	table.Drop(table.Active()[0].Path)
	r := reading{table: table}
	scan, err := r.scan(t)
	if err != nil {
		t.Fatal(err)
	}
	if s, err := scan.Survey(t.Context()); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("want an error of the file, got %+v, %v", s, err)
	}
}

// TestSkippedPartsAreExplained: files by the plan, row groups by the survey, each once and by what excludes it.
func TestSkippedPartsAreExplained(t *testing.T) {
	columns := deltatest.Columns("id long", "p long")
	table := deltatest.New(columns, deltatest.Options{PartitionColumns: []string{"p"}, Parquet: deltatest.Parquet{RowGroupRows: 2}})
	for _, from := range []int{0, 10} {
		lines := make([]string, 6)
		for i := range lines {
			lines[i] = fmt.Sprintf(`{"id": %d, "p": %d}`, from+i, from)
		}
		table.Append(deltatest.Rows(columns, lines...))
	}
	r := reading{table: table}
	var mu sync.Mutex
	var got []string
	r.options.Where = parsed(t, "(p = 0 OR p > 20) AND id IN (3, 17)")
	r.options.Explain = func(e scanplan.Explanation) {
		mu.Lock()
		defer mu.Unlock()
		got = append(got, fmt.Sprint(strings.HasPrefix(e.File, "p="), " ", e.RowGroup, " ", e.Reason, " ", e.Because))
	}
	scan, err := r.scan(t)
	check(t, err)
	_, err = scan.Survey(t.Context())
	check(t, err)
	slices.Sort(got)
	if want := []string{
		"true -1 partition p = 0 OR p > 20", "true 0 row_group id IN (3, 17)", "true 2 row_group id IN (3, 17)",
	}; !slices.Equal(want, got) {
		t.Errorf("want %q, got %q", want, got)
	}
}
