// Package feed answers what a reader of a table sees over time: rows and what else happened, as events, each with the
// position that is reached after it. It knows no Benthos. How rows are delivered and where positions are stored is left to
// others. [Source] is the one seam that isolation replaces.
package feed

import (
	"context"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// Source follows one table. Next is called from one goroutine at a time and returns io.EOF after the last event of a
// bounded source. It returns promptly when its context ends. After that, and after an error that deltaerr.Retryable allows,
// Next may be called again: it goes on behind the last event, no row twice or left out. Any other error stays. Close may be
// called at any time and waits until nothing is left running.
type Source interface {
	Next(ctx context.Context) (Event, error)
	Refresh(ctx context.Context) error // look for a new version; a no-op for a snapshot
	Close() error
}

// Metered is implemented by sources that know what their store was asked for until now. Any goroutine may call Usage.
type Metered interface{ Usage() storage.Usage }

// Config of a source.
type Config struct {
	URI    string
	Open   deltacore.Options
	Scan   deltacore.ScanOptions
	Resume *Position // behind it the source begins; nil: at the start. Its version must be the one that is opened
}

// Operation is the value of the metadata key "operation".
type Operation string

// The operations of rows.
const (
	Read   Operation = "read"
	Insert Operation = "insert"
)

// Event is one of Planned, Rows, Progress and CaughtUp (later Skipped and SchemaChanged).
type Event interface{ isEvent() }

// Planned is the first event of a version: what is about to be read.
type Planned struct {
	Position Position // behind it reading begins
	Files    int      // active files of the version
	Columns  *schema.Struct
	Took     time.Duration // from opening the table until the files were known
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

	// One number a row (row tracking); nil unless asked for.
	RowIDs, RowCommitVersions []int64
}

// Progress is a position that moved without rows: a file or a version was finished.
type Progress struct{ Position Position }

// CaughtUp says that everything up to Version was handed out.
type CaughtUp struct {
	Version int64
	Latest  int64         // the table's latest version when it was last looked for; -1: nobody looked
	Lag     time.Duration // age of the oldest commit not yet handed out, 0 when caught up
}

func (Planned) isEvent()  {}
func (Rows) isEvent()     {}
func (Progress) isEvent() {}
func (CaughtUp) isEvent() {}
