package datafile

import (
	"fmt"
	"math"
	"regexp"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/arrowdata"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// calendar says how a file writes dates before 1582-10-15 (protocol Q6). Spark did so in the hybrid calendar of old Java,
// Julian before that day, in which the same date is another day number than in today's proleptic Gregorian one. The zero
// value is today's.
type calendar struct {
	legacy      bool // of dates, and of timestamps that are INT64
	legacyINT96 bool
	zone        string // in which the local dates of timestamps are read; "": not known
}

// The entries of a footer's key-value metadata by which Spark says how it wrote.
const (
	sparkVersionKey = "org.apache.spark.version"                  // since 2.4.1
	sparkSchemaKey  = "org.apache.spark.sql.parquet.row.metadata" // in all versions
	sparkZoneKey    = "org.apache.spark.timeZone"
	sparkLegacyKey  = "org.apache.spark.legacyDateTime"
	sparkLegacy96   = "org.apache.spark.legacyINT96"
)

// calendarOf follows Spark's own reader: versions before 3.0 (of INT96 before 3.1) always wrote in the old calendar, later
// ones say so. Files of others, which have none of the entries, are in today's.
func calendarOf(file *parquetio.File) calendar {
	has := func(key string) bool { _, ok := file.KeyValue(key); return ok }
	version, known := file.KeyValue(sparkVersionKey)
	if !known && has(sparkSchemaKey) {
		version, known = "2.4", true
	}
	c := calendar{
		legacy:      has(sparkLegacyKey) || known && before(version, 3, 0),
		legacyINT96: has(sparkLegacy96) || known && before(version, 3, 1),
	}
	c.zone, _ = file.KeyValue(sparkZoneKey)
	return c
}

// before compares the first two numbers of a version. One that has none is not before any.
func before(version string, major, minor int) bool {
	parts := strings.SplitN(version, ".", 3)
	a, err := strconv.Atoi(parts[0])
	if err != nil {
		return false
	}
	b := 0
	if len(parts) > 1 {
		b, _ = strconv.Atoi(strings.TrimRight(parts[1], "-SNAPHOTabcdefghijklmnopqrstuvwxyz"))
	}
	return a < major || a == major && b < minor
}

// gregorianDay is 1582-10-15, the first day of the Gregorian calendar, in days since 1970. It followed Julian 1582-10-04.
const gregorianDay = -141_427

// rebaseDay returns today's number of a day that the hybrid calendar gives a number. ok is false for a date that there is
// only in the Julian calendar: February 29 of a century.
func rebaseDay(day int64) (rebased int64, ok bool) {
	if day >= gregorianDay {
		return day, true
	}
	year, month, dayOfMonth := julianDate(day)
	rebased = schema.DaysFromCivil(year, month, dayOfMonth)
	y, m, d := schema.CivilFromDays(rebased)
	return rebased, y == year && m == month && d == dayOfMonth
}

// julianDate is the date of a day number in the Julian calendar. Year 0 is 1 BC.
func julianDate(day int64) (year int64, month, dayOfMonth int) {
	const (
		toMarch  = 719_470 // days from Julian 0000-03-01 to 1970-01-01
		fourYear = 1461
	)
	day += toMarch
	era := schema.FloorDiv(day, fourYear)
	dayOfEra := day - era*fourYear
	yearOfEra := (dayOfEra - dayOfEra/1460) / 365
	dayOfYear := dayOfEra - 365*yearOfEra
	fromMarch := (5*dayOfYear + 2) / 153
	dayOfMonth = int(dayOfYear-(153*fromMarch+2)/5) + 1
	month = int(fromMarch+2)%12 + 1
	year = era*4 + yearOfEra
	if month <= 2 {
		year++
	}
	return year, month, dayOfMonth
}

// rebaseDates is the conversion of the dates of a file, nil where there is none. It copies only where a date is that old.
func (c calendar) rebaseDates() converter {
	if !c.legacy {
		return nil
	}
	return func(mem memory.Allocator, d arrow.ArrayData) (arrow.ArrayData, error) {
		if !anyBelow[int32](d, gregorianDay) {
			return retype(d.DataType())(mem, d)
		}
		return rebaseEach(mem, d, func(day int32) (int32, error) {
			rebased, ok := rebaseDay(int64(day))
			if !ok || int64(int32(rebased)) != rebased {
				return 0, noSuchDate(int64(day))
			}
			return int32(rebased), nil
		})
	}
}

// microsOf is the conversion of the microseconds of a field, nil where there is none. Timestamps without a zone never were in
// the old calendar.
func (c calendar) microsOf(f parquetio.Field, t schema.Type) converter {
	local := t == schema.Type(schema.TimestampNTZ) && !strings.HasSuffix(f.Logical, ",true)")
	switch {
	case f.Physical == "INT96" && c.legacyINT96, f.Physical != "INT96" && c.legacy && !local:
		return c.rebaseMicros()
	}
	return nil
}

func (c calendar) rebaseMicros() converter {
	offset, fixed := zoneOffset(c.zone)
	return func(mem memory.Allocator, d arrow.ArrayData) (arrow.ArrayData, error) {
		limit := int64(gregorianDay)*schema.MicrosPerDay + 2*schema.MicrosPerDay
		if !fixed {
			limit = localTimeEnd
		}
		if !anyBelow(d, limit) {
			return retype(d.DataType())(mem, d)
		}
		return rebaseEach(mem, d, func(micros int64) (int64, error) {
			if !fixed && micros < localTimeEnd {
				return 0, deltaerr.New(deltaerr.Unsupported, fmt.Sprintf(
					"a timestamp of the year %d in the calendar of old Spark versions and the time zone %q cannot be converted exactly",
					yearOf(micros), c.zone), deltaerr.Hint("let a current Spark rewrite the file, or leave the column out"))
			}
			return rebaseInstant(micros, offset)
		})
	}
}

// localTimeEnd is a day after 1900 began, in microseconds since 1970: before, time zones had local mean times, which old Java
// did not know, so that more than the calendar differs.
const localTimeEnd = -2_208_988_800_000_000 + schema.MicrosPerDay

func rebaseInstant(micros, offset int64) (int64, error) {
	day := schema.FloorDiv(max(micros, math.MinInt64/2)+offset, schema.MicrosPerDay)
	rebased, ok := rebaseDay(day)
	if !ok || micros < math.MinInt64/2 { // the year 144,000 BC
		return 0, noSuchDate(day)
	}
	return micros + (rebased-day)*schema.MicrosPerDay, nil
}

func noSuchDate(day int64) error {
	year, month, dayOfMonth := julianDate(day)
	return deltaerr.New(deltaerr.Unsupported, fmt.Sprintf(
		"the file has the date %04d-%02d-%02d in the Julian calendar of old Spark versions, which today's calendar does not have",
		year, month, dayOfMonth), deltaerr.Hint("let a current Spark rewrite the file, or leave the column out"))
}

func yearOf(micros int64) int64 {
	year, _, _ := julianDate(schema.FloorDiv(micros, schema.MicrosPerDay))
	return year
}

var offsetZone = regexp.MustCompile(`^(?:UTC|GMT|UT)?([+-])(\d{1,2})(?::?(\d\d))?$`)

// zoneOffset is the offset in microseconds of a zone that always had the same. A file that does not name its zone is read
// as Spark reads it whose session is in UTC.
func zoneOffset(zone string) (offset int64, fixed bool) {
	switch zone {
	case "", "Z", "UTC", "GMT", "UT", "UCT", "Zulu", "Universal", "Greenwich", "Etc/UTC", "Etc/GMT", "Etc/UCT", "Etc/Zulu",
		"Etc/Universal", "Etc/Greenwich", "GMT0", "Etc/GMT0":
		return 0, true
	}
	m := offsetZone.FindStringSubmatch(zone)
	if m == nil {
		return 0, false
	}
	hours, _ := strconv.Atoi(m[2])
	minutes, _ := strconv.Atoi(m[3])
	offset = int64(hours*60+minutes) * 60_000_000
	if m[1] == "-" {
		offset = -offset
	}
	return offset, true
}

// anyBelow says whether a value is below a limit.
func anyBelow[T int32 | int64](d arrow.ArrayData, limit T) bool {
	valid := arrowdata.Valid(d)
	for i, v := range arrow.GetValues[T](d, 1) {
		if v < limit && valid(i) {
			return true
		}
	}
	return false
}

// rebaseEach converts the values that are not null. The arrays of parquetio have no offset.
func rebaseEach[T int32 | int64](mem memory.Allocator, d arrow.ArrayData, one func(T) (T, error)) (arrow.ArrayData, error) {
	buf, out := newValues[T](mem, d.Len())
	defer buf.Release()
	valid := arrowdata.Valid(d)
	for i, v := range arrow.GetValues[T](d, 1) {
		if !valid(i) {
			continue
		}
		rebased, err := one(v)
		if err != nil {
			return nil, err
		}
		out[i] = rebased
	}
	return fixedData(d.DataType(), d, buf), nil
}

// then is a conversion after another one; either may be nil.
func (c converter) then(second converter) converter {
	switch {
	case c == nil:
		return second
	case second == nil:
		return c
	}
	return func(mem memory.Allocator, d arrow.ArrayData) (arrow.ArrayData, error) {
		between, err := c(mem, d)
		if err != nil {
			return nil, err
		}
		defer between.Release()
		return second(mem, between)
	}
}
