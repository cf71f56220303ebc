package input

import (
	"sync"
	"time"

	"github.com/benthos-delta/benthos-delta/input/feed"
)

// handover keeps how far a connection has handed its rows to the engine. The source is ahead of that: what it has read may be
// waiting to be encoded, or for what is in flight. Its methods may be called from any goroutine.
type handover struct {
	mu       sync.Mutex
	version  int64          // the last one handed out as a whole; -1: none
	last     passage        // the last group of which all is handed out
	waiting  []passage      // groups that were read and are not handed out, oldest first
	caughtUp *feed.CaughtUp // to be told when its version is handed out
}

// passage is a group on its way.
type passage struct {
	position     feed.Position
	made         time.Time // when the commit of its rows was made; zero: it has none
	files, bytes int64     // left of its version behind it
}

func newHandover(l feed.Lag) *handover { return &handover{version: l.Version} }

// read notes a group that was read, and how far the source had come then.
func (h *handover) read(g group, l feed.Lag) {
	p := passage{position: g.position, files: l.Files, bytes: l.Bytes}
	if len(g.rows) > 0 {
		p.made = g.rows[0].CommitTimestamp
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.waiting = append(h.waiting, p)
	if h.caughtUp != nil && h.caughtUp.Version < g.position.Version {
		h.caughtUp = nil // there is more already
	}
}

// handed notes that everything up to a position was handed out. It returns what is to be told now.
func (h *handover) handed(p feed.Position) (told *feed.CaughtUp) {
	h.mu.Lock()
	defer h.mu.Unlock()
	n := 0
	for n < len(h.waiting) && h.waiting[n].position.Compare(p) <= 0 {
		n++
	}
	if n > 0 {
		h.last = h.waiting[n-1]
		clear(h.waiting[:n])
		h.waiting = h.waiting[n:]
	}
	if p.Done {
		h.version = p.Version
	}
	return h.due()
}

// reached notes that the source has caught up. It returns that if it is to be told now.
func (h *handover) reached(e feed.CaughtUp) (told *feed.CaughtUp) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.caughtUp = &e
	return h.due()
}

func (h *handover) due() (told *feed.CaughtUp) {
	if h.caughtUp != nil && h.caughtUp.Version <= h.version {
		told, h.caughtUp = h.caughtUp, nil
	}
	return told
}

// lag is how far the engine is behind, where the source is behind by l. Versions without rows wait for nothing, so that the
// oldest one that waits has rows.
func (h *handover) lag(l feed.Lag) feed.Lag {
	h.mu.Lock()
	defer h.mu.Unlock()
	l.Version = h.version
	for _, p := range h.waiting {
		if !p.made.IsZero() {
			l.Oldest = p.made
			break
		}
	}
	switch last := h.last.position; {
	case len(h.waiting) == 0: // the source is no further
	case h.last != (passage{}) && !last.Done && last.Version == h.waiting[0].position.Version:
		l.Files, l.Bytes = h.last.files, h.last.bytes
	default:
		l.Files, l.Bytes = h.waiting[0].files, h.waiting[0].bytes
	}
	return l
}
