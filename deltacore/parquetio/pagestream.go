package parquetio

import (
	"errors"
	"fmt"
	"hash/crc32"
	"sort"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/compress"
	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// pageStream gives arrow-go the pages of one column chunk that hold wanted rows, unpacked, in place of its own reader of
// pages: that one knows neither checksums (protocol Q4) nor which rows are wanted, takes a page without values for the end
// of the chunk and allocates what a header says. A page is unpacked whole, and its checksum compared, before a value of it
// is decoded.
type pageStream struct {
	chunk  chunk
	bytes  chunkBytes
	mem    *ledger
	wanted Ranges

	at     int64 // offset of the next page
	left   int64 // values that pages still have to bring; behind them anything may stand. Without an index
	number int   // of the next page, for messages
	next   int64 // first row of the next page; -1: not known

	until  int64 // the present page, or the one that is next for sure, ends before this row; -1: not known
	passed int64 // rows that have been passed over with their pages

	queued        file.Page // a dictionary, which goes before the pending page
	hasDictionary bool
	pending       *pageHeader // of the page at at, which is wanted; at is behind the header

	unpacked pageBuffer
	page     file.Page
	ready    file.Page // the only page, in place of those of the chunk
	held     int64     // counted for the present page
	closed   bool
	err      error
}

func newPageStream(c chunk, src *source, mem *ledger, wanted Ranges) *pageStream {
	s := &pageStream{
		chunk: c, mem: mem, wanted: wanted, at: c.start, left: c.values,
		bytes:    chunkBytes{source: src, end: c.end, ahead: c.ahead, buf: pageBuffer{mem: mem}},
		unpacked: pageBuffer{mem: mem},
	}
	if c.index != nil {
		s.bytes.end = c.index.runEnd(-1, c.ahead, wanted)
	}
	return s
}

// The rest of file.PageReader: nobody seeks.

func (s *pageStream) SetMaxPageHeaderSize(int) {}

func (s *pageStream) Page() file.Page { return s.page }

func (s *pageStream) Err() error { return s.err }

var errNoSeek = errors.New("pages are read in order")

func (s *pageStream) Reset(parquet.BufferedReader, int64, compress.Compression, *file.CryptoContext) {
	s.err = errNoSeek
}

func (s *pageStream) GetDictionaryPage() (*file.DictionaryPage, error) { return nil, errNoSeek }

func (s *pageStream) SeekToPageWithRow(int64) error { return errNoSeek }

func (s *pageStream) Close() error {
	s.release()
	return nil
}

func (s *pageStream) release() {
	s.drop()
	s.closed = true
	s.bytes.buf.release()
	s.unpacked.release()
}

func (s *pageStream) drop() {
	s.mem.hold(-s.held)
	s.held, s.page = 0, nil
}

// Next goes to the next page that is a dictionary or has wanted rows.
func (s *pageStream) Next() bool {
	s.drop()
	if s.ready != nil {
		s.page, s.ready = s.ready, nil
		return true
	}
	if s.queued == nil {
		s.find()
	}
	switch {
	case s.err != nil:
		return false
	case s.queued != nil:
		s.page, s.queued = s.queued, nil
	case s.pending != nil:
		h := *s.pending
		s.pending = nil
		s.page, s.err = s.open(h)
	}
	return s.page != nil && s.err == nil
}

// find passes over pages until the next one is wanted, or there is none.
func (s *pageStream) find() {
	for s.pending == nil && s.err == nil && s.more() {
		s.err = s.step()
	}
}

// more says whether there may be another page. An index says where it begins.
func (s *pageStream) more() bool {
	index := s.chunk.index
	if s.closed || s.bytes.source == nil {
		return false
	}
	if index == nil || s.at < index.pages[0].offset {
		return s.at < s.chunk.end && (index != nil || s.left > 0)
	}
	i := sort.Search(len(index.pages), func(i int) bool { return index.pages[i].offset >= s.at })
	for ; i < len(index.pages); i++ {
		if from, to := index.rows(i); s.wanted.overlaps(from, to) {
			s.passed += from - s.next
			s.at, s.next, s.number = index.pages[i].offset, from, i
			s.bytes.end = index.runEnd(i, s.chunk.ahead, s.wanted)
			return true
		}
	}
	s.at = s.chunk.end
	return false
}

// step reads a page's header, and goes behind the page unless it is wanted.
func (s *pageStream) step() error {
	h, err := s.header()
	if err != nil {
		return s.failure(err)
	}
	rows := s.rowsOf(h)
	switch {
	case h.isDictionary() && s.hasDictionary:
		return s.failure(errors.New("the column chunk has another dictionary already"))
	case h.isDictionary():
		s.hasDictionary = true
		s.queued, err = s.open(h)
		return err
	case !h.isData(), h.values == 0:
		s.at += h.size
		s.number++
		return nil
	}
	s.left -= h.values
	if s.next < 0 || rows < 0 || s.wanted.overlaps(s.next, s.next+rows) {
		s.pending = &h
		s.next = after(s.next, rows)
		s.until = s.next
		return nil
	}
	s.next += rows
	s.passed += rows
	s.at += h.size
	s.number++
	return nil
}

// after is the row behind rows that begin at first; -1 when one of them is not known.
func after(first, rows int64) int64 {
	if first < 0 || rows < 0 {
		return -1
	}
	return first + rows
}

// rowsOf is the number of rows of a page of data, -1 when only its levels tell: what headers of version 2 say of nested columns
// has been wrong in too many writers.
func (s *pageStream) rowsOf(h pageHeader) int64 {
	switch {
	case s.chunk.node.levels.rep == 0:
		return h.values
	case s.chunk.index != nil && s.number < len(s.chunk.index.pages):
		from, to := s.chunk.index.rows(s.number)
		return to - from
	}
	return -1
}

// header reads the header at at and goes behind it.
func (s *pageStream) header() (pageHeader, error) {
	for size := int64(128); ; size *= 4 {
		b, err := s.bytes.some(s.at, size)
		if err != nil {
			return pageHeader{}, err
		}
		w := &walker{rest: b, budget: freeCost}
		h, err := w.pageHeader()
		if errors.Is(err, errThriftEnd) && int64(len(b)) == size {
			if size > maxPageHeader {
				return h, fmt.Errorf("the header has more than %d bytes", maxPageHeader)
			}
			continue
		}
		if err != nil {
			return h, err
		}
		s.at += int64(len(b) - len(w.rest))
		return h, s.check(h)
	}
}

var errMixedEncodings = errors.New("fixed-length values are in the encoding DELTA_BYTE_ARRAY here and in another one there, which is not supported")

func (s *pageStream) check(h pageHeader) error {
	if err := h.check(s.chunk.end - s.at); err != nil {
		return err
	}
	if s.chunk.only != anyEncoding && (h.isDictionary() || h.isData() && h.encoding != s.chunk.only) {
		return errMixedEncodings
	}
	if h.size > s.chunk.mostPacked || h.unpacked > s.chunk.mostUnpacked {
		return deltaerr.New(deltaerr.Unsupported, fmt.Sprintf("it has %d bytes, %d unpacked; at most %d and %d are read",
			h.size, h.unpacked, s.chunk.mostPacked, s.chunk.mostUnpacked))
	}
	if index := s.chunk.index; index != nil && !index.agrees(s, h) {
		return errWrongIndex
	}
	return nil
}

// failure is the error for a page that cannot be read. Where an index says that it is there, it may be the index.
func (s *pageStream) failure(err error) error {
	switch ours, known := errors.AsType[*deltaerr.Error](err); {
	case s.bytes.source.err != nil, known && ours.Kind != deltaerr.Corrupt:
		return err
	case s.chunk.index != nil:
		return errWrongIndex
	case known:
		return err
	case errors.Is(err, errMixedEncodings):
		return deltaerr.New(deltaerr.Unsupported, fmt.Sprintf("page %d: %s", s.number, err))
	}
	return deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("page %d: %s", s.number, err))
}

// open reads the body of a page, which is at at.
func (s *pageStream) open(h pageHeader) (file.Page, error) {
	body, err := s.bytes.exactly(s.at, h.size)
	if err != nil {
		return nil, err
	}
	s.at += h.size
	if h.checksum != nil {
		if sum := crc32.ChecksumIEEE(body); sum != *h.checksum {
			return nil, s.failure(deltaerr.New(deltaerr.Corrupt,
				fmt.Sprintf("page %d has the checksum %08x, its header says %08x", s.number, sum, *h.checksum)))
		}
	}
	var page file.Page
	if h.isDictionary() {
		page, err = s.dictionary(h, body)
	} else {
		page, err = s.data(h, body)
	}
	if err == nil {
		err = s.look(page)
	}
	if err != nil {
		return nil, s.failure(err)
	}
	s.number++
	return page, nil
}

// dictionary makes a page that stays as long as the stream: arrow-go's decoders keep its bytes.
func (s *pageStream) dictionary(h pageHeader, body []byte) (file.Page, error) {
	own := memory.NewResizableBuffer(pageMemory{s.mem})
	own.Resize(int(h.unpacked))
	if err := s.unpack(own.Bytes(), body, s.chunk.packed); err != nil {
		return nil, err
	}
	return file.NewDictionaryPage(memory.NewBufferBytes(own.Bytes()), int32(h.values), parquet.Encoding(h.encoding)), nil
}

func (s *pageStream) data(h pageHeader, body []byte) (file.Page, error) {
	levels := 0
	if h.kind == pageTypeDataV2 {
		levels = int(h.defLength + h.repLength)
	}
	packed := s.chunk.packed && !h.isPlain
	if packed || int64(len(body)) != h.unpacked {
		to := s.unpacked.resize(int(h.unpacked), 0)
		copy(to, body[:levels])
		if err := s.unpack(to[levels:], body[levels:], packed); err != nil {
			return nil, err
		}
		body = to
	}
	encoding, size, buf := parquet.Encoding(h.encoding), int32(h.unpacked), memory.NewBufferBytes(body)
	if h.kind == pageTypeDataV2 {
		return file.NewDataPageV2(buf, int32(h.values), int32(h.nulls), int32(h.rows), encoding,
			int32(h.defLength), int32(h.repLength), size, packed), nil
	}
	return file.NewDataPageV1(buf, int32(h.values), encoding, parquet.Encoding(h.defEncoding), parquet.Encoding(h.repEncoding), size), nil
}

// unpack fills to.
func (s *pageStream) unpack(to, body []byte, packed bool) error {
	if !packed {
		if len(body) != len(to) {
			return fmt.Errorf("it has %d bytes, its header says %d", len(body), len(to))
		}
		copy(to, body)
		return nil
	}
	if len(to) == 0 && len(body) == 0 {
		return nil
	}
	out, err := compress.Decode(s.chunk.codec, to, body)
	if err == nil && len(out) != len(to) {
		err = fmt.Errorf("%d bytes are unpacked, its header says %d", len(out), len(to))
	}
	return err
}
