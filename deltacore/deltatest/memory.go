package deltatest

import "github.com/apache/arrow-go/v18/arrow/memory"

// Overwriting is an allocator that overwrites what it frees: whoever still uses it reads something else.
type Overwriting struct{ memory.Allocator }

const overwritten = 0xa5

// Reallocate always moves what it is given.
func (o Overwriting) Reallocate(size int, b []byte) []byte {
	moved := o.Allocate(size)
	copy(moved, b)
	o.Free(b)
	return moved
}

// Free overwrites b.
func (o Overwriting) Free(b []byte) {
	for i := range b {
		b[i] = overwritten
	}
	o.Allocator.Free(b)
}
