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
	looks   *looks      // nil: nothing is followed
	resumed bool        // it goes on behind a stored position
	begun   bool        // its start is stored; for the pump's goroutine
	again   atomic.Bool // its end is not that of the input: it is to connect again
	anew    atomic.Bool // and begin as if nothing had been read
}

// begin opens the table where the stored position says, else at the start, and begins to read ahead.
func (in *Input) begin(ctx context.Context) (*connection, error) {
	stored, err := in.positions.load(ctx)
	if err != nil {
		return nil, err
	}
	if in.rest.behind != nil { // nearer than what is stored
		stored = in.rest.behind
	}
	c := &connection{resumed: stored != nil}
	if c.source, err = in.openBehind(ctx, stored); err != nil && in.positions.resets(err, stored) {
		c.resumed, in.rest.behind = false, nil
		c.source, err = in.openBehind(ctx, nil)
	}
	if err != nil || ctx.Err() != nil {
		return c, err
	}
	in.metrics.opened()
	in.metrics.divided(in.target.Target)
	in.log.Debugf("Reading %s in %s", in.convert.table, in.target)
	c.tracker = ack.New[*batch](ack.Options{
		Rows: in.config.CheckpointLimit, Bytes: in.config.CheckpointLimitBytes, DropRejected: !in.config.AutoReplayNacks,
		Alone: in.config.CheckpointLimit <= in.config.BatchRows, Durable: in.positions.each(), Moved: in.positions.moved,
	})
	in.positions.follow(c.tracker)
	read := func(ctx context.Context) iter.Seq2[*batch, error] { return in.read(ctx, c) }
	c.looks = in.startLooks(ctx, c)
	c.pump = startPump(ctx, read, func(err error) { in.readFailed(c, err) })
	return c, nil
}

// openBehind opens the source behind a position, or at the start.
func (in *Input) openBehind(ctx context.Context, stored *feed.Position) (feed.Source, error) {
	conf := in.open
	conf.Resume = stored
	source, err := in.deps.Open(ctx, conf)
	if err != nil && stored != nil {
		if isLost(err) && in.config.Follows() {
			in.losses.tell(lostVersions(err, *stored))
		}
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
		grouper.patience = newPatience(retryFor(in.config), in.retrying)
		return exec.Ordered(ctx, grouper.groups(ctx), o, in.convert.convert)
	})
}

// told receives the events that are no rows, ahead of the rows that are being encoded. What is wrong with the columns is
// found here, even where no row comes, and no row comes before the position that a run begins at is stored.
func (in *Input) told(ctx context.Context, c *connection, event feed.Event) error {
	in.metrics.told(event)
	switch e := event.(type) {
	case feed.Planned:
		return in.planned(ctx, c, e)
	case feed.Skipped:
		in.skipped(e)
	case feed.SchemaChanged:
		in.log.Infof("The columns of version %d of %s have changed: %s", e.Version, in.convert.table, e.Changes)
		_, err := in.convert.formOf(e.Now)
		return deltaerr.Annotate(err, deltaerr.Table(in.convert.table), deltaerr.Version(e.Version))
	case feed.CaughtUp:
		in.caughtUp(c, e)
	}
	return nil
}

func (in *Input) skipped(e feed.Skipped) {
	switch {
	case e.Reason == feed.SkippedFile:
		in.losses.tell(versions{e.Version, e.Version})
		in.log.Warnf("Left out a file of version %d of %s: %v", e.Version, in.convert.table, e.Cause)
	case e.Rows != nil:
		in.log.Warnf("Left out version %d of %s, a %s (%s): %d files with %d rows", e.Version, in.convert.table, e.Reason, e.Operation,
			e.Files, *e.Rows)
	default:
		in.log.Warnf("Left out version %d of %s, a %s (%s): %d files", e.Version, in.convert.table, e.Reason, e.Operation, e.Files)
	}
}

func (in *Input) caughtUp(c *connection, e feed.CaughtUp) {
	if !in.config.Follows() {
		return
	}
	in.metrics.lag(lagOf(c.source))
	in.log.Infof("Caught up with version %d of %s; the latest is %d", e.Version, in.convert.table, e.Latest)
}

func (in *Input) planned(ctx context.Context, c *connection, e feed.Planned) error {
	lag := lagOf(c.source)
	if in.config.Follows() {
		in.metrics.lag(lag)
		if lag.Version >= 0 {
			in.metrics.version.Set(lag.Version, in.metrics.table)
		}
	}
	switch at := e.Position; {
	case at.Done:
		in.log.Infof("Following %s behind version %d: %s", in.convert.table, at.Version, describeLag(lag, time.Now()))
	case at.Phase == feed.PhaseTail:
		in.log.Infof("Following %s from the commit of version %d on: %s", in.convert.table, at.Version, describeLag(lag, time.Now()))
	default:
		in.log.Infof("Reading version %d of %s: %d files", at.Version, in.convert.table, e.Files)
	}
	if e.Columns != nil {
		if _, err := in.convert.formOf(e.Columns); err != nil {
			return deltaerr.Annotate(err, deltaerr.Table(in.convert.table), deltaerr.Version(e.Position.Version))
		}
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
	if position, _ := c.tracker.Position(); isLost(err) && in.config.Follows() {
		in.losses.tell(lostVersions(err, position))
	}
	if c.resumed && isLost(err) {
		position, _ := c.tracker.Position()
		err = in.positions.unresumable(err, position)
		if in.positions.resets(err, &position) {
			in.positions.forget()
			c.anew.Store(true)
			c.again.Store(true)
			return
		}
	}
	c.again.Store(!in.hopeless(err))
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
		c.pump.cancel() // also where ctx has ended
	}
	if err := c.looks.close(ctx); err != nil {
		return err
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
