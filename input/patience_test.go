package input

import (
	"context"
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

var errBusy = deltaerr.New(deltaerr.Transient, "busy")

func TestPatienceEndsWithItsTime(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPatience(5*time.Minute, func(error, time.Duration) {})
		began := time.Now()
		attempts := 1
		for p.wait(t.Context(), errBusy) == nil {
			attempts++
		}
		if took := time.Since(began); took != 5*time.Minute {
			t.Errorf("want 5m of retries, got %s", took)
		}
		if attempts < 10 || attempts > 60 {
			t.Errorf("want a few dozen attempts in 5m, got %d", attempts)
		}
	})
}

func TestSuccessStartsPatienceAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPatience(time.Minute, func(error, time.Duration) {})
		for range 100 {
			check(t, p.wait(t.Context(), errBusy))
			p.reset()
			time.Sleep(time.Minute)
		}
	})
}

func TestOnlyTransientErrorsAreWaitedOut(t *testing.T) {
	p := newPatience(time.Minute, nil)
	corrupt := deltaerr.New(deltaerr.Corrupt, "damaged")
	if err := p.wait(t.Context(), corrupt); !errors.Is(err, corrupt) {
		t.Fatalf("want the error as it is, got %v", err)
	}
}

func TestPatienceEndsWithItsContext(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	p := newPatience(time.Hour, func(error, time.Duration) { cancel() })
	if err := p.wait(ctx, errBusy); !errors.Is(err, context.Canceled) {
		t.Fatalf("want the end of the context, got %v", err)
	}
}

// TestPatienceKeepsTheTimeOfEachFile lets two files fail in turn: the first of them still ends it.
func TestPatienceKeepsTheTimeOfEachFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := newPatience(time.Minute, nil)
		busy := func(file string) error { return deltaerr.New(deltaerr.Transient, "busy", deltaerr.File(file)) }
		began := time.Now()
		check(t, p.wait(t.Context(), busy("a")))
		time.Sleep(50 * time.Second)
		check(t, p.wait(t.Context(), busy("b")))
		var err error
		for err == nil {
			err = p.wait(t.Context(), busy("b"))
			if err == nil {
				err = p.wait(t.Context(), busy("a"))
			}
		}
		if took := time.Since(began); took < time.Minute || took > 2*time.Minute {
			t.Errorf("want the minute of the first file, got %s", took)
		}
		if !strings.Contains(err.Error(), "file a") || !strings.Contains(err.Error(), "given up after") {
			t.Errorf("want the file named that was given up, got %v", err)
		}
	})
}
