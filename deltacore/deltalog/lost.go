package deltalog

import (
	"fmt"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// LostCommits is the cause of an error about commits that were asked for and are no longer in the log.
type LostCommits struct {
	First, Last int64 // versions
	Next        int64 // the first version after them whose commit is there; -1: none
}

// Error names the lost range.
func (e *LostCommits) Error() string {
	text := fmt.Sprintf("the commits of the versions %d to %d are no longer in the log (delta.logRetentionDuration)", e.First, e.Last)
	if e.First == e.Last {
		text = fmt.Sprintf("the commit of version %d is no longer in the log (delta.logRetentionDuration)", e.First)
	}
	if e.Next < 0 {
		return text
	}
	return text + fmt.Sprintf(": the earliest after it is that of version %d", e.Next)
}

// lost says which commits up to a version are missing (RV4).
func (s listing) lost(first, to int64) error {
	lost := &LostCommits{First: first, Last: to, Next: -1}
	if later := s.commitsFrom(first); len(later) > 0 {
		lost.Next = later[0].Version
		lost.Last = min(to, lost.Next-1)
	}
	return deltaerr.New(deltaerr.Unresumable, "", deltaerr.Cause(lost), deltaerr.Version(first), s.available())
}
