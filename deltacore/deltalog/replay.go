package deltalog

import (
	"context"
	"errors"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// replay reconciles the actions of a segment, newest first: the first reference to a file decides (R1, R3).
type replay struct {
	snapshot *Snapshot
	seen     keySet // files that the commits so far refer to; the tail's size, never the table's
	commit   commitKeys
}

// commitKeys is what one commit refers to.
type commitKeys struct {
	added, removed keySet // by path (A5)
	files          []key
}

// run hands every active file to yield, until that returns false.
func (r *replay) run(ctx context.Context, yield func(ActiveFile) bool) error {
	err := r.replayCommits(ctx, yield)
	if err == nil {
		err = r.streamBase(ctx, yield)
	}
	if errors.Is(err, errStopped) {
		return nil
	}
	return err
}

func (r *replay) replayCommits(ctx context.Context, yield func(ActiveFile) bool) error {
	r.commit = newCommitKeys()
	for part, err := range r.snapshot.parts(ctx) {
		if err != nil {
			return err
		}
		if err := r.replayPart(part, yield); err != nil {
			return err
		}
		if part.last {
			r.endCommit(part.file)
		}
	}
	return nil
}

// replayPart hands out the adds to which no newer commit refers. Removes of the same commit come before its adds
// whatever the order of the lines (A6), so that they hide only what is older.
func (r *replay) replayPart(part commitPart, yield func(ActiveFile) bool) error {
	for _, a := range part.actions {
		if err := r.commit.take(a, part.file); err != nil {
			return err
		}
		if a.add == nil || r.seen.has(a.fileKey) {
			continue
		}
		if !yield(ActiveFile{Add: *a.add, Location: a.location}) {
			return errStopped
		}
	}
	return nil
}

// endCommit makes what the commit refers to hide what is older, if anything is.
func (r *replay) endCommit(f File) {
	s := r.snapshot.Segment
	if s.Checkpoint != nil || f.Version > s.Commits[0].Version {
		for _, k := range r.commit.files {
			r.seen.insert(k)
		}
	}
	r.commit = newCommitKeys()
}

func newCommitKeys() commitKeys { return commitKeys{added: keySet{}, removed: keySet{}} }

// take notes an action. A path is added at most once in a commit and removed at most once (A5).
func (c *commitKeys) take(a fileAction, f File) error {
	set, done := c.removed, "removed"
	if a.add != nil {
		set, done = c.added, "added"
	}
	if !set.insert(a.pathKey) {
		return deltaerr.New(deltaerr.Corrupt, "the commit says twice that "+a.path+" is "+done,
			deltaerr.File(f.path()), deltaerr.Version(f.Version))
	}
	c.files = append(c.files, a.fileKey)
	return nil
}

// streamBase hands out the files of the checkpoint to which no commit refers.
func (r *replay) streamBase(ctx context.Context, yield func(ActiveFile) bool) error {
	s := r.snapshot
	if s.Segment.Checkpoint == nil {
		return nil
	}
	b := s.base
	if b == nil { // the snapshot was not made by Load
		var err error
		if b, err = s.Log.readBase(ctx, *s.Segment.Checkpoint); err != nil {
			return err
		}
	}
	for files, err := range b.adds(ctx, s.Log, r.seen) {
		if err != nil {
			return err
		}
		for _, f := range files {
			if !yield(f) {
				return errStopped
			}
		}
	}
	return nil
}
