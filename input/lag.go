package input

import (
	"fmt"
	"time"

	"github.com/dustin/go-humanize"

	"github.com/benthos-delta/benthos-delta/input/feed"
)

const (
	reportBehind = time.Minute // from one line of the log to the next, while there is something to hand out
	reportIdle   = 10 * time.Minute
)

// reports says when the log is to be told how far an input has come.
type reports struct{ last time.Time }

func (r *reports) due(behind bool, now time.Time) bool {
	every := reportIdle
	if behind {
		every = reportBehind
	}
	if !r.last.IsZero() && now.Sub(r.last) < every {
		return false
	}
	r.last = now
	return true
}

// describeLag says in words how far a source is behind.
func describeLag(l feed.Lag, now time.Time) string {
	if l.Versions() == 0 && l.Files == 0 {
		return fmt.Sprintf("nothing is left up to version %d, the latest", l.Latest)
	}
	text := fmt.Sprintf("%d versions are left up to %d, the latest", l.Versions(), l.Latest)
	if age := l.Age(now); age > 0 {
		text += fmt.Sprintf("; the oldest is of %s ago", age.Round(time.Second))
	}
	if l.Files > 0 {
		text += fmt.Sprintf("; of the one that is read, %d files with %s", l.Files, humanize.IBytes(uint64(max(l.Bytes, 0))))
	}
	return text
}

// inWords says what a position is behind.
func inWords(p feed.Position) string {
	at := fmt.Sprintf("version %d", p.Version)
	switch {
	case p.Done:
		return at + ", done"
	case p.File.Path == "":
		return at + ", its beginning"
	case p.FileDone:
		return at + ", file " + p.File.Path + ", done"
	case p.Row < 0:
		return at + ", file " + p.File.Path + ", its beginning"
	}
	return fmt.Sprintf("%s, file %s, row %d", at, p.File.Path, p.Row)
}

// report tells the log, now and then, how far an input has come: also one that is idle.
func (in *Input) report(c *connection, r *reports) {
	lag, now := c.lag(), time.Now()
	if !r.due(lag.Versions() > 0, now) {
		return
	}
	at, reached := c.tracker.Position()
	if !reached {
		in.log.Infof("Following %s: %s", in.convert.table, describeLag(lag, now))
		return
	}
	in.log.Infof("Following %s: %s; delivered up to %s", in.convert.table, describeLag(lag, now), inWords(at))
}
