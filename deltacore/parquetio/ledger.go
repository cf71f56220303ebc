package parquetio

import (
	"fmt"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/recycle"
)

// What the pages and the decoded values of one read of a row group may take before they are given out. A few bytes of a
// file can stand for any number of values, so it is decided here and not by the file. The column with the largest pages is
// left out, so that a single large value can be read.
const (
	readMemory      = 256 << 20
	leafMemory      = 16 << 20 // more for each leaf column: the pages of all of them are held at a time
	maxReadMemory   = 4 << 30
	maxColumnMemory = 3 << 30 // of the column that is left out: a page, packed and unpacked, and its values
)

// ledger is the allocator of one read. It knows what the read has allocated and not given out, so that it can bound it
// and, at the end, give back what arrow-go forgot: some of its decoders, and all of them when they fail. It belongs to the
// goroutine that reads; only Free may come from others.
type ledger struct {
	memory.Allocator

	column int   // leaf column for which is allocated now
	most   int64 // that all columns but one may take
	oneRow bool  // a batch cannot have fewer rows
	full   bool  // something was refused that may fit in a smaller batch

	mu   sync.Mutex
	live map[*byte]holding
	used []use // by leaf column
	sum  use
}

// use is what a column takes.
type use struct{ pages, values int64 }

func (u *use) add(pages bool, n int64) {
	if pages {
		u.pages += n
	} else {
		u.values += n
	}
}

// holding is a live allocation.
type holding struct {
	bytes  []byte
	column int
	pages  bool
}

func newLedger(mem memory.Allocator, most int64, leaves int) *ledger {
	return &ledger{Allocator: mem, most: most, live: map[*byte]holding{}, used: make([]use, leaves)}
}

// mostMemory is the ceiling of a read of so many leaves.
func mostMemory(leaves int) int64 { return min(readMemory+int64(leaves)*leafMemory, maxReadMemory) }

// Allocate panics when the read takes too much: the guard makes an error of it.
func (l *ledger) Allocate(size int) []byte {
	l.reserve(false, int64(size))
	return l.note(l.Allocator.Allocate(size), false)
}

// Reallocate is as Allocate.
func (l *ledger) Reallocate(size int, b []byte) []byte {
	l.reserve(false, int64(size-len(b)))
	l.forget(b)
	return l.note(l.Allocator.Reallocate(size, b), false)
}

// Free may be called after the end of the read, for what was given out.
func (l *ledger) Free(b []byte) {
	l.forget(b)
	l.Allocator.Free(b)
}

// pageMemory is the ledger as the allocator of pages. They are plain Go memory: arrow-go keeps some of it in pools that
// only the garbage collector empties.
type pageMemory struct{ ledger *ledger }

var goMemory = memory.NewGoAllocator()

// Allocate is as that of the ledger.
func (p pageMemory) Allocate(size int) []byte {
	p.ledger.reserve(true, int64(size))
	return p.ledger.note(goMemory.Allocate(size), true)
}

// Reallocate is as that of the ledger.
func (p pageMemory) Reallocate(size int, b []byte) []byte {
	p.ledger.reserve(true, int64(size-len(b)))
	p.ledger.forget(b)
	return p.ledger.note(goMemory.Reallocate(size, b), true)
}

// Free may be called after the end of the read.
func (p pageMemory) Free(b []byte) { p.ledger.forget(b) }

// hold counts what arrow-go's decoders allocate beside the allocators, for the pages of the present column.
func (l *ledger) hold(n int64) {
	if n > 0 {
		l.reserve(true, n)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.book(l.column, true, n)
}

// holdValues counts what is allocated beside the allocators for the values of the present column. It returns n.
func (l *ledger) holdValues(n int64) int64 {
	if n > 0 {
		l.reserve(false, n)
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.book(l.column, false, n)
	return n
}

// reserve panics when more bytes would be too much.
func (l *ledger) reserve(pages bool, more int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	sum, own := l.sum, l.used[l.column]
	sum.add(pages, more)
	own.add(pages, more)
	if sum.pages+sum.values <= l.most {
		return
	}
	largest := own
	for _, u := range l.used {
		if l.apart(u) > l.apart(largest) {
			largest = u
		}
	}
	if sum.pages+sum.values-l.apart(largest) <= l.most && own.pages+own.values <= maxColumnMemory {
		return
	}
	l.full = !l.oneRow && sum.pages-largest.pages <= l.most && own.pages <= maxColumnMemory
	panic(deltaerr.New(deltaerr.Unsupported, fmt.Sprintf(
		"the pages of %d columns and the values of a row take more than %d MiB", len(l.used), l.most>>20),
		deltaerr.Hint("read fewer columns at a time")))
}

// apart is what of a column's use does not count when it is the largest: its pages, and the values of a batch of one row.
func (l *ledger) apart(u use) int64 {
	if l.oneRow {
		return u.pages + u.values
	}
	return u.pages
}

func (l *ledger) book(column int, pages bool, n int64) {
	l.used[column].add(pages, n)
	l.sum.add(pages, n)
}

func (l *ledger) note(b []byte, pages bool) []byte {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(b) > 0 && l.live != nil {
		l.live[&b[0]] = holding{b, l.column, pages}
		l.book(l.column, pages, int64(len(b)))
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
	if h, ok := l.live[start]; ok {
		l.book(h.column, h.pages, -int64(len(h.bytes)))
		delete(l.live, start)
	}
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

// close takes leave of what is left: what arrow-go forgot. It may still refer to it, so an allocator that hands memory out again
// does not get it.
func (l *ledger) close() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, reused := l.Allocator.(*recycle.Allocator); !reused {
		for _, h := range l.live {
			if !h.pages {
				l.Allocator.Free(h.bytes)
			}
		}
	}
	l.live = nil
}
