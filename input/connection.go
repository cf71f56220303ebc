package input

import (
	"context"
	"errors"
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
	source   feed.Source
	tracker  *ack.Tracker[*batch]
	handover *handover
	pump     *pump
	looks    *looks                 // nil: nothing is followed
	release  func() <-chan struct{} // closes the source, once, beside the caller; closed when that is done
	resumed  bool                   // it goes on behind a stored position
	since    time.Time              // when it was opened
	begun    bool                   // its start was told, and is stored; for the pump's goroutine
	again    atomic.Bool            // its end is not that of the input: it is to connect again
	anew     atomic.Bool            // and begin as if nothing had been read
}

// begin opens the table where the stored position says, else at the start, and begins to read ahead.
func (in *Input) begin(ctx context.Context) (*connection, error) {
	stored, err := in.resumeFrom(ctx)
	if err != nil {
		return nil, err
	}
	c := &connection{resumed: stored != nil, since: time.Now()}
	if c.source, err = in.openBehind(ctx, stored); err != nil && in.resets(err, stored) {
		c.resumed, in.rest.behind = false, nil
		c.source, err = in.openBehind(ctx, nil)
	}
	if err != nil {
		return c, err
	}
	c.release = closerOf(c.source)
	if ctx.Err() != nil {
		return c, ctx.Err()
	}
	c.handover = newHandover(lagOf(c.source))
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

// resumeFrom is the position behind which a connection goes on; nil: it begins at the start. Where the last connection came to
// is nearer than what is stored, and was loaded before it.
func (in *Input) resumeFrom(ctx context.Context) (*feed.Position, error) {
	if behind := in.rest.behind; behind != nil {
		in.log.Infof("Going on behind %s", inWords(*behind))
		return behind, nil
	}
	return in.positions.load(ctx)
}

// openBehind opens the source behind a position, or at the start.
func (in *Input) openBehind(ctx context.Context, stored *feed.Position) (feed.Source, error) {
	conf := in.open
	conf.Resume = stored
	conf.OtherColumns = stored != nil && in.rest.behind == nil && in.positions != nil && in.positions.otherColumns
	source, err := in.deps.Open(ctx, conf)
	if err != nil && stored != nil {
		in.tellLost(err)
		err = unresumable(err, *stored)
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
		return exec.Ordered(ctx, c.noted(grouper.groups(ctx)), o, in.convert.convert)
	})
}

// noted tells the handover of each group.
func (c *connection) noted(groups iter.Seq2[group, error]) iter.Seq2[group, error] {
	return func(yield func(group, error) bool) {
		for g, err := range groups {
			if err == nil {
				c.handover.read(g, lagOf(c.source))
			}
			if !yield(g, err) {
				return
			}
		}
	}
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
		in.progressed(c, c.handover.reached(e))
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

// progressed tells how far the engine has come; e is that it has caught up, nil where it has not.
func (in *Input) progressed(c *connection, e *feed.CaughtUp) {
	if !in.config.Follows() {
		return
	}
	in.metrics.lag(c.lag())
	if e != nil {
		in.log.Infof("Caught up with version %d of %s; the latest is %d", e.Version, in.convert.table, e.Latest)
	}
}

func (in *Input) planned(ctx context.Context, c *connection, e feed.Planned) error {
	lag := c.lag()
	if in.config.Follows() {
		in.metrics.lag(lag)
		if !c.begun && lag.Version >= 0 && (e.Position.Done || e.Position.Phase == feed.PhaseTail) {
			in.metrics.version.Set(lag.Version, in.metrics.table) // handed out before
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
	}
	c.begun = true
	c.tracker.Start(e.Position)
	return nil
}

func (in *Input) retrying(err error, wait time.Duration) {
	in.metrics.retried()
	in.log.Warnf("%v; trying again in %s", err, wait.Round(time.Millisecond))
}

// readFailed takes the error that ended the reading. A file that is gone may be gone because the stored position is old. An input
// that has begun anew, or for the first time, rests before it does so again.
func (in *Input) readFailed(c *connection, err error) {
	if in.stopping.Err() != nil { // it may be an error because of that
		return
	}
	if isTakenBack(err) && in.config.Follows() {
		in.connectAgain(c, err)
		return
	}
	in.tellLost(err)
	position, _ := c.tracker.Position()
	missing, isMissing := missingFile(err)
	if c.resumed {
		err = unresumable(err, position)
	}
	if !c.resumed && in.config.Bounded() || !in.resets(err, &position) {
		c.again.Store(!in.hopeless(err))
		return
	}
	if !c.resumed {
		in.rest.failed(err)
	}
	if isMissing && in.config.Follows() {
		in.losses.tell(missing)
	}
	in.positions.forget()
	c.anew.Store(true)
	c.again.Store(true)
}

// connectAgain goes on behind what was delivered, soon: whether anything is lost with a table that was taken back is known from
// there alone, since what was read ahead need not have been handed out.
func (in *Input) connectAgain(c *connection, err error) {
	c.again.Store(true)
	if time.Since(c.since) < quickEnd && !in.config.Bounded() {
		in.hopeless(err)
		return
	}
	in.log.Warnf("%v; connecting again", err)
}

const quickEnd = time.Second // of a connection: the next one waits

func (c *connection) inFlight() int64 {
	rows, _ := c.tracker.InFlight()
	return rows
}

// lag is how far the engine is behind the table.
func (c *connection) lag() feed.Lag { return c.handover.lag(lagOf(c.source)) }

func lagOf(source feed.Source) feed.Lag {
	b, ok := source.(feed.Behind)
	if !ok {
		return feed.Lag{}
	}
	return b.Lag()
}

// stop makes everything end, and waits for nothing.
func (c *connection) stop() {
	if c != nil && c.pump != nil {
		c.pump.cancel()
	}
	if c != nil && c.looks != nil {
		c.looks.cancel()
	}
}

// close stops reading and waits, as long as ctx allows, until nothing of it is left running: its error says what is. That is
// let go when it ends. Acknowledgements may still come.
func (c *connection) close(ctx context.Context) error {
	if c == nil || c.release == nil {
		return nil
	}
	c.stop()
	gone := c.release()
	return errors.Join(c.looks.close(ctx), c.pump.close(ctx), joined(ctx, gone, "the source of the table"))
}
