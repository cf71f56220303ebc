package datafile

import (
	"errors"
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/dv"
)

// rowRange says which rows of a file are wanted, and by whom.
type rowRange struct {
	from    int64 // first physical row
	deleted *dv.Vector
	yield   func(Batch) bool
}

// take gives out the wanted rows of a physical batch that begins with row first. The others are not looked at: a row that
// is deleted may hold what no row of the table may. It borrows record.
func (r rowRange) take(p *plan, record arrow.RecordBatch, first int64) (more bool, err error) {
	skip := max(0, r.from-first)
	if skip >= record.NumRows() {
		return true, nil
	}
	b := Batch{FirstRow: first + skip}
	live, whole := r.deleted.Live(b.FirstRow, record.NumRows()-skip)
	switch {
	case !whole && len(live) == 0:
		return true, nil
	case !whole:
		b.FirstRow, b.Index = live[0], live
		record, err = keepRows(p.mem, record, runsOf(first, live))
	case skip > 0:
		record, err = keepRows(p.mem, record, runs{{int(skip), int(record.NumRows())}})
	default:
		record.Retain()
	}
	if err != nil {
		return false, err
	}
	defer record.Release()
	return r.give(p, record, b)
}

// give makes the rows of b of those of record. When one batch cannot hold them they come in two. It borrows record.
func (r rowRange) give(p *plan, record arrow.RecordBatch, b Batch) (more bool, err error) {
	n := record.NumRows()
	p.room.set(n)
	if b.Record, err = p.convert(record); err != nil {
		if n > 1 && errors.Is(err, errBatchTooLong) {
			return r.giveHalves(p, record, b)
		}
		return false, err
	}
	if err := p.number(&b, record); err != nil {
		b.Record.Release()
		return false, err
	}
	return r.yield(b), nil
}

func (r rowRange) giveHalves(p *plan, record arrow.RecordBatch, b Batch) (more bool, err error) {
	n := int(record.NumRows())
	more = true
	for _, part := range []run{{0, n / 2}, {n / 2, n}} {
		if !more || err != nil {
			break
		}
		half, failure := keepRows(p.mem, record, runs{part})
		if failure != nil {
			return false, failure
		}
		of := Batch{FirstRow: b.row(part.from)}
		if b.Index != nil {
			of.Index = b.Index[part.from:part.to]
		}
		more, err = r.give(p, half, of)
		half.Release()
	}
	return more, err
}

// errBatchTooLong is the cause of the error of a converter that may succeed with fewer rows.
var errBatchTooLong = errors.New("a batch cannot hold them")

// room is what the values of a column that are made here may take in the present batch.
type room struct{ size int }

// maxBatchValues is the room in a batch of more than one row. One row may take what an array can hold.
var maxBatchValues = 256 << 20

func (r *room) set(rows int64) {
	if r.size = maxBatchValues; rows == 1 {
		r.size = math.MaxInt32
	}
}

func (r *room) check(size int) error {
	if size <= r.size {
		return nil
	}
	return deltaerr.New(deltaerr.Unsupported, fmt.Sprintf("the values have %d bytes", size), deltaerr.Cause(errBatchTooLong))
}
