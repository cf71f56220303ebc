package deltacore

import (
	"context"
	"iter"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltalog"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
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

// Start is where reading commits from a time on begins: see [deltalog.Start].
type Start struct {
	Version int64
	Found   bool
	First   int64
	Last    time.Time
	Table   *Table
}

// OpenFrom opens the earliest version that was committed at or after a time (T6), for Commits from there on. It costs what
// [deltalog.Log.OpenFrom] says. The Version and Timestamp of the options mean nothing.
func OpenFrom(ctx context.Context, uri string, at time.Time, o Options) (Start, error) {
	var found deltalog.Start
	t, err := open(uri, o, func(log deltalog.Log) (_ *deltalog.Snapshot, err error) {
		found, err = log.OpenFrom(ctx, at)
		return found.Snapshot, err
	})
	return Start{found.Version, found.Found, found.First, found.Last, t}, err
}

// CommitHash is the [deltalog.Commit.Hash] of the version's commit, as it was when it was read; "" where it was not read.
func (t *Table) CommitHash() string { return t.snapshot.CommitHash() }

// Hashed is the table with its CommitHash, which costs one request where it is not known. It stays "" where the log no longer
// holds the commit.
func (t *Table) Hashed(ctx context.Context) (*Table, error) {
	s, err := t.snapshot.Hashed(ctx)
	return t.with(s), t.annotate(err)
}

// Commits reads the commits of the versions from and above, to the version to, ascending. See [deltalog.Snapshot.Commits]
// for costs, memory and errors: those after the version, up to Latest, cost one request each. So ask the table that was
// read, after a Look, rather than one that Refresh has opened.
func (t *Table) Commits(ctx context.Context, from, to int64) iter.Seq2[deltalog.Commit, error] {
	return t.snapshot.Commits(ctx, from, to)
}

// CommitsFor is Commits for a ScanCommit with the same Where, which passes over what the statistics of the files exclude then.
func (t *Table) CommitsFor(ctx context.Context, from, to int64, o ScanOptions) iter.Seq2[deltalog.Commit, error] {
	if o.Where == nil {
		return t.Commits(ctx, from, to)
	}
	in := func(p *action.Protocol, m *action.Metadata) deltalog.Selection { return t.selection(*p, *m, o) }
	return t.snapshot.CommitsExcluding(ctx, from, to, &deltalog.Exclusion{Where: o.Where, In: in})
}

// selection is what Where decides about files in versions with a protocol and metadata. It counts no skipped file: not
// every commit is read. What is wrong with the version or the predicate is said when a commit is to be read.
func (t *Table) selection(p action.Protocol, m action.Metadata, o ScanOptions) deltalog.Selection {
	snapshot := *t.snapshot
	snapshot.Protocol, snapshot.Metadata = p, m
	s := &Scan{table: t.with(&snapshot), options: ScanOptions{Where: o.Where}, skipped: o.Skipped}
	layout, err := s.table.layout(ScanOptions{RowsOnly: true})
	if err == nil {
		err = s.bind(&layout)
	}
	if err != nil {
		return deltalog.Selection{}
	}
	return s.pruner.Exclusion()
}

// AtCommit is the table at the version of a commit from [Table.Commits]. It costs nothing, and shares all but the version
// with t. Only a scan of it costs what [Open] costs, besides.
func (t *Table) AtCommit(c deltalog.Commit) *Table { return t.with(t.snapshot.At(c)) }

// ScanCommit plans a read of the rows that a commit from [Table.Commits] added with dataChange, in canonical order and with
// the schema of its version (T8). It costs no request; the files are those of the commit, and are not copied unless there is a
// predicate. It goes by their partition values, and by their statistics for a commit from [Table.CommitsFor].
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
		if files, err = deltalog.Collect(ctx, s.keptOf(c)); err != nil {
			return nil, err
		}
	}
	return s.of(files)
}

// keptOf yields the files of a commit that may hold a row for which Where is true, and counts the others.
func (s *Scan) keptOf(c deltalog.Commit) iter.Seq2[deltalog.ActiveFile, error] {
	return func(yield func(deltalog.ActiveFile, error) bool) {
		for i := range c.Files.Len() {
			f := c.Files.At(i)
			if !s.pruner.Keep(f) {
				continue
			}
			if c.Excludes(i, s.options.Where) {
				s.excluded(f)
				continue
			}
			if !yield(f, nil) {
				return
			}
		}
	}
}

// excluded tells of a file that was found not to match when the commit was read.
func (s *Scan) excluded(f deltalog.ActiveFile) {
	s.skipped.Add(scanplan.ByStatistics, 1, 0, 0)
	if explain := s.options.Explain; explain != nil {
		explain(scanplan.Explanation{
			File: f.Location.Key(), RowGroup: scanplan.WholeFile, Reason: scanplan.ByStatistics, Because: s.options.Where.String(),
		})
	}
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
