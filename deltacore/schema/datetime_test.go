package schema_test

import (
	"fmt"
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// What partition values may be and literals may not, and the other way round. Everything else is read by both, and as the same.
var (
	onlyInPartitions = regexp.MustCompile(`:\d(\D|$)|[+-]\d\d:?\d\d:\d\d$`)     // one digit of a minute or second; a zone with seconds
	onlyInLiterals   = regexp.MustCompile(`\dt\d|\d (Z|z|UTC|[+-]\d\d[:\d]*)$`) // a small t; a blank before the zone
)

// TestDatesAndTimesAreReadAlike compares the two readers of such texts: that of partition values, and that of literals, which
// knows nothing of tables.
func TestDatesAndTimesAreReadAlike(t *testing.T) {
	columns := deltatest.Columns("d date", "ts timestamp", "bare timestamp_ntz")
	one := func(rt *rapid.T, name string, of ...string) string { return rapid.SampledFrom(of).Draw(rt, name) }
	rapid.Check(t, func(rt *rapid.T) {
		text := one(rt, "date", "2024-02-29", "2023-02-29", "1969-12-31", "2024-1-2", "0001-01-01", "-0001-01-01", "+10000-12-31", "-99999-1-1",
			"24-01-01", "2024-00-01", "2024-13-01", "2024-01-32", "2024-001-01", "20240101", "12345678-01-01", "1582-10-10", "")
		if one(rt, "more", "no", "yes", "yes") == "yes" {
			text += one(rt, "between", " ", "T", "t", "", "  ") +
				one(rt, "time", "10:11", "00:00", "24:00", "23:59", "1:02", "10:1", "10:60", "10", "", "010:00") +
				one(rt, "second", "", ":12", ":1", ":60", ":59", ":") +
				one(rt, "fraction", "", "", ".1", ".123456", ".", ".1234567890", ".000001") +
				one(rt, "zone", "", "", "Z", "z", "UTC", "+01:30", "-1830", "+18:60", "-19:00", "+01", "+1", " Z", " +01:00", "+01:00:30", "GMT", "+01:3", "-")
		}
		for _, f := range columns.Fields {
			partition, err := schema.ParsePartition(f, &text)
			inPartition := err == nil && text != ""
			literal, inLiteral := literalOf(columns, f, text)
			switch {
			case inPartition && inLiteral:
				if partition.Int != literal {
					rt.Errorf("%s %q: a partition value is %d, a literal %d", f.Type, text, partition.Int, literal)
				}
			case inPartition && !onlyInPartitions.MatchString(text), inLiteral && !onlyInLiterals.MatchString(text):
				rt.Errorf("%s %q: read in partitions %t, in literals %t", f.Type, text, inPartition, inLiteral)
			}
		}
	})
}

// literalOf is the value that a column is compared with.
func literalOf(columns *schema.Struct, f schema.Field, text string) (value int64, ok bool) {
	word := strings.ToUpper(strings.TrimSuffix(f.Type.String(), "_ntz"))
	predicate, err := pruning.Parse(fmt.Sprintf("%s = %s '%s'", f.Name, word, text))
	if err != nil {
		return 0, false
	}
	bound, err := predicate.Bind(schema.Resolver(columns))
	if err != nil {
		return 0, false
	}
	compare, ok := bound.Root.(pruning.Compare)
	return compare.Value.Int, ok
}
