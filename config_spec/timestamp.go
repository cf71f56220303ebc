package configspec

import (
	"fmt"
	"regexp"
	"strings"
	"time"
)

// timestampForm is what ParseTimestamp reads: a date, or a date and a time with or without a zone. time.Parse alone takes
// forms that could be read in more than one way, such as hours of one digit.
var timestampForm = regexp.MustCompile(`^\d{4}-\d{2}-\d{2}([Tt ]\d{2}:\d{2}:\d{2}(\.\d{1,9})?([Zz]|[+-]\d{2}:\d{2})?)?$`)

// ParseTimestamp reads a point in time as users write it (protocol T7): RFC 3339, `YYYY-MM-DD hh:mm:ss` with at most nine
// digits of a fraction, or a date, which is its midnight. Without a zone it is UTC. The result is in UTC.
func ParseTimestamp(text string) (time.Time, error) {
	form := timestampForm.FindStringSubmatch(text)
	if form == nil {
		return time.Time{}, notTimestamp(text)
	}
	layout := time.DateOnly
	if form[1] != "" {
		layout = "2006-01-02T15:04:05"
		text = strings.ToUpper(text[:10] + "T" + text[11:])
	}
	if form[3] != "" {
		layout = time.RFC3339
	}
	t, err := time.Parse(layout, text)
	if err != nil { // the form is right, a number is not: a month of 13
		return time.Time{}, notTimestamp(text)
	}
	return t.UTC(), nil
}

func notTimestamp(text string) error {
	return fmt.Errorf("%q is not a point in time: write 2024-05-01T12:00:00Z, 2024-05-01 12:00:00 (UTC) or 2024-05-01", text)
}
