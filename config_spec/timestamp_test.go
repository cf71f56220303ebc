package configspec

import (
	"strings"
	"testing"
	"time"
)

// TestTimestampsAreReadAsUsersWriteThem covers protocol T7.
func TestTimestampsAreReadAsUsersWriteThem(t *testing.T) {
	for text, want := range map[string]string{
		"2024-05-01":                          "2024-05-01T00:00:00Z",
		"2024-02-29":                          "2024-02-29T00:00:00Z",
		"2024-05-01 12:30:45":                 "2024-05-01T12:30:45Z",
		"2024-05-01 12:30:45.5":               "2024-05-01T12:30:45.5Z",
		"2024-05-01T12:30:45":                 "2024-05-01T12:30:45Z",
		"2024-05-01T12:30:45.123456789":       "2024-05-01T12:30:45.123456789Z",
		"2024-05-01T12:30:45Z":                "2024-05-01T12:30:45Z",
		"2024-05-01t12:30:45.100z":            "2024-05-01T12:30:45.1Z",
		"2024-05-01T12:30:45.397000Z":         "2024-05-01T12:30:45.397Z",
		"2024-05-01T12:30:45+02:00":           "2024-05-01T10:30:45Z",
		"2024-01-01 00:30:00.25-11:30":        "2024-01-01T12:00:00.25Z",
		"0001-01-01":                          "0001-01-01T00:00:00Z",
		"9999-12-31T23:59:59.999999999-00:00": "9999-12-31T23:59:59.999999999Z",
	} {
		got, err := ParseTimestamp(text)
		if err != nil || got.Format(time.RFC3339Nano) != want || got.Location() != time.UTC {
			t.Errorf("%s: want %s, got %v, %v", text, want, got, err)
		}
	}
}

func TestTextsThatAreNoTimestampAreRefused(t *testing.T) {
	for _, text := range []string{
		"", "today", "1714564800", "2024-5-1", "2024-13-01", "2023-02-29", "24-05-01", "2024-05-01T", "2024-05-01 12:30",
		"2024-05-01 1:30:00", "2024-05-01 12:30:00,5", "2024-05-01 25:00:00", "2024-05-01 12:60:00", "2024-05-01T12:30:45.",
		"2024-05-01T12:30:45.1234567890Z", "2024-05-01 12:30:45 +02:00", "2024-05-01T12:30:45+0200", "2024-05-01Z",
		"2024-05-01T12:30:45+25:00", " 2024-05-01", "2024-05-01\n", "2024-05-01T12:30:45 Europe/Amsterdam",
	} {
		if got, err := ParseTimestamp(text); err == nil || !strings.Contains(err.Error(), "is not a point in time") {
			t.Errorf("%q: want an error, got %v, %v", text, got, err)
		}
	}
}
