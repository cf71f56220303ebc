// Package recycle is memory for column data that is used again instead of being left to the garbage collector. A scan fills
// the same few sizes of buffers over and over: made anew each time they are most of what a scan allocates, so most of the
// collector's work and of the memory that waits for it.
//
// It answers where a buffer comes from and goes to, not how much there may be: that is the matter of budgets and ledgers.
package recycle

import (
	"math/bits"
	"sync"
	"unsafe"

	"github.com/apache/arrow-go/v18/arrow/memory"
)

// Buffers of other sizes are plain Go memory: below it is cheap, above it is rare.
const (
	leastBits = 12
	mostBits  = 23
	least     = 1 << leastBits
	most      = 1 << mostBits

	steps = 4 // classes in each doubling: a buffer is at most a quarter larger than was asked for
)

// Allocator hands buffers that were freed out again. The zero value is ready; it is safe for concurrent use. What is not
// used again soon goes to the garbage collector, so an idle process keeps nothing.
//
// A freed buffer must have no other reference: with Arrow's counts that is so, unless a value that points into an array (the
// strings of array.String do) is kept when the array has been released. Who cannot say that uses another allocator.
type Allocator struct {
	free [(mostBits - leastBits) * steps]sync.Pool // of the first byte of buffers that have exactly the size of the class
}

var _ memory.Allocator = (*Allocator)(nil)

var goMemory = memory.NewGoAllocator()

// class returns the class of the smallest buffers that have room for size bytes, and their size. Sizes are those from least
// to most.
func class(size int) (index, capacity int) {
	doubling := bits.Len(uint(size - 1)) // size is above 1<<(doubling-1), at most 1<<doubling
	step := 1 << (doubling - 3)
	n := (size + step - 1) / step // 5 to 8
	return (doubling-leastBits-1)*steps + n - steps - 1, n * step
}

// Allocate returns bytes that are 0.
func (a *Allocator) Allocate(size int) []byte {
	if size <= least || size > most {
		return goMemory.Allocate(size)
	}
	b, used := a.Take(size)
	if used {
		clear(b)
	}
	return b
}

// Take returns bytes without clearing those that have been used before. size is above 4 KiB and at most 8 MiB.
func (a *Allocator) Take(size int) (b []byte, used bool) {
	index, capacity := class(size)
	if first, ok := a.free[index].Get().(*byte); ok {
		return unsafe.Slice(first, capacity)[:size], true
	}
	return make([]byte, size, capacity), false
}

// Reallocate returns size bytes of which the first are those of b, which is given up.
func (a *Allocator) Reallocate(size int, b []byte) []byte {
	if size <= cap(b) {
		clear(b[len(b):max(size, len(b))])
		return b[:size]
	}
	larger := a.Allocate(size)
	copy(larger, b)
	a.Free(b)
	return larger
}

// Free takes a buffer that nobody refers to.
func (a *Allocator) Free(b []byte) {
	size := cap(b)
	if size <= least || size > most {
		return
	}
	if index, capacity := class(size); capacity == size { // else it is not from here
		a.free[index].Put(unsafe.SliceData(b))
	}
}
