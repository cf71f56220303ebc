package plugin

import "sync"

// The engine has no fatal error: a bounded run that cannot go on ends its input, as if it had read everything. What the
// process should say about it is kept here.
var failure struct {
	sync.Mutex
	err error
}

// Failure returns the first permanent error of a bounded run in this process, or nil. The input has logged it; a main asks
// after the engine has returned, to choose its exit status.
func Failure() error {
	failure.Lock()
	defer failure.Unlock()
	return failure.err
}

func setFailure(err error) {
	failure.Lock()
	defer failure.Unlock()
	if failure.err == nil {
		failure.err = err
	}
}
