package action

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

const (
	// maxLine bounds the memory of a scanner. Real lines reach 8 MiB (a metaData with a very wide schema).
	maxLine = 64 << 20
	// chunk is what is read at once. Lines that are longer are put together in a second buffer.
	chunk = 64 << 10
	// maxKept is the largest buffer that is kept for the lines to come.
	maxKept = 1 << 20
)

// Scanner reads the actions of a commit, one line at a time. It holds one line and the action in it and no more, so its
// memory is at most about four times the longest line; a line of more than 64 MiB is refused. Texts that repeat from line to line, the
// partition values, are held once. A Scanner is for one goroutine.
type Scanner struct {
	src   *bufio.Reader
	long  []byte // a line that does not fit src's buffer
	limit int    // longest line
	line  int64  // number of the line at hand, from 1
	kinds Kind
	dec   decoder
	err   error // what ended the scan
}

// NewScanner returns a scanner over the lines of r that yields the actions of the given kinds, or all when none is
// given. Lines of other kinds are checked to be JSON but not decoded, which costs about a third.
func NewScanner(r io.Reader, kinds ...Kind) *Scanner {
	s := &Scanner{src: bufio.NewReaderSize(r, chunk), limit: maxLine, dec: newDecoder()}
	for _, k := range kinds {
		s.kinds |= k
	}
	if len(kinds) == 0 {
		s.kinds = kindAll
	}
	return s
}

// OmitStats leaves Add.Stats empty from now on: statistics are most of a line, and only pruning needs them (C7).
func (s *Scanner) OmitStats() { s.dec.omitStats = true }

// Next returns the next action, io.EOF after the last one. A line that is cut, or is no JSON object with at most one
// action, is a deltaerr Corrupt naming the line number (L9). Blank lines, unknown actions and actions without a value
// are passed over (A1). Errors of the reader are returned as they are. After an error, every call returns it again.
func (s *Scanner) Next() (Action, error) {
	for s.err == nil {
		var line []byte
		if line, s.err = s.readLine(); s.err != nil {
			break
		}
		if line = bytes.Trim(line, " \t\r\n"); len(line) == 0 {
			continue
		}
		a, found, err := s.dec.decodeLine(line, s.kinds)
		if err != nil {
			s.err = s.atLine(err)
			break
		}
		if found {
			return a, nil
		}
	}
	return Action{}, s.err
}

// readLine returns the next line, valid until the next call. The last one may lack its newline.
func (s *Scanner) readLine() ([]byte, error) {
	s.line++
	if s.long = s.long[:0]; cap(s.long) > maxKept {
		s.long, s.dec.scratch = nil, nil
	}
	for {
		part, err := s.src.ReadSlice('\n')
		if len(s.long)+len(part) > s.limit {
			return nil, s.corrupt(fmt.Sprintf("is longer than %d bytes", s.limit))
		}
		atEnd := err == io.EOF // the end itself: a wrapped one is a stream that was cut
		whole := err == nil || (atEnd && len(s.long)+len(part) > 0)
		switch {
		case whole && len(s.long) == 0:
			return part, nil
		case !whole && !errors.Is(err, bufio.ErrBufferFull):
			return nil, err
		}
		if cap(s.long)-len(s.long) < len(part) { // append grows large slices by a quarter, which leaves four times as much behind
			s.long = slices.Grow(s.long, max(len(part), len(s.long)))
		}
		if s.long = append(s.long, part...); whole {
			return s.long, nil
		}
	}
}

// atLine makes a deltaerr Corrupt of what is wrong with the line at hand.
func (s *Scanner) atLine(err error) error {
	switch {
	case errors.As(err, new(shapeError)):
		return s.corrupt(err.Error())
	case errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF):
		return s.corrupt("is cut", deltaerr.Hint("restore the file: what the line said cannot be known"))
	}
	return s.corrupt("is not valid JSON", deltaerr.Cause(err))
}

func (s *Scanner) corrupt(msg string, attrs ...deltaerr.Attr) error {
	return deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("line %d %s", s.line, msg), attrs...)
}
