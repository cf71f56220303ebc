package action

import "testing"

func TestNumberOfRecordsIsReadLeniently(t *testing.T) {
	for stats, want := range map[string]int64{
		`{"numRecords":12}`: 12, `{"numRecords":12,"minValues":{"numRecords":5}}`: 12, `{ "numRecords" : 12 }`: 12,
		`{"minValues":{"numRecords":5},"numRecords":12}`: 12, `{"numRecords":0}`: 0,
		``: -1, `{}`: -1, `[]`: -1, `{"numRecords":"12"}`: -1, `{"numRecords":null}`: -1, `{"minValues":{"numRecords":5}}`: -1,
		`{"numRecords":1.5}`: -1, `{"numRecords":`: -1, `{"numRecords":99999999999999999999}`: -1,
	} {
		got, ok := numRecords(stats)
		if ok != (want >= 0) || ok && got != want {
			t.Errorf("%s: want %d, got %d, %v", stats, want, got, ok)
		}
	}
}

func TestLiveRowsLeaveOutWhatTheVectorDeletes(t *testing.T) {
	for _, c := range []struct {
		stats   string
		deleted int64
		want    int64 // -1: unknown
	}{
		{`{"numRecords":5}`, 2, 3},
		{`{"numRecords":5}`, 5, 0},
		{`{"numRecords":5}`, 6, -1},
		{``, 2, -1},
	} {
		a := Add{Stats: c.stats, DeletionVector: &DeletionVector{Cardinality: c.deleted}}
		if got, ok := a.LiveRows(); ok != (c.want >= 0) || ok && got != c.want {
			t.Errorf("%s less %d: want %d, got %d, %v", c.stats, c.deleted, c.want, got, ok)
		}
	}
}
