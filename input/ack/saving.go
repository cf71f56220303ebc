package ack

import (
	"context"
	"time"

	"github.com/benthos-delta/benthos-delta/input/feed"
)

// job is what the writer's goroutine finds when it looks.
type job struct {
	position feed.Position
	number   int64
	pending  bool // position is not stored
	urgent   bool // the interval does not matter
	closing  bool
}

func (w *Writer) job() job {
	w.mu.Lock()
	defer w.mu.Unlock()
	return job{
		position: w.newest, number: w.moves, closing: w.closing,
		pending: w.stored < w.moves, urgent: w.stored < w.urgent,
	}
}

// pace decides when to save.
type pace struct {
	interval time.Duration
	saved    time.Time // begin of the last save that succeeded
	failures int       // in a row
	retry    time.Time // after a failure: when to try again
	closing  bool
}

// hurry makes a job of a writer that is closing due at once, however long the wait had grown.
func (p *pace) hurry(j job) {
	if j.closing && !p.closing {
		p.closing, p.failures = true, 0
	}
}

// until is the time until a pending job is due.
func (p *pace) until(j job, now time.Time) time.Duration {
	switch {
	case p.failures > 0:
		return p.retry.Sub(now)
	case j.urgent || j.closing:
		return 0
	default:
		return p.saved.Add(p.interval).Sub(now)
	}
}

// settle notes how a save ended that began at some time.
func (p *pace) settle(began time.Time, err error, wait func(n int) time.Duration) {
	if err == nil {
		p.saved, p.failures = began, 0
		return
	}
	p.failures++
	p.retry = time.Now().Add(wait(p.failures))
}

// run saves what is due until Close was called and nothing is pending, or ctx ends.
func (w *Writer) run(ctx context.Context) {
	defer close(w.done)
	p := pace{interval: w.options.Interval}
	for ctx.Err() == nil {
		j := w.job()
		if !j.pending {
			if j.closing {
				return
			}
			w.sleep(ctx, nil)
			continue
		}
		p.hurry(j)
		if wait := p.until(j, time.Now()); wait > 0 {
			timer := time.NewTimer(wait)
			w.sleep(ctx, timer.C)
			timer.Stop()
			continue
		}
		began := time.Now()
		p.settle(began, w.save(ctx, j), w.options.Wait)
	}
}

// sleep waits for news, for a time or for the end.
func (w *Writer) sleep(ctx context.Context, due <-chan time.Time) {
	select {
	case <-w.wake:
	case <-due:
	case <-ctx.Done():
	}
}

func (w *Writer) save(ctx context.Context, j job) error {
	limited, cancel := context.WithTimeout(ctx, saveTime)
	defer cancel()
	err := w.store.Save(limited, j.position)
	if err != nil {
		w.options.Failed(err)
	} else {
		w.options.Saved(j.position)
	}
	w.settle(j, err)
	return err
}

// settle makes the end of a save known to those who wait for it.
func (w *Writer) settle(j job, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.failure = err
	if err == nil {
		w.stored = j.number
	}
	close(w.settled)
	w.settled = make(chan struct{})
}
