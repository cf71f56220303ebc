package parquetio

import (
	"errors"
	"fmt"
)

// offsetIndex says where the pages of data of a column chunk are and which rows they hold. With one, pages begin with rows, in
// lists too.
type offsetIndex struct {
	pages []pageLocation
	count int64 // rows of the row group
}

type pageLocation struct{ offset, size, first int64 }

func (l pageLocation) end() int64 { return l.offset + l.size }

// rows are those of page i.
func (x *offsetIndex) rows(i int) (from, to int64) {
	if from, to = x.pages[i].first, x.count; i+1 < len(x.pages) {
		to = x.pages[i+1].first
	}
	return from, to
}

// smallGap is how many bytes that nobody wants are read to keep a read whole.
const smallGap = 16 << 10

// runEnd is where the bytes end that may be read together with page i (-1: with what stands before the first): those of the
// wanted pages behind it, up to about most bytes.
func (x *offsetIndex) runEnd(i int, most int64, wanted Ranges) int64 {
	end, next := x.pages[0].offset, i+1
	if i >= 0 {
		end = x.pages[i].end()
	}
	for start := end; next < len(x.pages) && x.pages[next].offset-end <= smallGap && end-start < most; next++ {
		if from, to := x.rows(next); wanted.overlaps(from, to) {
			end = x.pages[next].end()
		}
	}
	return end
}

// errWrongIndex is the error for pages that are not what the offset index says. It can be done without.
var errWrongIndex = errors.New("the offset index does not fit its pages")

// agrees compares the page whose header has just been read.
func (x *offsetIndex) agrees(s *pageStream, h pageHeader) bool {
	end := s.at + h.size
	if s.at <= x.pages[0].offset {
		return end <= x.pages[0].offset && !h.isData()
	}
	from, to := x.rows(s.number)
	return h.isData() && end == x.pages[s.number].end() && (s.chunk.node.levels.rep > 0 || h.values == to-from)
}

// check refuses an index that cannot be one of a chunk of which nothing is left out.
func (x *offsetIndex) check(c chunk) error {
	at, last := int64(-1), int64(-1)
	for i, p := range x.pages {
		switch {
		case p.size <= 0 || p.offset < c.start || p.size > c.end-p.offset:
			return fmt.Errorf("page %d has %d bytes at %d, the column chunk those from %d to %d", i, p.size, p.offset, c.start, c.end)
		case at >= 0 && p.offset != at:
			return fmt.Errorf("page %d begins at %d, the one before ends at %d", i, p.offset, at)
		case p.first <= last || p.first >= x.count || i == 0 && p.first != 0:
			return fmt.Errorf("page %d begins with row %d of %d", i, p.first, x.count)
		}
		at, last = p.end(), p.first
	}
	if len(x.pages) == 0 || at != c.end {
		return fmt.Errorf("%d pages end at %d, the column chunk at %d", len(x.pages), at, c.end)
	}
	return nil
}

// parseOffsetIndex reads an OffsetIndex of parquet.thrift.
func parseOffsetIndex(b []byte) (*offsetIndex, error) {
	w := &walker{rest: b, budget: int64(len(b)) + freeCost}
	x := &offsetIndex{}
	err := w.fields(0, func(id int64, wire byte) (bool, error) {
		if id != 1 || wire != wireList {
			return false, nil
		}
		return true, w.elements(wireStruct, func(n int) { x.pages = make([]pageLocation, 0, n) }, func() error {
			var p pageLocation
			err := w.numbers(1, map[int64]*int64{1: &p.offset, 2: &p.size, 3: &p.first}, nil)
			x.pages = append(x.pages, p)
			return err
		})
	})
	return x, err
}

// columnIndex is what a ColumnIndex of parquet.thrift says of each page of a column chunk.
type columnIndex struct {
	empty    []bool // all values are null: the bounds mean nothing
	min, max [][]byte
	nulls    []int64 // nil: not known
	nans     []int64 // nil: not known
}

// check refuses an index that does not speak of as many pages.
func (x *columnIndex) check(pages int) error {
	for _, n := range []int{len(x.empty), len(x.min), len(x.max)} {
		if n != pages {
			return fmt.Errorf("the column index has entries for %d of %d pages", n, pages)
		}
	}
	if x.nulls != nil && len(x.nulls) != pages || x.nans != nil && len(x.nans) != pages {
		return fmt.Errorf("the column index has %d and %d counts for %d pages", len(x.nulls), len(x.nans), pages)
	}
	return nil
}

func parseColumnIndex(b []byte) (*columnIndex, error) {
	w := &walker{rest: b, budget: int64(len(b)) + freeCost}
	x := &columnIndex{}
	err := w.fields(0, func(id int64, wire byte) (bool, error) {
		switch {
		case id == 1 && wire == wireList:
			return true, w.booleans(&x.empty)
		case id == 2 && wire == wireList:
			return true, w.texts(&x.min)
		case id == 3 && wire == wireList:
			return true, w.texts(&x.max)
		case id == 5 && wire == wireList:
			return true, w.counts(&x.nulls)
		case id == 8 && wire == wireList:
			return true, w.counts(&x.nans)
		}
		return false, nil
	})
	return x, err
}

// elements reads a list whose elements have a type.
func (w *walker) elements(want byte, begin func(n int), one func() error) error {
	elem, n, err := w.listHeader()
	if err != nil {
		return err
	}
	if elem != want && !(want == wireTrue && elem == wireFalse) && n > 0 {
		return fmt.Errorf("a Thrift list has elements of type %d instead of %d", elem, want)
	}
	begin(int(n))
	for range n {
		if err := one(); err != nil {
			return err
		}
	}
	return nil
}

func (w *walker) booleans(into *[]bool) error {
	return w.elements(wireTrue, func(n int) { *into = make([]bool, 0, n) }, func() error {
		b, err := w.byte()
		*into = append(*into, b == wireTrue)
		return err
	})
}

// texts are not copied.
func (w *walker) texts(into *[][]byte) error {
	return w.elements(wireBinary, func(n int) { *into = make([][]byte, 0, n) }, func() error {
		n, err := w.varint()
		if err != nil {
			return err
		}
		text := w.rest
		if err := w.skip(n); err != nil {
			return err
		}
		*into = append(*into, text[:n:n])
		return nil
	})
}

func (w *walker) counts(into *[]int64) error {
	return w.elements(wireI64, func(n int) { *into = make([]int64, 0, n) }, func() error {
		v, err := w.zigzag()
		*into = append(*into, v)
		return err
	})
}
