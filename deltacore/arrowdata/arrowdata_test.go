package arrowdata

import (
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
)

func TestValidFollowsTheOffset(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	defer mem.AssertSize(t, 0)
	b := array.NewInt64Builder(mem)
	defer b.Release()
	b.AppendValues([]int64{1, 2, 3, 4}, []bool{true, false, true, false})
	whole := b.NewArray()
	defer whole.Release()
	part := array.NewSlice(whole, 1, 3)
	defer part.Release()
	times := Retyped(arrow.FixedWidthTypes.Timestamp_us, part.Data())
	defer Release([]arrow.ArrayData{times})
	valid := Valid(times)
	if valid(0) || !valid(1) || times.Len() != 2 {
		t.Errorf("want a null and a value, got %t, %t of %d", valid(0), valid(1), times.Len())
	}
}
