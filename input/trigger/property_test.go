package trigger

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"
)

// plan is one history of events and looks.
type plan struct {
	interval string
	arrivals []time.Duration // of events, since the start
	looks    []plannedLook   // those after the last are instant and succeed
	closed   time.Duration   // when Close is called; 0: when everything is answered
}

type plannedLook struct {
	takes time.Duration
	fails bool
}

func draw(t *rapid.T) plan {
	short := rapid.Custom(func(t *rapid.T) time.Duration { // often the same moment, or within one window
		return time.Duration(rapid.SampledFrom([]int64{0, 0, 1, 5, 25, 26, 100, 1000, 20_000}).Draw(t, "ms")) * time.Millisecond
	})
	p := plan{interval: rapid.SampledFrom([]string{"", "1ms", "30ms", "1s", "* * * * * *"}).Draw(t, "interval")}
	at := time.Duration(0)
	for _, gap := range rapid.SliceOfN(short, 0, 40).Draw(t, "gaps") {
		at += gap
		p.arrivals = append(p.arrivals, at)
	}
	p.looks = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) plannedLook {
		return plannedLook{short.Draw(t, "takes"), rapid.Bool().Draw(t, "fails")}
	}), 0, 20).Draw(t, "looks")
	if rapid.Bool().Draw(t, "close early") {
		p.closed = short.Draw(t, "closed") + time.Millisecond
	}
	return p
}

var errLook = errors.New("broken")

// history is what happened, in the order in which it happened.
type history struct {
	mu       sync.Mutex
	plan     plan
	clock    int         // counts what happened
	arrived  map[int]int // event → clock
	begun    []int       // look → clock
	good     map[int]int // look that succeeded → clock at its end
	answers  map[int][]error
	answered map[int]int // event → clock
	running  bool
	problems []string
}

func (h *history) tick() int { h.clock++; return h.clock }

func (h *history) problem(format string, args ...any) {
	h.problems = append(h.problems, fmt.Sprintf(format, args...))
}

func (h *history) look(ctx context.Context) error {
	h.mu.Lock()
	if h.running {
		h.problem("two looks at once")
	}
	h.running = true
	n := len(h.begun)
	h.begun = append(h.begun, h.tick())
	var l plannedLook
	if n < len(h.plan.looks) {
		l = h.plan.looks[n]
	}
	h.mu.Unlock()
	sleep(ctx, l.takes)
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running = false
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case l.fails:
		return errLook
	}
	h.good[n] = h.tick()
	return nil
}

func (h *history) arrive(ctx context.Context, tr *Trigger, n int) {
	h.mu.Lock()
	h.arrived[n] = h.tick()
	h.mu.Unlock()
	tr.Signal(ctx, func(_ context.Context, err error) {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.answers[n] = append(h.answers[n], err)
		h.answered[n] = h.tick()
	})
}

func (h *history) allAnswered() bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return len(h.answered) == len(h.plan.arrivals)
}

// run plays the plan, and returns how long it took until the trigger was closed.
func (h *history) run(t *testing.T) time.Duration {
	start := time.Now()
	tr := Start(t.Context(), Options{Interval: interval(t, h.plan.interval), Events: true}, h.look)
	var source sync.WaitGroup
	for n, at := range h.plan.arrivals {
		source.Go(func() {
			time.Sleep(at)
			h.arrive(t.Context(), tr, n)
		})
	}
	if h.plan.closed > 0 {
		time.Sleep(h.plan.closed)
		closeTrigger(t, tr)
	}
	source.Wait()
	tr.EndOfEvents()
	if h.plan.interval == "" {
		<-tr.Done()
	}
	for end := time.Now().Add(time.Hour); !h.allAnswered() && time.Now().Before(end); { // longer than all planned failures
		time.Sleep(time.Second)
	}
	took := time.Since(start)
	closeTrigger(t, tr)
	return took
}

func (h *history) check(took time.Duration, every time.Duration) {
	for n := range h.plan.arrivals {
		if len(h.answers[n]) != 1 {
			h.problem("want one answer to event %d, got %v", n, h.answers[n])
			continue
		}
		h.checkAnswer(n, h.answers[n][0])
	}
	looks, events := len(h.begun), len(h.plan.arrivals)
	most := events + len(h.plan.looks) + 1
	if every > 0 {
		most += int(took/(every-every/10)) + 1
	}
	if looks > most {
		h.problem("want at most %d looks, got %d", most, looks)
	}
}

func (h *history) checkAnswer(n int, err error) {
	switch {
	case err == nil:
		for look, end := range h.good {
			if h.begun[look] > h.arrived[n] && end < h.answered[n] {
				return
			}
		}
		h.problem("event %d was accepted, but no look that began after it succeeded", n)
	case errors.Is(err, errLook):
		if i := slices.IndexFunc(h.begun, func(begun int) bool { return begun > h.arrived[n] && begun < h.answered[n] }); i < 0 {
			h.problem("event %d was rejected by a look that began before it", n)
		}
	case h.plan.closed == 0:
		h.problem("event %d got %v though nobody closed the trigger", n, err)
	}
}

func TestEveryEventIsAnsweredOnceByALaterLook(t *testing.T) {
	every := map[string]time.Duration{"1ms": time.Millisecond, "30ms": 30 * time.Millisecond, "1s": time.Second, "* * * * * *": time.Second}
	rapid.Check(t, func(rt *rapid.T) {
		h := &history{
			plan: draw(rt), arrived: map[int]int{}, good: map[int]int{}, answers: map[int][]error{}, answered: map[int]int{},
		}
		synctest.Test(t, func(t *testing.T) { h.check(h.run(t), every[h.plan.interval]) })
		if len(h.problems) > 0 {
			rt.Fatalf("%+v: %v", h.plan, h.problems)
		}
	})
}
