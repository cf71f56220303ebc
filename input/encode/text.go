package encode

import (
	"encoding/base64"
	"encoding/binary"
	"encoding/hex"
	"math/bits"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// byteStrings is the values of a string or binary array.
type byteStrings struct {
	offsets []int32
	data    []byte
}

func (b *byteStrings) set(offsets []int32, arr arrow.Array) {
	b.offsets = offsets
	if data := arr.Data().Buffers()[2]; data != nil {
		b.data = data.Bytes()
	}
}

func (b *byteStrings) unbind() { b.offsets, b.data = nil, nil }

func (b *byteStrings) raw(i int) []byte { return b.data[b.offsets[i]:b.offsets[i+1]] }

// texts is a string column.
type texts struct {
	byteStrings
	at *place
}

func (t *texts) bind(arr arrow.Array) (bool, error) {
	a, ok := arr.(*array.String)
	if ok {
		t.set(a.ValueOffsets(), a)
	}
	return ok, nil
}

func (t *texts) append(dst []byte, i int) ([]byte, error) {
	dst, ok := appendQuoted(dst, t.raw(i))
	if !ok {
		return dst, t.invalid()
	}
	return dst, nil
}

func (t *texts) value(i int) (any, error) { return t.string(i) }

func (t *texts) string(i int) (string, error) {
	raw := t.raw(i)
	if !utf8.Valid(raw) {
		return "", t.invalid()
	}
	return string(raw), nil
}

func (t *texts) invalid() error {
	return t.at.fail(deltaerr.Corrupt, "a string is not valid UTF-8, so it has no JSON text",
		deltaerr.Hint("leave the column out with the field columns, or use format arrow_ipc, which carries the bytes as they are"))
}

// binaries is a binary column.
type binaries struct {
	byteStrings
	hex bool
}

func (b *binaries) bind(arr arrow.Array) (bool, error) {
	a, ok := arr.(*array.Binary)
	if ok {
		b.set(a.ValueOffsets(), a)
	}
	return ok, nil
}

func (b *binaries) append(dst []byte, i int) ([]byte, error) {
	return append(b.appendText(append(dst, '"'), i), '"'), nil
}

func (b *binaries) value(i int) (any, error) { return string(b.appendText(nil, i)), nil }

func (b *binaries) appendText(dst []byte, i int) []byte {
	if b.hex {
		return hex.AppendEncode(dst, b.raw(i))
	}
	return base64.StdEncoding.AppendEncode(dst, b.raw(i))
}

// appendQuoted adds s as a JSON string, as Go's encoding/json writes it without HTML escaping: UTF-8 as it is, and
// escapes for the quote, the backslash, controls and the line separators U+2028 and U+2029 (which end a line of
// JavaScript). false: s is not valid UTF-8.
func appendQuoted(dst, s []byte) ([]byte, bool) {
	dst = append(dst, '"')
	plain := plainPrefix(s)
	if plain == len(s) {
		dst = append(dst, s...)
		return append(dst, '"'), true
	}
	return appendEscaped(dst, s, plain)
}

// appendEscaped adds s, whose first i bytes need no look, and the closing quote.
func appendEscaped(dst, s []byte, i int) ([]byte, bool) {
	done := 0 // s[:done] is in dst
	for i < len(s) {
		if s[i] < utf8.RuneSelf {
			dst = appendEscape(append(dst, s[done:i]...), rune(s[i]))
			i++
			done = i
			i += plainPrefix(s[i:])
			continue
		}
		r, size := utf8.DecodeRune(s[i:])
		switch {
		case r == utf8.RuneError && size == 1:
			return dst, false
		case r == '\u2028' || r == '\u2029':
			dst = appendEscape(append(dst, s[done:i]...), r)
			done = i + size
		}
		i += size
		if i < len(s) && s[i] < utf8.RuneSelf {
			i += plainPrefix(s[i:])
		}
	}
	return append(append(dst, s[done:]...), '"'), true
}

const hexDigits = "0123456789abcdef"

func appendEscape(dst []byte, r rune) []byte {
	switch r {
	case '"', '\\':
		return append(dst, '\\', byte(r))
	case '\b':
		return append(dst, `\b`...)
	case '\f':
		return append(dst, `\f`...)
	case '\n':
		return append(dst, `\n`...)
	case '\r':
		return append(dst, `\r`...)
	case '\t':
		return append(dst, `\t`...)
	}
	return append(dst, '\\', 'u', hexDigits[r>>12&15], hexDigits[r>>8&15], hexDigits[r>>4&15], hexDigits[r&15])
}

const (
	ones  = 0x0101010101010101
	highs = 0x8080808080808080
)

// plainPrefix is how many bytes at the start of s stand for themselves in JSON: ASCII but no control, quote or backslash.
func plainPrefix(s []byte) int {
	i := 0
	for ; i+8 <= len(s); i += 8 {
		if special := specialBytes(binary.LittleEndian.Uint64(s[i:])); special != 0 {
			return i + bits.TrailingZeros64(special)/8
		}
	}
	for ; i < len(s); i++ {
		if c := s[i]; c < ' ' || c == '"' || c == '\\' || c >= utf8.RuneSelf {
			return i
		}
	}
	return i
}

// specialBytes marks, with its high bit, each byte of w that does not stand for itself. Bytes above the lowest marked one
// may be marked without reason: a subtraction borrows from them.
func specialBytes(w uint64) uint64 {
	control := w - ' '*ones
	quote := (w ^ '"'*ones) - ones
	backslash := (w ^ '\\'*ones) - ones
	return (w | control | quote | backslash) & highs
}
