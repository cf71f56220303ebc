package datafile

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/arrowdata"
)

// collector makes one batch of several small ones.
type collector struct {
	most  int64 // rows of a batch
	mem   memory.Allocator
	yield func(Batch) bool

	held []Batch
	rows int64
	size int64 // bytes
}

const collected = 4 << 20 // bytes of the batches that are joined

// add takes over a batch. more is false when the receiver wants no more.
func (c *collector) add(b Batch) (more bool, err error) {
	n, size := b.Record.NumRows(), arrowdata.Bytes(b.Record)
	if c.rows+n > c.most || c.size+size > collected { // what is large is not copied
		if more, err := c.flush(); err != nil || !more {
			b.Record.Release()
			return more, err
		}
	}
	c.held = append(c.held, b)
	c.rows += n
	c.size += size
	if c.rows < c.most/2 && c.size < collected {
		return true, nil
	}
	return c.flush()
}

// flush gives out what is held back.
func (c *collector) flush() (more bool, err error) {
	held := c.held
	c.held, c.rows, c.size = nil, 0, 0
	switch len(held) {
	case 0:
		return true, nil
	case 1:
		return c.yield(held[0]), nil
	}
	defer func() {
		for _, b := range held {
			b.Record.Release()
		}
	}()
	b, err := c.join(held)
	if err != nil {
		return false, err
	}
	return c.yield(b), nil
}

func (c *collector) release() {
	for _, b := range c.held {
		b.Record.Release()
	}
	c.held = nil
}

func (c *collector) join(held []Batch) (Batch, error) {
	first := held[0].Record
	columns := make([]arrow.Array, 0, first.NumCols())
	defer func() {
		for _, a := range columns {
			a.Release()
		}
	}()
	for i := range int(first.NumCols()) {
		parts := make([]arrow.Array, len(held))
		for j, b := range held {
			parts[j] = b.Record.Column(i)
		}
		a, err := array.Concatenate(parts, c.mem)
		if err != nil {
			return Batch{}, err
		}
		columns = append(columns, a)
	}
	out := Batch{FirstRow: held[0].FirstRow}
	for _, b := range held {
		for i := range int(b.Record.NumRows()) {
			out.Index = append(out.Index, b.row(i))
		}
		out.RowIDs = slices.Concat(out.RowIDs, b.RowIDs)
		out.RowCommitVersions = slices.Concat(out.RowCommitVersions, b.RowCommitVersions)
	}
	out.Record = array.NewRecordBatch(first.Schema(), columns, int64(len(out.Index)))
	if n := len(out.Index); out.Index[n-1]-out.Index[0] == int64(n-1) {
		out.Index = nil
	}
	return out, nil
}
