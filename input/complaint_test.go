package input

import (
	"testing"
	"time"
)

func TestComplaintIsToldLessAndLessOften(t *testing.T) {
	var c complaint
	start := time.Now()
	told := func(text string, from, to time.Duration) (n int) {
		for at := from; at < to; at += time.Second {
			if c.say(text, start.Add(at)) {
				n++
			}
		}
		return n
	}
	for i, tt := range []struct {
		text     string
		from, to time.Duration
		want     int
	}{
		{"full", 0, 10 * time.Second, 1},
		{"full", 10 * time.Second, 70 * time.Second, 2},        // at 10 s and 30 s
		{"full", 70 * time.Second, 24 * time.Hour, 4 + 142},    // then up to every 10 minutes
		{"gone", 24 * time.Hour, 24*time.Hour + 9*1e9, 1},      // another one
		{"full", 24*time.Hour + 9*1e9, 24*time.Hour + 1e10, 1}, // and back
	} {
		if got := told(tt.text, tt.from, tt.to); got != tt.want {
			t.Errorf("%d: want %s told %d times, got %d", i, tt.text, tt.want, got)
		}
	}
	c.over()
	if !c.say("full", start.Add(24*time.Hour+11*1e9)) {
		t.Error("want it told again after something went well")
	}
}
