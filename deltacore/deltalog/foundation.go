package deltalog

import (
	"context"
	"fmt"
	"sync"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
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
	if f, known := segment.Commit, s.Segment.Commit; f != nil && known != nil && f.Size != known.Size {
		return segment, deltaerr.New(deltaerr.Unresumable,
			fmt.Sprintf("the commit of version %d is another one than the one that was read", s.Version), deltaerr.File(f.path()))
	}
	return segment, nil
}
