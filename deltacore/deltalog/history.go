package deltalog

import (
	"context"
	"iter"
	"slices"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/exec"
)

// CommitSummary says what one commit did.
type CommitSummary struct {
	Version   int64
	Timestamp time.Time // as for [Log.VersionAsOf]
	Operation string    // as the writer calls it; "" when it does not say

	Adds, Removes, Changes int64  // files added, removed, and files of recorded changes
	DataChange             bool   // whether a file was added or removed for another reason than to arrange the same rows anew
	RowsAdded              *int64 // live rows of the files added, as their statistics say; nil when one has none
	BytesAdded             int64
	Protocol, Metadata     bool // whether the commit changes them
}

// History describes the commits of the versions from and above, to the version to or the latest one, newest first.
// Versions whose commits the log no longer holds are left out. A version to above the latest is NotFound.
//
// It costs what [Log.VersionAsOf] costs at most, and one request for each commit, of which several run at once. What is
// kept in memory grows with the number of log files alone.
func (l Log) History(ctx context.Context, from int64, to *int64) iter.Seq2[CommitSummary, error] {
	return func(yield func(CommitSummary, error) bool) {
		t, err := l.historyOf(ctx, to)
		if err != nil {
			yield(CommitSummary{}, l.annotate(err))
			return
		}
		o := exec.Options[CommitSummary]{Workers: l.workers()}
		for c, err := range exec.Ordered(ctx, t.newestFirst(from, to), o, t.summarize) {
			if !yield(c, l.annotate(err)) || err != nil {
				return
			}
		}
	}
}

func (l Log) historyOf(ctx context.Context, to *int64) (t *timeline, err error) {
	err = relisting(func() error {
		names, err := l.list(ctx, 0)
		if err != nil {
			return err
		}
		if latest, ok := names.latest(); ok && to != nil && *to > latest {
			return names.aboveLatest(*to, latest)
		}
		t, err = l.timeline(ctx, names)
		return err
	})
	return t, err
}

// newestFirst yields the positions of commits.
func (t *timeline) newestFirst(from int64, to *int64) iter.Seq2[int, error] {
	return func(yield func(int, error) bool) {
		for i, f := range slices.Backward(t.commits) {
			if to != nil && f.Version > *to {
				continue
			}
			if f.Version < from || !yield(i, nil) {
				return
			}
		}
	}
}

// summarize reads the i-th commit. It runs in several goroutines at once.
func (t *timeline) summarize(ctx context.Context, i int, emit func(CommitSummary) error) error {
	f := t.commits[i]
	c := count{CommitSummary: CommitSummary{Version: f.Version}}
	r, err := t.log.readWhole(ctx, headTask{file: f, version: f.Version}, c.take)
	if err != nil {
		return commitError(err, f)
	}
	ms := t.byFile[i]
	if i >= t.inside {
		if ms, err = inCommitTime(f, r.info); err != nil {
			return err
		}
	}
	return emit(c.summary(ms))
}

// count adds up the actions of a commit.
type count struct {
	CommitSummary
	rows    int64
	unknown bool // the rows of a file
}

func (c *count) take(a action.Action) error {
	switch {
	case a.Add != nil:
		c.Adds++
		c.BytesAdded += a.Add.Size
		c.DataChange = c.DataChange || a.Add.DataChange
		c.addRows(a.Add)
	case a.Remove != nil:
		c.Removes++
		c.DataChange = c.DataChange || a.Remove.DataChange
	case a.CDC != nil:
		c.Changes++
	case a.CommitInfo != nil:
		c.Operation = a.CommitInfo.Operation
	case a.Protocol != nil:
		c.Protocol = true
	case a.Metadata != nil:
		c.Metadata = true
	}
	return nil
}

func (c *count) addRows(a *action.Add) {
	rows, ok := a.LiveRows()
	c.rows += rows
	c.unknown = c.unknown || !ok
}

func (c *count) summary(ms int64) CommitSummary {
	c.Timestamp = time.UnixMilli(ms).UTC()
	if !c.unknown {
		c.RowsAdded = &c.rows
	}
	return c.CommitSummary
}
