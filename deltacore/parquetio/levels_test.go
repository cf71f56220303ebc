package parquetio

import (
	"slices"
	"testing"
)

func TestLevelsAboveTheHighestAreFound(t *testing.T) {
	for _, highest := range []int16{0, 1, 2, 3, 200} {
		for n := range 12 {
			good := make([]int16, n)
			for i := range good {
				good[i] = highest - int16(i)%(highest+1)
			}
			if at := above(good, highest); at != -1 {
				t.Errorf("%v: want none above %d, got %d", good, highest, at)
			}
			for i := range n {
				for _, bad := range []int16{highest + 1, 63, 32767, -1, -32768} {
					if bad >= 0 && bad <= highest {
						continue
					}
					broken := slices.Clone(good)
					broken[i] = bad
					if at := above(broken, highest); at != i {
						t.Errorf("%v above %d: want %d, got %d", broken, highest, i, at)
					}
				}
			}
		}
	}
}
