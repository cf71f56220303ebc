package input

import (
	"context"
	"errors"
	"time"

	"github.com/benthosdev/benthos/v4/public/service"

	"github.com/benthos-delta/benthos-delta/input/feed"
	"github.com/benthos-delta/benthos-delta/input/trigger"
)

// looks makes one connection look for new versions: by a trigger, to which a reader brings what the child input says. Close
// joins both.
type looks struct {
	trigger *trigger.Trigger
	cancel  context.CancelFunc
	reader  chan struct{} // closed when the reader has ended
}

// startLooks returns nil where nothing is followed.
func (in *Input) startLooks(ctx context.Context, c *connection) *looks {
	if !in.config.Follows() {
		return nil
	}
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	l := &looks{cancel: cancel, reader: make(chan struct{})}
	o := trigger.Options{Interval: in.config.Trigger.Interval, Events: in.child != nil}
	var told reports
	l.trigger = trigger.Start(ctx, o, func(ctx context.Context) error {
		err := in.look(ctx, c)
		in.report(c, &told)
		return err
	})
	go func() {
		defer close(l.reader)
		in.readChild(ctx, l.trigger)
		select {
		case <-l.trigger.Done():
		case <-ctx.Done():
			return
		}
		if f, ok := c.source.(feed.Finisher); ok {
			f.Finish()
		}
	}()
	return l
}

// readChild signals each message of the child input until that ends.
func (in *Input) readChild(ctx context.Context, t *trigger.Trigger) {
	if in.child == nil {
		return
	}
	defer t.EndOfEvents()
	for {
		batch, answer, err := in.child.ReadBatch(ctx)
		if err != nil {
			return
		}
		if len(batch) > 0 {
			t.Signal(ctx, answered(answer))
		}
	}
}

func answered(answer service.AckFunc) trigger.Event {
	return func(ctx context.Context, err error) {
		_ = answer(ctx, err) // nothing can be done about it: the next message causes a look as well
	}
}

// look looks once.
func (in *Input) look(ctx context.Context, c *connection) error {
	began, before := time.Now(), c.lag().Latest
	err := c.source.Refresh(ctx)
	if ctx.Err() != nil {
		return err
	}
	result := "unchanged"
	switch {
	case err != nil:
		result = "failed"
		in.log.Warnf("Looking for a new version: %v", err)
	case c.lag().Latest > before:
		result = "new"
	}
	in.metrics.looked(result, time.Since(began))
	in.metrics.lag(c.lag())
	return err
}

// close stops looking and waits, as long as ctx allows, until nothing is left running.
func (l *looks) close(ctx context.Context) error {
	if l == nil {
		return nil
	}
	l.cancel()
	return errors.Join(
		joined(ctx, l.trigger.Done(), "a look for a new version"),
		joined(ctx, l.reader, "the reading of trigger.input"),
	)
}
