package parquetio

import "sync"

// pageBuffer is memory for pages, which goes from one column chunk to the next: it is large and used for a short time. It
// counts in a ledger while it is used.
type pageBuffer struct {
	mem *ledger
	b   []byte
}

var pageBuffers = sync.Pool{New: func() any { return new([]byte) }}

const (
	leastPageBuffer = 64 << 10
	mostPageBuffer  = 4 << 20 // of one that is kept
)

// resize returns n bytes, of which the first kept are those from before.
func (p *pageBuffer) resize(n, kept int) []byte {
	if p.b == nil {
		if old, ok := pageBuffers.Get().(*[]byte); ok && cap(*old) >= n {
			p.mem.hold(int64(cap(*old)))
			p.b = *old
		}
	}
	if cap(p.b) < n {
		size := max(n, leastPageBuffer, min(2*cap(p.b), mostPageBuffer))
		p.mem.hold(int64(size))
		larger := make([]byte, size)
		copy(larger, p.b[:kept])
		p.release()
		p.b = larger
	}
	p.b = p.b[:n]
	return p.b
}

// release ends the use of the bytes.
func (p *pageBuffer) release() {
	size := cap(p.b)
	if size == 0 {
		return
	}
	p.mem.hold(-int64(size))
	if old := p.b[:0]; size <= mostPageBuffer {
		pageBuffers.Put(&old)
	}
	p.b = nil
}
