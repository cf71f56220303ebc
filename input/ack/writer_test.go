package ack

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// office is a writer on a shelf, with a record of what it stored and when.
type office struct {
	t      *testing.T
	shelf  *shelf
	writer *Writer
	began  time.Time

	mu     sync.Mutex
	saved  []int64         // versions
	times  []time.Duration // when each was saved
	failed []error
}

func newOffice(t *testing.T, s *shelf, o WriterOptions) *office {
	t.Helper()
	f := &office{t: t, shelf: s, began: time.Now()}
	if o.Wait == nil {
		o.Wait = func(n int) time.Duration { return time.Duration(n) * time.Second }
	}
	o.Saved, o.Failed = f.noteSaved, f.noteFailed
	f.writer = NewWriter(NewStore(s, "k", nil), o)
	if _, _, err := f.writer.Load(t.Context()); err != nil {
		t.Fatal(err)
	}
	return f
}

func (f *office) noteSaved(p feed.Position) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.saved, f.times = append(f.saved, p.Version), append(f.times, time.Since(f.began))
}

func (f *office) noteFailed(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.failed = append(f.failed, err)
}

func (f *office) close() {
	f.t.Helper()
	if err := f.writer.Close(f.t.Context()); err != nil {
		f.t.Fatal(err)
	}
}

// want compares versions and the seconds at which they were saved.
func (f *office) want(versions []int64, seconds ...float64) {
	f.t.Helper()
	f.mu.Lock()
	defer f.mu.Unlock()
	var times []time.Duration
	for _, s := range seconds {
		times = append(times, time.Duration(math.Round(s*1000))*time.Millisecond)
	}
	if !slices.Equal(versions, f.saved) || !slices.Equal(times, f.times) {
		f.t.Fatalf("want %v at %v, got %v at %v", versions, times, f.saved, f.times)
	}
}

func TestWriterSavesOnceAnIntervalAndTheLastAtClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOffice(t, newShelf(), WriterOptions{Interval: 4700 * time.Millisecond})
		for v := range int64(12) { // one a second
			f.writer.Moved(at(v))
			time.Sleep(time.Second)
		}
		f.close()
		f.want([]int64{0, 4, 9, 11}, 0, 4.7, 9.4, 12)
		if _, r, _ := loaded(t, f.shelf); r.Position != at(11) {
			t.Errorf("want the last position, got %v", r)
		}
	})
}

func TestWriterWithoutIntervalSavesEachMove(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOffice(t, newShelf(), WriterOptions{})
		for v := range int64(3) {
			f.writer.Moved(at(v))
			synctest.Wait()
		}
		f.close()
		f.want([]int64{0, 1, 2}, 0, 0, 0)
	})
}

func TestMovesDuringASlowSaveAreOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		s.values["k_a"] = encoded(t, 1, 0)
		s.set = func(context.Context, string, []byte) error { time.Sleep(1900 * time.Millisecond); return nil }
		f := newOffice(t, s, WriterOptions{})
		for v := range int64(9) {
			f.writer.Moved(at(v + 1))
			time.Sleep(time.Second / 2)
		}
		f.close()
		f.want([]int64{1, 4, 8, 9}, 1.9, 3.8, 5.7, 7.6)
	})
}

func TestFinishedSnapshotIsSavedAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOffice(t, newShelf(), WriterOptions{Interval: time.Minute})
		p := at(3)
		p.Phase = feed.PhaseSnapshot
		f.writer.Moved(p)
		time.Sleep(time.Second)
		p.Done = true
		f.writer.Moved(p)
		time.Sleep(time.Second)
		f.writer.Moved(at(4))
		time.Sleep(time.Second)
		f.want([]int64{3, 3}, 0, 1)
		f.close()
		f.want([]int64{3, 3, 4}, 0, 1, 3)
	})
}

func TestFlushSavesNowAndWaits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOffice(t, newShelf(), WriterOptions{Interval: time.Hour})
		if err := f.writer.Flush(t.Context()); err != nil {
			t.Fatalf("want nothing to wait for, got %v", err)
		}
		f.writer.Moved(at(1))
		time.Sleep(time.Minute)
		f.writer.Moved(at(2))
		if err := f.writer.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.want([]int64{1, 2}, 0, 60)
		f.close()
	})
}

func TestOnlyBeginGoesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		s.values["k_a"] = encoded(t, 8, 5)
		f := newOffice(t, s, WriterOptions{})
		other := at(9)
		other.TableID = "u"
		for _, p := range []feed.Position{at(5), at(4), other} {
			f.writer.Moved(p)
			synctest.Wait()
		}
		f.want(nil)
		if len(f.failed) != 1 || deltaerr.KindOf(f.failed[0]) != deltaerr.Internal {
			t.Errorf("want one report of what went back, got %v", f.failed)
		}
		if err := f.writer.Begin(t.Context(), at(2)); err != nil {
			t.Fatal(err)
		}
		f.writer.Moved(at(3))
		f.close()
		f.want([]int64{2, 3}, 0, 0)
		if _, r, _ := loaded(t, s); r.Position != at(3) || r.Sequence != 10 {
			t.Errorf("want version 3 as the tenth, got %v", r)
		}
	})
}

func TestFailedSavesAreRepeatedWithTheNewestPosition(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		failures := 3
		s.set = func(context.Context, string, []byte) error {
			if failures--; failures >= 0 {
				return errors.New("busy")
			}
			return nil
		}
		f := newOffice(t, s, WriterOptions{})
		f.writer.Moved(at(1))
		time.Sleep(2 * time.Second)
		f.writer.Moved(at(2))
		if err := f.writer.Flush(t.Context()); err != nil {
			t.Fatal(err)
		}
		f.want([]int64{2}, 6) // 1 + 2 + 3 s
		if len(f.failed) != 3 || !deltaerr.Retryable(f.failed[0]) {
			t.Errorf("want three transient failures, got %v", f.failed)
		}
		f.close()
	})
}

func TestBeginEndsWithItsContextAndTheCachesError(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		refused := errors.New("refused")
		s.set = func(context.Context, string, []byte) error { return refused }
		f := newOffice(t, s, WriterOptions{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		err := f.writer.Begin(ctx, at(1))
		if !errors.Is(err, refused) || time.Since(f.began) != time.Minute {
			t.Errorf("want the cache's error after a minute, got %v after %s", err, time.Since(f.began))
		}
		s.set = nil
		f.close() // does not wait until the next try
		if time.Since(f.began) != time.Minute {
			t.Errorf("want the last save at once, got it after %s", time.Since(f.began)-time.Minute)
		}
		if err := f.writer.Begin(t.Context(), at(2)); err == nil {
			t.Error("want no beginning after the end")
		}
		f.want([]int64{1}, 60)
	})
}

func TestCloseGivesUpOnACacheThatHangs(t *testing.T) {
	for name, c := range map[string]struct {
		set  func(context.Context, string, []byte) error
		want time.Duration
	}{
		"until its context ends": {func(ctx context.Context, _ string, _ []byte) error { <-ctx.Done(); return ctx.Err() }, flushTime},
		"for a long time":        {func(context.Context, string, []byte) error { time.Sleep(time.Hour); return nil }, flushTime + joinTime},
		"with errors":            {func(context.Context, string, []byte) error { return errors.New("busy") }, flushTime},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := newShelf()
			s.set = c.set
			f := newOffice(t, s, WriterOptions{})
			f.writer.Moved(at(1))
			ended, cancel := context.WithCancel(t.Context())
			cancel() // the engine's patience is over; the last save has its own
			err := f.writer.Close(ended)
			if err == nil || deltaerr.KindOf(err) != deltaerr.Transient || time.Since(f.began) != c.want {
				t.Errorf("%s: want an error after %s, got %v after %s", name, c.want, err, time.Since(f.began))
			}
			<-f.writer.done
		})
	}
}

func TestHangingSaveIsGivenUpAndRepeated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newShelf()
		s.set = func(ctx context.Context, _ string, _ []byte) error {
			s.set = nil
			<-ctx.Done()
			return ctx.Err()
		}
		f := newOffice(t, s, WriterOptions{})
		if err := f.writer.Begin(t.Context(), at(1)); err != nil {
			t.Fatal(err)
		}
		f.want([]int64{1}, 11) // the save's limit, and a second's wait
		f.close()
	})
}

func TestCloseOfAnIdleWriterAndOfOneThatWasNeverUsed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := newOffice(t, newShelf(), WriterOptions{})
		f.close()
		f.writer.Moved(at(1))
		f.want(nil)
		f = newOffice(t, newShelf(), WriterOptions{})
		f.writer.Moved(at(1))
		synctest.Wait()
		f.close()
		f.close()
		f.want([]int64{1}, 0)
	})
}
