// Package feed answers what a reader of a table sees over time: rows and what else happened, as events, each with the
// position that is reached after it. It knows no Benthos, and starts no goroutine of its own. How rows are delivered, where
// positions are stored and when to look for a new version is left to others. [Source] is the one seam that isolation
// replaces.
//
// What a follower does is a state machine (machine.go); what comes after a version is decided by the mode (append.go,
// reload.go), what becomes of a commit that changes rows by a policy (rewrite.go), and what of another schema by another
// (schemachange.go).
package feed

import (
	"context"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// Source follows one table. Next is called from one goroutine at a time and returns io.EOF after the last event of a
// bounded source. It returns promptly when its context ends. After that, and after an error that deltaerr.Retryable allows,
// Next may be called again: it goes on behind the last event, no row twice or left out. Any other error stays. An unbounded
// source that has handed out everything waits in Next until a Refresh has brought news.
//
// Refresh looks for a new version, for one request where there is none. It may be called beside Next. It does nothing for a
// snapshot. Close may be called at any time and waits until nothing is left running.
type Source interface {
	Next(ctx context.Context) (Event, error)
	Refresh(ctx context.Context) error
	Close() error
}

// Metered is implemented by sources that know what their store was asked for until now. Any goroutine may call Usage.
type Metered interface{ Usage() storage.Usage }

// Behind is implemented by sources that know how far they are behind their table. Any goroutine may call Lag.
type Behind interface{ Lag() Lag }

// Finisher is implemented by sources that can be told that no Refresh will come any more: they hand out what is known and
// end. Any goroutine may call Finish.
type Finisher interface{ Finish() }

// Lag is how far a source is behind what its table was when it was last looked at.
type Lag struct {
	Version, Latest int64     // handed out as a whole (-1: none), and known to exist
	Oldest          time.Time // when the oldest commit that is not handed out was made; zero: there is none
	Files, Bytes    int64     // left to read of the version that is being read: what later commits hold is known when they are read
}

// Versions is the number of versions that are not handed out.
func (l Lag) Versions() int64 { return max(l.Latest-l.Version, 0) }

// Age is the age of the oldest commit that is not handed out, 0 where there is none.
func (l Lag) Age(now time.Time) time.Duration {
	if l.Oldest.IsZero() {
		return 0
	}
	return max(now.Sub(l.Oldest), 0)
}

// Mode says what comes after the first version.
type Mode string

// The modes.
const (
	Snapshot Mode = "snapshot" // nothing
	Append   Mode = "append"   // the rows that commits add
	Reload   Mode = "reload"   // the whole table again, at each version that a look finds
)

// Policy says what becomes of what is not plain.
type Policy string

// The policies. Which of them a field takes is said there. The zero value is Fail.
const (
	Fail     Policy = "fail"
	Skip     Policy = "skip"
	Emit     Policy = "emit"     // hand out what a rewriting commit added, the rows it kept once more
	Additive Policy = "additive" // new nullable columns and widened types pass
	Any      Policy = "any"      // each version is read as it is
)

// Config of a source.
type Config struct {
	URI           string
	Open          deltacore.Options
	Scan          deltacore.ScanOptions
	Follow        Follow
	OnMissingFile Policy    // Fail or Skip: a data file, or its deletion vector, is gone
	Resume        *Position // behind it the source begins; nil: at the start
	OtherColumns  bool      // other columns were read before Resume, so that its schema hash says nothing of those read now
}

// Follow says what is handed out after which version. The zero value is one version.
type Follow struct {
	Mode           Mode
	SkipSnapshot   bool       // hand out nothing of what exists
	StartVersion   *int64     // Append: begin with this commit instead of a snapshot
	StartTimestamp *time.Time // Append: begin with the first commit at or after it; not together with StartVersion
	EndVersion     *int64     // end after this version
	UntilCaughtUp  bool       // end after the version that is the latest when the source is opened
	OnRewrite      Policy     // Append: Fail, Skip or Emit, for commits that add and remove rows
	OnDelete       Policy     // Append: Fail or Skip, for commits that only remove rows
	OnSchemaChange Policy     // Fail, Additive or Any
}

func (f Follow) following() bool { return f.Mode == Append || f.Mode == Reload }
