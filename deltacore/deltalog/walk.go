package deltalog

import (
	"context"
	"errors"
	"fmt"
	"iter"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/exec"
)

const maxReadAhead = 8 << 20 // bytes of commits that were read and wait for those before them to be handed out

// Commits reads the commits of the versions from and above, to the version to, ascending. An error ends the sequence.
//
// It costs one request a commit, none for those that [Log.Load] or [Snapshot.Refresh] has kept. Up to 16 are read at
// once: 8 MiB of them wait in memory, and the one that is put together. A listing comes before them unless all versions
// are among those that [Snapshot.Look] has found. For the versions that follow the snapshot's own, protocol and
// metadata are known. For others, unless the first commit carries both, they are those of the first version from there on
// that can be rebuilt, which costs what [Log.Open] costs; commits of the range that bring others set them from there on.
//
// Commits that the log no longer holds are Unresumable, with a [LostCommits] as cause, after those before them (RV4). One that
// is missing while the one before it is there is Transient: it may only be seen later than those after it. A version to above
// the latest is NotFound. A table id that changes is Replaced.
func (s *Snapshot) Commits(ctx context.Context, from, to int64) iter.Seq2[Commit, error] {
	return s.CommitsExcluding(ctx, from, to, nil)
}

// CommitsExcluding is Commits for [Commit.Excludes]: the statistics of their files are looked at while they are read, and not
// kept. nil looks at none. The first commit's are not looked at where its protocol and metadata are found afterwards.
func (s *Snapshot) CommitsExcluding(ctx context.Context, from, to int64, by *Exclusion) iter.Seq2[Commit, error] {
	return func(yield func(Commit, error) bool) {
		w := &walk{snapshot: s, next: from, to: to, chooser: chooser{by: by}}
		if s.Version == from || s.Version+1 == from {
			w.protocol, w.metadata = &s.Protocol, &s.Metadata
		}
		err := w.run(ctx, func(c Commit) bool { return yield(c, nil) })
		if err != nil && !errors.Is(err, errStopped) {
			yield(Commit{}, s.Log.annotate(err, deltaerr.Version(w.next), deltaerr.Phase("reading the commits from version %d on", from)))
		}
	}
}

// walk goes over commits in order.
type walk struct {
	snapshot *Snapshot
	next, to int64 // the versions to go over
	state          // before next
	chooser  chooser
}

// state is what a version says of the table; nil: it is not known.
type state struct {
	protocol *action.Protocol
	metadata *action.Metadata
}

func (w *walk) run(ctx context.Context, yield func(Commit) bool) error {
	if w.next < 0 {
		return negativeVersion(w.next)
	}
	names, err := w.list(ctx)
	if err != nil || w.next > w.to {
		return err
	}
	o := exec.Options[walkPart]{
		Workers: w.snapshot.Log.workers(), Budget: exec.NewBudget(maxReadAhead), Size: func(p walkPart) int64 { return p.bytes },
	}
	var tally *commitTally
	for part, err := range exec.Ordered(ctx, w.files(ctx, names, w.next), o, w.readParts) {
		if err != nil {
			return w.explain(ctx, err)
		}
		if tally == nil {
			tally = w.newTally(part.file.File)
		}
		if err := tally.take(part); err != nil {
			return err
		}
		if !part.last {
			continue
		}
		c, err := w.finish(ctx, tally)
		if err != nil {
			return err
		}
		tally = nil
		w.next++
		if !yield(c) {
			return errStopped
		}
	}
	return nil
}

// list returns what is known of the log from next on, or asks.
func (w *walk) list(ctx context.Context) (listing, error) {
	s := w.snapshot
	if w.next > w.to {
		return listing{}, nil
	}
	if w.next >= s.Version && w.to <= s.Latest() {
		return s.Segment.later, nil
	}
	names, _, err := s.listLinked(ctx, min(w.next, s.Version))
	if err != nil {
		return listing{}, err
	}
	latest, _ := names.latest()
	if latest = max(latest, s.Version); latest < w.to {
		return listing{}, deltaerr.New(deltaerr.NotFound, fmt.Sprintf("version %d does not exist: the latest version is %d", w.to, latest),
			deltaerr.Version(w.to))
	}
	return names, nil
}

// files yields the commits from..w.to. One that is missing is looked for once more: the listing may have been made while
// it was written.
func (w *walk) files(ctx context.Context, names listing, from int64) iter.Seq2[File, error] {
	return func(yield func(File, error) bool) {
		for version := from; version <= w.to; version++ {
			f := names.commit(version)
			if f == nil {
				var err error
				if names, err = w.snapshot.Log.list(ctx, 0); err != nil {
					yield(File{}, err)
					return
				}
				if f = names.commit(version); f == nil {
					yield(File{}, names.missing(version, w.to))
					return
				}
			}
			if !yield(*f, nil) {
				return
			}
		}
	}
}

// explain finds out whether a commit vanished because the log was cleaned.
func (w *walk) explain(ctx context.Context, err error) error {
	if !vanished(err) {
		return err
	}
	names, listErr := w.snapshot.Log.list(ctx, 0)
	switch {
	case listErr != nil:
		return listErr
	case names.commit(w.next) != nil:
		return deltaerr.New(deltaerr.Transient, "the commit cannot be read although it is listed", deltaerr.Version(w.next),
			deltaerr.Cause(err))
	}
	return names.missing(w.next, w.to)
}

// finish adds what the version says to a commit.
func (w *walk) finish(ctx context.Context, t *commitTally) (Commit, error) {
	c, err := t.finish()
	if err != nil {
		return Commit{}, err
	}
	if c.MetadataChanged && w.metadata != nil && w.metadata.ID != c.Metadata.ID {
		return Commit{}, replaced(w.metadata.ID, c.Metadata.ID, c.Version)
	}
	if c.ProtocolChanged {
		w.protocol = c.Protocol
	}
	if c.MetadataChanged {
		w.metadata = c.Metadata
	}
	if w.protocol == nil || w.metadata == nil {
		if err := w.borrow(ctx); err != nil {
			return Commit{}, err
		}
	}
	c.Protocol, c.Metadata = w.protocol, w.metadata
	c.Timestamp = c.file.ModTime
	if keepsTime(*c.Protocol, *c.Metadata) {
		c.Timestamp, c.timed, err = timeInside(c, t.first)
	}
	return c, err
}

// borrow takes protocol and metadata, as far as they are not known, from the first version that can be rebuilt.
func (w *walk) borrow(ctx context.Context) error {
	var first *Snapshot
	err := relisting(func() error {
		l := w.snapshot.Log
		names, err := l.list(ctx, 0)
		if err != nil {
			return err
		}
		version := names.firstReadable(w.next)
		segment, err := names.choose(&version)
		if err == nil {
			first, err = l.load(ctx, segment)
		}
		return err
	})
	if err != nil {
		return deltaerr.Annotate(err, deltaerr.Phase("looking for the schema of version %d", w.next))
	}
	if w.protocol == nil {
		w.protocol = &first.Protocol
	}
	if w.metadata == nil {
		w.metadata = &first.Metadata
	}
	return nil
}

// firstReadable is the first version from one on that can be rebuilt, that one itself when none can.
func (s listing) firstReadable(from int64) int64 {
	for _, p := range s.readable() {
		if p.last >= from {
			return max(p.first, from)
		}
	}
	return from
}

// timeInside is the time of a commit of a version that keeps times in commits, since it does (T3, T4); inside: it is the
// commit's own.
func timeInside(c Commit, first *action.CommitInfo) (at time.Time, inside bool, err error) {
	e, err := enablementOf(*c.Metadata)
	if err != nil {
		return at, false, deltaerr.Annotate(err, deltaerr.Version(c.Version))
	}
	if c.Version < e.version {
		return c.file.ModTime, false, nil
	}
	ms, err := inCommitTime(c.file, first)
	return time.UnixMilli(ms).UTC(), true, err
}

// MadeAfter is when the commit was made as [Log.VersionAsOf] counts, where the one before it was made at another time: its own
// time, else that of its file, but after the other one (T2).
func (c Commit) MadeAfter(before time.Time) time.Time {
	if c.timed {
		return c.Timestamp
	}
	return time.UnixMilli(max(c.Timestamp.UnixMilli(), before.UnixMilli()+1)).UTC()
}
