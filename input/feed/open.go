package feed

import (
	"context"
	"fmt"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// Open opens a source. It plans the first read, so that what is wrong with the table or the columns is found here. A
// position of a version that can no longer be rebuilt, or that the table no longer has, is Unresumable; one of another table
// is Replaced.
func Open(ctx context.Context, c Config) (Source, error) {
	began := time.Now()
	f := &follower{config: c, life: newLife(), last: everything, bounded: !c.Follow.following()}
	var err error
	switch {
	case !c.Follow.following():
		err = f.openSnapshot(ctx)
	case c.Resume != nil:
		err = f.resume(ctx, *c.Resume)
	default:
		err = f.start(ctx)
	}
	if err != nil {
		f.life.end()
		return nil, err
	}
	f.took = time.Since(began)
	return f, nil
}

// begin sets where reading begins: with a pass over a version, unless all of it was handed out or a commit comes first.
func (f *follower) begin(ctx context.Context, t *deltacore.Table, at Position) error {
	f.position = at
	f.watch.start(t, at)
	if at.Phase != PhaseSnapshot || at.Done {
		return nil
	}
	f.pass = f.newPass(t, at)
	f.held.fresh = at.File.Path == ""
	if err := f.pass.plan(ctx); err != nil {
		return err
	}
	f.position = f.pass.position
	f.watch.left(f.pass.files, f.pass.bytes)
	f.metadata, f.accepted = &t.Snapshot().Metadata, f.pass.columns
	return nil
}

func (f *follower) newPass(t *deltacore.Table, at Position) *pass {
	return &pass{life: f.life, table: t, options: f.config.Scan, missing: f.config.OnMissingFile, position: at}
}

// openSnapshot opens the version that the position is in, or the configured one.
func (f *follower) openSnapshot(ctx context.Context) error {
	c := f.config
	f.pinned = c.Open.Version != nil || c.Open.Timestamp != nil || c.Resume != nil
	if c.Resume != nil && c.Open.Version == nil && c.Open.Timestamp == nil {
		c.Open.Version = &c.Resume.Version
	}
	table, err := deltacore.Open(ctx, c.URI, c.Open)
	if err != nil {
		return err
	}
	at := beginning(table, table.Version(), PhaseSnapshot)
	if c.Resume != nil {
		if at, err = resumeAt(at, *c.Resume, table); err != nil {
			return err
		}
	}
	return f.begin(ctx, table, at)
}

func beginning(t *deltacore.Table, version int64, phase Phase) Position {
	return Position{TableID: t.Snapshot().Metadata.ID, Version: version, Phase: phase, Part: PartAdd, Row: -1}
}

// resumeAt checks that a stored position belongs to the one version that was opened.
func resumeAt(start, stored Position, t *deltacore.Table) (Position, error) {
	switch {
	case stored.TableID != start.TableID:
		return Position{}, replaced(t, stored)
	case stored.Phase != PhaseSnapshot || stored.Version != start.Version:
		return Position{}, notThere(t, stored, "the position is not in the snapshot of this version")
	}
	return stored, nil
}

func replaced(t *deltacore.Table, stored Position) error {
	return deltaerr.New(deltaerr.Replaced, "the table has another id now: "+t.Snapshot().Metadata.ID, deltaerr.Table(t.URI()),
		deltaerr.Version(t.Version()), deltaerr.Phase("resuming from %s", stored))
}

func notThere(t *deltacore.Table, stored Position, why string) error {
	return deltaerr.New(deltaerr.Unresumable, why, deltaerr.Table(t.URI()), deltaerr.Version(t.Version()),
		deltaerr.Phase("resuming from %s", stored))
}

// start begins to follow where the configuration says.
func (f *follower) start(ctx context.Context) error {
	table, err := f.openFirst(ctx)
	if err != nil {
		return err
	}
	f.bound(table)
	c := f.config.Follow
	switch {
	case c.StartVersion != nil:
		return f.begin(ctx, table, beginning(table, *c.StartVersion, PhaseTail))
	case c.StartTimestamp != nil:
		return f.startAt(ctx, table, *c.StartTimestamp)
	case c.SkipSnapshot:
		at := beginning(table, table.Version(), PhaseTail)
		if c.Mode == Reload {
			at.Phase = PhaseSnapshot
		}
		at.Done, at.FileDone = true, true
		return f.beginBehind(ctx, table, at)
	}
	if table, err = table.At(ctx, min(table.Version(), f.last)); err != nil {
		return err
	}
	return f.begin(ctx, table, beginning(table, table.Version(), PhaseSnapshot))
}

// openFirst opens the version whose commit is read first, so that no commit is read twice and one checkpoint is, else the
// newest: also where that version cannot be rebuilt, or does not exist yet.
func (f *follower) openFirst(ctx context.Context) (*deltacore.Table, error) {
	open := f.config.Open
	open.Version = f.config.Follow.StartVersion
	t, err := deltacore.Open(ctx, f.config.URI, open)
	if open.Version != nil && deltaerr.KindOf(err) == deltaerr.NotFound {
		return deltacore.Open(ctx, f.config.URI, f.config.Open)
	}
	return t, err
}

// startAt begins with the first commit at or after a time, which may not have been made yet.
func (f *follower) startAt(ctx context.Context, t *deltacore.Table, at time.Time) error {
	version, found, err := t.VersionFrom(ctx, at)
	if err != nil {
		return err
	}
	if !found {
		f.after = at
	}
	return f.begin(ctx, t, beginning(t, version, PhaseTail))
}

// beginBehind begins behind a version whose columns count as accepted.
func (f *follower) beginBehind(ctx context.Context, t *deltacore.Table, at Position) error {
	m := &t.Snapshot().Metadata
	columns, err := columnsOf(m, f.config.Scan)
	if err != nil {
		return annotate(err, t, t.Version())
	}
	f.metadata, f.accepted = m, columns
	at.SchemaHash = columns.Hash()
	return f.begin(ctx, t, at)
}

// bound finds the last version wanted.
func (f *follower) bound(t *deltacore.Table) {
	c := f.config.Follow
	if c.UntilCaughtUp {
		f.last, f.bounded = t.Latest(), true
	}
	if c.EndVersion != nil {
		f.last, f.bounded = min(f.last, *c.EndVersion), true
	}
}

// resume goes on behind a stored position.
func (f *follower) resume(ctx context.Context, stored Position) error {
	if stored.Part != PartAdd || stored.Phase == PhaseTail && f.config.Follow.Mode == Reload {
		return deltaerr.New(deltaerr.Unresumable, "the position is one of another mode", deltaerr.Table(f.config.URI),
			deltaerr.Phase("resuming from %s", stored))
	}
	open := f.config.Open
	open.Version = &stored.Version
	table, err := deltacore.Open(ctx, f.config.URI, open)
	if deltaerr.KindOf(err) == deltaerr.NotFound {
		table, err = f.openLatest(ctx, stored)
	}
	switch {
	case err != nil:
		return err
	case table.Snapshot().Metadata.ID != stored.TableID:
		return replaced(table, stored)
	}
	f.bound(table)
	if at := f.config.Follow.StartTimestamp; at != nil && stored.untouched() {
		f.after = *at
	}
	switch {
	case stored.untouched():
		return f.begin(ctx, table, stored)
	case table.Version() != stored.Version:
		f.hash = stored.SchemaHash
		return f.begin(ctx, table, stored)
	}
	return f.beginBehind(ctx, table, stored)
}

// openLatest opens the table where the version of a position cannot be rebuilt, and says if that is needed.
func (f *follower) openLatest(ctx context.Context, stored Position) (*deltacore.Table, error) {
	t, err := deltacore.Open(ctx, f.config.URI, f.config.Open)
	switch {
	case err != nil:
		return nil, err
	case t.Snapshot().Metadata.ID != stored.TableID:
		return nil, replaced(t, stored)
	case stored.untouched():
	case t.Version() < stored.Version:
		return nil, notThere(t, stored, fmt.Sprintf("the table went back, as after restoring an old copy of it: the versions %d to %d "+
			"are lost", t.Version()+1, stored.Version))
	case stored.Phase == PhaseSnapshot && !stored.Done:
		return nil, notThere(t, stored, fmt.Sprintf("the log no longer holds what is needed to rebuild version %d, of which a part "+
			"was read", stored.Version))
	}
	return t, nil
}

func annotate(err error, t *deltacore.Table, version int64) error {
	return deltaerr.Annotate(err, deltaerr.Table(t.URI()), deltaerr.Version(version))
}
