package deltalog

import (
	"cmp"
	"fmt"
	"slices"
)

// CheckpointKind tells checkpoints apart by how they are named. What they hold is decided by their content: a file of any
// name may follow the V1 or the V2 form (C2).
type CheckpointKind int

// The kinds, in the order in which one is preferred over another of the same version (L7).
const (
	Classic   CheckpointKind = iota // V.checkpoint.parquet
	MultiPart                       // V.checkpoint.O.P.parquet
	UUID                            // V.checkpoint.<uuid>.json or .parquet
)

// String names the kind for messages.
func (k CheckpointKind) String() string {
	switch k {
	case Classic:
		return "classic"
	case MultiPart:
		return "multi-part"
	case UUID:
		return "uuid"
	}
	return fmt.Sprintf("kind(%d)", int(k))
}

// Checkpoint is a complete checkpoint: one file, or all parts in order.
type Checkpoint struct {
	Version int64
	Kind    CheckpointKind
	Files   []File
}

// compare orders checkpoints from the least to the most wanted (L7): version, kind, number of parts, name.
func (c Checkpoint) compare(other Checkpoint) int {
	return cmp.Or(
		cmp.Compare(c.Version, other.Version),
		cmp.Compare(c.Kind, other.Kind),
		cmp.Compare(len(c.Files), len(other.Files)),
		cmp.Compare(c.Files[0].Name, other.Files[0].Name),
	)
}

// unusable is a checkpoint that cannot be read, with the reason.
type unusable struct {
	version int64
	reason  string // names the file
}

// partSet gathers the parts of a multi-part checkpoint with one number of parts (L8).
type partSet struct {
	version, parts int64
	files          map[int64]File // by part
}

// checkpoint returns the parts in order, or says which is missing first.
func (s partSet) checkpoint() (Checkpoint, *unusable) {
	if int64(len(s.files)) < s.parts {
		return Checkpoint{}, &unusable{s.version, s.missing()}
	}
	c := Checkpoint{Version: s.version, Kind: MultiPart}
	for part := int64(1); part <= s.parts; part++ {
		c.Files = append(c.Files, s.files[part])
	}
	return c, nil
}

func (s partSet) missing() string {
	part := int64(1)
	for ; part < s.parts; part++ {
		if _, ok := s.files[part]; !ok {
			break
		}
	}
	name := fmt.Sprintf("%s/%020d.checkpoint.%010d.%010d.parquet", logDir, s.version, part, s.parts)
	return fmt.Sprintf("%s is missing or empty (%d of %d parts are there)", name, len(s.files), s.parts)
}

// newestFirst sorts complete checkpoints so that the first is the most wanted.
func newestFirst(list []Checkpoint) {
	slices.SortFunc(list, func(a, b Checkpoint) int { return b.compare(a) })
}
