package deltalog

import (
	"context"
	"errors"
	"io/fs"
	"time"
)

// Which says which version of a table is meant. The zero value is the latest; of the two, Version is looked at first.
type Which struct {
	Version   *int64
	Timestamp *time.Time // the latest version committed at or before it (T5)
}

// Open chooses the segment of a version and loads it: [Log.FindSegment] or [Log.VersionAsOf], then [Log.Load]. When a file
// of the log vanishes in between, because the log is being cleaned, it lists the log once more (RV8).
func (l Log) Open(ctx context.Context, w Which) (*Snapshot, error) {
	var snapshot *Snapshot
	err := relisting(func() error {
		segment, err := l.find(ctx, w)
		if err == nil {
			snapshot, err = l.Load(ctx, segment)
		}
		return err
	})
	return snapshot, l.annotate(err)
}

func (l Log) find(ctx context.Context, w Which) (Segment, error) {
	if w.Version != nil || w.Timestamp == nil {
		return l.findSegment(ctx, w.Version)
	}
	names, err := l.list(ctx, 0)
	if err != nil {
		return Segment{}, err
	}
	segment, err := l.asOf(ctx, names, *w.Timestamp)
	if err == nil {
		l.warnOfUnusable(names, segment)
	}
	return segment, err
}

// relisting runs what lists the log and reads files of it once more when one of them has vanished since (RV8).
func relisting(run func() error) error {
	err := run()
	if vanished(err) {
		err = run()
	}
	return err
}

// vanished says whether a file that was listed is gone.
func vanished(err error) bool { return errors.Is(err, fs.ErrNotExist) }
