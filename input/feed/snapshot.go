package feed

import (
	"context"
	"io"
	"sync"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// OpenSnapshot opens a source of the rows of one version. It plans the read, so that what is wrong with the table or the
// columns is found here.
func OpenSnapshot(ctx context.Context, c Config) (Source, error) {
	began := time.Now()
	table, err := openVersion(ctx, c)
	if err != nil {
		return nil, err
	}
	s := &snapshot{table: table, options: c.Scan, pinned: c.Open.Version != nil || c.Open.Timestamp != nil || c.Resume != nil}
	s.position = Position{TableID: table.Snapshot().Metadata.ID, Version: table.Version(), Phase: PhaseSnapshot, Part: PartAdd, Row: -1}
	if c.Resume != nil {
		if s.position, err = resumeAt(s.position, *c.Resume, table); err != nil {
			return nil, err
		}
	}
	if s.scan, err = table.Scan(ctx, c.Scan); err != nil {
		return nil, err
	}
	s.position.SchemaHash = s.scan.Columns().Hash()
	s.took = time.Since(began)
	return s, nil
}

// openVersion opens the version that the position is in, or the configured one.
func openVersion(ctx context.Context, c Config) (*deltacore.Table, error) {
	if c.Resume != nil && c.Open.Version == nil && c.Open.Timestamp == nil {
		c.Open.Version = &c.Resume.Version
	}
	return deltacore.Open(ctx, c.URI, c.Open)
}

// resumeAt checks that a stored position belongs to what was opened.
func resumeAt(start, stored Position, table *deltacore.Table) (Position, error) {
	fail := func(kind deltaerr.Kind, msg string) (Position, error) {
		return Position{}, deltaerr.New(kind, msg, deltaerr.Table(table.URI()), deltaerr.Version(table.Version()),
			deltaerr.Phase("resuming from %s", stored))
	}
	switch {
	case stored.TableID != start.TableID:
		return fail(deltaerr.Replaced, "the table has another id now: "+start.TableID)
	case stored.Phase != PhaseSnapshot || stored.Version != start.Version:
		return fail(deltaerr.Unresumable, "the position is not in the snapshot of this version")
	}
	return stored, nil
}

// stage is where a snapshot is on its way.
type stage int

const (
	planned  stage = iota // the files are known, nothing was said yet
	waiting               // a read from position on is to begin
	reading               // batches are being pulled
	finished              // the version is handed out
	caughtUp              // and that was said
	ended                 // only io.EOF is left
	failed                // only the same error is left
)

// snapshot is the Source of one version.
//
//	planned → waiting → reading → finished → caughtUp → ended
//	             ↑_________| interrupted, or a retryable error: goes on from position
//	                       | any other error → failed
type snapshot struct {
	table   *deltacore.Table
	options deltacore.ScanOptions
	pinned  bool          // nobody looked for the latest version
	took    time.Duration // of opening and planning
	run     run

	mu       sync.Mutex // held by Next; Close takes it after it closed the run
	stage    stage
	position Position
	emitted  int64           // rows handed out, for the limit
	scan     *deltacore.Scan // of the whole version; nil: no read can follow
	err      error           // of stage failed
}

// Next returns the next event.
func (s *snapshot) Next(ctx context.Context) (Event, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if s.run.isClosed() {
			return nil, errClosed
		}
		event, err := s.step(ctx)
		if event != nil || err != nil {
			return event, err
		}
	}
}

// step takes one transition. It returns neither event nor error where another one has to follow.
func (s *snapshot) step(ctx context.Context) (Event, error) {
	switch s.stage {
	case planned:
		s.stage = waiting
		if s.position.Done {
			s.stage = finished
		}
		return Planned{Position: s.position, Files: s.scan.Files(), Columns: s.scan.Columns(), Took: s.took}, nil
	case waiting:
		return nil, s.begin(ctx)
	case reading:
		return s.read(ctx)
	case finished:
		s.stage = caughtUp
		s.position.Done, s.position.FileDone = true, true
		return Progress{s.position}, nil
	case caughtUp:
		s.stage = ended
		return s.caughtUp(), nil
	case failed:
		return nil, s.err
	default:
		return nil, io.EOF
	}
}

func (s *snapshot) caughtUp() CaughtUp {
	c := CaughtUp{Version: s.table.Version(), Latest: s.table.Version()}
	if s.pinned {
		c.Latest = -1
	}
	return c
}

// begin starts a read from the position on.
func (s *snapshot) begin(ctx context.Context) error {
	own, ok := s.run.begin(ctx)
	if !ok {
		return errClosed
	}
	s.run.start(s.rest().Batches(own))
	s.stage = reading
	return nil
}

// rest is the scan behind the position.
func (s *snapshot) rest() *deltacore.Scan {
	limit := s.options.Limit
	if limit != nil {
		left := max(*limit-s.emitted, 0)
		limit = &left
	}
	from, row := s.position.File, s.position.Row+1
	if s.position.FileDone {
		from.Path += "\x00" // the least key behind the file: it is not opened again
		row = 0
	}
	return s.scan.From(from, row, limit)
}

// read pulls one batch.
func (s *snapshot) read(ctx context.Context) (Event, error) {
	batch, more, interrupted, err := s.run.next(ctx)
	switch {
	case err != nil:
		return nil, s.settle(ctx, err)
	case !more && !interrupted:
		s.leave(finished)
		return nil, nil
	case !more: // an end that cannot be told from a cancelled read
		s.leave(waiting)
		return nil, ctx.Err()
	}
	event := s.event(batch)
	if interrupted {
		s.leave(waiting)
	}
	return event, nil
}

// event turns a batch into rows, or into progress where it has none, and moves the position behind it.
func (s *snapshot) event(b deltacore.Batch) Event {
	n := b.Record.NumRows()
	s.emitted += n
	s.move(b, n)
	if n == 0 {
		b.Record.Release()
		return Progress{s.position}
	}
	return Rows{
		Record: b.Record, Columns: s.scan.Columns(), Position: s.position, Operation: Read,
		Version: s.table.Version(), CommitTimestamp: s.table.Timestamp(),
		File: b.Task.File, FirstRow: b.FirstRow, Index: b.Index,
		RowIDs: b.RowIDs, RowCommitVersions: b.RowCommitVersions,
	}
}

func (s *snapshot) move(b deltacore.Batch, rows int64) {
	if s.position.File != b.Task.Key {
		s.position.File, s.position.Row = b.Task.Key, -1
	}
	s.position.FileDone = b.Last
	switch {
	case rows == 0:
	case b.Index != nil:
		s.position.Row = b.Index[rows-1]
	default:
		s.position.Row = b.FirstRow + rows - 1
	}
}

// settle ends a read on an error and decides how to go on: from the position, or not at all.
func (s *snapshot) settle(ctx context.Context, err error) error {
	switch {
	case ctx.Err() != nil:
		s.leave(waiting)
		return ctx.Err()
	case s.run.isClosed():
		s.leave(ended)
		return errClosed
	case deltaerr.Retryable(err):
		s.leave(waiting)
	default:
		s.leave(failed)
		s.err = err
	}
	return err
}

// leave ends the read and waits until nothing of it is left running. The file list is let go where no read can follow.
func (s *snapshot) leave(next stage) {
	s.run.end()
	if s.stage = next; next != waiting {
		s.scan = nil
	}
}

// Usage is what the table's store was asked for until now. Any goroutine may call it.
func (s *snapshot) Usage() storage.Usage { return s.table.Usage() }

// Refresh does nothing: a version does not change.
func (s *snapshot) Refresh(context.Context) error { return nil }

// Close ends the read.
func (s *snapshot) Close() error {
	s.run.close()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.leave(ended)
	return nil
}

var errClosed = deltaerr.New(deltaerr.Internal, "the source was closed", deltaerr.Phase("reading the next event"))
