package input

import (
	"sync"

	"github.com/benthos-delta/benthos-delta/input/feed"
)

// closerOf closes a source on a goroutine of its own: on a store that hangs a source does not close.
func closerOf(source feed.Source) func() <-chan struct{} {
	return sync.OnceValue(func() <-chan struct{} {
		done := make(chan struct{})
		go func() {
			defer close(done)
			_ = source.Close() // what is lost with it is only what was read
		}()
		return done
	})
}
