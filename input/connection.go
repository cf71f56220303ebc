package input

import (
	"context"
	"iter"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/exec"
	"github.com/benthos-delta/benthos-delta/input/ack"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

// connection is one reading of the table, from Connect until everything is resolved or the input closes.
type connection struct {
	source  feed.Source
	tracker *ack.Tracker[*batch]
	pump    *pump
	resumed bool        // it goes on behind a stored position
	begun   bool        // its start is stored; for the pump's goroutine
	again   atomic.Bool // its end is not that of the input: the table is to be read anew
}

// begin opens the table where the stored position says, else at the start, and begins to read ahead.
func (in *Input) begin(ctx context.Context) (*connection, error) {
	stored, err := in.positions.load(ctx)
	if err != nil {
		return nil, err
	}
	c := &connection{resumed: stored != nil}
	if c.source, err = in.openBehind(ctx, stored); err != nil && in.positions.resets(err, stored) {
		c.resumed = false
		c.source, err = in.openBehind(ctx, nil)
	}
	if err != nil || ctx.Err() != nil {
		return c, err
	}
	in.metrics.opened()
	c.tracker = ack.New[*batch](ack.Options{
		Rows: in.config.CheckpointLimit, Bytes: in.config.CheckpointLimitBytes, DropRejected: !in.config.AutoReplayNacks,
		Alone: in.config.CheckpointLimit <= in.config.BatchRows, Moved: in.positions.moved,
	})
	read := func(ctx context.Context) iter.Seq2[*batch, error] { return in.read(ctx, c) }
	c.pump = startPump(ctx, read, func(err error) { in.readFailed(c, err) })
	return c, nil
}

// openBehind opens the source behind a position, or at the start.
func (in *Input) openBehind(ctx context.Context, stored *feed.Position) (feed.Source, error) {
	conf := in.open
	conf.Resume = stored
	source, err := in.deps.Open(ctx, conf)
	if err != nil && stored != nil {
		err = in.positions.unresumable(err, *stored)
	}
	return source, err
}

// read yields the batches of the source, encoded in parallel and in order.
func (in *Input) read(ctx context.Context, c *connection) iter.Seq2[*batch, error] {
	o := exec.Options[*batch]{
		Workers: runtime.GOMAXPROCS(0),
		Budget:  in.deps.Budget,
		Size: func(b *batch) int64 {
			_, bytes := b.Tail(0)
			return bytes
		},
	}
	return exec.Scoped(ctx, func(ctx context.Context) iter.Seq2[*batch, error] {
		grouper := in.convert.grouper(c.source)
		grouper.told = func(ctx context.Context, e feed.Event) error { return in.told(ctx, c, e) }
		grouper.patience = newPatience(in.config.RetryMaxElapsed, in.retrying)
		return exec.Ordered(ctx, grouper.groups(ctx), o, in.convert.convert)
	})
}

// told receives the events that are no rows, ahead of the rows that are being encoded. What is wrong with the columns is
// found here, even where no row comes, and no row comes before the position that a run begins at is stored.
func (in *Input) told(ctx context.Context, c *connection, event feed.Event) error {
	in.metrics.told(event)
	e, ok := event.(feed.Planned)
	if !ok {
		return nil
	}
	in.log.Infof("Reading version %d of %s: %d files", e.Position.Version, in.convert.table, e.Files)
	if _, err := in.convert.formOf(e.Columns); err != nil {
		return deltaerr.Annotate(err, deltaerr.Table(in.convert.table), deltaerr.Version(e.Position.Version))
	}
	if !c.resumed && !c.begun {
		if err := in.positions.begin(ctx, e.Position); err != nil {
			return err
		}
		c.begun = true
	}
	c.tracker.Start(e.Position)
	return nil
}

func (in *Input) retrying(err error, wait time.Duration) {
	in.metrics.retried()
	in.log.Warnf("%v; trying again in %s", err, wait.Round(time.Millisecond))
}

// readFailed takes the error that ended the reading. A file that is gone may be gone because the stored position is old.
func (in *Input) readFailed(c *connection, err error) {
	if c.resumed && deltaerr.KindOf(err) == deltaerr.NotFound {
		position, _ := c.tracker.Position()
		err = in.positions.unresumable(err, position)
		if in.positions.resets(err, &position) {
			in.positions.forget()
			c.again.Store(true)
			return
		}
	}
	in.failed(err)
}

func (c *connection) inFlight() int64 {
	rows, _ := c.tracker.InFlight()
	return rows
}

// close stops reading and waits until nothing of it is left running. Acknowledgements may still come.
func (c *connection) close(ctx context.Context) error {
	if c == nil {
		return nil
	}
	if c.pump != nil {
		if err := c.pump.close(ctx); err != nil {
			return err
		}
	}
	if c.source == nil {
		return nil
	}
	return c.source.Close()
}
