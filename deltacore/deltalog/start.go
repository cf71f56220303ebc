package deltalog

import (
	"context"
	"time"
)

// Start is where reading commits from a time on begins (T6).
type Start struct {
	Version  int64     // the earliest that was committed at or after the time; else the one that comes next, whose time may be before it
	Found    bool      // Version is there
	First    int64     // the first commit that the log holds
	Last     time.Time // when its last one was made, as [Log.VersionAsOf] counts
	Snapshot *Snapshot // that version; the latest where it cannot be rebuilt, or is not there
}

// VersionFrom returns the version from which on commits were made at or after a time. When the log was cleaned, it may be the
// first commit that is left although older ones were made after the time. It costs as much as [Log.VersionAsOf].
func (l Log) VersionFrom(ctx context.Context, at time.Time) (version int64, found bool, err error) {
	err = relisting(func() error {
		names, err := l.list(ctx, 0)
		if err == nil {
			_, version, found, err = l.from(ctx, names, at)
		}
		return err
	})
	return version, found, l.annotate(err)
}

// OpenFrom opens the version of [Log.VersionFrom], for [Snapshot.Commits] from there on.
//
// It costs one listing of the whole log, the beginning of the newest commit, and what [Log.Load] costs: one checkpoint at
// most. Where commits carry their own timestamps the latest version has to be loaded first, as for [Log.VersionAsOf]: that is
// a second checkpoint, if it is not the same one.
func (l Log) OpenFrom(ctx context.Context, at time.Time) (Start, error) {
	var start Start
	err := relisting(func() error {
		names, err := l.list(ctx, 0)
		if err == nil {
			start, err = l.openFrom(ctx, names, at)
		}
		return err
	})
	return start, l.annotate(err)
}

func (l Log) openFrom(ctx context.Context, s listing, at time.Time) (start Start, err error) {
	t, version, found, err := l.from(ctx, s, at)
	if err != nil {
		return Start{}, err
	}
	segment, err := s.choose(&version)
	if err != nil {
		segment, err = s.choose(nil)
	}
	if err != nil {
		return Start{}, err
	}
	l.warnOfUnusable(s, segment)
	snapshot, err := l.loadNear(ctx, segment, t.latest)
	if err != nil {
		return Start{}, err
	}
	last, err := t.at(ctx, len(t.commits)-1)
	return Start{version, found, t.commits[0].Version, time.UnixMilli(last).UTC(), snapshot}, err
}

// from finds the first commit at or after a time.
func (l Log) from(ctx context.Context, s listing, at time.Time) (t *timeline, version int64, found bool, err error) {
	if t, err = l.timeline(ctx, s); err != nil {
		return nil, 0, false, err
	}
	i, err := t.search(ctx, at, func(ms int64) bool { return !time.UnixMilli(ms).Before(at) })
	switch {
	case err != nil:
		return nil, 0, false, err
	case i < len(t.commits):
		return t, t.commits[i].Version, true, nil
	}
	return t, t.commits[i-1].Version + 1, false, nil
}

// loadNear loads a segment. It opens no checkpoint that another snapshot, if there is one, has opened.
func (l Log) loadNear(ctx context.Context, s Segment, other *Snapshot) (*Snapshot, error) {
	switch {
	case other == nil || s.Checkpoint == nil || other.Segment.Checkpoint == nil:
		return l.load(ctx, s)
	case other.Version == s.Version:
		return other, nil
	case other.Segment.Checkpoint.Files[0].Name != s.Checkpoint.Files[0].Name:
		return l.load(ctx, s)
	}
	return l.loadOver(ctx, s, other.base.get())
}
