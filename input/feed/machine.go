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
//	         ─stillNone────────────────→ waiting
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
	onVersion   input = iota // a version to read as a whole was found
	onRows                   // rows are to be read
	onNone                   // no rows are
	onLastRow                // the last one was handed out
	onTold                   // what was to be said was
	onNoNews                 // everything known was handed out
	onStillNone              // it was, which was said before
	onNews                   // there is more
	onBound                  // everything wanted was handed out
	onBroken                 // a permanent error
	onClose                  // Close
)

var inputNames = [...]string{
	"version", "rows", "none", "lastRow", "told", "noNews", "stillNone", "news", "bound", "broken", "close",
}

func (i input) String() string { return inputNames[i] }

var transitions = map[state]map[input]state{
	planned:  {onRows: reading, onNone: choosing},
	reading:  {onLastRow: finished},
	finished: {onTold: choosing},
	choosing: {onVersion: planned, onRows: reading, onNone: finished, onNoNews: upToDate, onStillNone: waiting, onBound: ending},
	upToDate: {onTold: waiting},
	waiting:  {onNews: choosing},
	ending:   {onTold: ended},
}

// after returns the state that an input leads to. One that has no place there is a bug.
func (s state) after(i input) state {
	switch {
	case i == onClose || s == closed:
		return closed
	case s == failed || s == ended && i == onBroken:
		return s
	case i == onBroken:
		return failed
	}
	next, ok := transitions[s][i]
	if !ok {
		panic(fmt.Sprintf("feed: %s in state %s", i, s))
	}
	return next
}
