package feed

import (
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// Operation is the value of the metadata key "operation".
type Operation string

// The operations of rows.
const (
	Read   Operation = "read"
	Insert Operation = "insert"
)

// Event is one of Planned, Rows, Progress, Skipped, SchemaChanged and CaughtUp.
type Event interface{ isEvent() }

// Planned is the first event of a source, and of each version that is read as a whole: what is about to be read.
type Planned struct {
	Position Position       // behind it reading begins
	Files    int            // files of the version that are to be read; 0 where reading begins with a commit
	Columns  *schema.Struct // nil where reading begins with a commit whose schema is not known yet
	Took     time.Duration  // from opening the table until the files were known
}

// Rows is a batch of rows of one file. The receiver releases Record.
type Rows struct {
	Record          arrow.RecordBatch
	Columns         *schema.Struct
	Position        Position // after the last row
	Operation       Operation
	Version         int64
	CommitTimestamp time.Time
	File            string  // as in the log, decoded
	FirstRow        int64   // physical row of the first row in the file
	Index           []int64 // physical row of each row; nil when consecutive

	// Of Reload: these are the first rows of their version, or the last. A version without rows has neither.
	First, Last bool

	// One number a row (row tracking); nil unless asked for.
	RowIDs, RowCommitVersions []int64
}

// Progress is a position that moved without rows: a file or a version was finished.
type Progress struct{ Position Position }

// SkipReason says why rows were left out.
type SkipReason string

// The reasons.
const (
	SkippedRewrite SkipReason = "rewrite"
	SkippedDelete  SkipReason = "delete"
	SkippedFile    SkipReason = "missing_file"
)

// Skipped says that rows were left out because a policy allows it. The position behind them comes after it.
type Skipped struct {
	Reason    SkipReason
	Version   int64
	Operation string // of a commit, as its writer calls it
	File      string // of a missing file: as in the log, decoded
	Files     int64  // that a commit added or removed
	Rows      *int64 // that a commit added, whatever a predicate says of them; nil: not known
	Cause     error  // of a missing file
}

// SchemaChanged says that the columns that are read have changed, and that a policy lets that pass. Rows with the new ones
// may follow.
type SchemaChanged struct {
	Version  int64
	Was, Now *schema.Struct
	Changes  string // what changed, in words
}

// CaughtUp says that everything up to Version was handed out.
type CaughtUp struct {
	Version int64
	Latest  int64         // the table's latest version when it was last looked for; -1: nobody looked
	Lag     time.Duration // age of the oldest commit not yet handed out, 0 when caught up
}

func (Planned) isEvent()       {}
func (Rows) isEvent()          {}
func (Progress) isEvent()      {}
func (Skipped) isEvent()       {}
func (SchemaChanged) isEvent() {}
func (CaughtUp) isEvent()      {}
