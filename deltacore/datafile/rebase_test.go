package datafile

import (
	"math"
	"slices"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// The days since 1970 from which on the two calendars differ by another number of days, as Spark lists them.
var (
	switchDays = []int64{
		-719164, -682945, -646420, -609895, -536845, -500320, -463795, -390745, -354220, -317695, -244645, -208120, -171595, -141427,
	}
	differences = []int64{2, 1, 0, -1, -2, -3, -4, -5, -6, -7, -8, -9, -10, 0}
)

func TestRebasedDaysEqualSparksTable(t *testing.T) {
	refused := 0
	for day := switchDays[0]; day < -140_000; day++ {
		i, exact := slices.BinarySearch(switchDays, day)
		if !exact {
			i--
		}
		got, ok := rebaseDay(day)
		if !ok { // Spark moves February 29 to March 1
			refused++
			if !slices.Contains(switchDays, day+1) {
				t.Fatalf("day %d is refused", day)
			}
			continue
		}
		if want := day + differences[i]; want != got {
			t.Fatalf("day %d: want %d, got %d", day, want, got)
		}
	}
	if refused != 12 { // of the centuries from 100 to 1500 that are no Gregorian leap years
		t.Errorf("want 12 days refused, got %d", refused)
	}
}

func TestJulianDates(t *testing.T) {
	for day, want := range map[int64][3]int64{
		-719164:    {1, 1, 1},
		-719165:    {0, 12, 31},
		-719470:    {0, 3, 1},
		-719471:    {0, 2, 29},
		-141428:    {1582, 10, 4},
		-2_440_588: {-4712, 1, 1},
	} {
		y, m, d := julianDate(day)
		if got := [3]int64{y, int64(m), int64(d)}; want != got {
			t.Errorf("day %d: want %v, got %v", day, want, got)
		}
	}
}

func TestDatesBeforeChristKeepTheirName(t *testing.T) {
	for _, day := range []int64{-719165, -1_000_000, math.MinInt32} {
		y, m, d := julianDate(day)
		got, ok := rebaseDay(day)
		if want := schema.DaysFromCivil(y, m, d); ok && want != got {
			t.Errorf("day %d: want %d, got %d", day, want, got)
		}
	}
}

func TestVersionsOfSpark(t *testing.T) {
	for version, want := range map[string][2]bool{
		"2.4.8": {true, true}, "3.0.0": {false, true}, "3.0.3": {false, true}, "3.0-SNAPSHOT": {false, true}, "3.1.0": {},
		"3.5.1": {}, "4.0.0": {}, "10.0": {}, "1.6": {true, true}, "2": {true, true}, "3": {false, true}, "next": {}, "": {},
	} {
		if got := [2]bool{before(version, 3, 0), before(version, 3, 1)}; want != got {
			t.Errorf("%q before 3.0 and 3.1: want %v, got %v", version, want, got)
		}
	}
}

func TestZonesOfOneOffset(t *testing.T) {
	const hour = int64(3_600_000_000)
	for zone, want := range map[string]int64{
		"": 0, "UTC": 0, "Etc/UTC": 0, "GMT": 0, "+01:00": hour, "-08:30": -8*hour - hour/2, "GMT+5": 5 * hour, "UTC-0330": -3*hour - hour/2,
	} {
		if got, ok := zoneOffset(zone); !ok || want != got {
			t.Errorf("%q: want %d, got %d, %t", zone, want, got, ok)
		}
	}
	for _, zone := range []string{"Europe/Amsterdam", "America/Los_Angeles", "EST5EDT", "Etc/GMT+5", "+1:0:0"} {
		if _, ok := zoneOffset(zone); ok {
			t.Errorf("%q: want no fixed offset", zone)
		}
	}
}

func TestInstantsTooOldForAnyCalendar(t *testing.T) {
	for _, micros := range []int64{math.MinInt64, math.MinInt64/2 - 1} {
		if _, err := rebaseInstant(micros, 0); deltaerr.KindOf(err) != deltaerr.Unsupported {
			t.Errorf("%d: want unsupported, got %v", micros, err)
		}
	}
}
