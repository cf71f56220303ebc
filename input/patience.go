package input

import (
	"context"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// patience says how long a failure that may pass is tried again: with growing waits that vary, until most has gone by since
// the first failure in a row.
type patience struct {
	most   time.Duration
	waits  backoff.BackOff
	failed func(error, time.Duration) // told of each failure that is waited out
	since  time.Time                  // zero: nothing is failing
}

const longestWait = 30 * time.Second

func newPatience(most time.Duration, failed func(error, time.Duration)) *patience {
	waits := backoff.NewExponentialBackOff()
	waits.MaxInterval = longestWait
	return &patience{most: most, waits: waits, failed: failed}
}

// next returns how long to wait before another attempt; false: the error is to be taken for permanent.
func (p *patience) next(err error) (time.Duration, bool) {
	if !deltaerr.Retryable(err) {
		return 0, false
	}
	now := time.Now()
	if p.since.IsZero() {
		p.since = now
		p.waits.Reset()
	}
	left := p.most - now.Sub(p.since)
	if left <= 0 {
		return 0, false
	}
	return min(p.waits.NextBackOff(), left), true
}

// wait waits out one failure. It returns an error when there is nothing more to hope for, or when ctx ends.
func (p *patience) wait(ctx context.Context, err error) error {
	wait, more := p.next(err)
	if !more {
		return p.exhausted(err)
	}
	p.failed(err, wait)
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// exhausted adds how long it was tried.
func (p *patience) exhausted(err error) error {
	if p.since.IsZero() {
		return err
	}
	return deltaerr.Annotate(err, deltaerr.Hint("given up after %s of retries", time.Since(p.since).Round(time.Second)))
}

// reset notes a success.
func (p *patience) reset() { p.since = time.Time{} }
