package deltalog

import (
	"context"
	"slices"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// Refresh opens the newest version, as [Log.Open] would, from what is known of this one: s itself when there is none that
// is newer. It is all or nothing.
//
// It costs one listing from the version on and one request for each commit after it, which are kept as by [Log.Load]; a .crc
// file and compactions spare some of them. A checkpoint that was written meanwhile is not opened before files are asked
// for. Where the log no longer connects to the version, because it was cleaned, it costs what [Log.Open] costs. The errors
// are those of [Snapshot.Look]; a table id that changes within the log is Replaced too.
func (s *Snapshot) Refresh(ctx context.Context) (*Snapshot, error) {
	newest, err := s.refresh(ctx)
	if err != nil {
		return nil, s.Log.annotate(err, deltaerr.Phase("refreshing from version %d", s.Version))
	}
	return newest, nil
}

func (s *Snapshot) refresh(ctx context.Context) (*Snapshot, error) {
	seen, newest, err := s.look(ctx)
	switch {
	case err != nil:
		return nil, err
	case newest != nil:
		return newest, nil
	case seen.Latest() == s.Version:
		return seen, nil
	}
	news, err := seen.Segment.later.newsAfter(s.Version)
	if err == nil {
		if newest, err = seen.readAhead(ctx, news); !vanished(err) {
			return newest, err
		}
	}
	return s.reopen(ctx, gone) // it was cleaned behind us, or listed while it was written
}

// readAhead builds the newest version that is known from the news after this one.
func (s *Snapshot) readAhead(ctx context.Context, news Segment) (*Snapshot, error) {
	l := s.Log
	base, incomplete := s.nextBase()
	h := newHead()
	h.note(s.Version, &s.Protocol, &s.Metadata)
	if base == s.Segment.Checkpoint {
		h.keep(s.kept)
	}
	news, err := l.readTail(ctx, news, h)
	if err != nil {
		return nil, err
	}
	if h.metadata.ID != s.Metadata.ID {
		return nil, replaced(s.Metadata.ID, h.metadata.ID, news.Version)
	}
	next, err := l.snapshotOf(ctx, s.Segment.extended(base, news), h)
	if err != nil {
		return nil, err
	}
	next.base, next.incomplete = s.base, incomplete
	if base != s.Segment.Checkpoint {
		next.base = &baseCell{}
	}
	l.warnOfUnusable(s.Segment.later, next.Segment)
	return next, nil
}

// newsAfter is the part of a segment that lies after a version, up to the latest one.
func (s listing) newsAfter(version int64) (Segment, error) {
	target, _ := s.latest()
	commits, err := s.run(version+1, target)
	if err != nil {
		return Segment{}, err
	}
	commit := commits[len(commits)-1]
	return Segment{
		Version: target, Commits: commits, Compactions: s.compactionsOf(version+1, target), Commit: &commit,
		Checksum: s.checksum(target), Checkpoints: s.checkpointsTo(target), Modified: commit.ModTime, later: s.from(target),
	}, nil
}

// nextBase is the checkpoint of the newest version: one that was written since, else the one there is. incomplete: neither
// is known.
func (s *Snapshot) nextBase() (base *Checkpoint, incomplete bool) {
	old := s.Segment.Checkpoint
	fresh := s.Segment.later.base(s.Latest())
	if fresh != nil && (old == nil || fresh.Version > old.Version) {
		return fresh, false
	}
	return old, s.incomplete
}

// extended is the segment with news after it, over a checkpoint.
func (s Segment) extended(base *Checkpoint, news Segment) Segment {
	next := news
	next.Checkpoint = base
	next.Checkpoints = slices.Compact(slices.Concat(s.Checkpoints, news.Checkpoints))
	if base == s.Checkpoint {
		next.Commits = slices.Concat(s.Commits, news.Commits)
		next.Compactions = slices.Concat(s.Compactions, news.Compactions)
		return next
	}
	next.Commits = slices.DeleteFunc(news.Commits, func(f File) bool { return f.Version <= base.Version })
	next.Compactions = slices.DeleteFunc(news.Compactions, func(c Compaction) bool { return c.First <= base.Version })
	return next
}

// from leaves out the commits and checkpoints below a version. It shares the others.
func (s listing) from(version int64) listing {
	s.commits = s.commitsFrom(version)
	n := 0
	for n < len(s.checkpoints) && s.checkpoints[n].Version >= version {
		n++
	}
	s.checkpoints = s.checkpoints[:n]
	return s
}
