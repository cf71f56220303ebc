package feed

import "fmt"

// state is where a source is on its way.
//
//	planned ─rows─→ reading ─lastRow─→ finished ─told─→ choosing
//	   └──────────────none──────────────────────────────→ │
//	choosing ─version─→ planned       a version that is read as a whole
//	         ─rows────→ reading       a commit with rows to hand out
//	         ─none────→ finished      a version without
//	         ─noNews──→ upToDate ─told─→ waiting ─news─→ choosing
//	         ─bound───→ ending ─told─→ ended
//
// A permanent error leads to failed, Close to closed; both stay.
type state int

const (
	planned  state = iota // what is read is known, and was not said yet
	reading               // rows are handed out
	finished              // all of a version were, which was not said yet
	choosing              // what comes next is to be found
	upToDate              // nothing does, which was not said yet
	waiting               // that was said
	ending                // the last version was handed out, which was not said yet
	ended                 // only io.EOF is left
	failed                // only the same error is left
	closed
)

var stateNames = [...]string{
	"planned", "reading", "finished", "choosing", "upToDate", "waiting", "ending", "ended", "failed", "closed",
}

func (s state) String() string { return stateNames[s] }

// input is what happens to a source.
type input int

const (
	version input = iota // a version to read as a whole was found
	rows                 // rows are to be read
	none                 // no rows are
	lastRow              // the last one was handed out
	told                 // what was to be said was
	noNews               // everything known was handed out
	news                 // there is more
	bound                // everything wanted was handed out
	broken               // a permanent error
	closing              // Close
)

var inputNames = [...]string{"version", "rows", "none", "lastRow", "told", "noNews", "news", "bound", "broken", "close"}

func (i input) String() string { return inputNames[i] }

var transitions = map[state]map[input]state{
	planned:  {rows: reading, none: choosing},
	reading:  {lastRow: finished},
	finished: {told: choosing},
	choosing: {version: planned, rows: reading, none: finished, noNews: upToDate, bound: ending},
	upToDate: {told: waiting},
	waiting:  {news: choosing},
	ending:   {told: ended},
}

// after returns the state that an input leads to. One that has no place there is a bug.
func (s state) after(i input) state {
	switch {
	case i == closing || s == closed:
		return closed
	case s == failed || s == ended && i == broken:
		return s
	case i == broken:
		return failed
	}
	next, ok := transitions[s][i]
	if !ok {
		panic(fmt.Sprintf("feed: %s in state %s", i, s))
	}
	return next
}
