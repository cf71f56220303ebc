// Package scanplan decides what is read and how the work is divided: from the active files of a version to tasks in
// canonical order, and to partitions of about the same size. It is pure: it knows what the log says, and opens no file.
package scanplan

import (
	"cmp"
	"strings"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
)

// Key orders the files of a version and names one in a position: modification time, then path bytes as in the log.
type Key struct {
	ModificationTime int64  `json:"modification_time"` // ms since 1970
	Path             string `json:"path"`              // as in the log, not decoded
}

// Compare orders keys canonically: by modification time, then by the path's bytes.
func (k Key) Compare(other Key) int {
	return cmp.Or(cmp.Compare(k.ModificationTime, other.ModificationTime), strings.Compare(k.Path, other.Path))
}

// FileTask is one file to read, complete in itself: it can be sent elsewhere as JSON.
type FileTask struct {
	TableID         string                 `json:"table_id"`
	Version         int64                  `json:"version"`
	SchemaHash      string                 `json:"schema_hash"`
	Key             Key                    `json:"key"`
	File            string                 `json:"file"` // decoded, relative to the table root
	Size            int64                  `json:"size"` // bytes as the log says it, 0 when it does not
	PartitionValues map[string]*string     `json:"partition_values"`
	DeletionVector  *action.DeletionVector `json:"deletion_vector,omitzero"`
	StartRow        int64                  `json:"start_row,omitzero"` // first physical row wanted: where a resumed read goes on
	Range           *ByteRange             `json:"range,omitzero"`     // nil: the whole file

	// Of row tracking (protocol section 20); nil when the log does not say.
	BaseRowID               *int64 `json:"base_row_id,omitzero"`
	DefaultRowCommitVersion *int64 `json:"default_row_commit_version,omitzero"`
}

// Owns says whether the task reads the row group that begins at an offset: the one of its first column's first page, a
// dictionary page included. The range that ends where the log says that the file ends owns what lies behind it too, since
// the log may be wrong (protocol Q8).
func (t *FileTask) Owns(offset int64) bool {
	r := t.Range
	return r == nil || r.Contains(offset) || offset >= r.End && r.End == t.Size
}
