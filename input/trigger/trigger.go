// Package trigger answers when to look for a new version of a table: at an interval, at events, or both. It runs the looks,
// one at a time and beside whatever reads the table, and says to each event what became of the look that it caused. What a
// look does and where events come from is left to its user; it knows no Benthos.
package trigger

import (
	"context"
	"errors"
	"math/rand/v2"
	"sync"
	"time"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
)

// ErrStopped is the answer to events that no look was begun for, because the trigger had stopped.
var ErrStopped = errors.New("the trigger has stopped: nobody looked for a new version")

// Options of a trigger. The zero value never looks.
type Options struct {
	Interval configspec.Interval // counts from the beginning of the last look, whatever caused it
	Events   bool                // there is a source of events, which will call EndOfEvents
}

// Look finds out whether there is a new version. It returns nil when the log was listed after it was called, and promptly
// when ctx ends. Its error is the answer to the events that wait for it, and the look is repeated, after pauses that grow from
// 0.1 to 30 s, until one succeeds: what is hopeless ends by Close.
type Look func(ctx context.Context) error

// Trigger looks until it is closed, or until nothing can cause a look any more. Its methods may be called from any goroutine.
type Trigger struct {
	interval configspec.Interval
	look     Look
	events   chan Event
	ended    chan struct{} // closed when no event will come
	end      func()
	cancel   context.CancelFunc
	done     chan struct{}
}

// Event is the answer function of one event. It gets nil when a look that began after the event's arrival succeeded, else the
// look's error, [ErrStopped], or why the context of its Signal ended. It is called once, from any goroutine, and holds up looks
// until it returns, which it does promptly when ctx ends: that is 5 s after the look for all its events together, and 1 s after
// the trigger was closed.
type Event func(ctx context.Context, err error)

// Start starts the one goroutine of a trigger, which calls look, and the answers of the events that it accepted. The end of
// ctx stops it as Close does; the caller calls Close in any case. The first look is due one interval from now.
func Start(ctx context.Context, o Options, look Look) *Trigger {
	ctx, cancel := context.WithCancel(ctx)
	t := &Trigger{
		interval: o.Interval,
		look:     look,
		events:   make(chan Event),
		ended:    make(chan struct{}),
		cancel:   cancel,
		done:     make(chan struct{}),
	}
	t.end = sync.OnceFunc(func() { close(t.ended) })
	if !o.Events {
		t.end()
	}
	go t.run(ctx)
	return t
}

// Signal causes a look, and returns when the trigger has accepted the event, which it does between looks. It takes over the
// event in every case: one that ctx or the end of the trigger kept from being accepted is answered before Signal returns.
// That Signal waits while a look runs is what bounds the events held here.
func (t *Trigger) Signal(ctx context.Context, e Event) {
	select {
	case t.events <- e:
	case <-t.done:
		answer(ctx, []Event{e}, ErrStopped)
	case <-ctx.Done():
		answer(ctx, []Event{e}, ctx.Err())
	}
}

// EndOfEvents says that every Signal has returned and none will come. Where the interval is off, that ends the trigger, after
// the look for the events it has accepted. It may be called more than once.
func (t *Trigger) EndOfEvents() { t.end() }

// Done is closed when no look is running and none will come, and all accepted events are answered.
func (t *Trigger) Done() <-chan struct{} { return t.done }

// Close stops the trigger and waits, as long as ctx allows, until nothing of it is left running. It may be called more than
// once.
func (t *Trigger) Close(ctx context.Context) error {
	t.cancel()
	select {
	case <-t.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *Trigger) run(ctx context.Context) {
	defer close(t.done)
	defer t.cancel()
	for begin, failures := time.Now(), 0; ; {
		events, err := t.next(ctx, begin, failures)
		if err != nil {
			answer(ctx, events, err)
			return
		}
		begin = time.Now()
		if err = t.look(ctx); err != nil {
			failures++
		} else {
			failures = 0
		}
		answer(ctx, events, err)
	}
}

// next returns when it is time for a look, with the events that wait for it. The error says that there will be none; the
// events then are those that were accepted in vain.
func (t *Trigger) next(ctx context.Context, begin time.Time, failures int) ([]Event, error) {
	random := rand.Float64() //nolint:gosec // spreads load, keeps no secret
	if failures > 0 {
		wait := pause(failures, random)
		return t.gather(ctx, nil, wait, wait)
	}
	return t.await(ctx, t.interval.Next(begin, random))
}

const (
	answerTime = 5 * time.Second // for all answers of a look, so that a source that hangs does not hold up the next one
	lastTime   = time.Second     // of that, once the trigger was closed: a source that gets no answer may not end
)

// answer tells events what became of them.
func answer(ctx context.Context, events []Event, err error) {
	limited, cancel := context.WithTimeout(context.WithoutCancel(ctx), answerTime)
	defer cancel()
	defer context.AfterFunc(ctx, func() { time.AfterFunc(lastTime, cancel) })()
	for _, e := range events {
		e(limited, err)
	}
}
