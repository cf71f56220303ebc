package pruning

import (
	"strings"
	"testing"
)

func TestParseYieldsTheNormalForm(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"a=1", "a = 1"},
		{" a == 1 ", "a = 1"},
		{"a<>1 and a!=2", "a != 1 AND a != 2"},
		{"1 < a", "a > 1"},
		{"1 <= a or 1 >= a or 1 > a or 1 = a or 1 != a", "a >= 1 OR a <= 1 OR a < 1 OR a = 1 OR a != 1"},
		{"a = 1 AND b = 2 OR c = 3", "a = 1 AND b = 2 OR c = 3"},
		{"a = 1 AND (b = 2 OR c = 3)", "a = 1 AND (b = 2 OR c = 3)"},
		{"(a = 1 AND b = 2) AND (c = 3)", "a = 1 AND b = 2 AND c = 3"},
		{"not a = 1 and b", "NOT a = 1 AND b"},
		{"NOT NOT (a = 1)", "a = 1"},
		{"not (not a)", "a"},
		{"NOT (a OR b)", "NOT (a OR b)"},
		{"a in (1, null, -2.50e+3)", "a IN (1, NULL, -2.50e+3)"},
		{"a not in ('x', 'it''s')", "a NOT IN ('x', 'it''s')"},
		{"NOT a IN (1)", "a NOT IN (1)"},
		{"a is null or a is not null", "a IS NULL OR a IS NOT NULL"},
		{"NOT a IS NULL", "a IS NOT NULL"},
		{"a between 1 and 2 and b", "a BETWEEN 1 AND 2 AND b"},
		{"a not between 1 and 2", "a NOT BETWEEN 1 AND 2"},
		{"a like 'x%' or a not like 'y!%' escape '!'", `a LIKE 'x%' OR a NOT LIKE 'y!%' ESCAPE '!'`},
		{`a like 'x\%' escape ''`, `a LIKE 'x\%' ESCAPE ''`},
		{"true or FALSE or Null", "TRUE OR FALSE OR NULL"},
		{"a = true", "a = TRUE"},
		{"s.t . u = 1", "s.t.u = 1"},
		{"s.order.and", "s.order.`and`"},
		{"`a`.`b.c`.`d``e` = 1", "a.`b.c`.`d``e` = 1"},
		{"`in` = 1 AND `2x` = 2", "`in` = 1 AND `2x` = 2"},
		{"größe > 1", "größe > 1"},
		{"date = date '2024-01-31'", "date = DATE '2024-01-31'"},
		{"timestamp<timestamp'2024-01-31 10:00:00.5 +02:00'", "timestamp < TIMESTAMP '2024-01-31 10:00:00.5 +02:00'"},
		{"x = x'0aFF'", "x = X'0AFF'"},
		{"escape = 'x'", "escape = 'x'"},
		{"a = - 5 or a = +5 or a = .5 or a = 5. or a = 1E3", "a = -5 OR a = 5 OR a = .5 OR a = 5. OR a = 1E3"},
		{"a = 123456789012345678901234567890.5", "a = 123456789012345678901234567890.5"},
		{"a\n=\t1", "a = 1"},
		{"ıs = 1 OR date\n'2024-01-01' = a", "ıs = 1 OR a = DATE '2024-01-01'"},
	} {
		p, err := Parse(c.text)
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
			continue
		}
		if c.want != p.String() {
			t.Errorf("%s: want %s, got %s", c.text, c.want, p)
		}
	}
}

func TestParseErrorsNameThePositionAndWhatWasExpected(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"", "a predicate is empty: expected a condition, such as a = 1"},
		{" \n", "a predicate is empty: expected a condition, such as a = 1"},
		{"a = \xff", "a predicate must be UTF-8"},
		{"a =", "at character 4: expected a value, found the end"},
		{"größe = )", "at character 9: expected a value, found )"},
		{"a = b", "at character 5: expected a value, found b: a column is compared with a value, not with another column"},
		{"(a = 1", "at character 7: expected AND, OR or ), found the end"},
		{"a = 1)", "at character 6: expected AND, OR or the end, found )"},
		{"a b", "at character 3: expected a comparison, AND, OR or the end, found b"},
		{"a = 1 b = 2", "at character 7: expected AND, OR or the end, found b"},
		{"a IN 1", "at character 6: expected ( and a list of values, found 1"},
		{"a IN (1,", "at character 9: expected a value, found the end"},
		{"a IN ()", "at character 7: expected a value, found )"},
		{"a IN (1 2)", "at character 9: expected a comma or ), found 2"},
		{"a IN (1, b)", "at character 10: expected a value, found b: a column is compared with a value, not with another column"},
		{"a IS", "at character 5: expected NULL or NOT NULL, found the end"},
		{"a IS NOT 3", "at character 10: expected NULL or NOT NULL, found 3"},
		{"a NOT 5", "at character 7: expected IN, BETWEEN or LIKE, found 5"},
		{"a BETWEEN 1", "at character 12: expected AND and the upper bound, found the end"},
		{"a BETWEEN 1 AND", "at character 16: expected a value, found the end"},
		{"a LIKE 5", "at character 8: expected a text in single quotes, found 5"},
		{"a LIKE 'x' ESCAPE 5", "at character 19: expected a text in single quotes, found 5"},
		{"a LIKE 'x' ESCAPE 'ab'", "at character 8: the escape of a pattern must be one character, or none"},
		{`a LIKE 'C:\x'`, `at character 8: in the pattern, \ must be followed by %, _ or itself`},
		{`a LIKE 'x\'`, "at character 8: the pattern ends with its escape character"},
		{"AND", "at character 1: expected a condition, found AND: a column of this name needs backticks"},
		{"a AND", "at character 6: expected a condition, found the end"},
		{"NOT", "at character 4: expected a condition, found the end"},
		{"5", "at character 1: a number by itself is no condition: compare it with a column"},
		{"'x' AND a", "at character 1: a text by itself is no condition: compare it with a column"},
		{"5 <", "at character 4: expected a column, found the end"},
		{"1 = 1", "at character 5: expected a column, found 1: two values are not compared"},
		{"a.", "at character 3: expected the name of a field, found the end"},
		{"a = - x", "at character 7: expected a number, found x"},
		{"a + 1 = 3", "at character 3: expected a comparison, AND, OR or the end, found +: there is no arithmetic"},
		{"lower(a) = 'x'", "at character 6: expected a comparison, AND, OR or the end, found (: there are no functions"},
		{"a === 1", "at character 3: === is no comparison; there are = == != <> < <= > >="},
		{"a = 'x", "at character 5: the quote ' is not closed"},
		{"a = '''", "at character 5: the quote ' is not closed"},
		{"`a = 1", "at character 1: the quote ` is not closed"},
		{"`` = 1", "at character 1: a column's name is empty"},
		{`a = "x"`, "at character 5: double quotes have no meaning here: write '…' for text and backticks for a column's name"},
		{"a = 1;", "at character 6: a predicate is a single condition, without ;"},
		{"a = ?", "at character 5: the character '?' has no meaning here"},
		{"a = 1e", "at character 5: the number 1e has no digits in its exponent"},
		{"a = 10L", "at character 5: 10L is neither a number nor a name: quote a column's name in backticks"},
		{"a > DATE '2024-02-30'", `at character 5: "2024-02-30" is no date: write YYYY-MM-DD`},
		{"a > DATE '2024-02-01 10:00'", `at character 5: "2024-02-01 10:00" is no date: write YYYY-MM-DD`},
		{"a > TIMESTAMP '2024-02-01 25:00'", `at character 5: "2024-02-01 25:00" is no timestamp: write YYYY-MM-DD HH:MM:SS, with .ffffff and Z or +HH:MM as needed`},
		{"a = X'123'", `at character 5: expected pairs of hexadecimal digits, found "123"`},
		{"a = X'zz'", `at character 5: expected pairs of hexadecimal digits, found "zz"`},
	} {
		_, err := Parse(c.text)
		if err == nil || c.want != err.Error() {
			t.Errorf("%s:\nwant %s\n got %v", c.text, c.want, err)
		}
	}
}

func TestParseHasLimits(t *testing.T) {
	nested := func(n int) string { return strings.Repeat("(", n) + "a OR b" + strings.Repeat(")", n) }
	for _, c := range []struct{ name, text, want string }{
		{"deepest", nested(maxDepth), ""},
		{"too deep", nested(maxDepth + 1), "at character 201: parentheses are nested deeper than 200"},
		{"only open", strings.Repeat("(", maxText), "at character 201: parentheses are nested deeper than 200"},
		{"only closed", strings.Repeat(")", 1000), "at character 1: expected a condition, found )"},
		{"many NOTs", strings.Repeat("NOT ", 10_001) + "a", ""},
		{"many conditions", strings.Repeat("a OR ", 20_000) + "a", ""},
		{"too many conditions", strings.Repeat("a OR ", 20_001) + "a", "at character 100003: more than 20000 conditions and fields: write many values of a column as a list, in IN (…)"},
		{"too many fields", strings.Repeat("a.", 20_001) + "a", "at character 40002: more than 20000 conditions and fields: write many values of a column as a list, in IN (…)"},
		{"many values", "a IN (1" + strings.Repeat(", 1", 200_000) + ")", ""},
		{"too long", "a = '" + strings.Repeat("x", maxText) + "'", "a predicate of 1048582 bytes is longer than the limit of 1048576"},
		{"too long when spaced", "a=" + strings.Repeat("1", maxText-2), "the normal form of a predicate, of 1048578 bytes, is longer than the limit of 1048576"},
		{"huge exponent", "a = 1e" + strings.Repeat("9", 10_000), ""},
	} {
		_, err := Parse(c.text)
		if c.want == "" && err != nil || c.want != "" && (err == nil || c.want != err.Error()) {
			t.Errorf("%s: want %q, got %v", c.name, c.want, err)
		}
	}
}
