package deltalog

import (
	"strings"
	"testing"
)

// TestHintIsReadLeniently covers LC1 and LC2.
func TestHintIsReadLeniently(t *testing.T) {
	for text, want := range map[string]int64{
		`{"version":10}`: 10,
		`{"version":0,"size":3,"parts":4,"checksum":"00","tags":{"a":"b"},"v2Checkpoint":{"path":"x"}}`: 0,
		"{\"version\":9223372036854775807}\n": 1<<63 - 1,
	} {
		if got, err := parseHint([]byte(text)); err != nil || got != want {
			t.Errorf("%s: want %d, got %d, %v", text, want, got, err)
		}
	}
	for _, text := range []string{
		"", "{", "null", "[]", "10", "{}", `{"version":"10"}`, `{"version":1.5}`, `{"version":-1}`, `{"version":null}`,
		`{"version":9223372036854775808}`, `{"version":1,"version":2}`, `{"version":1} x`, `{"Version":1}`, "\x00\xff",
		`{"version":1,"pad":"` + strings.Repeat("x", maxHintBytes) + `"}`,
	} {
		if got, err := parseHint([]byte(text)); err == nil {
			t.Errorf("%.40s: want an error, got %d", text, got)
		}
	}
}

func FuzzParseHint(f *testing.F) {
	f.Add([]byte(`{"version":10,"size":3}`))
	f.Add([]byte(`{"version":1,"version":2}`))
	f.Add([]byte(``))
	f.Fuzz(func(t *testing.T, text []byte) {
		if v, err := parseHint(text); err == nil && v < 0 {
			t.Errorf("version %d", v)
		}
	})
}
