package deltalog

import (
	"context"
	"slices"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// Segment is the files that make up a version: an optional checkpoint and the contiguous commits after it.
type Segment struct {
	Version     int64
	Checkpoint  *Checkpoint  // nil: the commits start at 0
	Commits     []File       // ascending
	Compactions []Compaction // that stand for runs of Commits; ascending, without overlap
	Commit      *File        // of Version itself; nil when it is gone
	Checksum    *File        // of Version; nil when there is none
	// Checkpoints lists the versions of all complete checkpoints that were seen at or before Version, ascending. A
	// listing that began at the hint has not seen the older ones.
	Checkpoints []int64
	// Modified is when the version's commit was written, by its file's time; its checkpoint's where the commit is gone.
	Modified time.Time

	later listing // from Version on, as far as it was known when the log was last listed
}

// FindSegment chooses the segment of version at, or of the latest version when at is nil (sections 1 and 2). It costs one
// read of the hint and one listing; a second listing, from the beginning, when the hint leads nowhere.
//
// A location without a log is NotFound "not a Delta table"; a version above the latest or below the earliest that can be
// rebuilt is NotFound too and says which versions there are (T1, RV1). A gap is Corrupt (L5, L6).
func (l Log) FindSegment(ctx context.Context, at *int64) (Segment, error) {
	seg, err := l.findSegment(ctx, at)
	return seg, l.annotate(err)
}

func (l Log) findSegment(ctx context.Context, at *int64) (Segment, error) {
	if at != nil && *at < 0 {
		return Segment{}, negativeVersion(*at)
	}
	from, err := l.hint(ctx)
	if err != nil {
		return Segment{}, err
	}
	if from > 0 && (at == nil || *at >= from) { // LC3: for time travel below the hint it says nothing
		s, err := l.list(ctx, from)
		if err != nil {
			return Segment{}, err
		}
		if seg, err := s.choose(at); err == nil && seg.Checkpoint != nil {
			l.warnOfUnusable(s, seg)
			return seg, nil
		}
	}
	s, err := l.list(ctx, 0)
	if err != nil {
		return Segment{}, err
	}
	seg, err := s.choose(at)
	if err != nil {
		return Segment{}, err
	}
	l.warnOfUnusable(s, seg)
	return seg, nil
}

// choose decides which files make up a version, or why none do.
func (s listing) choose(at *int64) (Segment, error) {
	target, ok := s.latest()
	if !ok {
		return Segment{}, s.notATable()
	}
	if at != nil {
		if *at > target {
			return Segment{}, s.aboveLatest(*at, target)
		}
		target = *at
	}
	base, from := s.base(target), int64(0)
	if base != nil {
		from = base.Version + 1
	}
	commits, err := s.run(from, target)
	if err != nil {
		return Segment{}, err
	}
	return Segment{
		Version: target, Checkpoint: base, Commits: commits, Compactions: s.compactionsOf(from, target),
		Commit: s.commit(target), Checksum: s.checksum(target),
		Checkpoints: s.checkpointsTo(target), Modified: s.modified(target, base), later: s.from(target),
	}, nil
}

// run returns the commits from..to, which must all be there (L5, L6).
func (s listing) run(from, to int64) ([]File, error) {
	found := s.commitsFrom(from)
	for version := from; version <= to; version++ {
		i := version - from
		if i < int64(len(found)) && found[i].Version == version {
			continue
		}
		if version == 0 {
			return nil, s.notFromZero(to)
		}
		return nil, s.gap(version, found[i:])
	}
	return slices.Clone(found[:to-from+1]), nil
}

func (s listing) checkpointsTo(target int64) []int64 {
	var versions []int64
	for _, c := range slices.Backward(s.checkpoints) {
		if c.Version <= target {
			versions = append(versions, c.Version)
		}
	}
	return slices.Compact(versions)
}

func (s listing) modified(version int64, base *Checkpoint) time.Time {
	if f := s.commit(version); f != nil {
		return f.ModTime
	}
	return base.Files[0].ModTime
}

// warnOfUnusable tells of the checkpoints that would have been chosen, were they usable (L8, L9).
func (l Log) warnOfUnusable(s listing, seg Segment) {
	for _, u := range s.unusable {
		if u.version <= seg.Version && (seg.Checkpoint == nil || u.version >= seg.Checkpoint.Version) {
			l.warn("passing over the checkpoint of version " + itoa(u.version) + ": " + u.reason)
		}
	}
}

func (l Log) annotate(err error, attrs ...deltaerr.Attr) error {
	if err == nil {
		return nil
	}
	return deltaerr.Annotate(err, append(attrs, deltaerr.Table(l.Root.String()))...)
}
