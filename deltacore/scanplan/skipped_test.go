package scanplan

import (
	"maps"
	"sync"
	"testing"
)

func TestSkippedCountsFromManyGoroutines(t *testing.T) {
	var s Skipped
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			for range 100 {
				s.Add(ByPartition, 1, 0, 0)
				s.Add(ByPage, 0, 2, 3)
				s.Unusable(ByBloom, 1)
			}
		})
	}
	all.Wait()
	got := s.Snapshot()
	want := map[Reason]SkipCount{ByPartition: {Files: 800}, ByPage: {RowGroups: 1600, Pages: 2400}}
	if !maps.Equal(want, got.By) || got.Unusable[ByBloom] != 800 || got.Files() != 800 {
		t.Errorf("want %v, got %+v", want, got)
	}
}

func TestSkippedOfNobodyCountsNothing(t *testing.T) {
	var s *Skipped
	s.Add(ByPartition, 1, 1, 1)
	s.Unusable(ByBloom, 1)
	if got := s.Snapshot(); len(got.By)+len(got.Unusable) != 0 {
		t.Errorf("want nothing, got %+v", got)
	}
}

func TestReasonsHaveNames(t *testing.T) {
	for _, r := range Reasons() {
		if r.String() == "" {
			t.Errorf("reason %d has no name", r)
		}
	}
}
