package feed

import (
	"context"
	"fmt"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// resumeSnapshot goes on in the one version that was opened, or not.
func (f *follower) resumeSnapshot(ctx context.Context, t *deltacore.Table, err error) error {
	stored := *f.config.Resume
	if deltaerr.KindOf(err) == deltaerr.NotFound {
		t, err = f.openLatest(ctx, stored)
	}
	if err == nil {
		t, stored, err = recognize(ctx, t, stored)
	}
	switch {
	case err != nil:
		return err
	case stored.Phase != PhaseSnapshot || stored.Version != t.Version():
		return notThere(t, stored, "the position is not in the snapshot of this version")
	}
	return f.begin(ctx, t, stored)
}

// resume goes on behind a stored position.
func (f *follower) resume(ctx context.Context, stored Position) error {
	if stored.Part != PartAdd || stored.Phase == PhaseTail && f.config.Follow.Mode == Reload {
		return deltaerr.New(deltaerr.Unresumable, "the position is one of another mode", deltaerr.Table(f.config.URI),
			deltaerr.Phase("resuming from %s", stored))
	}
	if at := f.config.Follow.StartTimestamp; at != nil && stored.untouched() {
		return f.startAt(ctx, *at, &stored)
	}
	open := f.config.Open
	open.Version = &stored.Version
	table, err := deltacore.Open(ctx, f.config.URI, open)
	if deltaerr.KindOf(err) == deltaerr.NotFound {
		table, err = f.openLatest(ctx, stored)
	}
	if err == nil {
		table, stored, err = recognize(ctx, table, stored)
	}
	if err != nil {
		return err
	}
	f.bound(table)
	switch {
	case stored.untouched():
		return f.begin(ctx, table, stored)
	case table.Version() != stored.Version:
		if !f.config.OtherColumns {
			f.hash = stored.SchemaHash
		}
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
	case stored.Phase == PhaseSnapshot && !stored.Done && stored.Version <= t.Version():
		return nil, notThere(t, stored, fmt.Sprintf("the log no longer holds what is needed to rebuild version %d, of which a part "+
			"was read", stored.Version))
	}
	return t, nil
}

// recognize makes sure that a stored position is one of the table, and that the commit of its version is the one that was read.
// It is taken for that where the log no longer holds it, and where the position does not know it; then it does afterwards.
func recognize(ctx context.Context, t *deltacore.Table, stored Position) (*deltacore.Table, Position, error) {
	switch {
	case t.Snapshot().Metadata.ID != stored.TableID:
		return nil, stored, replaced(t, stored)
	case stored.awaited():
		return t, stored, nil
	case t.Latest() < stored.Version:
		return nil, stored, rewritten(ctx, t, stored)
	}
	t, hash, err := commitOf(ctx, t, stored.Version)
	switch {
	case err != nil:
		return nil, stored, err
	case stored.Commit == "":
		stored.Commit = hash
	case hash != "" && hash != stored.Commit:
		return nil, stored, rewritten(ctx, t, stored)
	}
	return t, stored, nil
}

// commitOf is the hash of a version's commit as it is now; "" where the log does not hold it.
func commitOf(ctx context.Context, t *deltacore.Table, version int64) (_ *deltacore.Table, hash string, err error) {
	if t.Version() == version {
		if t, err = t.Hashed(ctx); err != nil {
			return nil, "", err
		}
		return t, t.CommitHash(), nil
	}
	hash, err = t.Snapshot().Log.CommitHash(ctx, version)
	return t, hash, err
}

// rewritten is the error of a table that was taken back behind a position. The last file that was read is older than the commit
// of its version.
func rewritten(ctx context.Context, t *deltacore.Table, stored Position) error {
	var made time.Time
	if ms := stored.File.ModificationTime; ms > 0 {
		made = time.UnixMilli(ms)
	}
	err := t.Snapshot().Log.Rewritten(ctx, stored.Version, made)
	return deltaerr.Annotate(err, deltaerr.Phase("resuming from %s", stored))
}

func replaced(t *deltacore.Table, stored Position) error {
	return deltaerr.New(deltaerr.Replaced, "the table has another id now: "+t.Snapshot().Metadata.ID, deltaerr.Table(t.URI()),
		deltaerr.Version(t.Version()), deltaerr.Phase("resuming from %s", stored))
}

func notThere(t *deltacore.Table, stored Position, why string) error {
	return deltaerr.New(deltaerr.Unresumable, why, deltaerr.Table(t.URI()), deltaerr.Version(t.Version()),
		deltaerr.Phase("resuming from %s", stored))
}
