package feed

import (
	"context"
	"io"
	"math"
	"sync"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltalog"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// follower is the Source of every mode.
type follower struct {
	config  Config
	life    life
	watch   watch
	took    time.Duration // of opening and planning
	last    int64         // the last version wanted
	pinned  bool          // nobody looked for the latest version
	bounded bool          // it ends behind last, else it waits there for ever

	mu       sync.Mutex // held by Next; Close takes it after it ended the life
	state    state
	queue    []Event // handed out before anything else happens
	pass     *pass   // nil: nothing is read
	held     hold
	commits  run[deltalog.Commit]
	position Position // handed out, or queued
	accepted *schema.Struct
	metadata *action.Metadata // what accepted was taken from
	hash     string           // of what was accepted before a restart, where no more than that is known
	over     bool             // no look will come
	news     <-chan struct{}  // closed when there is more than was known when choosing
	after    time.Time        // until a commit was accepted, those made before it are passed over; zero: none
	made     time.Time        // with after: when the commit before the next one was made (T2)
	quiet    bool             // that it caught up was said, and nothing happened since
	err      error            // of state failed
}

const everything = math.MaxInt64

// Next returns the next event.
func (f *follower) Next(ctx context.Context) (Event, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if f.life.ended() {
			return nil, errClosed
		}
		if len(f.queue) > 0 {
			event := f.queue[0]
			f.queue = f.queue[1:]
			return event, nil
		}
		if event, err := f.step(ctx); event != nil || err != nil {
			return event, err
		}
	}
}

func (f *follower) to(i input) { f.state = f.state.after(i) }

// say hands out an event that was waited for, and goes on.
func (f *follower) say(e Event, i input) Event {
	f.to(i)
	return e
}

// step takes one transition. It returns neither event nor error where another one has to follow.
func (f *follower) step(ctx context.Context) (Event, error) {
	switch f.state {
	case planned:
		return f.announce(), nil
	case reading:
		return f.read(ctx)
	case finished:
		return f.finish(), nil
	case choosing:
		return nil, f.choose(ctx)
	case upToDate:
		return f.caughtUp(onTold), nil
	case waiting:
		return nil, f.wait(ctx)
	case ending:
		return f.caughtUp(onTold), nil
	case failed:
		return nil, f.err
	default:
		return nil, io.EOF
	}
}

// announce says what is read. There is no pass where reading begins behind a version, or with a commit.
func (f *follower) announce() Event {
	e := Planned{Position: f.position, Columns: f.accepted, Took: f.took}
	if f.pass == nil {
		return f.say(e, onNone)
	}
	e.Files = f.pass.scan.Files()
	return f.say(e, onRows)
}

// read pulls the next rows.
func (f *follower) read(ctx context.Context) (Event, error) {
	event, more, err := f.pass.next(ctx)
	f.position = f.pass.position
	f.watch.left(f.pass.files, f.pass.bytes)
	switch {
	case err != nil:
		return nil, f.settle(ctx, err)
	case !more:
		f.pass = nil
		f.queue = append(f.queue, f.held.last()...)
		f.to(onLastRow)
		return nil, nil
	}
	if skipped, ok := event.(Skipped); ok {
		f.queue = append(f.queue, skipped)
		event = Progress{f.position}
	}
	if f.config.Follow.Mode == Reload {
		f.queue = append(f.queue, f.held.take(event)...)
	} else if event != nil {
		f.queue = append(f.queue, event)
	}
	return nil, nil
}

// finish says that a version is handed out.
func (f *follower) finish() Event {
	f.position.Done, f.position.FileDone = true, true
	f.watch.handedOut(f.position)
	return f.say(Progress{f.position}, onTold)
}

// caughtUp says how far the source came.
func (f *follower) caughtUp(i input) Event {
	f.quiet = true
	lag := f.Lag()
	e := CaughtUp{Version: lag.Version, Latest: lag.Latest, Lag: lag.Age(time.Now())}
	if f.pinned {
		e.Latest, e.Lag = -1, 0
	}
	return f.say(e, i)
}

// choose finds what comes next.
func (f *follower) choose(ctx context.Context) error {
	if f.bounded && f.nextVersion() > f.last {
		f.to(onBound)
		return nil
	}
	var next input
	var err error
	switch f.config.Follow.Mode {
	case Append:
		next, err = f.nextCommit(ctx)
	case Reload:
		next, err = f.nextReload(ctx)
	default:
		next = onBound
	}
	switch {
	case err != nil:
		return f.settle(ctx, err)
	case next != onNoNews:
		f.quiet = false
	case f.over:
		f.quiet, next = false, onBound
	case f.quiet:
		next = onStillNone
	}
	f.to(next)
	return nil
}

// nextVersion is the version that is read next, or that reading goes on with.
func (f *follower) nextVersion() int64 { return f.position.next() }

// known returns the table that goes on from, and the last version wanted that it knows. It costs a request only where a look
// found the version beside a read that has moved on since.
func (f *follower) known(ctx context.Context, version int64) (table *deltacore.Table, latest int64, err error) {
	seen := f.watch.state()
	f.news, f.over = seen.news, seen.over
	table = seen.table
	switch {
	case seen.lost != nil:
		return nil, 0, seen.lost
	case f.watch.settled(table) < version && seen.latest >= version:
		own, release := f.life.within(ctx)
		defer release()
		if table, err = table.Look(own); err != nil {
			return nil, 0, err
		}
		f.watch.moveTo(table)
	}
	return table, min(f.watch.settled(table), f.last), nil
}

// wait waits for news.
func (f *follower) wait(ctx context.Context) error {
	select {
	case <-f.news:
		f.to(onNews)
	case <-ctx.Done():
	case <-f.life.ctx.Done():
	}
	return nil
}

// settle decides how to go on after an error: with the same step, or not at all.
func (f *follower) settle(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		return ctx.Err()
	case f.life.ended():
		return errClosed
	case deltaerr.Retryable(err):
		return err
	}
	f.queue = append(f.queue, f.held.release()...) // they were read before
	f.let()
	f.err = err
	f.to(onBroken)
	return nil
}

// let ends what runs and waits until nothing of it is left.
func (f *follower) let() {
	if f.pass != nil {
		f.pass.run.end()
	}
	f.commits.end()
	f.pass = nil
}

// Refresh looks for a new version.
func (f *follower) Refresh(ctx context.Context) error {
	if !f.config.Follow.following() {
		return nil
	}
	own, release := f.life.within(ctx)
	defer release()
	err := f.watch.look(own)
	if f.life.ended() {
		return errClosed
	}
	return err
}

// Finish lets the source end when everything known was handed out.
func (f *follower) Finish() { f.watch.finish() }

// Usage is what the table's store was asked for until now. Any goroutine may call it.
func (f *follower) Usage() storage.Usage {
	return f.watch.state().table.Usage()
}

// Lag is how far the source is behind. Any goroutine may call it.
func (f *follower) Lag() Lag { return f.watch.lag() }

// Close ends what runs.
func (f *follower) Close() error {
	f.life.end()
	f.watch.join()
	f.mu.Lock()
	defer f.mu.Unlock()
	f.let()
	for _, e := range append(f.queue, f.held.release()...) {
		if r, ok := e.(Rows); ok {
			r.Record.Release()
		}
	}
	f.queue = nil
	f.to(onClose)
	return nil
}

var errClosed = deltaerr.New(deltaerr.Internal, "the source was closed", deltaerr.Phase("reading the next event"))
