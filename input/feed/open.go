package feed

import (
	"context"
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
	if c.Resume != nil {
		return f.resumeSnapshot(ctx, table, err)
	}
	if err != nil {
		return err
	}
	return f.beginSnapshot(ctx, table)
}

// beginSnapshot begins with all rows of a version.
func (f *follower) beginSnapshot(ctx context.Context, t *deltacore.Table) (err error) {
	if t, err = t.Hashed(ctx); err != nil {
		return err
	}
	at := beginning(t, t.Version(), PhaseSnapshot)
	at.Commit = t.CommitHash()
	return f.begin(ctx, t, at)
}

func beginning(t *deltacore.Table, version int64, phase Phase) Position {
	return Position{TableID: t.Snapshot().Metadata.ID, Version: version, Phase: phase, Part: PartAdd, Row: -1}
}

// start begins to follow where the configuration says.
func (f *follower) start(ctx context.Context) error {
	if at := f.config.Follow.StartTimestamp; at != nil {
		return f.startAt(ctx, *at, nil)
	}
	table, err := f.openFirst(ctx)
	if err != nil {
		return err
	}
	f.bound(table)
	c := f.config.Follow
	switch {
	case c.StartVersion != nil:
		return f.begin(ctx, table, beginning(table, *c.StartVersion, PhaseTail))
	case c.SkipSnapshot:
		at := beginning(table, table.Version(), PhaseTail)
		if c.Mode == Reload {
			at.Phase = PhaseSnapshot
		}
		at.Done, at.FileDone = true, true
		if table, err = table.Hashed(ctx); err != nil {
			return err
		}
		at.Commit = table.CommitHash()
		return f.beginBehind(ctx, table, at)
	}
	if table, err = table.At(ctx, min(table.Version(), f.last)); err != nil {
		return err
	}
	return f.beginSnapshot(ctx, table)
}

// openFirst opens the version whose commit is read first, so that no commit is read twice and one checkpoint is, else the
// newest: also where that version cannot be rebuilt, or does not exist yet.
func (f *follower) openFirst(ctx context.Context) (*deltacore.Table, error) {
	open := f.config.Open
	open.Version = f.config.Follow.StartVersion
	t, err := deltacore.Open(ctx, f.config.URI, open)
	if open.Version != nil && deltaerr.KindOf(err) == deltaerr.NotFound {
		t, err = deltacore.Open(ctx, f.config.URI, f.config.Open)
	}
	if err != nil {
		return nil, err
	}
	return settledOf(ctx, t)
}

// settledOf is the table, or the version before it where it is the newest and its commit has no byte.
func settledOf(ctx context.Context, t *deltacore.Table) (*deltacore.Table, error) {
	if blank := blankOf(t); blank <= 0 || blank != t.Version() {
		return t, nil
	}
	before, err := t.At(ctx, t.Version()-1)
	if deltaerr.KindOf(err) == deltaerr.NotFound {
		return t, nil
	}
	return before, err
}

// startAt begins with the first commit at or after a time, which may not have been made yet, and not before a stored position.
func (f *follower) startAt(ctx context.Context, at time.Time, stored *Position) error {
	s, err := deltacore.OpenFrom(ctx, f.config.URI, at, f.config.Open)
	if err != nil {
		return err
	}
	if s.Table, err = settledOf(ctx, s.Table); err != nil {
		return err
	}
	begin := beginning(s.Table, s.Version, PhaseTail)
	if blank := blankOf(s.Table); !s.Found && blank >= 0 {
		begin.Version = blank
	}
	if s.Found && s.Table.Version() == s.Version {
		begin.Commit = s.Table.CommitHash()
	}
	if stored != nil {
		_, known, err := recognize(ctx, s.Table, *stored)
		if err != nil {
			return err
		}
		if next := known.next(); next > s.Version || next < s.First { // what the log no longer holds may have been made after it
			begin = known
		}
	}
	if !s.Found {
		f.after, f.made = at, s.Last
	}
	f.bound(s.Table)
	return f.begin(ctx, s.Table, begin)
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
		f.last, f.bounded = f.watch.settled(t), true
	}
	if c.EndVersion != nil {
		f.last, f.bounded = min(f.last, *c.EndVersion), true
	}
}

func annotate(err error, t *deltacore.Table, version int64) error {
	return deltaerr.Annotate(err, deltaerr.Table(t.URI()), deltaerr.Version(version))
}
