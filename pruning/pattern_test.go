package pruning

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestPatternMatchesAsInSQL(t *testing.T) {
	for _, c := range []struct {
		pattern, escape, text string
		want                  bool
	}{
		{"", `\`, "", true},
		{"", `\`, "a", false},
		{"%", `\`, "", true},
		{"%%", `\`, "abc", true},
		{"ab%", `\`, "abc", true},
		{"ab%", `\`, "a", false},
		{"%bc", `\`, "abc", true},
		{"%b%", `\`, "abc", true},
		{"a%a", `\`, "a", false},
		{"a%a", `\`, "aa", true},
		{"_", `\`, "é", true},
		{"_", `\`, "\xff", true},
		{"_", `\`, "", false},
		{"__", `\`, "é", false},
		{"%_", `\`, "", false},
		{"_%_", `\`, "a", false},
		{"_%_", `\`, "éé", true},
		{"%b_d%", `\`, "xbcbéd!", true},
		{"%ab_%ab", `\`, "abab", false},
		{`a\%`, `\`, "a%", true},
		{`a\%`, `\`, "ab", false},
		{`a\\b`, `\`, `a\b`, true},
		{`a\%`, "", `a\b`, true},
		{`a!_`, "!", "a_", true},
		{`a!_`, "!", "ab", false},
		{`a%%`, "%", "a%", true},
		{"A", `\`, "a", false},
	} {
		p, err := NewPattern(c.pattern, c.escape)
		if err != nil {
			t.Errorf("%q: %v", c.pattern, err)
			continue
		}
		if got := p.Match([]byte(c.text)); c.want != got {
			t.Errorf("%q LIKE %q: want %v, got %v", c.text, c.pattern, c.want, got)
		}
	}
}

func TestPatternPrefixIsWhatEveryMatchBeginsWith(t *testing.T) {
	for pattern, want := range map[string]string{"": "", "abc": "abc", "ab%c": "ab", "a_c": "a", "%a": "", "_a": "", `a\%b%`: "a%b"} {
		p, err := NewPattern(pattern, `\`)
		if err != nil || want != p.Prefix {
			t.Errorf("%q: want %q, got %q, %v", pattern, want, p.Prefix, err)
		}
	}
}

func TestPatternMatchesWhatItsRegularExpressionMatches(t *testing.T) {
	letters := []rune("ab_%é")
	rapid.Check(t, func(t *rapid.T) {
		pattern := rapid.StringOfN(rapid.SampledFrom(letters), 0, 8, -1).Draw(t, "pattern")
		text := rapid.StringOfN(rapid.SampledFrom(letters), 0, 12, -1).Draw(t, "text")
		p, err := NewPattern(pattern, "")
		if err != nil {
			t.Fatal(err)
		}
		same := regexp.MustCompile("(?s)^" + strings.NewReplacer("%", ".*", "_", ".").Replace(pattern) + "$")
		if want, got := same.MatchString(text), p.Match([]byte(text)); want != got {
			t.Fatalf("%q LIKE %q: want %v, got %v", text, pattern, want, got)
		}
	})
}

func TestPatternMatchDoesNotAllocate(t *testing.T) {
	p, err := NewPattern("a%b_c%d", `\`)
	if err != nil {
		t.Fatal(err)
	}
	text := []byte("axxbécxxd")
	if got := testing.AllocsPerRun(100, func() { p.Match(text) }); got != 0 {
		t.Errorf("%v allocations", got)
	}
}
