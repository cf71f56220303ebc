package jsonform

import (
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

func TestDaysAndClocksAreThoseOfPackageTime(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		first, last := time.Date(0, 1, 1, 0, 0, 0, 0, time.UTC), time.Date(9999, 12, 31, 23, 0, 0, 0, time.UTC)
		micros := rapid.Int64Range(first.UnixMicro(), last.UnixMicro()).Draw(t, "micros")
		day := schema.FloorDiv(micros, schema.MicrosPerDay)
		got := AppendClock(append(AppendDay(nil, day), ' '), micros-day*schema.MicrosPerDay)
		if want := time.UnixMicro(micros).UTC().Format("2006-01-02 15:04:05.000000"); want != string(got) {
			t.Fatalf("want %s, got %s", want, got)
		}
	})
}

// Years need not have four digits, nor be after Christ.
func TestDaysOfFarYears(t *testing.T) {
	for day, want := range map[int64]string{2_932_897: "10000-01-01", -719_529: "-0001-12-31", -1 << 31: "-5877641-06-23", 1<<31 - 1: "5881580-07-11"} {
		if got := string(AppendDay(nil, day)); got != want {
			t.Errorf("day %d: want %s, got %s", day, want, got)
		}
	}
}
