package variant

import "unicode/utf8"

// String writes a text, which has to be valid UTF-8.
func (w *Writer) String(v []byte) error {
	if !utf8.Valid(v) {
		return corrupt("a string is not valid UTF-8")
	}
	w.text = appendQuoted(w.text, v)
	return nil
}

// appendQuoted adds valid UTF-8 as a JSON string, as encoding/json writes it without HTML escaping: with escapes for the
// quote, the backslash, controls and the line separators U+2028 and U+2029.
func appendQuoted(dst, s []byte) []byte {
	dst = append(dst, '"')
	done := 0 // s[:done] is in dst
	for i, c := range s {
		switch {
		case c < ' ' || c == '"' || c == '\\':
			dst = appendEscape(append(dst, s[done:i]...), c)
			done = i + 1
		case c == separator[0] && i+2 < len(s) && s[i+1] == separator[1] && s[i+2]&^1 == separator[2]:
			dst = append(append(dst, s[done:i]...), `\u202`...)
			dst = append(dst, '8'+s[i+2]&1)
			done = i + 3
		}
	}
	return append(append(dst, s[done:]...), '"')
}

// separator is U+2028; U+2029 has the last bit set, too.
const separator = "\u2028"

func appendEscape(dst []byte, c byte) []byte {
	switch c {
	case '"', '\\':
		return append(dst, '\\', c)
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
	const digits = "0123456789abcdef"
	return append(dst, '\\', 'u', '0', '0', digits[c>>4], digits[c&15])
}
