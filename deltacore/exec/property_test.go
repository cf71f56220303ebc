package exec

import (
	"context"
	"errors"
	"iter"
	"runtime"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"
)

// plan is a run drawn at random: the sizes of each task's results, and how everything ends.
type plan struct {
	Tasks    [][]int64
	FailAt   int // task that ends with an error after its results; -1: none
	SourceAt int // pull that ends with an error; -1: none
	StopAt   int // results after which the loop is left; -1: never
	Yields   []int
	Workers  int
	Limit    int64 // of the budget; -1: no budget
	Chained  bool
}

func drawPlan(t *rapid.T) plan {
	p := plan{
		Tasks:   rapid.SliceOfN(rapid.SliceOfN(rapid.Int64Range(0, 300), 0, 6), 0, 20).Draw(t, "tasks"),
		Yields:  rapid.SliceOfN(rapid.IntRange(0, 5), 1, 10).Draw(t, "yields"),
		Workers: rapid.IntRange(1, 5).Draw(t, "workers"),
		Limit:   rapid.SampledFrom([]int64{-1, 0, 64, 200, 1000, 1 << 40}).Draw(t, "limit"),
		Chained: rapid.Bool().Draw(t, "chained"),
	}
	p.FailAt = rapid.IntRange(-1, len(p.Tasks)-1).Draw(t, "fail at")
	p.SourceAt = rapid.IntRange(-1, len(p.Tasks)).Draw(t, "source fails at")
	p.StopAt = rapid.IntRange(-1, 30).Draw(t, "stop at")
	return p
}

type result struct{ task, index int }

var errSource = errors.New("source error")

// sequential says what a plain loop would yield.
func (p plan) sequential() (results []result, err error) {
	for i, sizes := range p.Tasks {
		if i == p.SourceAt {
			return results, errSource
		}
		for j := range sizes {
			results = append(results, result{i, j})
		}
		if i == p.FailAt {
			return results, errTask
		}
	}
	if p.SourceAt == len(p.Tasks) {
		return results, errSource
	}
	return results, nil
}

func (p plan) source(yield func(int, error) bool) {
	for i := range p.Tasks {
		if i == p.SourceAt {
			break
		}
		if !yield(i, nil) {
			return
		}
	}
	if p.SourceAt >= 0 {
		yield(0, errSource)
	}
}

// pause lets other goroutines run, so that the interleavings differ.
func (p plan) pause(i int) {
	for range p.Yields[i%len(p.Yields)] {
		runtime.Gosched()
	}
}

// ledger follows each result from its emission to its end.
type ledger struct {
	mu   sync.Mutex
	open map[result]int
}

func (l *ledger) add(r result, n int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.open[r] += n; l.open[r] == 0 {
		delete(l.open, r)
	}
}

func (p plan) options(b *Budget, l *ledger) Options[result] {
	return Options[result]{
		Workers: p.Workers,
		Budget:  b,
		Size:    func(r result) int64 { return p.Tasks[r.task][r.index] },
		Discard: func(r result) { l.add(r, -1) },
	}
}

func (p plan) run(ctx context.Context, b *Budget, l *ledger) iter.Seq2[result, error] {
	first := Ordered(ctx, p.source, p.options(b, l),
		func(_ context.Context, task int, emit func(result) error) error {
			for j := range p.Tasks[task] {
				p.pause(task + j)
				l.add(result{task, j}, 1)
				if err := emit(result{task, j}); err != nil {
					return err
				}
			}
			if task == p.FailAt {
				return errTask
			}
			return nil
		})
	if !p.Chained {
		return first
	}
	return Ordered(ctx, first, p.options(b, l),
		func(_ context.Context, r result, emit func(result) error) error {
			l.add(r, -1) // the task
			p.pause(r.task)
			l.add(r, 1)
			return emit(r)
		})
}

func TestOrderedOutputEqualsSequentialOutput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p := drawPlan(t)
		var b *Budget
		if p.Limit >= 0 {
			b = NewBudget(p.Limit)
		}
		l := &ledger{open: map[result]int{}}
		want, wantErr := p.sequential()
		stopped := p.StopAt >= 0 && p.StopAt < len(want)
		if stopped {
			want, wantErr = want[:p.StopAt+1], nil
		}

		var got []result
		var gotErr error
		for r, err := range p.run(context.Background(), b, l) {
			if err != nil {
				gotErr = err
				continue
			}
			l.add(r, -1)
			got = append(got, r)
			p.pause(len(got))
			if p.StopAt >= 0 && len(got) > p.StopAt {
				break
			}
		}

		if !slices.Equal(want, got) || !errors.Is(gotErr, wantErr) {
			t.Fatalf("want %v, %v\ngot  %v, %v", want, wantErr, got, gotErr)
		}
		if len(l.open) > 0 {
			t.Fatalf("neither handed out nor discarded once: %v", l.open)
		}
		if b != nil && b.InUse() != 0 {
			t.Fatalf("%d bytes in use at the end", b.InUse())
		}
	})
}
