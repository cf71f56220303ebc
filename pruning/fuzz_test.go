package pruning

import "testing"

func FuzzParse(f *testing.F) {
	for _, seed := range []string{
		"a = 1 AND (b IN ('x', NULL) OR c IS NOT NULL) AND NOT d BETWEEN -1 AND 2.5e3",
		"`a``b`.c.order LIKE 'a!%' ESCAPE '!' OR x = x'00ff'",
		"i8 > 1e99999 AND m < -0.005 AND f = 0.1 AND d != 'NaN'",
		"ts >= TIMESTAMP '2024-01-01 00:00:00.123456789+05:30' AND day < '2024-01-01'",
		"NOT NOT (((t))) OR NULL AND 5 <= l",
		"s.i = 1 AND map IS NULL",
		"a IN (", "'", "``", "((((", "a = -", "1e", "a LIKE '\\",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p, err := Parse(text)
		if err != nil {
			return
		}
		again, err := Parse(p.String())
		if err != nil {
			t.Fatalf("%q has the normal form %q: %v", text, p, err)
		}
		if p.String() != again.String() {
			t.Fatalf("%q: %q is not normal: %q", text, p, again)
		}
		b, err := p.Bind(testResolver)
		if err != nil {
			return
		}
		if nothing := (facts{columns: b.Columns}); b.Decide(nothing).Skip && (&decider{evidence: nothing}).of(b.Root).has(True) {
			t.Fatalf("%q is skipped though it may be true", text)
		}
	})
}
