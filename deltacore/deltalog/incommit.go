package deltalog

import (
	"context"
	"fmt"
	"io"
	"slices"
	"strconv"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

const (
	inCommitFeature      = "inCommitTimestamp"
	inCommitEnabled      = "delta.enableInCommitTimestamps"
	inCommitSinceVersion = "delta.inCommitTimestampEnablementVersion"
	inCommitSinceTime    = "delta.inCommitTimestampEnablementTimestamp"
)

// keepsTime says whether commits of a version carry their own timestamps (T3).
func keepsTime(p action.Protocol, m action.Metadata) bool {
	return slices.Contains(p.WriterFeatures, inCommitFeature) && m.Configuration[inCommitEnabled] == "true"
}

// enablement is since when the commits of a table carry their own timestamps (T4): the zero value is always.
type enablement struct {
	version int64
	ms      int64 // of that version; not set when version is 0
}

func enablementOf(m action.Metadata) (enablement, error) {
	version, hasVersion := m.Configuration[inCommitSinceVersion]
	ms, hasTime := m.Configuration[inCommitSinceTime]
	if !hasVersion && !hasTime {
		return enablement{}, nil
	}
	var e enablement
	var versionErr, timeErr error
	e.version, versionErr = strconv.ParseInt(version, 10, 64)
	e.ms, timeErr = strconv.ParseInt(ms, 10, 64)
	if versionErr != nil || timeErr != nil || e.version < 0 {
		return enablement{}, deltaerr.New(deltaerr.Corrupt, fmt.Sprintf(
			"%s is %q and %s is %q: since when commits carry timestamps cannot be known",
			inCommitSinceVersion, version, inCommitSinceTime, ms))
	}
	return e, nil
}

// inCommitTime returns the timestamp in ms that a commit carries in its first action (T3).
func inCommitTime(f File, first *action.CommitInfo) (int64, error) {
	if first != nil && first.InCommitTimestamp != nil {
		return *first.InCommitTimestamp, nil
	}
	msg := "in-commit timestamps are enabled, but the commitInfo has no inCommitTimestamp"
	if first == nil {
		msg = "in-commit timestamps are enabled, but the first action is no commitInfo"
	}
	return 0, deltaerr.New(deltaerr.Corrupt, msg, deltaerr.Version(f.Version), deltaerr.File(f.path()))
}

// firstInfo reads no further than the first action of a commit. It is nil when that is no commitInfo.
func (l Log) firstInfo(ctx context.Context, f File) (*action.CommitInfo, error) {
	r, err := l.Store.Get(ctx, f.path())
	if err != nil {
		return nil, commitError(err, f)
	}
	defer r.Close()
	first, err := action.NewScanner(r).Next()
	if err != nil && err != io.EOF { //nolint:errorlint // the end itself: a wrapped one is a cut stream
		return nil, commitError(err, f)
	}
	return first.CommitInfo, nil
}

// timeOf is when the version of a segment was committed: what its commit says where that is enabled (T3), else the time of
// the log file (T2).
func (l Log) timeOf(ctx context.Context, s Segment, h *head) (time.Time, error) {
	if !keepsTime(*h.protocol, *h.metadata) {
		return s.Modified, nil
	}
	if s.Commit == nil {
		return l.timeOfChecksum(ctx, s, h)
	}
	var info *action.CommitInfo
	if h.newest != nil && h.newest.version == s.Version {
		info = h.newest.info
	} else {
		first, err := l.firstInfo(ctx, *s.Commit)
		if vanished(err) {
			return l.timeOfChecksum(ctx, s, h)
		}
		if err != nil {
			return time.Time{}, err
		}
		info = first
	}
	ms, err := inCommitTime(*s.Commit, info)
	return time.UnixMilli(ms).UTC(), err
}

// timeOfChecksum reads the timestamp of a version whose commit is gone from its .crc file (RV3).
func (l Log) timeOfChecksum(ctx context.Context, s Segment, h *head) (time.Time, error) {
	if s.Checksum != nil {
		c, err := l.readChecksum(ctx, *s.Checksum)
		if err != nil {
			return time.Time{}, err
		}
		if c != nil && c.InCommitTimestamp != nil && c.Metadata.ID == h.metadata.ID {
			return time.UnixMilli(*c.InCommitTimestamp).UTC(), nil
		}
	}
	gone := File{Name: fmt.Sprintf("%020d.json", s.Version)}
	return time.Time{}, deltaerr.New(deltaerr.Corrupt, "in-commit timestamps are enabled, but the commit is gone and no .crc"+
		" file tells its time", deltaerr.File(gone.path()), deltaerr.Hint("restore the file, or read a later version"))
}

// InCommitTimestamps says whether the commits of a table in this state carry their own timestamps (T3), and since which
// version (T4): 0 for always.
func (s *Snapshot) InCommitTimestamps() (enabled bool, since int64, err error) {
	if !keepsTime(s.Protocol, s.Metadata) {
		return false, 0, nil
	}
	e, err := enablementOf(s.Metadata)
	return true, e.version, s.annotate(err)
}
