package input

import (
	"context"
	"errors"
	"time"

	"github.com/cenkalti/backoff/v5"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// patience says how long a failure that may pass is tried again: with growing waits that vary, until most has gone by since
// the first failure of the same file. Other files may fail in between; a success forgets all.
type patience struct {
	most    time.Duration
	waits   backoff.BackOff
	failed  func(error, time.Duration) // told of each failure that is waited out
	failing map[string]time.Time       // since when, by file; "" is whatever is no file
}

const longestWait = 30 * time.Second

// newPatience returns a patience; failed may be nil.
func newPatience(most time.Duration, failed func(error, time.Duration)) *patience {
	waits := backoff.NewExponentialBackOff()
	waits.MaxInterval = longestWait
	if failed == nil {
		failed = func(error, time.Duration) {}
	}
	return &patience{most: most, waits: waits, failed: failed, failing: map[string]time.Time{}}
}

// next returns how long to wait before another attempt; false: the error is to be taken for permanent.
func (p *patience) next(err error) (time.Duration, bool) {
	if !deltaerr.Retryable(err) {
		return 0, false
	}
	now, file := time.Now(), fileOf(err)
	since, known := p.failing[file]
	if !known {
		since = now
		p.failing[file] = now
		p.waits.Reset()
	}
	left := p.most - now.Sub(since)
	if left <= 0 {
		return 0, false
	}
	return min(p.waits.NextBackOff(), left), true
}

// fileOf is the file that an error is about; "": none is named.
func fileOf(err error) string {
	var e *deltaerr.Error
	if !errors.As(err, &e) {
		return ""
	}
	return e.File
}

// wait waits out one failure. It returns an error when there is nothing more to hope for, or when ctx ends.
func (p *patience) wait(ctx context.Context, err error) error {
	wait, more := p.next(err)
	if !more {
		return p.exhausted(err)
	}
	p.failed(err, wait)
	return sleep(ctx, wait)
}

// sleep waits for some time, unless ctx ends before: that is its error.
func sleep(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
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
	since, known := p.failing[fileOf(err)]
	if !known || !deltaerr.Retryable(err) {
		return err
	}
	return deltaerr.Annotate(err, deltaerr.Hint("given up after %s of retries", time.Since(since).Round(time.Second)))
}

// reset notes a success.
func (p *patience) reset() { clear(p.failing) }
