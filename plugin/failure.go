package plugin

import (
	"fmt"
	"slices"
	"sync"
)

// The engine has no fatal error: a bounded run that cannot go on ends its input, as if it had read everything, and one that is
// told to stop ends like one that is done. What the process should say about it is kept here.
var record struct {
	sync.Mutex
	failure    error
	unfinished []string
}

// Failure returns the first permanent error of a bounded run in this process, or nil. The input has logged it.
func Failure() error {
	record.Lock()
	defer record.Unlock()
	return record.failure
}

func setFailure(err error) {
	record.Lock()
	defer record.Unlock()
	if record.failure == nil {
		record.failure = err
	}
}

// Unfinished says of each bounded input that was closed before its end how far it came. That alone is no failure: a pipeline
// may have enough of an input.
func Unfinished() []string {
	record.Lock()
	defer record.Unlock()
	return slices.Clone(record.unfinished)
}

func addUnfinished(table string, rows int64) {
	record.Lock()
	defer record.Unlock()
	record.unfinished = append(record.unfinished, fmt.Sprintf("stopped before the end: %d rows delivered of %s", rows, table))
}
