// Package jsonform answers how a value is written in JSON: numbers, strings and times of which there is one text and no
// other, so that all that write JSON write the same. Which values there are is for its users to know.
package jsonform

import (
	"encoding/binary"
	"math/bits"
	"unicode/utf8"
)

// AppendString adds s as a JSON string, as Go's encoding/json writes it without HTML escaping: UTF-8 as it is, and
// escapes for the quote, the backslash, controls and the line separators U+2028 and U+2029 (which end a line of
// JavaScript). false: s is not valid UTF-8.
func AppendString(dst, s []byte) ([]byte, bool) {
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
