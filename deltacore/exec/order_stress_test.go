package exec

import (
	"context"
	"slices"
	"testing"
)

// TestOrderWithinATaskHoldsWhileTheBudgetFillsAndEmpties drives results through both ways to the consumer, the queue and
// the direct hand-over, in every interleaving that the scheduler finds.
func TestOrderWithinATaskHoldsWhileTheBudgetFillsAndEmpties(t *testing.T) {
	const tasks, each = 4, 50
	runs := 3000
	if testing.Short() {
		runs = 300
	}
	for range runs {
		o := Options[int]{Workers: 2, Budget: NewBudget(640), Size: func(int) int64 { return 300 }} // room for two
		got, err := collect(Ordered(t.Context(), upTo(tasks), o, func(_ context.Context, task int, emit func(int) error) error {
			for i := range each {
				if err := emit(task*each + i); err != nil {
					return err
				}
			}
			return nil
		}))
		if err != nil {
			t.Fatal(err)
		}
		if !slices.IsSorted(got) || len(got) != tasks*each {
			t.Fatalf("want 0 … %d in order, got %v", tasks*each-1, got)
		}
	}
}
