package deltalog

import (
	"context"
	"errors"
	"fmt"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/dv"
)

// replay reconciles the actions of a segment, newest first: the first reference to a file decides (R1, R3).
type replay struct {
	reading

	snapshot *Snapshot
	stats    *Statistics // of the file at hand; nil when none are wanted
	segment  Segment     // of the snapshot
	base     *base       // its checkpoint; nil without one
	seen     fileSet     // files that the commits so far refer to; the tail's size, never the table's
	commit   commitKeys
	next     int64 // the newest version that was not replayed yet
	based    bool  // a file of the checkpoint was handed out
}

// commitKeys is what one commit refers to.
type commitKeys struct {
	added, removed keySet // by path (A5)
	files          []fileRef
}

// run hands every active file to yield, until that returns false.
func (r *replay) run(ctx context.Context, yield func(ActiveFile) bool) error {
	r.next = r.snapshot.Version
	var err error
	r.segment, r.base, err = r.snapshot.foundation(ctx)
	if err == nil {
		err = r.replayCommits(ctx, yield)
	}
	if err == nil && r.base != nil {
		err = r.handOut(ctx, r.base, yield)
	}
	if vanished(err) {
		err = r.rebase(ctx, err, yield)
	}
	if errors.Is(err, errStopped) {
		return nil
	}
	return err
}

func (r *replay) replayCommits(ctx context.Context, yield func(ActiveFile) bool) error {
	r.commit = newCommitKeys()
	for part, err := range r.parts(ctx) {
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
		if a.add == nil {
			continue
		}
		if r.seen.keys.has(a.fileKey) {
			if !r.seen.agrees(a) {
				return r.contradiction(a, part.file)
			}
			continue
		}
		if err := r.offer(ActiveFile{Add: *a.add, Location: a.location}, yield); err != nil {
			return err
		}
	}
	return nil
}

// offer hands out a file of a commit if it is wanted.
func (r *replay) offer(f ActiveFile, yield func(ActiveFile) bool) error {
	if r.stats != nil {
		r.stats.of(f.Add.Stats, f.Add.DeletionVector != nil)
		f.Add.Stats = "" // read once, here
	}
	wanted, err := r.decide(&f, r.stats)
	if err == nil && wanted && !yield(f) {
		return errStopped
	}
	return err
}

// contradiction names the vector that a commit describes in another way than a later one does.
func (r *replay) contradiction(a fileAction, f tailFile) error {
	attrs := []deltaerr.Attr{deltaerr.Version(f.Version)}
	if l, err := dv.Locate(r.snapshot.Log.Root, *a.vector); err == nil && l.Key() != "" {
		attrs = append(attrs, deltaerr.File(l.Key()))
	}
	return deltaerr.New(deltaerr.Corrupt, fmt.Sprintf(
		"deletion vector mismatch: the log states %d deleted rows of %s here and another number or size later", a.vector.Cardinality, a.path),
		attrs...)
}

// endCommit makes what the commit refers to hide what is older, if anything is.
func (r *replay) endCommit(f tailFile) {
	s := r.segment
	if s.Checkpoint != nil || f.first > s.Commits[0].Version {
		for _, f := range r.commit.files {
			r.seen.insert(f)
		}
	}
	r.commit = newCommitKeys()
	r.next = f.first - 1
}

func newCommitKeys() commitKeys { return commitKeys{added: keySet{}, removed: keySet{}} }

// take notes an action. A path is added at most once in a commit and removed at most once (A5). In a compaction, which has
// been checked, it may be there with several vectors.
func (c *commitKeys) take(a fileAction, f tailFile) error {
	c.files = append(c.files, fileRef{quickHash(a.location), a.fileKey, shapeOf(a.vector)})
	if f.compacted {
		return nil
	}
	set, done := c.removed, "removed"
	if a.add != nil {
		set, done = c.added, "added"
	}
	if !set.insert(a.pathKey) {
		return deltaerr.New(deltaerr.Corrupt, "the commit says twice that "+a.path+" is "+done,
			deltaerr.File(f.path()), deltaerr.Version(f.Version))
	}
	return nil
}

// handOut hands out the files of a checkpoint to which no commit refers.
func (r *replay) handOut(ctx context.Context, b *base, yield func(ActiveFile) bool) error {
	for files, err := range b.adds(ctx, addReader{reading: r.reading, log: r.snapshot.Log, seen: r.seen}) {
		if err != nil {
			return err
		}
		for _, f := range files {
			r.based = true
			if !yield(f) {
				return errStopped
			}
		}
	}
	return nil
}

// rebase goes on from another checkpoint when a file of the segment is gone because the log is being cleaned (RV8): that
// only happens when a newer one covers it. What was handed out is what the commits after it say, which the checkpoint knows
// too and seen keeps from being handed out again. Where that is not so, the first error stands.
func (r *replay) rebase(ctx context.Context, gone error, yield func(ActiveFile) bool) error {
	s := r.snapshot
	if r.based || len(r.commit.files) > 0 {
		return gone
	}
	names, err := s.Log.list(ctx, 0)
	if err != nil {
		return err
	}
	segment, err := names.choose(&s.Version)
	if err != nil { // RV1
		return err
	}
	segment, b, err := s.Log.openBase(ctx, segment)
	if err != nil {
		return err
	}
	if b == nil || segment.Checkpoint.Version < r.next {
		return gone
	}
	return r.handOut(ctx, b, yield)
}
