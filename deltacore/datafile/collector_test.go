package datafile

import (
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

// TestLargeBatchesAreNotCopied: small ones before and behind one are joined without it.
func TestLargeBatchesAreNotCopied(t *testing.T) {
	mem := memory.NewCheckedAllocator(deltatest.Overwriting{Allocator: memory.NewGoAllocator()})
	defer mem.AssertSize(t, 0)
	schema := deltatest.ArrowSchema(deltatest.Columns("s string"))
	batch := func(row int64, size int) Batch {
		b := array.NewRecordBuilder(mem, schema)
		defer b.Release()
		b.Field(0).(*array.StringBuilder).Append(string(make([]byte, size)))
		return Batch{Record: b.NewRecordBatch(), FirstRow: row}
	}
	large := batch(2, collected+1)
	var rows []int64
	same := false
	c := collector{most: 100, mem: mem, yield: func(b Batch) bool {
		rows = append(rows, b.Record.NumRows())
		same = same || b.Record == large.Record
		b.Record.Release()
		return true
	}}
	for _, b := range []Batch{batch(0, 1), batch(1, 1), large, batch(3, 1), batch(4, 1)} {
		if more, err := c.add(b); !more || err != nil {
			t.Fatal(err)
		}
	}
	if more, err := c.flush(); !more || err != nil {
		t.Fatal(err)
	}
	if want := []int64{2, 1, 2}; !slices.Equal(want, rows) || !same {
		t.Errorf("want batches of %v rows, got %v; the large one as it was: %t", want, rows, same)
	}
}
