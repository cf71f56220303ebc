package schema

import "math"

const (
	secondsPerDay   = 86_400
	microsPerSecond = 1_000_000
)

// parseDate reads YYYY-M[M]-D[D], with a sign or more digits for other years, as days since 1970-01-01.
func parseDate(text string) (days int64, wrong string) {
	c := cursor{rest: text}
	days, ok := c.date()
	switch {
	case !ok || c.rest != "":
		return 0, "is not a date"
	case days < math.MinInt32 || days > math.MaxInt32:
		return 0, "is outside the range of a date"
	}
	return days, ""
}

// parseTimestamp reads a date with an optional time and zone as µs since 1970-01-01 UTC. Without zone it is UTC.
func parseTimestamp(text string) (micros int64, wrong string) {
	micros, _, wrong = parseInstant(text, "a timestamp")
	return micros, wrong
}

// parseTimestampNTZ reads a date with an optional time, as µs since 1970-01-01 in no zone. The date alone is what a
// column that was widened from date has in its old files (TW4).
func parseTimestampNTZ(text string) (micros int64, wrong string) {
	micros, zoned, wrong := parseInstant(text, "a timestamp_ntz")
	if wrong == "" && zoned {
		return 0, "has a time zone, which a timestamp_ntz cannot have"
	}
	return micros, wrong
}

// parseInstant reads YYYY-MM-DD[( |T)HH:MM[:SS[.fraction]][zone]]. Fractions are cut to µs, towards the past.
func parseInstant(text, noun string) (micros int64, zoned bool, wrong string) {
	c := cursor{rest: text}
	days, ok := c.date()
	if !ok {
		return 0, false, "is not " + noun
	}
	var second, fraction, offset int64
	if c.rest != "" {
		if !c.take(' ') && !c.take('T') {
			return 0, false, "is not " + noun
		}
		if second, fraction, ok = c.timeOfDay(); !ok {
			return 0, false, "is not " + noun
		}
		if zoned = c.rest != ""; zoned {
			if offset, ok = c.zone(); !ok {
				return 0, false, "is not " + noun
			}
		}
	}
	micros, ok = microsOf(days*secondsPerDay+second-offset, fraction)
	if !ok {
		return 0, false, "is outside the range of " + noun
	}
	return micros, zoned, ""
}

// microsOf joins seconds and µs (0 to 999999). ok is false where an int64 cannot hold the result.
func microsOf(seconds, micros int64) (total int64, ok bool) {
	if seconds < 0 { // from the next second back, so that the smallest int64 can be reached
		seconds, micros = seconds+1, micros-microsPerSecond
	}
	if seconds > math.MaxInt64/microsPerSecond || seconds < math.MinInt64/microsPerSecond {
		return 0, false
	}
	seconds *= microsPerSecond
	total = seconds + micros
	if (micros > 0 && total < seconds) || (micros < 0 && total > seconds) {
		return 0, false
	}
	return total, true
}

// cursor reads a text from left to right.
type cursor struct{ rest string }

// take passes over c when it comes next.
func (c *cursor) take(want byte) bool {
	if c.rest == "" || c.rest[0] != want {
		return false
	}
	c.rest = c.rest[1:]
	return true
}

// digits reads all digits that come next; there must be least to most of them. Most is at most 18.
func (c *cursor) digits(least, most int) (n int64, ok bool) {
	count := 0
	for count < len(c.rest) && '0' <= c.rest[count] && c.rest[count] <= '9' {
		if count < most {
			n = n*10 + int64(c.rest[count]-'0')
		}
		count++
	}
	c.rest = c.rest[count:]
	return n, least <= count && count <= most
}

// date reads a date that the calendar has.
func (c *cursor) date() (days int64, ok bool) {
	negative := c.take('-')
	if !negative {
		c.take('+')
	}
	year, ok1 := c.digits(4, 7)
	dash1 := c.take('-')
	month, ok2 := c.digits(1, 2)
	dash2 := c.take('-')
	day, ok3 := c.digits(1, 2)
	if negative {
		year = -year
	}
	if !ok1 || !dash1 || !ok2 || !dash2 || !ok3 || !validDate(year, int(month), int(day)) {
		return 0, false
	}
	return DaysFromCivil(year, int(month), int(day)), true
}

// timeOfDay reads HH:MM[:SS[.fraction]].
func (c *cursor) timeOfDay() (second, micros int64, ok bool) {
	hour, ok1 := c.digits(1, 2)
	colon := c.take(':')
	minute, ok2 := c.digits(1, 2)
	if !ok1 || !colon || !ok2 || hour > 23 || minute > 59 {
		return 0, 0, false
	}
	if c.take(':') {
		if second, ok = c.digits(1, 2); !ok || second > 59 {
			return 0, 0, false
		}
		if c.take('.') {
			if micros, ok = c.fraction(); !ok {
				return 0, 0, false
			}
		}
	}
	return hour*3600 + minute*60 + second, micros, true
}

// fraction reads one to nine digits of a second and drops those below the µs.
func (c *cursor) fraction() (micros int64, ok bool) {
	before := len(c.rest)
	n, ok := c.digits(1, 9)
	for count := before - len(c.rest); count < 9; count++ {
		n *= 10
	}
	return n / 1000, ok
}

// zone reads Z, UTC or ±HH[[:]MM[:SS]], to the end of the text, as seconds east of UTC.
func (c *cursor) zone() (offset int64, ok bool) {
	switch c.rest {
	case "Z", "z", "UTC":
		return 0, true
	}
	negative := c.take('-')
	if !negative && !c.take('+') {
		return 0, false
	}
	hour, ok := c.pair()
	if !ok {
		return 0, false
	}
	var minute, second int64
	if c.rest != "" {
		c.take(':')
		if minute, ok = c.pair(); !ok {
			return 0, false
		}
		if c.take(':') {
			if second, ok = c.pair(); !ok {
				return 0, false
			}
		}
	}
	offset = hour*3600 + minute*60 + second
	if negative {
		offset = -offset
	}
	return offset, c.rest == "" && hour <= 18 && minute <= 59 && second <= 59
}

// pair reads exactly two digits.
func (c *cursor) pair() (n int64, ok bool) {
	if len(c.rest) < 2 {
		return 0, false
	}
	two := cursor{rest: c.rest[:2]}
	c.rest = c.rest[2:]
	return two.digits(2, 2)
}
