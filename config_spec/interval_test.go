package configspec

import (
	"strings"
	"testing"
	"time"
)

func TestIntervalsAreDueAsGenerateReadsThem(t *testing.T) {
	begin := time.Date(2024, 2, 28, 22, 59, 30, 500, time.UTC) // a Wednesday
	for text, want := range map[string]string{
		"30s":                           "2024-02-28T23:00:00.0000005Z",
		"1h30m":                         "2024-02-29T00:29:30.0000005Z",
		"@every 5m":                     "2024-02-28T23:04:30.0000005Z",
		"@every 100ms":                  "2024-02-28T22:59:30.1000005Z",
		"TZ=Europe/London  @every 1h ":  "2024-02-28T23:59:30.0000005Z",
		"@hourly":                       "2024-02-28T23:00:00Z",
		"@daily":                        "2024-02-29T00:00:00Z",
		"*/5 * * * *":                   "2024-02-28T23:00:00Z",
		"40 */5 * * * *":                "2024-02-28T23:00:40Z",
		"0,30 */2 * * * *":              "2024-02-28T23:00:00Z",
		"0 30 3 * * MON-FRI":            "2024-02-29T03:30:00Z",
		"0 0 1 jan ?":                   "2025-01-01T00:00:00Z",
		"0 0 29 2 *":                    "2024-02-29T00:00:00Z",
		"TZ=Europe/London 30 3-6 * * *": "2024-02-29T03:30:00Z",
		"TZ=Asia/Tokyo 0 8 * * *":       "2024-02-28T23:00:00Z",
		"TZ=America/New_York @daily":    "2024-02-29T05:00:00Z",
		"":                              "0001-01-01T00:00:00Z",
	} {
		got, err := ParseInterval(text)
		if err != nil {
			t.Errorf("%q: %v", text, err)
			continue
		}
		if due := got.Next(begin, 0).UTC().Format(time.RFC3339Nano); due != want {
			t.Errorf("%q: want %s, got %s", text, want, due)
		}
		if got.String() != text || got.Off() != (text == "") {
			t.Errorf("%q: want its text, and off only where it is empty, got %q, %v", text, got, got.Off())
		}
	}
}

func TestTextsThatAreNoIntervalAreRefused(t *testing.T) {
	const forms = "must be a duration "
	for text, want := range map[string]string{
		"5":                         forms,
		"soon":                      forms,
		"TZ=Europe/London":          "no expression follows the time zone",
		"TZ=Europe/London\t@daily":  "no expression follows the time zone",
		"TZ=UTC ":                   "expected 5 to 6 fields",
		"TZ=Atlantis/North * * * *": "bad location",
		"CRON_TZ=UTC 0 0 * * *":     forms,
		"0s":                        "must be longer than 0s",
		"-5m":                       "must be longer than 0s",
		"@every -5m":                "must be longer than 0s",
		"@every 0s":                 "must be longer than 0s",
		"@every day":                "invalid duration",
		"@weakly":                   "unrecognized descriptor",
		"* * * *":                   "expected 5 to 6 fields",
		"60 * * * *":                "above maximum",
		", * * * *":                 "a field has no value",
		"* , * * * *":               "a field has no value",
		"0 0 30 2 *":                "there is no such day",
		"0 0 31 4,6 *":              "there is no such day",
	} {
		if got, err := ParseInterval(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: want an error with %q, got %v, %v", text, want, got, err)
		}
	}
}

func TestDurationsAreDueUpToATenthEarlyAndNeverLate(t *testing.T) {
	begin := time.Unix(1000, 0)
	for _, c := range []struct {
		text  string
		early float64
		want  time.Duration
	}{
		{"10s", 0, 10 * time.Second},
		{"10s", 0.5, 9500 * time.Millisecond},
		{"10s", 1, 9 * time.Second},
		{"@every 10s", 1, 9 * time.Second},
		{"* * * * * *", 1, time.Second},
		{"1ns", 1, time.Nanosecond},
	} {
		i, err := ParseInterval(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if got := i.Next(begin, c.early).Sub(begin); got != c.want {
			t.Errorf("%s, %v early: want %s, got %s", c.text, c.early, c.want, got)
		}
	}
}

func FuzzParseInterval(f *testing.F) {
	for _, text := range []string{"30s", "@every 5m", "TZ=Europe/London 30 3-6,20-23 * * *", "0 0 30 2 *", "TZ=", "*/7 , * * 1-5/2 ?"} {
		f.Add(text)
	}
	f.Fuzz(func(t *testing.T, text string) {
		i, err := ParseInterval(text)
		if err != nil {
			return
		}
		begin := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		if due := i.Next(begin, 0); i.Off() != due.IsZero() || !i.Off() && !due.After(begin) {
			t.Errorf("%q: want a time after %s, got %s", text, begin, due)
		}
	})
}
