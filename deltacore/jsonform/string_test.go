package jsonform

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"unicode/utf8"
)

func FuzzQuotedStringIsThatOfEncodingJSON(f *testing.F) {
	for _, text := range []string{
		"", "a", `quote " and back \\ slash`, "line\n tab\t bell\a", "\u2028 and \u2029", "é", "日本", "😀", "<&>", "\x00", "\x7f",
	} {
		f.Add([]byte(text))
		f.Add([]byte("ABCDEFGH" + text + "ABCDEFGH"))
	}
	for _, text := range []string{"\xff", "\xc0\x80", "\xed\xa0\x80", "\xf4\x90\x80\x80", "abcdefg\xe2\x80"} {
		f.Add([]byte(text))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		got, ok := AppendString([]byte("x"), text)
		if ok != utf8.Valid(text) {
			t.Fatalf("want valid %v, got %v for %q", utf8.Valid(text), ok, text)
		}
		if want := "x" + plainJSON(string(text)); ok && string(got) != want {
			t.Fatalf("want %s, got %s", want, got)
		}
	})
}

func TestEveryCodePointIsQuotedAsByEncodingJSON(t *testing.T) {
	text := make([]byte, 0, utf8.UTFMax*utf8.MaxRune)
	for r := rune(0); r <= utf8.MaxRune; r++ {
		if utf8.ValidRune(r) {
			text = utf8.AppendRune(text, r)
		}
	}
	if got, ok := AppendString(nil, text); !ok || string(got) != plainJSON(string(text)) {
		t.Error("want the text of encoding/json")
	}
}

func TestEveryPairOfSpecialBytesIsFound(t *testing.T) {
	for at := range 24 {
		for b := range 256 {
			text := []byte(strings.Repeat("~", 24))
			text[at] = byte(b)
			want := at
			if b >= ' ' && b != '"' && b != '\\' && b < utf8.RuneSelf {
				want = len(text)
			}
			if got := plainPrefix(text); got != want {
				t.Fatalf("byte %#x at %d: want %d, got %d", b, at, want, got)
			}
		}
	}
}

// plainJSON is encoding/json without HTML escaping.
func plainJSON(v any) string {
	var buf bytes.Buffer
	enc := json.NewEncoder(&buf)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic(err)
	}
	return strings.TrimSuffix(buf.String(), "\n")
}
