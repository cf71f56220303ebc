package pruning

import (
	"bytes"
	"errors"
	"strings"
	"unicode/utf8"
)

// Pattern is a LIKE pattern.
type Pattern struct {
	Text     string    // as written, with its escapes
	Prefix   string    // every match begins with it
	segments []segment // what stands between the %s; of no pattern: none
}

// segment is a part of a pattern without %.
type segment struct {
	pieces []piece
}

// piece is some literal text after some characters of any kind.
type piece struct {
	skip int
	text []byte
}

// DefaultEscape is the escape of patterns that name none, as in Spark and PostgreSQL.
const DefaultEscape = `\`

// NewPattern reads a LIKE pattern: % stands for any characters, _ for one. After the escape, which is one character or
// nothing at all, %, _ and the escape itself stand for themselves; anything else there is an error.
func NewPattern(text, escape string) (Pattern, error) {
	escapeRune, size := utf8.DecodeRuneInString(escape)
	if size != len(escape) {
		return Pattern{}, errors.New("the escape of a pattern must be one character, or none")
	}
	r := patternReader{escape: escapeRune, escapes: escape != ""}
	for _, c := range text {
		if err := r.read(c); err != nil {
			return Pattern{}, err
		}
	}
	if r.escaped {
		return Pattern{}, errors.New("the pattern ends with its escape character")
	}
	r.endSegment()
	return Pattern{Text: text, Prefix: r.segments[0].prefix(), segments: r.segments}, nil
}

// Match tells whether a value matches. It does not allocate. Bytes that are not UTF-8 are a character each.
func (p Pattern) Match(s []byte) bool {
	if len(p.segments) == 0 {
		return len(s) == 0
	}
	first, last := p.segments[0], p.segments[len(p.segments)-1]
	s, ok := first.cutStart(s)
	if len(p.segments) == 1 || !ok {
		return ok && len(s) == 0
	}
	for _, middle := range p.segments[1 : len(p.segments)-1] {
		if s, ok = middle.cutFirst(s); !ok {
			return false
		}
	}
	return last.isEnd(s)
}

// literal returns the only text that matches; ok is false when others can.
func (p Pattern) literal() (text string, ok bool) {
	if len(p.segments) != 1 {
		return "", len(p.segments) == 0
	}
	pieces := p.segments[0].pieces
	if len(pieces) == 0 {
		return "", true
	}
	return p.Prefix, len(pieces) == 1 && pieces[0].skip == 0
}

// IsPrefix tells whether everything that begins with the Prefix matches.
func (p Pattern) IsPrefix() bool {
	return len(p.segments) == 2 && p.segments[0].isText() && len(p.segments[1].pieces) == 0
}

func (s segment) isText() bool {
	return len(s.pieces) == 0 || len(s.pieces) == 1 && s.pieces[0].skip == 0
}

func (s segment) prefix() string {
	if len(s.pieces) == 0 || s.pieces[0].skip > 0 {
		return ""
	}
	return string(s.pieces[0].text)
}

// cutStart passes over the segment at the beginning of b.
func (s segment) cutStart(b []byte) (rest []byte, ok bool) {
	for _, p := range s.pieces {
		for range p.skip {
			if len(b) == 0 {
				return nil, false
			}
			_, size := utf8.DecodeRune(b)
			b = b[size:]
		}
		if b, ok = bytes.CutPrefix(b, p.text); !ok {
			return nil, false
		}
	}
	return b, true
}

// cutFirst passes over the first place where the segment is. As its matches are all of one number of characters, the first
// leaves the most.
func (s segment) cutFirst(b []byte) (rest []byte, ok bool) {
	if s.isText() {
		return s.cutFirstText(b)
	}
	for {
		if rest, ok = s.cutStart(b); ok || len(b) == 0 {
			return rest, ok
		}
		_, size := utf8.DecodeRune(b)
		b = b[size:]
	}
}

func (s segment) cutFirstText(b []byte) (rest []byte, ok bool) {
	if len(s.pieces) == 0 {
		return b, true
	}
	text := s.pieces[0].text
	at := bytes.Index(b, text)
	if at < 0 {
		return nil, false
	}
	return b[at+len(text):], true
}

// isEnd tells whether b ends with the segment.
func (s segment) isEnd(b []byte) bool {
	for i := len(s.pieces) - 1; i >= 0; i-- {
		var ok bool
		if b, ok = bytes.CutSuffix(b, s.pieces[i].text); !ok {
			return false
		}
		for range s.pieces[i].skip {
			if len(b) == 0 {
				return false
			}
			_, size := utf8.DecodeLastRune(b)
			b = b[:len(b)-size]
		}
	}
	return true
}

// patternReader takes a pattern apart.
type patternReader struct {
	escape   rune
	escapes  bool // whether there is an escape
	escaped  bool // the last character was one
	segments []segment
	segment  segment // the one being read
	piece    piece
}

func (r *patternReader) read(c rune) error {
	special := c == '%' || c == '_' || r.escapes && c == r.escape
	switch {
	case r.escaped && !special:
		return errors.New("in the pattern, " + strings.ToValidUTF8(string(r.escape), "?") + " must be followed by %, _ or itself")
	case r.escaped || !special:
		r.escaped = false
		r.piece.text = utf8.AppendRune(r.piece.text, c)
	case r.escapes && c == r.escape:
		r.escaped = true
	case c == '%':
		r.endSegment()
	default:
		if len(r.piece.text) > 0 {
			r.endPiece()
		}
		r.piece.skip++
	}
	return nil
}

func (r *patternReader) endPiece() {
	if r.piece.skip > 0 || len(r.piece.text) > 0 {
		r.segment.pieces = append(r.segment.pieces, r.piece)
	}
	r.piece = piece{}
}

// endSegment ends a segment. Empty ones matter at the ends only.
func (r *patternReader) endSegment() {
	r.endPiece()
	r.segments = append(r.segments, r.segment)
	r.segment = segment{}
}
