package storage

import (
	"net/url"
	"strings"
)

// DecodePath undoes percent encoding once; '+' stays (protocol H1). A text with an invalid % sequence was not encoded by
// its writer and is used as it is, all of it (H4).
func DecodePath(text string) string {
	decoded, err := url.PathUnescape(text)
	if err != nil {
		return text
	}
	return decoded
}

// EncodePath percent-encodes a decoded path as writers of the log do: [ResolvePath] of the result finds path again. '/'
// and what may stand in a URI's path as it is stays.
func EncodePath(path string) string {
	const hex = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(path) {
		c := path[i]
		if plain(c) {
			b.WriteByte(c)
			continue
		}
		b.WriteByte('%')
		b.WriteByte(hex[c>>4])
		b.WriteByte(hex[c&15])
	}
	return b.String()
}

// plain leaves ':' out, so that no relative path looks like a URI.
func plain(c byte) bool {
	return 'a' <= c && c <= 'z' || 'A' <= c && c <= 'Z' || '0' <= c && c <= '9' || strings.IndexByte("/-._~!$&'()*+,;=@", c) >= 0
}
