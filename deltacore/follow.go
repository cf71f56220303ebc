package deltacore

import (
	"context"
	"iter"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltalog"
)

// Latest is the newest version that is known: the highest that the log held when it was last listed.
func (t *Table) Latest() int64 { return t.snapshot.Latest() }

// Ahead lists the commits after the version that the log held when it was last listed, ascending, with the times at which
// they were written. Do not change it.
func (t *Table) Ahead() []deltalog.File { return t.snapshot.Ahead() }

// Look asks what is new: it returns the same version with Latest and Ahead renewed, t itself when there is nothing new. It
// costs one request, whatever the length of the log. Its errors are those of [deltalog.Snapshot.Look]: Replaced, Unresumable
// when the table went back, and what the store says. t stays as it is.
func (t *Table) Look(ctx context.Context) (*Table, error) {
	s, err := t.snapshot.Look(ctx)
	return t.with(s), t.annotate(err)
}

// Refresh opens the newest version, or returns t itself when it is the newest. It is all or nothing, and costs what
// [deltalog.Snapshot.Refresh] costs: one request when nothing is new, else one more for each new commit.
func (t *Table) Refresh(ctx context.Context) (*Table, error) {
	s, err := t.snapshot.Refresh(ctx)
	return t.with(s), t.annotate(err)
}

// At opens another version of the same table, as [Open] would. t itself, for nothing, when it is this version.
func (t *Table) At(ctx context.Context, version int64) (*Table, error) {
	if version == t.Version() {
		return t, nil
	}
	s, err := t.snapshot.Log.Open(ctx, deltalog.Which{Version: &version})
	return t.with(s), deltaerr.Annotate(err, deltaerr.Table(t.URI()))
}

// VersionFrom returns the earliest version that was committed at or after a time (T6): see [deltalog.Log.VersionFrom].
func (t *Table) VersionFrom(ctx context.Context, at time.Time) (version int64, found bool, err error) {
	version, found, err = t.snapshot.Log.VersionFrom(ctx, at)
	return version, found, deltaerr.Annotate(err, deltaerr.Table(t.URI()))
}

// Commits reads the commits of the versions from and above, to the version to, ascending. See [deltalog.Snapshot.Commits]
// for costs, memory and errors: those after the version, up to Latest, cost one request each. So ask the table that was
// read, after a Look, rather than one that Refresh has opened.
func (t *Table) Commits(ctx context.Context, from, to int64) iter.Seq2[deltalog.Commit, error] {
	return t.snapshot.Commits(ctx, from, to)
}

// AtCommit is the table at the version of a commit from [Table.Commits]. It costs nothing, and shares all but the version
// with t. Only a scan of it costs what [Open] costs, besides.
func (t *Table) AtCommit(c deltalog.Commit) *Table { return t.with(t.snapshot.At(c)) }

// ScanCommit plans a read of the rows that a commit from [Table.Commits] added with dataChange, in canonical order and with
// the schema of its version (T8). It costs no request; the files are those of the commit, and are not copied unless a
// predicate leaves some of them out.
func (t *Table) ScanCommit(ctx context.Context, c deltalog.Commit, o ScanOptions) (*Scan, error) {
	at := t.AtCommit(c)
	s, err := at.scanCommit(ctx, c, o)
	return s, at.annotate(err)
}

func (t *Table) scanCommit(ctx context.Context, c deltalog.Commit, o ScanOptions) (*Scan, error) {
	s, err := t.plan(o)
	if err != nil {
		return nil, err
	}
	for f, err := range c.Files.All() {
		if err == nil {
			err = t.check(f, o)
		}
		if err != nil {
			return nil, err
		}
	}
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	files := c.Files
	if s.pruner != nil {
		if files, err = deltalog.Collect(ctx, s.pruner.Filter(files.All())); err != nil {
			return nil, err
		}
	}
	return s.of(files)
}

// with is the table at another version; nil without one.
func (t *Table) with(s *deltalog.Snapshot) *Table {
	switch s {
	case nil:
		return nil
	case t.snapshot:
		return t
	}
	other := *t
	other.snapshot = s
	return &other
}
