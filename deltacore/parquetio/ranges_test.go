package parquetio

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestRangesJoinWhatIsClose(t *testing.T) {
	r := Ranges{{2, 3}, {3, 5}, {7, 8}, {12, 20}}
	tests := map[int64]Ranges{
		0: {{2, 5}, {7, 8}, {12, 20}},
		2: {{2, 8}, {12, 20}},
		4: {{2, 20}},
	}
	for gap, want := range tests {
		if got := r.Merged(gap); !slices.Equal(want, got) {
			t.Errorf("gap %d: want %v, got %v", gap, want, got)
		}
	}
}

func TestRangesThatAreNotOfARowGroupAreRefused(t *testing.T) {
	for name, r := range map[string]Ranges{
		"behind the end": {{5, 11}}, "empty": {{3, 3}}, "turned around": {{4, 2}}, "overlapping": {{1, 4}, {3, 5}}, "below 0": {{-1, 2}},
	} {
		if r.valid(10) {
			t.Errorf("%s: want %v refused", name, r)
		}
	}
	if r := (Ranges{{0, 4}, {4, 10}}); !r.valid(10) {
		t.Errorf("want %v accepted", r)
	}
}

// TestRangesAreSetsOfRows compares them with the plain ones.
func TestRangesAreSetsOfRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.Bool(), 0, 40).Draw(t, "rows")
		var r Ranges
		var list []int64
		for i, in := range rows {
			if in {
				r, list = r.Append(int64(i), int64(i+1), 0), append(list, int64(i))
			}
		}
		if !r.valid(int64(len(rows))) || !slices.Equal(list, r.each()) || r.Rows() != int64(len(list)) {
			t.Fatalf("want %v, got %v", list, r)
		}
		from := rapid.Int64Range(0, 40).Draw(t, "from")
		to := rapid.Int64Range(from, 45).Draw(t, "to")
		var within []int64
		for _, row := range list {
			if row >= from && row < to {
				within = append(within, row)
			}
		}
		if got := r.Within(from, to).each(); !slices.Equal(within, got) || r.overlaps(from, to) != (len(within) > 0) {
			t.Fatalf("[%d, %d) of %v: want %v, got %v", from, to, r, within, got)
		}
		rest, n := slices.Clone(r), rapid.Int64Range(1, 10).Draw(t, "n")
		var cut []int64
		for len(rest) > 0 {
			first := rest.cut(n)
			if size := first.Rows(); size > n || size < n && len(rest) > 0 {
				t.Fatalf("want %d rows, got %d", n, size)
			}
			cut = append(cut, first.each()...)
		}
		if !slices.Equal(list, cut) {
			t.Fatalf("want %v in parts of %d, got %v", list, n, cut)
		}
	})
}

func (r Ranges) each() (rows []int64) {
	for _, x := range r {
		for row := x.From; row < x.To; row++ {
			rows = append(rows, row)
		}
	}
	return rows
}
