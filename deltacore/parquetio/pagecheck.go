package parquetio

import (
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

const maxPageHeader = 16 << 20 // what arrow-go accepts

// pageCheck looks at the bytes of one column chunk while arrow-go reads them, from the first to the last: it parses each
// page's header before arrow-go does and compares the checksum of each page that has one (protocol Q4), which arrow-go
// leaves out. A page is read whole before it is decoded, so no value of a broken page gets out.
type pageCheck struct {
	column     string
	only       int64 // encoding that the pages must have, anyEncoding
	start, end int64 // of the chunk in the file
	next       int64 // offset that is expected
	values     int64 // that pages still have to bring; behind them anything may stand
	page       int   // number of the present page
	header     []byte
	left       int64 // bytes of the present page's body still to come
	sum        uint32
	want       *uint32 // checksum of the present page
}

// pageChecks are the checks of a read, in the order of their offsets.
type pageChecks []*pageCheck

func newPageCheck(column string, start, size, values int64) *pageCheck {
	return &pageCheck{column: column, only: anyEncoding, start: start, next: start, end: start + size, values: values}
}

// Encodings of parquet.thrift.
const (
	anyEncoding    = -1
	deltaByteArray = 7
)

func (c pageChecks) sort() {
	slices.SortFunc(c, func(a, b *pageCheck) int { return int(min(1, max(-1, a.start-b.start))) })
}

// see passes bytes of the file to the chunk that they belong to.
func (c pageChecks) see(off int64, p []byte) error {
	i, found := slices.BinarySearchFunc(c, off, func(p *pageCheck, off int64) int {
		return int(min(1, max(-1, p.start-off)))
	})
	if !found {
		i--
	}
	if i < 0 || c[i].next != off {
		return nil // read again, or past the chunk's end as for files of old writers
	}
	return c[i].see(p[:min(int64(len(p)), c[i].end-off)])
}

func (c *pageCheck) see(p []byte) error {
	c.next += int64(len(p))
	for len(p) > 0 {
		if c.left == 0 {
			if c.values <= 0 {
				return nil
			}
			rest, err := c.readHeader(p)
			if err != nil {
				return c.failure(err)
			}
			p = rest
		}
		n := min(int64(len(p)), c.left)
		if c.want != nil {
			c.sum = crc32.Update(c.sum, crc32.IEEETable, p[:n])
		}
		p, c.left = p[n:], c.left-n
		if err := c.endPage(); err != nil {
			return err
		}
	}
	return nil
}

func (c *pageCheck) failure(err error) error {
	kind := deltaerr.Corrupt
	if errors.Is(err, errMixedEncodings) || errors.Is(err, errNoValues) {
		kind = deltaerr.Unsupported
	}
	return deltaerr.New(kind, fmt.Sprintf("page %d: %s", c.page, err), deltaerr.Column(c.column))
}

// endPage compares the checksum when the body has been seen.
func (c *pageCheck) endPage() error {
	if c.left > 0 || len(c.header) > 0 {
		return nil
	}
	if c.want != nil && c.sum != *c.want {
		return deltaerr.New(deltaerr.Corrupt,
			fmt.Sprintf("page %d has the checksum %08x, its header says %08x", c.page, c.sum, *c.want), deltaerr.Column(c.column))
	}
	c.want, c.sum = nil, 0
	c.page++
	return nil
}

// readHeader takes a page header, or a part of one, from p and returns what comes behind it.
func (c *pageCheck) readHeader(p []byte) ([]byte, error) {
	seen := len(c.header)
	all := p
	if seen > 0 {
		all = append(c.header, p...)
	}
	w := &walker{rest: all, budget: freeCost}
	h, err := w.pageHeader()
	if errors.Is(err, errThriftEnd) {
		if len(all) > maxPageHeader {
			return nil, fmt.Errorf("the header has more than %d bytes", maxPageHeader)
		}
		c.header = append(c.header, p...)
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	used := len(all) - len(w.rest)
	c.header = nil
	bodyStart := c.next - int64(len(w.rest))
	if h.size < 0 || h.size > c.end-bodyStart {
		return nil, fmt.Errorf("the header claims %d bytes, the column chunk has %d more", h.size, c.end-bodyStart)
	}
	switch {
	case c.only != anyEncoding && (h.dictionary || h.data && h.encoding != c.only):
		return nil, errMixedEncodings
	case h.data && h.values == 0:
		if seen > 0 || used < hiddenHead || h.size > maxHidden { // seen: a part of the header has been given out
			return nil, errNoValues
		}
		hide(p, used+int(h.size))
	}
	c.left, c.want, c.sum = h.size, h.checksum, 0
	c.values -= max(0, h.values)
	return p[used-seen:], nil
}

var (
	errMixedEncodings = errors.New("fixed-length values are in the encoding DELTA_BYTE_ARRAY here and in another one there, which is not supported")
	errNoValues       = errors.New("the page has no values, and lies where it cannot be left out")
)

const (
	hiddenHead = 6 // bytes that hide overwrites
	maxHidden  = 1 << 20
)

// hide makes a page of n bytes the beginning of the header of the next one: a field of a number that no header has, with the
// page as its text, whose length is a number of four bytes. arrow-go takes a page without values for the end of the column
// chunk.
func hide(page []byte, n int) {
	length := n - hiddenHead
	copy(page, []byte{
		wireBinary, 0,
		byte(length&0x7f) | 0x80, byte(length>>7&0x7f) | 0x80, byte(length>>14&0x7f) | 0x80, byte(length >> 21 & 0x7f),
	})
}

// pageHeader is what matters here of a PageHeader of parquet.thrift.
type pageHeader struct {
	size     int64 // of the body as stored
	checksum *uint32

	dictionary, data bool
	values, encoding int64 // of a data page
}

func (w *walker) pageHeader() (pageHeader, error) {
	h := pageHeader{size: -1}
	var id int64
	for {
		var wire byte
		var err error
		if id, wire, err = w.field(id); err != nil || wire == wireStop {
			return h, err
		}
		var v int64
		switch {
		case wire == wireI32:
			v, err = w.zigzag()
		case wire == wireStruct && (id == 5 || id == 8): // the header of a data page, of either version
			err = w.dataPageHeader(&h, id == 8)
		default:
			h.dictionary = h.dictionary || wire == wireStruct && id == 7
			err = w.value(wire, thriftField{}, 1)
		}
		if err != nil {
			return h, err
		}
		switch {
		case id == 3 && wire == wireI32:
			h.size = v
		case id == 4 && wire == wireI32:
			sum := uint32(v)
			h.checksum = &sum
		}
	}
}

// dataPageHeader reads a DataPageHeader, or one of version 2.
func (w *walker) dataPageHeader(h *pageHeader, version2 bool) error {
	encodingField := int64(2)
	if version2 {
		encodingField = 4
	}
	h.data = true
	var id int64
	for {
		var wire byte
		var err error
		if id, wire, err = w.field(id); err != nil || wire == wireStop {
			return err
		}
		switch {
		case id == 1 && wire == wireI32:
			h.values, err = w.zigzag()
		case id == encodingField && wire == wireI32:
			h.encoding, err = w.zigzag()
		default:
			err = w.value(wire, thriftField{}, 2)
		}
		if err != nil {
			return err
		}
	}
}
