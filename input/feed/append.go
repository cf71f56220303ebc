package feed

import (
	"context"
	"errors"
	"iter"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltalog"
)

// nextCommit takes the next commit and decides what becomes of it.
func (f *follower) nextCommit(ctx context.Context) (input, error) {
	next := f.nextVersion()
	if lost := f.watch.state().lost; lost != nil { // what is being read may be of another table already
		f.commits.end()
		return onNoNews, lost
	}
	if !f.commits.running() {
		table, latest, err := f.known(ctx, next)
		if err != nil || latest < next {
			return onNoNews, err
		}
		f.commits.begin(ctx, f.life, func(own context.Context) iter.Seq2[deltalog.Commit, error] {
			return table.CommitsFor(own, next, latest, f.config.Scan)
		})
	}
	c, more, interrupted, err := f.commits.next(ctx)
	if err != nil || !more || interrupted {
		f.commits.end()
	}
	switch {
	case err != nil:
		return onNoNews, f.lost(err)
	case !more && interrupted:
		return onNoNews, ctx.Err()
	case !more:
		return f.nextCommit(ctx) // those that were known when they were begun are done
	}
	return f.take(ctx, c)
}

// lost explains why a commit is not there, where it was asked for by its version.
func (f *follower) lost(err error) error {
	var gone *deltalog.LostCommits
	if !errors.As(err, &gone) || gone.Others || !f.position.untouched() || f.config.Resume != nil {
		return err
	}
	hint := deltaerr.Hint("begin with the snapshot")
	if gone.Next >= 0 {
		hint = deltaerr.Hint("begin with version %d or later, or with the snapshot", gone.Next)
	}
	return deltaerr.New(deltaerr.NotFound, "", deltaerr.Cause(gone), hint, deltaerr.Table(f.watch.state().table.URI()),
		deltaerr.Phase("beginning with the commit of version %d", gone.First))
}

// take decides what becomes of a commit. Nothing has changed when it fails.
func (f *follower) take(ctx context.Context, c deltalog.Commit) (input, error) {
	next, err := f.judged(ctx, c)
	if err != nil {
		f.commits.end() // the commit is read once more if that helps
		return onNoNews, annotate(err, f.watch.state().table, c.Version)
	}
	f.watch.moveTo(f.watch.state().table.AtCommit(c))
	if f.pass != nil {
		f.watch.left(f.pass.files, f.pass.bytes)
	}
	return next, nil
}

func (f *follower) judged(ctx context.Context, c deltalog.Commit) (input, error) {
	position := f.behind(c.Version, PhaseTail)
	if position.Commit != "" && position.Commit != c.Hash {
		return onNone, rewritten(ctx, f.watch.state().table, position)
	}
	position.Commit = c.Hash
	if made := c.MadeAfter(f.made); made.Before(f.after) {
		f.made, f.position = made, position
		return onNone, nil
	}
	change, err := f.check(c.Version, c.Metadata)
	if err != nil {
		return onNone, err
	}
	skipped, err := f.config.Follow.skips(c)
	if err != nil {
		return onNone, err
	}
	var p *pass
	if skipped == nil && c.Files.Len() > 0 {
		if p, err = f.passOf(ctx, c, position); err != nil {
			return onNone, err
		}
		position = p.position
	}
	f.accept(change)
	f.after = time.Time{}
	if skipped != nil {
		f.queue = append(f.queue, *skipped)
	}
	position.SchemaHash = f.accepted.Hash()
	f.position, f.pass = position, p
	if p == nil {
		return onNone, nil
	}
	return onRows, nil
}

// behind is the position at the beginning of a version, or the one inside it that was resumed from.
func (f *follower) behind(version int64, phase Phase) Position {
	p := f.position
	if p.Version == version && p.Phase == phase && !p.Done {
		return p
	}
	return Position{TableID: p.TableID, Version: version, Phase: phase, Part: PartAdd, Row: -1, SchemaHash: p.SchemaHash}
}

// passOf plans to read what a commit added.
func (f *follower) passOf(ctx context.Context, c deltalog.Commit, from Position) (*pass, error) {
	p := f.newPass(f.watch.state().table.AtCommit(c), from)
	p.commit = &c
	return p, p.plan(ctx)
}
