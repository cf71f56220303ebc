package feed

import (
	"fmt"
	"testing"
)

// TestEveryStateAnswersEveryInput goes over the whole table: an input leads to a state, or has no place there.
func TestEveryStateAnswersEveryInput(t *testing.T) {
	const no = state(-1)
	//                       version   rows     none      lastRow   told      noNews    stillNone news      bound   broken  close
	want := map[state][]state{
		planned:  {no, reading, choosing, no, no, no, no, no, no, failed, closed},
		reading:  {no, no, no, finished, no, no, no, no, no, failed, closed},
		finished: {no, no, no, no, choosing, no, no, no, no, failed, closed},
		choosing: {planned, reading, finished, no, no, upToDate, waiting, no, ending, failed, closed},
		upToDate: {no, no, no, no, waiting, no, no, no, no, failed, closed},
		waiting:  {no, no, no, no, no, no, no, choosing, no, failed, closed},
		ending:   {no, no, no, no, ended, no, no, no, no, failed, closed},
		ended:    {no, no, no, no, no, no, no, no, no, ended, closed},
		failed:   {failed, failed, failed, failed, failed, failed, failed, failed, failed, failed, closed},
		closed:   {closed, closed, closed, closed, closed, closed, closed, closed, closed, closed, closed},
	}
	if len(want) != len(stateNames) {
		t.Fatalf("want every state in the table, got %d of %d", len(want), len(stateNames))
	}
	for s, row := range want {
		for i, next := range row {
			t.Run(fmt.Sprintf("%s/%s", s, input(i)), func(t *testing.T) {
				defer func() {
					if r := recover(); (r != nil) != (next == no) {
						t.Errorf("want a panic: %v, got %v", next == no, r)
					}
				}()
				if got := s.after(input(i)); got != next {
					t.Errorf("want %s, got %s", next, got)
				}
			})
		}
	}
}
