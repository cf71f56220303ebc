package feed

import (
	"context"
	"errors"
	"io/fs"
	"iter"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltalog"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// pass hands out the rows of a version, or those that a commit added, from a position on.
type pass struct {
	life    life
	table   *deltacore.Table // at the version
	commit  *deltalog.Commit // nil: all rows of the version
	options deltacore.ScanOptions
	missing Policy // of files

	scan    *deltacore.Scan // of all files from where the pass began
	columns *schema.Struct  // of the rows
	run     run[deltacore.Batch]

	position     Position
	missed       scanplan.Key // file that was missing when it was read last; zero: none
	emitted      int64        // rows handed out, for the limit
	files, bytes int64        // left to read
}

// plan lists the files from the position on.
func (p *pass) plan(ctx context.Context) (err error) {
	o := p.options
	if from, row, resumed := p.from(); resumed {
		o.From, o.FromRow = &from, row
	}
	o.Limit = p.limit()
	if p.commit != nil {
		p.scan, err = p.table.ScanCommit(ctx, *p.commit, o)
	} else {
		p.scan, err = p.table.Scan(ctx, o)
	}
	if err != nil {
		return err
	}
	p.columns = p.scan.Columns()
	p.position.SchemaHash = p.columns.Hash()
	p.files, p.bytes = p.left()
	return nil
}

// from is the file and row that the next read begins at; false: the beginning.
func (p *pass) from() (file scanplan.Key, row int64, resumed bool) {
	file = p.position.File
	switch {
	case file.Path == "":
		return file, 0, false
	case p.position.FileDone:
		file.Path += "\x00" // the least key behind the file: it is not opened again
		return file, 0, true
	}
	return file, p.position.Row + 1, true
}

// left is the number of files from the position on, and their size.
func (p *pass) left() (files, bytes int64) {
	if _, _, resumed := p.from(); !resumed {
		return int64(p.scan.Files()), p.scan.Bytes()
	}
	for task := range p.scan.Tasks() {
		files, bytes = files+1, bytes+task.Size
	}
	return files, bytes
}

func (p *pass) limit() *int64 {
	if p.options.Limit == nil {
		return nil
	}
	left := max(*p.options.Limit-p.emitted, 0)
	return &left
}

// next returns the next rows or progress; nil without error: try again, or more is false.
func (p *pass) next(ctx context.Context) (event Event, more bool, err error) {
	if !p.run.running() {
		p.begin(ctx)
	}
	batch, more, interrupted, err := p.run.next(ctx)
	switch {
	case err != nil:
		event, err = p.broken(ctx, err)
		return event, true, err
	case !more && !interrupted:
		p.run.end()
		return nil, false, nil
	case !more: // an end that cannot be told from a cancelled read
		p.run.end()
		return nil, true, ctx.Err()
	}
	if interrupted {
		defer p.run.end()
	}
	return p.event(batch), true, nil
}

func (p *pass) begin(ctx context.Context) {
	scan := p.rest()
	p.run.begin(ctx, p.life, func(own context.Context) iter.Seq2[deltacore.Batch, error] { return scan.Batches(own) })
}

// broken ends the read on an error. A file that is gone may be passed over.
func (p *pass) broken(ctx context.Context, err error) (Event, error) {
	p.run.end()
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return nil, err
	}
	if unseen := p.seesLog(ctx, err); unseen != nil {
		return nil, unseen
	}
	if p.missing != Skip {
		return nil, err
	}
	return p.skipFile(err)
}

// seesLog makes sure that only the file is gone, and not for a while all of the table, as a file system is that is no longer
// mounted.
func (p *pass) seesLog(ctx context.Context, cause error) error {
	own, release := p.life.within(ctx)
	defer release()
	_, err := p.table.Look(own)
	if deltaerr.KindOf(err) == deltaerr.NotFound {
		return deltaerr.New(deltaerr.Transient, "neither a file of the table nor its log can be seen", deltaerr.Table(p.table.URI()),
			deltaerr.Version(p.table.Version()), deltaerr.Cause(cause))
	}
	return err
}

// skipFile passes over the file at which reading stopped: errors come in the order of files, behind the rows before them. It
// is read once more before: it may have been gone for as long as the log was.
func (p *pass) skipFile(cause error) (Event, error) {
	for task := range p.rest().Tasks() {
		if p.missed != task.Key {
			p.missed = task.Key
			return nil, nil
		}
		p.position.File, p.position.Row, p.position.FileDone = task.Key, task.StartRow-1, true
		p.fileDone(task.Size)
		return Skipped{Reason: SkippedFile, Version: p.table.Version(), File: task.File, Cause: cause}, nil
	}
	return nil, cause
}

// rest is what is left to read.
func (p *pass) rest() *deltacore.Scan {
	if from, row, resumed := p.from(); resumed {
		return p.scan.From(from, row, p.limit())
	}
	return p.scan
}

// event turns a batch into rows, or into progress where it has none, and moves the position behind it.
func (p *pass) event(b deltacore.Batch) Event {
	n := b.Record.NumRows()
	p.emitted += n
	p.move(b, n)
	if n == 0 {
		b.Record.Release()
		return Progress{p.position}
	}
	out := Rows{
		Record: b.Record, Columns: p.columns, Position: p.position, Operation: Read,
		Version: p.table.Version(), CommitTimestamp: p.table.Timestamp(),
		File: b.Task.File, FirstRow: b.FirstRow, Index: b.Index,
		RowIDs: b.RowIDs, RowCommitVersions: b.RowCommitVersions,
	}
	if p.commit != nil {
		out.Operation = Insert
	}
	return out
}

func (p *pass) move(b deltacore.Batch, rows int64) {
	if p.position.File != b.Task.Key {
		p.position.File, p.position.Row = b.Task.Key, -1
	}
	if p.position.FileDone = b.Last; b.Last {
		p.fileDone(b.Task.Size)
	}
	switch {
	case rows == 0:
	case b.Index != nil:
		p.position.Row = b.Index[rows-1]
	default:
		p.position.Row = b.FirstRow + rows - 1
	}
}

func (p *pass) fileDone(size int64) { p.files, p.bytes = p.files-1, p.bytes-size }
