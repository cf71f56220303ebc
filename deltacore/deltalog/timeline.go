package deltalog

import (
	"context"
	"fmt"
	"math"
	"sort"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// timeline is when the commits that the log holds were made, in ms since 1970, ascending.
type timeline struct {
	log     Log
	commits []File  // ascending
	byFile  []int64 // their files' times, made to ascend (T2)
	inside  int     // the first commit that carries its own timestamp; len(commits): none does
	since   int64   // the timestamp from which those are meant (T4)
	read    map[int]int64
	latest  *Snapshot // the latest version, where it had to be loaded
}

// timeline finds out whether and since when commits carry timestamps. The newest commit tells whether: then the latest
// version is loaded for the rest.
func (l Log) timeline(ctx context.Context, s listing) (*timeline, error) {
	if len(s.commits) == 0 {
		return nil, s.noCommits()
	}
	t := &timeline{log: l, commits: s.commits, byFile: ascending(s.commits), inside: len(s.commits), read: map[int]int64{}}
	newest := len(s.commits) - 1
	info, err := l.firstInfo(ctx, s.commits[newest])
	if err != nil || info == nil || info.InCommitTimestamp == nil {
		return t, err
	}
	t.read[newest] = *info.InCommitTimestamp
	return t, t.enable(ctx, s)
}

// enable reads since when commits carry timestamps from the metadata of the latest version.
func (t *timeline) enable(ctx context.Context, s listing) error {
	segment, err := s.choose(&s.commits[len(s.commits)-1].Version)
	if err != nil {
		return err
	}
	latest, err := t.log.load(ctx, segment)
	t.latest = latest
	if err != nil || !keepsTime(latest.Protocol, latest.Metadata) {
		return err
	}
	e, err := enablementOf(latest.Metadata)
	if err != nil {
		return deltaerr.Annotate(err, deltaerr.Version(latest.Version))
	}
	t.inside = len(t.commits) - len(s.commitsFrom(e.version))
	if t.since = e.ms; e.version == 0 {
		t.since = math.MinInt64
	}
	return nil
}

// ascending returns the times of the commits' files, each at least a millisecond after the one before (T2).
func ascending(commits []File) []int64 {
	times := make([]int64, len(commits))
	for i, f := range commits {
		times[i] = f.ModTime.UnixMilli()
		if i > 0 {
			times[i] = max(times[i], times[i-1]+1)
		}
	}
	return times
}

// at returns the time of the i-th commit. One that carries its own costs a request, once.
func (t *timeline) at(ctx context.Context, i int) (int64, error) {
	if i < t.inside {
		return t.byFile[i], nil
	}
	if ms, ok := t.read[i]; ok {
		return ms, nil
	}
	info, err := t.log.firstInfo(ctx, t.commits[i])
	if err != nil {
		return 0, err
	}
	ms, err := inCommitTime(t.commits[i], info)
	t.read[i] = ms
	return ms, err
}

// search returns the first commit whose time is past, len(commits) when none is. Of commits with and without timestamps of
// their own only those are looked at that the time belongs to (T4).
func (t *timeline) search(ctx context.Context, at time.Time, past func(ms int64) bool) (int, error) {
	from, to := 0, t.inside
	if t.inside < len(t.commits) && at.UnixMilli() >= t.since {
		from, to = t.inside, len(t.commits)
	}
	var err error
	i := from + sort.Search(to-from, func(i int) bool {
		if err != nil {
			return true
		}
		var ms int64
		ms, err = t.at(ctx, from+i)
		return past(ms)
	})
	return i, err
}

// VersionAsOf returns the latest version that was committed at or before a time (T5). A time before the first commit that
// the log holds, or after the last one, is NotFound and the message names both. Where commits do not carry timestamps, their
// files' times count (T2), which a copy of the table has anew.
//
// It costs one listing of the whole log and the beginning of the newest commit. Where commits carry their own timestamps
// it costs, besides, what [Log.Load] costs for the latest version, and the beginnings of as many commits as it takes to
// halve their number until one is left: 17 of 100,000.
func (l Log) VersionAsOf(ctx context.Context, at time.Time) (int64, error) {
	var segment Segment
	err := relisting(func() error {
		names, err := l.list(ctx, 0)
		if err == nil {
			segment, err = l.asOf(ctx, names, at)
		}
		return err
	})
	return segment.Version, l.annotate(err)
}

func (l Log) asOf(ctx context.Context, s listing, at time.Time) (Segment, error) {
	t, err := l.timeline(ctx, s)
	if err != nil {
		return Segment{}, err
	}
	i, err := t.search(ctx, at, func(ms int64) bool { return time.UnixMilli(ms).After(at) })
	if err == nil {
		err = t.outside(ctx, at, i)
	}
	if err != nil {
		return Segment{}, err
	}
	version := t.commits[i-1].Version
	segment, err := s.choose(&version)
	if err != nil {
		err = deltaerr.Annotate(err, deltaerr.Phase("finding the version as of %s", stamp(at)))
	}
	return segment, err
}

// outside says why a time belongs to no version, when i is the first commit after it.
func (t *timeline) outside(ctx context.Context, at time.Time, i int) error {
	n := len(t.commits)
	if i == 0 {
		return t.wrongTime(ctx, at, "is before the first commit that the log holds")
	}
	if i < n {
		if before, next := t.commits[i-1].Version, t.commits[i].Version; next != before+1 {
			return deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("%s is between the commits of the versions %d and %d: those between"+
				" them are missing, so the version at that time cannot be known", stamp(at), before, next))
		}
		return nil
	}
	last, err := t.at(ctx, n-1)
	if err != nil || !at.After(time.UnixMilli(last)) {
		return err
	}
	return t.wrongTime(ctx, at, "is after the last commit")
}

// wrongTime names the first and the last commit with their times.
func (t *timeline) wrongTime(ctx context.Context, at time.Time, what string) error {
	last := len(t.commits) - 1
	firstMS, err := t.at(ctx, 0)
	if err != nil {
		return err
	}
	lastMS, err := t.at(ctx, last)
	if err != nil {
		return err
	}
	return deltaerr.New(deltaerr.NotFound, stamp(at)+" "+what, deltaerr.Hint("the log holds version %d of %s to version %d of %s",
		t.commits[0].Version, stamp(time.UnixMilli(firstMS)), t.commits[last].Version, stamp(time.UnixMilli(lastMS))))
}

// stamp writes a time for a message.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
