package input

import (
	"sync"
	"time"
)

const (
	shortestSilence = 10 * time.Second
	longestSilence  = 10 * time.Minute
)

// complaint is what is wrong for a while, and said with growing pauses in between.
type complaint struct {
	mu   sync.Mutex
	told string
	due  time.Time     // when it is to be told again
	wait time.Duration // from then to the next time
}

// say says whether a text is to be told: one that is another than before, and the same when its pause is over.
func (c *complaint) say(text string, now time.Time) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	switch {
	case text != c.told:
		c.told, c.wait = text, shortestSilence
	case now.Before(c.due):
		return false
	default:
		c.wait = min(2*c.wait, longestSilence)
	}
	c.due = now.Add(c.wait)
	return true
}

// over forgets it: something went well.
func (c *complaint) over() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.told = ""
}
