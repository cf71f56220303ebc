package deltacore_test

import (
	"errors"
	"io/fs"
	"testing"

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
