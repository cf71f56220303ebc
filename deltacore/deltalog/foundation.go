package deltalog

import (
	"context"
	"sync"
)

// baseCell holds what a checkpoint holds, from when it is first asked for. Snapshots over one checkpoint share it.
type baseCell struct {
	mu     sync.Mutex
	opened *base
}

func (c *baseCell) get() *base {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.opened
}

func (c *baseCell) set(b *base) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.opened = b
}

// foundation is the segment of the version and its opened checkpoint. A snapshot that was not made by [Log.Load] finds them
// here: its checkpoint may turn out to be unusable and another one take its place (L10).
func (s *Snapshot) foundation(ctx context.Context) (Segment, *base, error) {
	segment := s.Segment
	if s.incomplete {
		var err error
		if segment, err = s.findAgain(ctx); err != nil {
			return segment, nil, err
		}
	}
	if b := s.base.get(); b != nil || segment.Checkpoint == nil {
		return segment, b, nil
	}
	used, b, err := s.Log.openBase(ctx, segment)
	switch {
	case err != nil:
		return used, nil, err
	case used.Checkpoint != segment.Checkpoint:
		used.Compactions = nil // not checked
	case !s.incomplete:
		s.base.set(b)
	}
	return used, b, nil
}

// findAgain chooses the segment of a version of which only the commit is known. That must still be the one that was read.
func (s *Snapshot) findAgain(ctx context.Context) (Segment, error) {
	segment, err := s.Log.findSegment(ctx, &s.Version)
	if err != nil {
		return segment, err
	}
	segment.Compactions = nil // not checked
	f, known := segment.Commit, s.Segment.Commit
	if f == nil || known == nil {
		return segment, nil
	}
	found, err := s.compare(ctx, *known, *f)
	if err == nil && found == rewritten {
		err = s.Log.Rewritten(ctx, s.Version, known.ModTime)
	}
	return segment, err
}
