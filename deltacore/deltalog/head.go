package deltalog

import (
	"github.com/benthos-delta/benthos-delta/deltacore/action"
)

const maxKept = 8 << 20 // bytes of commits and compactions kept by a snapshot

// head is what the log files that were looked through say about the table itself. Each fact has the version that said it:
// the newest wins, in whatever order they come (R1).
type head struct {
	protocol               *action.Protocol
	metadata               *action.Metadata
	protocolAt, metadataAt int64
	newest                 *headResult // of the newest commit that was looked through
	kept                   map[string][]byte
	keptBytes              int64
}

func newHead() *head {
	return &head{protocolAt: -1, metadataAt: -1, kept: map[string][]byte{}}
}

// note takes what a version says. What is known from the same version already stays.
func (h *head) note(version int64, p *action.Protocol, m *action.Metadata) {
	if p != nil && version > h.protocolAt {
		h.protocol, h.protocolAt = p, version
	}
	if m != nil && version > h.metadataAt {
		h.metadata, h.metadataAt = m, version
	}
}

// take takes what a log file says, and its bytes if they are to be kept.
func (h *head) take(r headResult) {
	h.note(r.version, r.protocol, r.metadata)
	if n := int64(len(r.text)); r.text != nil && h.kept[r.name] == nil && h.keptBytes+n <= maxKept {
		h.kept[r.name] = r.text
		h.keptBytes += n
	}
	r.text = nil
	if h.newest == nil || r.version >= h.newest.version {
		h.newest = &r
	}
}

// hashOf is the hash of a commit; "": it was not looked through.
func (h *head) hashOf(f *File) string {
	if f == nil || h.newest == nil || h.newest.name != f.Name {
		return ""
	}
	return h.newest.hash
}

// keep takes over bytes that are kept already.
func (h *head) keep(kept map[string][]byte) {
	for name, text := range kept {
		h.kept[name] = text
		h.keptBytes += int64(len(text))
	}
}

// completeBelow says that older versions than this one have nothing to add.
func (h *head) completeBelow(version int64) bool {
	return h.protocolAt >= version && h.metadataAt >= version
}

// headTask is one log file to look through; keep says that its bytes may stay in memory.
type headTask struct {
	file    File
	version int64 // the last that it stands for
	keep    bool
	hash    bool // of the file is wanted
}

// headResult is what one log file says about the table.
type headResult struct {
	name     string
	version  int64
	protocol *action.Protocol
	metadata *action.Metadata
	info     *action.CommitInfo // when that is the first action (T3)
	text     []byte             // nil when not kept
	hash     string             // of the file; "": it was not wanted
}

func (r *headResult) take(a action.Action, first bool) {
	switch {
	case a.Protocol != nil:
		r.protocol = a.Protocol
	case a.Metadata != nil:
		r.metadata = a.Metadata
	case a.CommitInfo != nil && first:
		r.info = a.CommitInfo
	}
}
