package deltalog

import (
	"context"
	"fmt"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// LostCommits is the cause of an error about commits that cannot be read any more: those that the log no longer holds, or
// those of versions that were read and are others now.
type LostCommits struct {
	First, Last int64 // versions
	Next        int64 // the first version after them whose commit is there; -1: none, or they are others now
	Others      bool  // the table was taken back behind them; other commits stand in their place, or will
}

// Error names the lost range.
func (e *LostCommits) Error() string {
	switch {
	case e.Others && e.First == e.Last:
		return fmt.Sprintf("version %d is not the one that was read", e.First)
	case e.Others:
		return fmt.Sprintf("the versions %d to %d are not those that were read", e.First, e.Last)
	}
	text := fmt.Sprintf("the commits of the versions %d to %d are no longer in the log (delta.logRetentionDuration)", e.First, e.Last)
	if e.First == e.Last {
		text = fmt.Sprintf("the commit of version %d is no longer in the log (delta.logRetentionDuration)", e.First)
	}
	if e.Next < 0 {
		return text
	}
	return text + fmt.Sprintf(": the earliest after it is that of version %d", e.Next)
}

// missing says why the commit of a version is not there, where those up to another one are wanted. The log is cleaned from its
// beginning (RV4): while the commit before it is there, one that is missing has not come to be seen yet.
func (s listing) missing(version, to int64) error {
	_, some := s.latest()
	switch {
	case !some:
		return s.notATable()
	case s.commit(version-1) != nil:
		return deltaerr.New(deltaerr.Transient, fmt.Sprintf("the commit of version %d cannot be seen, although the one before it can", version),
			deltaerr.Version(version), deltaerr.Hint("it may be on its way; else restore it from a copy of %s", logDir))
	}
	lost := &LostCommits{First: version, Last: to, Next: -1}
	if later := s.commitsFrom(version); len(later) > 0 {
		lost.Next = later[0].Version
		lost.Last = min(to, lost.Next-1)
	}
	return deltaerr.New(deltaerr.Unresumable, "", deltaerr.Cause(lost), deltaerr.Version(version), s.available())
}

// Rewritten is the error of a version that was read and whose commit is another one now, or of a table that no longer has the
// version. made is when the commit that was read was made, or before; zero: not known. It costs one listing of the whole log.
func (l Log) Rewritten(ctx context.Context, version int64, made time.Time) error {
	names, err := l.list(ctx, 0)
	if err != nil {
		return l.annotate(err)
	}
	latest, some := names.latest()
	if !some {
		return l.annotate(names.notATable())
	}
	lost := &LostCommits{First: min(names.firstSince(min(latest, version), made), version), Last: version, Next: -1, Others: true}
	if latest < version {
		return l.annotate(deltaerr.New(deltaerr.Unresumable, fmt.Sprintf("the table went back: version %d was read, but the latest is"+
			" now %d, as after restoring an old copy of it", version, latest), deltaerr.Version(latest), deltaerr.Cause(lost)))
	}
	return l.annotate(deltaerr.New(deltaerr.Unresumable, fmt.Sprintf("another commit stands at version %d now, as after restoring an old"+
		" copy of the table and writing on", version), deltaerr.Version(version), deltaerr.Cause(lost)))
}

// firstSince is the first of the versions up to one whose commits were all written after a time; the version after it where none
// was, and where all were: then the log is a copy whose times say nothing.
func (s listing) firstSince(version int64, made time.Time) int64 {
	first, at := version+1, len(s.commits)-len(s.commitsFrom(version+1))
	if made.IsZero() {
		return first
	}
	for at > 0 && s.commits[at-1].Version == first-1 && s.commits[at-1].ModTime.After(made) {
		first, at = first-1, at-1
	}
	if at == 0 {
		return version + 1
	}
	return first
}
