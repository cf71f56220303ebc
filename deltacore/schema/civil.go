package schema

// MicrosPerDay is how many microseconds a day has in all calendars of this product: none has leap seconds.
const MicrosPerDay = 86_400_000_000

// Days of a 400-year cycle of the Gregorian calendar, and from 0000-03-01 to 1970-01-01. Counting years from March puts
// the leap day at the end of a year, so that the length of a month does not depend on it.
const (
	daysPerEra   = 146_097
	daysToEpoch  = 719_468
	yearsPerEra  = 400
	marchToMonth = 153 // days of the five months from March to July, and again from August to December
)

// DaysFromCivil returns the days from 1970-01-01 to a date of the proleptic Gregorian calendar. Year 0 is 1 BC. It is
// exact for all years whose days fit an int64; the date has to exist.
func DaysFromCivil(year int64, month, day int) int64 {
	if month <= 2 {
		year--
	}
	era := FloorDiv(year, yearsPerEra)
	yearOfEra := year - era*yearsPerEra
	monthFromMarch := int64(month+9) % 12
	dayOfYear := (marchToMonth*monthFromMarch+2)/5 + int64(day) - 1
	dayOfEra := yearOfEra*365 + yearOfEra/4 - yearOfEra/100 + dayOfYear
	return era*daysPerEra + dayOfEra - daysToEpoch
}

// CivilFromDays is the inverse of DaysFromCivil.
func CivilFromDays(days int64) (year int64, month, day int) {
	days += daysToEpoch
	era := FloorDiv(days, daysPerEra)
	dayOfEra := days - era*daysPerEra
	yearOfEra := (dayOfEra - dayOfEra/1460 + dayOfEra/36_524 - dayOfEra/146_096) / 365
	dayOfYear := dayOfEra - (365*yearOfEra + yearOfEra/4 - yearOfEra/100)
	monthFromMarch := (5*dayOfYear + 2) / marchToMonth
	day = int(dayOfYear-(marchToMonth*monthFromMarch+2)/5) + 1
	month = int(monthFromMarch+2)%12 + 1
	year = era*yearsPerEra + yearOfEra
	if month <= 2 {
		year++
	}
	return year, month, day
}

// FloorDiv rounds down, also below zero.
func FloorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// validDate says whether the calendar has the date.
func validDate(year int64, month, day int) bool {
	if month < 1 || month > 12 || day < 1 {
		return false
	}
	y, m, d := CivilFromDays(DaysFromCivil(year, month, day))
	return y == year && m == month && d == day
}
