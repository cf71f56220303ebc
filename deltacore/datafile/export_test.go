package datafile

import (
	"context"
	"iter"

	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
)

// LimitBatchValues lowers what the values of a batch may take, and returns what sets it back.
func LimitBatchValues(size int) (restore func()) {
	before := maxBatchValues
	maxBatchValues = size
	return func() { maxBatchValues = before }
}

// Read yields the rows of a task, unit by unit.
func (r *Reader) Read(ctx context.Context, task scanplan.FileTask) iter.Seq2[Batch, error] {
	return func(yield func(Batch, error) bool) {
		f, err := r.Open(ctx, task)
		if err != nil {
			yield(Batch{}, err)
			return
		}
		defer func() { _ = f.Close() }()
		for _, u := range f.Units() {
			for b, err := range f.Read(ctx, u) {
				if !yield(b, err) || err != nil {
					return
				}
			}
		}
	}
}
