package feed

import (
	"context"
	"errors"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/deltalog"
)

// nextReload opens the newest version, if the rows of the table may be others than those of the one before.
func (f *follower) nextReload(ctx context.Context) (input, error) {
	next := f.nextVersion()
	table, latest, err := f.known(ctx, next)
	if err != nil || latest < next {
		return onNoNews, err
	}
	own, release := f.life.within(ctx)
	defer release()
	newest, changed, err := newestOf(own, table, next, latest)
	if err != nil {
		return onNoNews, err
	}
	return f.load(own, newest, changed)
}

// load makes a version the one that is read, whole where its rows have changed. Nothing has changed when it fails.
func (f *follower) load(ctx context.Context, t *deltacore.Table, changed bool) (input, error) {
	change, err := f.check(t.Version(), &t.Snapshot().Metadata)
	if err != nil {
		return onNoNews, annotate(err, t, t.Version())
	}
	position := f.behind(t.Version(), PhaseSnapshot)
	position.Commit = t.CommitHash()
	var p *pass
	if changed {
		p = f.newPass(t, position)
		if err := p.plan(ctx); err != nil {
			return onNoNews, err
		}
		position = p.position
	}
	f.accept(change)
	position.SchemaHash = f.accepted.Hash()
	f.position, f.pass = position, p
	f.watch.moveTo(t)
	if p == nil {
		return onNone, nil
	}
	f.watch.left(p.files, p.bytes)
	f.held.fresh = true
	return onVersion, nil
}

// newestOf reads the commits up to a version, and says whether any of them changed rows. Where they are no longer in the log
// one may have.
func newestOf(ctx context.Context, t *deltacore.Table, next, latest int64) (newest *deltacore.Table, changed bool, err error) {
	for c, err := range t.Commits(ctx, next, latest) {
		var lost *deltalog.LostCommits
		switch {
		case errors.As(err, &lost) && !lost.Others:
			if newest, err = t.At(ctx, latest); err == nil {
				newest, err = newest.Hashed(ctx)
			}
			return newest, true, err
		case err != nil:
			return nil, false, err
		}
		changed = changed || changesRows(c.Kind)
		newest = t.AtCommit(c)
	}
	return newest, changed, nil
}

func changesRows(k deltalog.CommitKind) bool {
	return k == deltalog.KindAppend || k == deltalog.KindDelete || k == deltalog.KindRewrite
}
