package trigger

import (
	"context"
	"errors"
	"time"
)

const (
	// window is how long an event waits for others, so that a burst is one look: a source hands out some thousand messages in
	// this time. A source that is slower extends it, to no more than longestWindow. A look does not wait for more than most
	// events.
	window        = 25 * time.Millisecond
	longestWindow = 60 * time.Millisecond
	most          = 4096

	// A look that failed is repeated: a source need not send an event again, or does it as soon as it is rejected.
	shortestPause = 100 * time.Millisecond
	longestPause  = 30 * time.Second
)

// errExhausted ends a trigger for which nothing is left that could cause a look.
var errExhausted = errors.New("no look will come")

// await waits for an event, and those that come with it, or until the interval is due.
func (t *Trigger) await(ctx context.Context, due time.Time) ([]Event, error) {
	interval, stop := timer(due)
	defer stop()
	ended := t.ended
	for ctx.Err() == nil { // asked first: a trigger that was closed begins no look that is due too
		select {
		case e := <-t.events:
			return t.gather(ctx, []Event{e}, window, longestWindow)
		case <-interval:
			return nil, nil
		case <-ended:
			if interval == nil {
				return nil, errExhausted
			}
			ended = nil
		case <-ctx.Done():
		}
	}
	return nil, ErrStopped
}

// gather adds the events that come until there was none for some time, or longest is over.
func (t *Trigger) gather(ctx context.Context, events []Event, quiet, longest time.Duration) ([]Event, error) {
	end := time.Now().Add(longest)
	timer := time.NewTimer(quiet)
	defer timer.Stop()
	for {
		accept := t.events
		if len(events) >= most {
			accept = nil
		}
		select {
		case e := <-accept:
			events = append(events, e)
			timer.Reset(min(quiet, time.Until(end)))
		case <-timer.C:
			return events, ctx.Err()
		case <-ctx.Done():
			return events, ErrStopped
		}
	}
}

// timer returns a channel that receives at due, nil for the zero time.
func timer(due time.Time) (at <-chan time.Time, stop func() bool) {
	if due.IsZero() {
		return nil, func() bool { return false }
	}
	timer := time.NewTimer(time.Until(due))
	return timer.C, timer.Stop
}

// pause is how long the next look waits after so many failures in a row; random in [0, 1) takes off up to half.
func pause(failures int, random float64) time.Duration {
	const doublings = 9 // more than the longest
	d := min(shortestPause<<min(failures-1, doublings), longestPause)
	return d - time.Duration(random*float64(d)/2)
}
