package exec

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

var errTask = errors.New("task error")

// upTo yields the tasks 0 … n-1.
func upTo(n int) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i := range n {
			if !yield(i, nil) {
				return
			}
		}
	}
}

// collect gathers the results and the error that ended them.
func collect[R any](seq iter.Seq2[R, error]) (results []R, err error) {
	for r, e := range seq {
		if e != nil {
			err = e
			continue
		}
		results = append(results, r)
	}
	return results, err
}

// double emits 2·task and 2·task+1.
func double(_ context.Context, task int, emit func(int) error) error {
	if err := emit(2 * task); err != nil {
		return err
	}
	return emit(2*task + 1)
}

func wantResults(t *testing.T, want, got []int) {
	t.Helper()
	if !slices.Equal(want, got) {
		t.Fatalf("results:\nwant %v\ngot  %v", want, got)
	}
}

func firstInts(n int) (s []int) {
	for i := range n {
		s = append(s, i)
	}
	return s
}

func TestOrderedYieldsResultsOfSlowFirstTaskFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		got, err := collect(Ordered(t.Context(), upTo(9), Options[int]{Workers: 3},
			func(ctx context.Context, task int, emit func(int) error) error {
				time.Sleep(time.Duration(10-task) * time.Second)
				return double(ctx, task, emit)
			}))
		if err != nil {
			t.Fatal(err)
		}
		wantResults(t, firstInts(18), got)
	})
}

func TestOrderedWithoutTasksYieldsNothing(t *testing.T) {
	got, err := collect(Ordered(t.Context(), upTo(0), Options[int]{Workers: 3}, double))
	if len(got) != 0 || err != nil {
		t.Fatalf("want nothing, got %v, %v", got, err)
	}
}

func TestOrderedCanBeRangedOverTwice(t *testing.T) {
	seq := Ordered(t.Context(), upTo(3), Options[int]{Workers: 2}, double)
	for range 2 {
		got, _ := collect(seq)
		wantResults(t, firstInts(6), got)
	}
}

func TestOrderedRunsNoMoreThanWorkersAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var now, peak atomic.Int64
		_, err := collect(Ordered(t.Context(), upTo(30), Options[int]{Workers: 4},
			func(context.Context, int, func(int) error) error {
				peak.Store(max(peak.Load(), now.Add(1)))
				time.Sleep(time.Second)
				now.Add(-1)
				return nil
			}))
		if err != nil || peak.Load() != 4 {
			t.Fatalf("want 4 at once, got %d, %v", peak.Load(), err)
		}
	})
}

func TestOrderedPullsNoMoreThanWorkersAheadOfHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var pulled atomic.Int64
		tasks := func(yield func(int, error) bool) {
			for i := 0; ; i++ {
				pulled.Add(1)
				if !yield(i, nil) {
					return
				}
			}
		}
		head := int64(0)
		for task, err := range Ordered(t.Context(), tasks, Options[int]{Workers: 3},
			func(_ context.Context, task int, emit func(int) error) error { return emit(task) }) {
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait() // all stand still while the loop's body runs
			if ahead := pulled.Load() - 1 - head; ahead > 3 {
				t.Fatalf("task %d is the head, %d are pulled ahead of it", task, ahead)
			}
			if head++; head == 10 {
				break
			}
		}
	})
}

func TestOrderedHoldsNoMoreThanItsBudgetAndOneResultOfHead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(1000)
		var emitted atomic.Int64
		handedOut := int64(0)
		for _, err := range Ordered(t.Context(), upTo(20), Options[int]{
			Workers: 4, Budget: b, Size: func(int) int64 { return 300 },
		}, func(_ context.Context, task int, emit func(int) error) error {
			for range 10 {
				if err := emit(task); err != nil {
					return err
				}
				emitted.Add(1)
			}
			return nil
		}) {
			if err != nil {
				t.Fatal(err)
			}
			handedOut++
			synctest.Wait()
			if waiting := emitted.Load() - handedOut; waiting > 3 || b.InUse() > 1000 {
				t.Fatalf("%d results of 300 wait on a budget of 1000, %d bytes in use", waiting, b.InUse())
			}
		}
		if b.InUse() != 0 {
			t.Fatalf("%d bytes in use at the end", b.InUse())
		}
	})
}

func TestOrderedWithoutBudgetHoldsOneResultAWorker(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var emitted atomic.Int64
		for _, err := range Ordered(t.Context(), upTo(20), Options[int]{Workers: 4},
			func(_ context.Context, task int, emit func(int) error) error {
				for range 10 {
					if err := emit(task); err != nil {
						return err
					}
					emitted.Add(1)
				}
				return nil
			}) {
			if err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
			if emitted.Load() > 4+1 {
				t.Fatalf("4 workers hold %d results", emitted.Load())
			}
			break
		}
	})
}

func TestOrderedPassesResultWiderThanBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, limit := range []int64{-1, 0, 1, 100} {
			b := NewBudget(limit)
			got, err := collect(Ordered(t.Context(), upTo(10), Options[int]{
				Workers: 3, Budget: b, Size: func(int) int64 { return 1 << 40 },
			}, double))
			if err != nil || b.InUse() != 0 {
				t.Fatalf("limit %d: %v, %d bytes in use", limit, err, b.InUse())
			}
			wantResults(t, firstInts(20), got)
		}
	})
}

func TestOrderedChainedOnOneFullBudgetGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := NewBudget(100)
		o := Options[int]{Workers: 3, Budget: b, Size: func(int) int64 { return 80 }}
		inner := Ordered(t.Context(), upTo(25), o, double)
		middle := Ordered(t.Context(), inner, o, double)
		got, err := collect(Ordered(t.Context(), middle, o, double))
		if err != nil || b.InUse() != 0 {
			t.Fatalf("%v, %d bytes in use", err, b.InUse())
		}
		wantResults(t, firstInts(200), got)
	})
}

func TestOrderedNestedInLoopOnOneFullBudgetGoesOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		o := Options[int]{Workers: 2, Budget: NewBudget(100), Size: func(int) int64 { return 80 }}
		n := 0
		for _, err := range Ordered(t.Context(), upTo(5), o, double) {
			if err != nil {
				t.Fatal(err)
			}
			got, err := collect(Ordered(t.Context(), upTo(5), o, double))
			if err != nil {
				t.Fatal(err)
			}
			n += len(got)
		}
		if n != 100 {
			t.Fatalf("want 100 results, got %d", n)
		}
	})
}

func TestOrderedEndsWithFirstErrorInTaskOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		later := errors.New("later in order, earlier in time")
		got, err := collect(Ordered(t.Context(), upTo(9), Options[int]{Workers: 4},
			func(ctx context.Context, task int, emit func(int) error) error {
				if task == 5 {
					return later
				}
				time.Sleep(time.Minute)
				if err := double(ctx, task, emit); err != nil {
					return err
				}
				if task == 4 {
					return errTask
				}
				return nil
			}))
		if !errors.Is(err, errTask) {
			t.Fatalf("want %v, got %v", errTask, err)
		}
		wantResults(t, firstInts(10), got)
	})
}

func TestOrderedCancelsTasksAfterAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := collect(Ordered(t.Context(), upTo(9), Options[int]{Workers: 4},
			func(ctx context.Context, task int, _ func(int) error) error {
				if task == 0 {
					time.Sleep(time.Second)
					return errTask
				}
				<-ctx.Done() // would be a deadlock without the cancellation
				return ctx.Err()
			}))
		if !errors.Is(err, errTask) {
			t.Fatalf("want %v, got %v", errTask, err)
		}
	})
}

func TestOrderedEndsWithErrorOfTasksAfterEarlierResults(t *testing.T) {
	tasks := func(yield func(int, error) bool) {
		if yield(0, nil) && yield(1, nil) {
			yield(0, errTask)
		}
	}
	got, err := collect(Ordered(t.Context(), tasks, Options[int]{Workers: 3}, double))
	if !errors.Is(err, errTask) {
		t.Fatalf("want %v, got %v", errTask, err)
	}
	wantResults(t, firstInts(4), got)
}

func TestOrderedEndsWithErrorOfItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		b := NewBudget(500)
		discarded := 0
		_, err := collect(Ordered(ctx, upTo(9), Options[int]{
			Workers: 4, Budget: b, Discard: func(int) { discarded++ },
		}, func(ctx context.Context, task int, emit func(int) error) error {
			if task > 0 {
				return emit(task)
			}
			<-ctx.Done()
			return ctx.Err()
		}))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("want the deadline, got %v", err)
		}
		if discarded != 4 || b.InUse() != 0 {
			t.Fatalf("want the 4 results after the head discarded, got %d, %d bytes in use", discarded, b.InUse())
		}
	})
}

func TestOrderedIsNotCompleteWhenTasksEndBecauseOfContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		tasks := func(func(int, error) bool) { <-ctx.Done() } // ends without saying why
		_, err := collect(Ordered(ctx, tasks, Options[int]{Workers: 1}, double))
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Fatalf("want the deadline, got %v", err)
		}
	})
}

func TestOrderedMakesErrorOfPanic(t *testing.T) {
	boom := func(int) { panic("boom") }
	tests := map[string]struct {
		phase string
		tasks iter.Seq2[int, error]
		size  func(int) int64
		run   func(context.Context, int, func(int) error) error
	}{
		"in run": {
			"running a task", upTo(3), nil,
			func(_ context.Context, task int, _ func(int) error) error { boom(task); return nil },
		},
		"in tasks": {"pulling a task", func(func(int, error) bool) { boom(0) }, nil, double},
		"in size":  {"running a task", upTo(3), func(n int) int64 { boom(n); return 0 }, double},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := collect(Ordered(t.Context(), tt.tasks,
				Options[int]{Workers: 2, Budget: NewBudget(1), Size: tt.size}, tt.run))
			if deltaerr.KindOf(err) != deltaerr.Internal || !strings.HasPrefix(err.Error(), tt.phase) ||
				!strings.Contains(err.Error(), "boom") || !strings.Contains(err.Error(), "ordered_test.go") {
				t.Fatalf("want an internal error with phase, value and stack, got %v", err)
			}
		})
	}
}

func TestOrderedMakesErrorOfGoexit(t *testing.T) {
	tests := map[string]iter.Seq2[int, error]{
		"in run":   upTo(1),
		"in tasks": func(func(int, error) bool) { runtime.Goexit() },
	}
	for name, tasks := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := collect(Ordered(t.Context(), tasks, Options[int]{Workers: 1},
				func(context.Context, int, func(int) error) error { runtime.Goexit(); return nil }))
			if deltaerr.KindOf(err) != deltaerr.Internal {
				t.Fatalf("want an internal error, got %v", err)
			}
		})
	}
}

func TestOrderedJoinsWhenLoopBodyPanics(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		defer func() {
			if recover() != "body" {
				t.Fatal("want the panic of the loop's body")
			}
		}()
		for range Scoped(t.Context(), chained) {
			panic("body")
		}
	})
}

// chained blocks for ever in its inner run after the first task.
func chained(ctx context.Context) iter.Seq2[int, error] {
	inner := Ordered(ctx, upTo(2), Options[int]{Workers: 1},
		func(ctx context.Context, task int, emit func(int) error) error {
			if task == 1 {
				<-ctx.Done()
				return ctx.Err()
			}
			return emit(task)
		})
	return Ordered(ctx, inner, Options[int]{Workers: 2}, double)
}

func TestScopedEndsBlockedInnerRunWhenLoopIsLeft(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for _, err := range Scoped(t.Context(), chained) {
			if err != nil {
				t.Fatal(err)
			}
			break // waits for ever without the scope
		}
	})
}

func TestScopedEndsBlockedInnerRunAfterAnError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		_, err := collect(Scoped(t.Context(), func(ctx context.Context) iter.Seq2[int, error] {
			return Ordered(ctx, chained(ctx), Options[int]{Workers: 2},
				func(context.Context, int, func(int) error) error { return errTask })
		}))
		if !errors.Is(err, errTask) {
			t.Fatalf("want %v, got %v", errTask, err)
		}
	})
}

func BenchmarkOrdered(b *testing.B) {
	for _, bm := range []struct {
		name    string
		perTask int
	}{{"one result a task", 1}, {"100 results a task", 100}} {
		b.Run(bm.name, func(b *testing.B) {
			b.ReportAllocs()
			budget := NewBudget(1 << 20)
			n := 0
			for _, err := range Ordered(b.Context(), upTo(b.N/bm.perTask+1), Options[int]{
				Workers: 4, Budget: budget, Size: func(int) int64 { return 1 << 10 },
			}, func(_ context.Context, task int, emit func(int) error) error {
				for range bm.perTask {
					if err := emit(task); err != nil {
						return err
					}
				}
				return nil
			}) {
				if err != nil {
					b.Fatal(err)
				}
				n++
			}
		})
	}
}

// TestHeldBytesLeaveLessToOthers: over the ceiling only heads pass, and all is as before when they are given back.
func TestHeldBytesLeaveLessToOthers(t *testing.T) {
	b := NewBudget(200)
	b.Hold(300)
	c := b.take(minCharge)
	if c == nil || b.InUse() != 300 {
		t.Fatalf("want a wait, got %d in use", b.InUse())
	}
	b.Return(300)
	<-c.granted
	b.release(minCharge)
	if b.InUse() != 0 {
		t.Errorf("want 0, got %d", b.InUse())
	}
}
