package input

import (
	"context"
	"errors"
	"io"
	"iter"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/input/encode"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

// group is rows that are encoded together: of one version, operation and schema, within the size of a batch unless one
// record alone is larger. Without rows it only moves the position. Whoever holds a group releases it.
type group struct {
	rows     []feed.Rows
	position feed.Position // behind its last row, or further where nothing but finished files follows
	files    int64         // files that it finishes
}

func (g group) release() {
	for _, r := range g.rows {
		r.Record.Release()
	}
}

func (g group) numRows() (n int64) {
	for _, r := range g.rows {
		n += r.Record.NumRows()
	}
	return n
}

// record returns the rows as one record, which the caller releases. Records are joined in memory of mem.
func (g group) record(mem memory.Allocator) (arrow.RecordBatch, error) {
	first := g.rows[0].Record
	if len(g.rows) == 1 {
		first.Retain()
		return first, nil
	}
	columns := make([]arrow.Array, first.NumCols())
	defer func() {
		for _, c := range columns {
			if c != nil {
				c.Release()
			}
		}
	}()
	for i := range columns {
		parts := make([]arrow.Array, len(g.rows))
		for k, r := range g.rows {
			parts[k] = r.Record.Column(i)
		}
		joined, err := array.Concatenate(parts, mem)
		if err != nil {
			return nil, err
		}
		columns[i] = joined
	}
	return array.NewRecordBatch(first.Schema(), columns, g.numRows()), nil
}

// positionAfter is the position behind the first n rows, n at least 1.
func (g group) positionAfter(n int64) feed.Position {
	for i, r := range g.rows {
		rows := r.Record.NumRows()
		switch {
		case n < rows:
			p := r.Position
			p.Row, p.FileDone = physicalRow(r, n-1), false
			return p
		case n == rows && i < len(g.rows)-1:
			return r.Position
		}
		n -= rows
	}
	return g.position
}

// place is the file of a row of the group, and the number of the row in it.
func (g group) place(row int) (file string, physical int64) {
	n := int64(row)
	for _, r := range g.rows {
		if n < r.Record.NumRows() {
			return r.File, physicalRow(r, n)
		}
		n -= r.Record.NumRows()
	}
	return "", int64(row)
}

// physicalRow is the number in its file of row i of a record.
func physicalRow(r feed.Rows, i int64) int64 {
	if r.Index != nil {
		return r.Index[i]
	}
	return r.FirstRow + i
}

// grouper turns events into groups. What is only to be told goes to told, at once; its error ends the groups.
type grouper struct {
	source     feed.Source
	rows       int64 // largest group of several records
	bytes      int64
	singleFile bool // a group ends with its file
	single     bool // and with its record, whose row numbers are wanted
	patience   *patience
	told       func(context.Context, feed.Event) error

	held      group
	heldBytes int64
	pending   bool // held has something to hand out
}

// groups yields the groups until the source ends. A retryable error is waited out, for as long as patience allows; what was
// read before it is yielded first.
func (g *grouper) groups(ctx context.Context) iter.Seq2[group, error] {
	return func(yield func(group, error) bool) {
		defer func() { g.held.release() }()
		for {
			event, err := g.source.Next(ctx)
			switch {
			case err == nil:
				g.patience.reset()
				if !g.take(ctx, event, yield) {
					return
				}
				continue
			case ctx.Err() != nil:
				yield(group{}, ctx.Err())
				return
			case !g.flush(yield):
				return
			case errors.Is(err, io.EOF):
				return
			}
			if err := g.patience.wait(ctx, err); err != nil {
				yield(group{}, err)
				return
			}
		}
	}
}

func (g *grouper) take(ctx context.Context, event feed.Event, yield func(group, error) bool) bool {
	switch e := event.(type) {
	case feed.Rows:
		return g.add(e, yield)
	case feed.Progress:
		return g.progress(e.Position, yield)
	}
	if !g.flush(yield) {
		return false
	}
	if err := g.told(ctx, event); err != nil {
		yield(group{}, err)
		return false
	}
	return true
}

// add takes rows in, after what does not go with them.
func (g *grouper) add(r feed.Rows, yield func(group, error) bool) bool {
	size := encode.ValueBytes(r.Record)
	if !g.joins(r, size) && !g.flush(yield) {
		r.Record.Release()
		return false
	}
	g.held.rows = append(g.held.rows, r)
	g.heldBytes += size
	g.passed(r.Position)
	if g.single || g.held.numRows() >= g.rows || g.heldBytes >= g.bytes {
		return g.flush(yield)
	}
	return true
}

// joins says whether rows may be encoded together with those that are held.
func (g *grouper) joins(r feed.Rows, size int64) bool {
	if len(g.held.rows) == 0 {
		return true
	}
	last := g.held.rows[len(g.held.rows)-1]
	switch {
	case last.Version != r.Version, last.Operation != r.Operation, last.Columns != r.Columns:
		return false
	case g.singleFile && last.Position.File != r.Position.File:
		return false
	}
	return g.held.numRows()+r.Record.NumRows() <= g.rows && g.heldBytes+size <= g.bytes
}

// progress moves the position of what is held. The end of a version hands it out.
func (g *grouper) progress(p feed.Position, yield func(group, error) bool) bool {
	if len(g.held.rows) > 0 && p.Version != g.held.position.Version && !g.flush(yield) {
		return false
	}
	g.passed(p)
	if p.Done || len(g.held.rows) == 0 {
		return g.flush(yield)
	}
	return true
}

// passed notes a position and whether a file is finished with it.
func (g *grouper) passed(p feed.Position) {
	was := g.held.position
	if p.FileDone && !p.Done && (was.File != p.File || !was.FileDone) {
		g.held.files++
	}
	g.held.position, g.pending = p, true
}

// flush yields what is held, if anything is.
func (g *grouper) flush(yield func(group, error) bool) bool {
	if !g.pending {
		return true
	}
	out := g.held
	g.held, g.heldBytes, g.pending = group{}, 0, false
	return yield(out, nil)
}
