package jsonform

import (
	"strconv"

	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// AppendDay adds the date of a day since 1970-01-01 in the proleptic Gregorian calendar. The year has at least four
// digits, all that it needs beyond, and a minus when it is negative.
func AppendDay(dst []byte, day int64) []byte {
	year, month, dayOfMonth := schema.CivilFromDays(day)
	if year < 0 {
		dst = append(dst, '-')
		year = -year
	}
	for limit := int64(1000); limit > 1 && year < limit; limit /= 10 {
		dst = append(dst, '0')
	}
	dst = strconv.AppendInt(dst, year, 10)
	m, d := uint32(month), uint32(dayOfMonth)
	return append(dst, '-', digit(m/10), digit(m), '-', digit(d/10), digit(d))
}

// AppendClock adds microseconds since midnight as "01:02:03.000004".
func AppendClock(dst []byte, micros int64) []byte {
	seconds, fraction := uint32(micros/1_000_000), uint32(micros%1_000_000)
	minutes, hours := seconds/60, seconds/3600
	return append(dst, digit(hours/10), digit(hours),
		':', digit(minutes%60/10), digit(minutes%60), ':', digit(seconds%60/10), digit(seconds%60),
		'.', digit(fraction/100_000), digit(fraction/10_000), digit(fraction/1000),
		digit(fraction/100), digit(fraction/10), digit(fraction))
}
