package parquetio

import (
	"fmt"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// maxReadMemory is what the decoded values of one read of a row group may take before they are given out: what it needs
// is decided by the bytes of the file, and a few of them can stand for any number of values.
const maxReadMemory = 1 << 30

// ledger is the allocator of one read. It knows what the read has allocated and not given out, so that it can bound it
// and, at the end, give back what arrow-go forgot: some of its decoders, and all of them when they fail.
type ledger struct {
	memory.Allocator

	mu   sync.Mutex // batches are released by other goroutines
	live map[*byte][]byte
	used int
}

func newLedger(mem memory.Allocator) *ledger {
	return &ledger{Allocator: mem, live: map[*byte][]byte{}}
}

// Allocate panics when the read takes too much: the guard makes an error of it.
func (l *ledger) Allocate(size int) []byte {
	l.reserve(size)
	return l.note(l.Allocator.Allocate(size))
}

// Reallocate is as Allocate.
func (l *ledger) Reallocate(size int, b []byte) []byte {
	l.reserve(size - len(b))
	l.forget(b)
	return l.note(l.Allocator.Reallocate(size, b))
}

// Free may be called after the end of the read, for what was given out.
func (l *ledger) Free(b []byte) {
	l.forget(b)
	l.Allocator.Free(b)
}

func (l *ledger) reserve(more int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if more > maxReadMemory-l.used {
		panic(deltaerr.New(deltaerr.Unsupported,
			fmt.Sprintf("the rows of one batch take more than %d MiB", maxReadMemory>>20), deltaerr.Hint("lower batch_rows")))
	}
}

func (l *ledger) note(b []byte) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(b) > 0 && l.live != nil {
		l.live[&b[0]] = b
		l.used += len(b)
	}
	return b
}

func (l *ledger) forget(b []byte) {
	if cap(b) == 0 {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	start := &b[:1][0]
	l.used -= len(l.live[start])
	delete(l.live, start)
}

// giveOut takes the buffers of an array off the books: they belong to the receiver.
func (l *ledger) giveOut(d arrow.ArrayData) {
	for _, b := range d.Buffers() {
		if b != nil {
			l.forget(b.Buf())
		}
	}
	for _, c := range d.Children() {
		l.giveOut(c)
	}
}

// close gives back what is left.
func (l *ledger) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, b := range l.live {
		l.Allocator.Free(b)
	}
	l.live, l.used = nil, 0
}
