package trigger

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

func interval(t *testing.T, text string) configspec.Interval {
	t.Helper()
	i, err := configspec.ParseInterval(text)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

// table records the looks at it, as times since the start.
type table struct {
	start time.Time
	takes time.Duration   // of a look
	fails map[int]error   // by the number of the look, from 0
	looks []time.Duration // when each began
}

func newTable() *table { return &table{start: time.Now(), fails: map[int]error{}} }

func (b *table) look(ctx context.Context) error {
	n := len(b.looks)
	b.looks = append(b.looks, time.Since(b.start))
	sleep(ctx, b.takes)
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return b.fails[n]
}

func sleep(ctx context.Context, d time.Duration) {
	select {
	case <-time.After(d):
	case <-ctx.Done():
	}
}

// answers collects what events were told.
type answers struct {
	mu   sync.Mutex
	errs []error
}

func (a *answers) event(_ context.Context, err error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.errs = append(a.errs, err)
}

func (a *answers) want(t *testing.T, want ...error) {
	t.Helper()
	a.mu.Lock()
	defer a.mu.Unlock()
	if !slices.Equal(want, a.errs) {
		t.Fatalf("want the answers %v, got %v", want, a.errs)
	}
}

func closeTrigger(t *testing.T, tr *Trigger) {
	t.Helper()
	if err := tr.Close(context.Background()); err != nil {
		t.Fatal(err)
	}
}

func ended(tr *Trigger) bool {
	synctest.Wait()
	select {
	case <-tr.Done():
		return true
	default:
		return false
	}
}

func TestIntervalCausesALookEachTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTable()
		tr := Start(t.Context(), Options{Interval: interval(t, "10s")}, b.look)
		time.Sleep(10 * time.Minute)
		closeTrigger(t, tr)
		if n := len(b.looks); n < 60 || n > 66 {
			t.Errorf("want 60 to 66 looks in 10 minutes, got %d", n)
		}
		last := time.Duration(0)
		for _, at := range b.looks {
			if gap := at - last; gap < 9*time.Second || gap > 10*time.Second {
				t.Errorf("want 9 to 10 s between looks, got %s", gap)
			}
			last = at
		}
	})
}

func TestCronExpressionIsExactAndALongLookLosesNoTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // the clock begins at midnight UTC
		b := newTable()
		b.takes = 90 * time.Minute
		tr := Start(t.Context(), Options{Interval: interval(t, "0 * * * *")}, b.look)
		time.Sleep(5 * time.Hour)
		closeTrigger(t, tr)
		want := []time.Duration{60 * time.Minute, 150 * time.Minute, 240 * time.Minute} // at 2:00 one was running
		if !slices.Equal(want, b.looks) {
			t.Errorf("want %v, got %v", want, b.looks)
		}
	})
}

func TestBurstOfEventsIsOneLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, a := newTable(), &answers{}
		tr := Start(t.Context(), Options{Events: true}, b.look)
		time.Sleep(time.Minute)
		for range 1000 {
			tr.Signal(t.Context(), a.event)
		}
		time.Sleep(100 * time.Millisecond)
		closeTrigger(t, tr)
		a.want(t, make([]error, 1000)...)
		if want := []time.Duration{time.Minute + window}; !slices.Equal(want, b.looks) {
			t.Errorf("want one look at %v, got %v", want, b.looks)
		}
	})
}

// TestBurstOfASlowSourceIsOneLook as long as that does not take too long.
func TestBurstOfASlowSourceIsOneLook(t *testing.T) {
	for name, tt := range map[string]struct {
		events int
		every  time.Duration
		want   []time.Duration
	}{
		"short": {4, 11 * time.Millisecond, []time.Duration{33*time.Millisecond + window}},
		"long":  {11, 11 * time.Millisecond, []time.Duration{longestWindow, 66*time.Millisecond + longestWindow}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				b, a := newTable(), &answers{}
				tr := Start(t.Context(), Options{Events: true}, b.look)
				for range tt.events {
					tr.Signal(t.Context(), a.event)
					time.Sleep(tt.every)
				}
				time.Sleep(time.Second)
				closeTrigger(t, tr)
				a.want(t, make([]error, tt.events)...)
				if !slices.Equal(tt.want, b.looks) {
					t.Errorf("want looks at %v, got %v", tt.want, b.looks)
				}
			})
		})
	}
}

func TestEventDuringALookWaitsForTheNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, a := newTable(), &answers{}
		b.takes = time.Second
		tr := Start(t.Context(), Options{Interval: interval(t, "1h"), Events: true}, b.look)
		tr.Signal(t.Context(), func(context.Context, error) {})
		time.Sleep(500 * time.Millisecond)
		for range 1000 {
			go tr.Signal(t.Context(), a.event)
		}
		time.Sleep(time.Second)
		a.want(t)
		time.Sleep(time.Second)
		a.want(t, make([]error, 1000)...)
		closeTrigger(t, tr)
		if want := []time.Duration{window, 2*window + time.Second}; !slices.Equal(want, b.looks) {
			t.Errorf("want looks at %v, got %v", want, b.looks)
		}
	})
}

func TestLookForAnEventRestartsTheInterval(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTable()
		tr := Start(t.Context(), Options{Interval: interval(t, "10s"), Events: true}, b.look)
		for range 20 {
			time.Sleep(8 * time.Second)
			tr.Signal(t.Context(), func(context.Context, error) {})
		}
		time.Sleep(5 * time.Second)
		closeTrigger(t, tr)
		if len(b.looks) != 20 {
			t.Errorf("want only the looks for 20 events, got %v", b.looks)
		}
	})
}

func TestFailedLookIsAnsweredAndRepeatedWithGrowingPauses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, a, broken := newTable(), &answers{}, errors.New("broken")
		for n := range 20 {
			b.fails[n] = broken
		}
		tr := Start(t.Context(), Options{Events: true}, b.look)
		tr.Signal(t.Context(), a.event)
		tr.EndOfEvents()
		time.Sleep(window)
		synctest.Wait()
		a.want(t, broken)
		time.Sleep(10 * time.Minute)
		if !ended(tr) || len(b.looks) != 21 {
			t.Fatalf("want 21 looks, the last of which ends the trigger, got %d", len(b.looks))
		}
		gap := b.looks[1] - b.looks[0]
		if gap < shortestPause/2 || gap > shortestPause {
			t.Errorf("want the second look after 50 to 100 ms, got %s", gap)
		}
		gap = b.looks[20] - b.looks[19]
		if gap < longestPause/2 || gap > longestPause {
			t.Errorf("want the last look after 15 to 30 s, got %s", gap)
		}
		closeTrigger(t, tr)
	})
}

// A source that sends a rejected event again at once must not make looks follow each other without a pause.
func TestRejectedEventsThatComeAgainAtOnceDoNotSpin(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTable()
		for n := range 10 {
			b.fails[n] = errors.New("broken")
		}
		tr := Start(t.Context(), Options{Events: true}, b.look)
		answered := make(chan error)
		for sent := 1; ; sent++ {
			go tr.Signal(t.Context(), func(_ context.Context, err error) { answered <- err })
			if err := <-answered; err == nil {
				if sent != 11 || len(b.looks) != 11 {
					t.Errorf("want 11 events and looks, got %d and %d", sent, len(b.looks))
				}
				break
			}
		}
		closeTrigger(t, tr)
	})
}

func TestTriggerEndsWhenNothingCanCauseALook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, a := newTable(), &answers{}
		if tr := Start(t.Context(), Options{}, b.look); !ended(tr) {
			t.Error("want a trigger with nothing to wait for to end")
		}
		tr := Start(t.Context(), Options{Events: true}, b.look)
		tr.Signal(t.Context(), a.event)
		tr.EndOfEvents()
		tr.EndOfEvents()
		if ended(tr) {
			t.Error("want the trigger to look for the last event")
		}
		time.Sleep(window)
		if !ended(tr) {
			t.Error("want the end of the events to end a trigger without an interval")
		}
		a.want(t, nil)
		tr = Start(t.Context(), Options{Interval: interval(t, "1s"), Events: true}, b.look)
		tr.EndOfEvents()
		time.Sleep(time.Hour)
		if ended(tr) || len(b.looks) < 3600 {
			t.Errorf("want the interval to go on, got %d looks", len(b.looks))
		}
		closeTrigger(t, tr)
	})
}

func TestCloseAnswersEveryEvent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, looked, waiting, late, gone := newTable(), &answers{}, &answers{}, &answers{}, &answers{}
		b.takes = time.Hour
		tr := Start(t.Context(), Options{Events: true}, b.look)
		tr.Signal(t.Context(), looked.event)
		time.Sleep(time.Second)
		ctx, cancel := context.WithCancel(t.Context())
		go tr.Signal(ctx, gone.event)
		go tr.Signal(t.Context(), waiting.event)
		synctest.Wait()
		cancel()
		synctest.Wait()
		gone.want(t, context.Canceled)
		closeTrigger(t, tr)
		closeTrigger(t, tr)
		tr.Signal(t.Context(), late.event)
		synctest.Wait()
		looked.want(t, context.Canceled)
		waiting.want(t, ErrStopped)
		late.want(t, ErrStopped)
	})
}

func TestCloseWhileEventsAreGatheredBeginsNoLook(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, a := newTable(), &answers{}
		ctx, cancel := context.WithCancel(t.Context())
		tr := Start(ctx, Options{Events: true}, b.look)
		tr.Signal(t.Context(), a.event)
		cancel()
		<-tr.Done()
		a.want(t, ErrStopped)
		if len(b.looks) != 0 {
			t.Errorf("want no look, got %v", b.looks)
		}
	})
}

func TestCloseGivesUpWhenItsContextEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		tr := Start(t.Context(), Options{Events: true}, func(context.Context) error { <-release; return nil })
		tr.Signal(t.Context(), func(context.Context, error) {})
		time.Sleep(time.Second)
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if err := tr.Close(ctx); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("want the end of the context, got %v", err)
		}
		close(release)
		closeTrigger(t, tr)
	})
}

func TestMoreEventsThanOneLookTakesWaitInTheirSource(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, a := newTable(), &answers{}
		b.takes = time.Second
		tr := Start(t.Context(), Options{Events: true}, b.look)
		for range most + 1 {
			go tr.Signal(t.Context(), a.event)
		}
		time.Sleep(1500 * time.Millisecond)
		a.want(t, make([]error, most)...)
		time.Sleep(time.Second)
		a.want(t, make([]error, most+1)...)
		closeTrigger(t, tr)
		if len(b.looks) != 2 {
			t.Errorf("want two looks, got %v", b.looks)
		}
	})
}

// TestSourceThatTakesNoAnswersHoldsUpNeitherLooksNorClose: they have one deadline together.
func TestSourceThatTakesNoAnswersHoldsUpNeitherLooksNorClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b := newTable()
		tr := Start(t.Context(), Options{Interval: interval(t, "1s"), Events: true}, b.look)
		signal := func() {
			for range 1000 {
				tr.Signal(t.Context(), func(ctx context.Context, _ error) { <-ctx.Done() })
			}
		}
		signal()
		time.Sleep(answerTime + 2*time.Second - window)
		synctest.Wait()
		if len(b.looks) < 2 || b.looks[1] > window+answerTime+time.Second {
			t.Errorf("want the next look when %s are over, got looks at %v", answerTime, b.looks)
		}
		signal()
		time.Sleep(2 * window) // it is being answered
		began := time.Now()
		closeTrigger(t, tr)
		if took := time.Since(began); took > lastTime {
			t.Errorf("want the trigger closed within %s, took %s", lastTime, took)
		}
	})
}
