package pruning

import (
	"fmt"
	"math"
	"strings"
	"time"
)

const (
	nanosPerMicro   = 1_000
	secondsPerDay   = 86_400
	microsPerSecond = 1_000_000
)

// instant is a point in time as written: finer than a column's values, and further away.
type instant struct {
	seconds int64 // since 1970-01-01 00:00, of the zone if there is one
	nanos   int64 // 0 to 999,999,999
	zoned   bool
}

// parseDate reads YYYY-M[M]-D[D], with a sign or up to 7 digits for other years, as days since 1970-01-01 in the proleptic
// calendar.
func parseDate(text string) (days int64, err error) {
	c := cursor{rest: text}
	days, ok := c.date()
	if !ok || c.rest != "" {
		return 0, fmt.Errorf("%q is no date: write YYYY-MM-DD", clip(text))
	}
	return days, nil
}

// parseInstant reads a date, or YYYY-MM-DD( |T)HH:MM[:SS[.fraction]][zone] with a fraction of up to 9 digits.
func parseInstant(text string) (i instant, err error) {
	c := cursor{rest: text}
	days, ok := c.date()
	if ok && c.rest != "" {
		ok = c.timeAndZone(&i)
	}
	if !ok {
		return instant{}, fmt.Errorf("%q is no timestamp: write YYYY-MM-DD HH:MM:SS, with .ffffff and Z or +HH:MM as needed", clip(text))
	}
	i.seconds += days * secondsPerDay
	return i, nil
}

// place finds the instant among the µs that an int64 can hold.
func (i instant) place(kind Kind) place {
	const first, last = math.MinInt64 / microsPerSecond, math.MaxInt64 / microsPerSecond
	if i.seconds <= first || i.seconds >= last { // the seconds at the ends are not full; no calendar of ours gets there
		return outside(i.seconds > 0)
	}
	micros := i.seconds*microsPerSecond + i.nanos/nanosPerMicro
	return place{value: Value{Kind: kind, Int: micros}, above: i.nanos%nanosPerMicro != 0}
}

// cursor reads a text from left to right.
type cursor struct{ rest string }

// take passes over want when it comes next.
func (c *cursor) take(want byte) bool {
	if c.rest == "" || c.rest[0] != want {
		return false
	}
	c.rest = c.rest[1:]
	return true
}

// digits reads the digits that come next, of which there must be least to most, and most at most 18.
func (c *cursor) digits(least, most int) (n int64, ok bool) {
	count := 0
	for count < len(c.rest) && count <= most && isDigit(c.rest[count]) {
		n = n*10 + int64(c.rest[count]-'0')
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
	if !ok1 || !dash1 || !ok2 || !dash2 || !ok3 {
		return 0, false
	}
	if negative {
		year = -year
	}
	date := time.Date(int(year), time.Month(month), int(day), 0, 0, 0, 0, time.UTC)
	return floorDiv(date.Unix(), secondsPerDay), int64(date.Month()) == month && int64(date.Day()) == day
}

// timeAndZone reads a time and perhaps a zone, to the end of the text.
func (c *cursor) timeAndZone(i *instant) bool {
	if !c.take(' ') && !c.take('T') && !c.take('t') {
		return false
	}
	if !c.time(i) {
		return false
	}
	if c.rest == "" {
		return true
	}
	c.take(' ')
	offset, ok := c.zone()
	i.seconds, i.zoned = i.seconds-offset, true
	return ok
}

// time reads HH:MM[:SS[.fraction]].
func (c *cursor) time(i *instant) bool {
	hour, ok1 := c.digits(1, 2)
	colon := c.take(':')
	minute, ok2 := c.digits(2, 2)
	if !ok1 || !colon || !ok2 || hour > 23 || minute > 59 {
		return false
	}
	i.seconds = hour*3600 + minute*60
	if !c.take(':') {
		return true
	}
	second, ok := c.digits(2, 2)
	i.seconds += second
	if !ok || second > 59 {
		return false
	}
	return !c.take('.') || c.fraction(&i.nanos)
}

// fraction reads one to nine digits of a second.
func (c *cursor) fraction(nanos *int64) bool {
	before := len(c.rest)
	n, ok := c.digits(1, 9)
	for count := before - len(c.rest); count < 9; count++ {
		n *= 10
	}
	*nanos = n
	return ok
}

// zone reads Z, UTC or ±HH[[:]MM], to the end of the text, as seconds east of UTC.
func (c *cursor) zone() (offset int64, ok bool) {
	switch c.rest {
	case "Z", "z", "UTC":
		return 0, true
	}
	negative := c.take('-')
	if !negative && !c.take('+') {
		return 0, false
	}
	hour, minute := c.rest, "00"
	if len(hour) > 2 {
		hour, minute = hour[:2], strings.TrimPrefix(hour[2:], ":")
	}
	h, ok1 := (&cursor{hour}).digits(2, 2)
	m, ok2 := (&cursor{minute}).digits(2, 2)
	offset = h*3600 + m*60
	if negative {
		offset = -offset
	}
	return offset, ok1 && ok2 && len(minute) == 2 && h <= 18 && m <= 59
}

func floorDiv(a, b int64) int64 {
	if a%b < 0 {
		return a/b - 1
	}
	return a / b
}
