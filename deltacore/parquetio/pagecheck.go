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
	return &pageCheck{column: column, start: start, next: start, end: start + size, values: values}
}

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
				return deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("page %d: %s", c.page, err), deltaerr.Column(c.column))
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
	w := &walker{rest: all}
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
	c.left, c.want, c.sum = h.size, h.checksum, 0
	c.values -= max(0, h.values)
	return p[used-seen:], nil
}

// pageHeader is what matters here of a PageHeader of parquet.thrift.
type pageHeader struct {
	size     int64 // of the body as stored
	values   int64 // of a data page
	checksum *uint32
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
			h.values, err = w.firstNumber()
		default:
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

// firstNumber reads a struct and returns its field 1.
func (w *walker) firstNumber() (first int64, err error) {
	var id int64
	for {
		var wire byte
		if id, wire, err = w.field(id); err != nil || wire == wireStop {
			return first, err
		}
		if id == 1 && wire == wireI32 {
			first, err = w.zigzag()
		} else {
			err = w.value(wire, thriftField{}, 2)
		}
		if err != nil {
			return first, err
		}
	}
}
