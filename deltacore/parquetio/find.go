package parquetio

import (
	"context"
	"encoding/binary"
	"errors"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// Search asks for the rows in which a leaf has one of some values.
type Search struct {
	RowGroup int
	Leaf     int
	Rows     Ranges         // among these
	Index    *RowGroupIndex // where pages are; nil: not known
	Values   [][]byte       // byte arrays as the file has them
	Most     int            // rows to find; with more there is no answer
}

// CanSearch says whether a leaf of a row group is one of byte arrays that can be compared where they are, in their pages.
func (f *File) CanSearch(rowGroup, leaf int) bool {
	n, c := f.leaf(leaf), f.meta.RowGroups[rowGroup].Columns[leaf]
	if n == nil || c.MetaData == nil || c.CryptoMetadata != nil || n.leaf.inFile != parquet.Types.ByteArray {
		return false
	}
	if id := n.field.Type.ID(); id != arrow.STRING && id != arrow.BINARY {
		return false
	}
	for _, e := range c.MetaData.Encodings {
		if !slices.Contains(searchable, parquet.Encoding(e)) {
			return false
		}
	}
	return true
}

var searchable = []parquet.Encoding{
	parquet.Encodings.Plain, parquet.Encodings.PlainDict, parquet.Encodings.RLEDict, parquet.Encodings.RLE, parquet.Encodings.BitPacked,
}

// Search returns the rows, in ascending order, without making arrays of the values. answered is false where there are more than
// Most, where a page is of another encoding than the footer lists, where pages are not where the index says, and where they do
// not hold what they should: a read tells what is wrong then.
func (f *File) Search(ctx context.Context, q Search) (rows Ranges, answered bool, err error) {
	s := &search{Search: q, source: source{ctx: ctx, file: f}, values: newTexts(q.Values)}
	s.mem = newLedger(f.options.Allocator, mostMemory(1), 1)
	defer s.mem.close()
	err = guard(columnPages, func() error { return s.run(f) })
	switch {
	case s.source.err != nil:
		err = s.source.err
	case errors.Is(err, errWrongIndex):
		q.Index.discard()
		return nil, false, nil
	case errors.Is(err, errNoAnswer):
		return nil, false, nil
	case err == nil:
		return s.found, true, nil
	}
	return nil, false, deltaerr.Annotate(err, deltaerr.File(f.path), deltaerr.Column(f.leaf(q.Leaf).path),
		deltaerr.Phase("searching row group %d", q.RowGroup))
}

var errNoAnswer = errors.New("there is no answer")

// search is one search of a column chunk.
type search struct {
	Search
	source source
	mem    *ledger
	pages  *pageStream
	values texts

	inDictionary []bool // which entries are among the values
	any          bool   // whether one is
	ordinals     []int  // of the page's values that are found, nulls not counted
	found        Ranges
	count        int
}

// run runs under the guard.
func (s *search) run(f *File) error {
	c, err := f.chunk(s.RowGroup, s.Leaf)
	if err != nil {
		return err
	}
	c.ahead = searchBuffer
	if s.Index != nil {
		c.index = s.Index.offsets(c)
	}
	s.pages = newPageStream(c, &s.source, s.mem, s.Rows)
	defer s.pages.release()
	for s.pages.Next() {
		if err := s.page(s.pages.Page()); err != nil {
			return err
		}
	}
	if err := s.pages.Err(); err != nil {
		return err
	}
	if c.index == nil && s.pages.left != 0 {
		return errNoAnswer
	}
	return nil
}

const searchBuffer = 256 << 10

func (s *search) page(p file.Page) error {
	if d, ok := p.(*file.DictionaryPage); ok {
		return s.dictionary(d)
	}
	values, defs, err := s.pages.split(p)
	if err != nil {
		return damaged(err)
	}
	s.ordinals = s.ordinals[:0]
	switch parquet.Encoding(p.Encoding()) {
	case parquet.Encodings.Plain:
		err = s.plain(values, defs)
	case parquet.Encodings.PlainDict, parquet.Encodings.RLEDict:
		switch {
		case s.inDictionary == nil:
			err = errNoAnswer
		case s.any:
			err = s.indexes(values, defs.countHighest())
		}
	default:
		err = errNoAnswer
	}
	if err != nil || len(s.ordinals) == 0 {
		return err
	}
	return s.take(defs, s.pages.until-int64(p.NumValues()))
}

// plain goes over byte arrays with their lengths before them.
func (s *search) plain(values []byte, defs runs) error {
	if s.values.only != nil {
		return s.plainOne(values, defs)
	}
	count := defs.countHighest()
	for i := range count {
		v, rest, ok := cutText(values)
		if !ok {
			return damaged(errShortPage)
		}
		if s.values.has(v) {
			if err := s.note(i); err != nil {
				return err
			}
		}
		values = rest
	}
	return complete(values)
}

// complete has no answer where there is more in a page than its header says.
func complete(rest []byte) error {
	if len(rest) > 0 {
		return errNoAnswer
	}
	return nil
}

// plainOne is plain for one value. The last eight bytes differ more often than the first.
func (s *search) plainOne(values []byte, defs runs) error {
	want, count := s.values.only, defs.countHighest()
	size := len(want)
	var tail uint64
	if size >= 8 {
		tail = binary.LittleEndian.Uint64(want[size-8:])
	}
	at := 0
	for i := range count {
		if len(values)-at < 4 {
			return damaged(errShortPage)
		}
		n := int(binary.LittleEndian.Uint32(values[at:]))
		at += 4
		if n > len(values)-at {
			return damaged(errShortPage)
		}
		if n == size && (size < 8 || binary.LittleEndian.Uint64(values[at+size-8:]) == tail) && string(values[at:at+n]) == string(want) {
			if err := s.note(i); err != nil {
				return err
			}
		}
		at += n
	}
	return complete(values[at:])
}

var errShortPage = errors.New("a page of byte arrays ends in the middle of one")

// cutText takes a byte array off.
func cutText(b []byte) (text, rest []byte, ok bool) {
	if len(b) < 4 {
		return nil, nil, false
	}
	n := int64(binary.LittleEndian.Uint32(b))
	if n > int64(len(b)-4) {
		return nil, nil, false
	}
	return b[4 : 4+n], b[4+n:], true
}

// dictionary looks which entries are among the values.
func (s *search) dictionary(p *file.DictionaryPage) error {
	rest := p.Data()
	s.inDictionary = make([]bool, p.NumValues())
	for i := range s.inDictionary {
		text, after, ok := cutText(rest)
		if !ok {
			return damaged(errShortPage)
		}
		s.inDictionary[i] = s.values.has(text)
		s.any = s.any || s.inDictionary[i]
		rest = after
	}
	return complete(rest)
}

// indexes goes over count indexes of a dictionary, behind the bits of one.
func (s *search) indexes(values []byte, count int) error {
	if count == 0 || len(values) == 0 {
		return nil
	}
	list := runs{bytes: values[1:], width: int(values[0]), count: count}
	if list.width == 0 { // all are the first
		return s.noteRun(0, run{n: count})
	}
	i := 0
	var err error
	list.each(func(next run) {
		if err == nil {
			err = s.indexRun(i, next, list.width)
		}
		i += next.n
	})
	return err
}

func (s *search) indexRun(first int, next run, width int) error {
	if next.packed == nil {
		return s.noteRun(first, next)
	}
	indexes := bitReader{rest: next.packed}
	for i := range next.n {
		at, _ := indexes.take(width)
		if err := s.noteRun(first+i, run{n: 1, level: at}); err != nil {
			return err
		}
	}
	return nil
}

// noteRun notes n values of one index.
func (s *search) noteRun(first int, r run) error {
	if r.level >= uint64(len(s.inDictionary)) {
		return damaged(errIndexes)
	}
	if !s.inDictionary[r.level] {
		return nil
	}
	for i := range r.n {
		if err := s.note(first + i); err != nil {
			return err
		}
	}
	return nil
}

func (s *search) note(ordinal int) error {
	if s.count++; s.count > s.Most {
		return errNoAnswer
	}
	s.ordinals = append(s.ordinals, ordinal)
	return nil
}

// take makes rows of the ordinals of a page that begins with row first.
func (s *search) take(defs runs, first int64) error {
	if first < 0 {
		return errNoAnswer
	}
	rows := s.ordinals
	if defs.width > 0 {
		rows = defs.places(s.ordinals)
	}
	if len(rows) != len(s.ordinals) {
		return damaged(errLevels)
	}
	for _, row := range rows {
		at := first + int64(row)
		if s.Rows.overlaps(at, at+1) {
			s.found = s.found.Append(at, at+1, 0)
		}
	}
	return nil
}

// places returns at which of the levels the values are, whose numbers ascend.
func (r *runs) places(ordinals []int) (at []int) {
	if r.packed {
		return nil
	}
	level, value := 0, 0
	r.each(func(next run) {
		switch {
		case len(ordinals) == 0:
		case next.packed == nil && next.level == r.highest:
			for len(ordinals) > 0 && ordinals[0] < value+next.n {
				at = append(at, level+ordinals[0]-value)
				ordinals = ordinals[1:]
			}
			value += next.n
		case next.packed != nil:
			levels := bitReader{rest: next.packed}
			for i := 0; i < next.n && len(ordinals) > 0; i++ {
				if l, _ := levels.take(r.width); l != r.highest {
					continue
				}
				if value == ordinals[0] {
					at, ordinals = append(at, level+i), ordinals[1:]
				}
				value++
			}
		}
		level += next.n
	})
	return at
}

// texts is a set of byte arrays.
type texts struct {
	only    []byte // the only one
	lengths [64]bool
	list    map[string]struct{}
}

func newTexts(values [][]byte) texts {
	t := texts{list: make(map[string]struct{}, len(values))}
	if len(values) == 1 && values[0] != nil {
		t.only = values[0]
	}
	for _, v := range values {
		t.list[string(v)] = struct{}{}
		t.lengths[min(len(v), len(t.lengths)-1)] = true
	}
	return t
}

func (t *texts) has(v []byte) bool {
	if !t.lengths[min(len(v), len(t.lengths)-1)] {
		return false
	}
	_, there := t.list[string(v)]
	return there
}
