package input

import (
	"context"
	"sync"
	"time"

	"github.com/benthos-delta/benthos-delta/input/feed"
)

// rest is what an input without an end does about errors that it cannot do anything about: it says each once, and tries again
// after a while, behind what was delivered.
type rest struct {
	behind *feed.Position // where the last connection came to; nil: what is stored says it. For the engine's goroutine

	mu       sync.Mutex
	shortest time.Duration // before the first attempt; 0: 30 s
	told     string        // the error that was logged last
	failures int           // in a row
	until    time.Time     // when the next attempt is due
}

const (
	shortestRest = 30 * time.Second
	longestRest  = 10 * time.Minute
)

// failed notes an error, and says whether it is another one than before.
func (r *rest) failed(err error) (fresh bool, wait time.Duration) {
	r.mu.Lock()
	defer r.mu.Unlock()
	wait = r.shortest
	if wait == 0 {
		wait = shortestRest
	}
	wait = min(wait<<min(r.failures, 16), max(longestRest, wait))
	r.failures++
	r.until = time.Now().Add(wait)
	fresh = r.told != err.Error()
	r.told = err.Error()
	return fresh, wait
}

// wait waits until the next attempt is due.
func (r *rest) wait(ctx context.Context) error {
	r.mu.Lock()
	left := time.Until(r.until)
	r.mu.Unlock()
	return sleep(ctx, left)
}

// over forgets the failures: something went well.
func (r *rest) over() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.failures, r.told, r.until = 0, "", time.Time{}
}

// hopeless takes an error that will not pass by itself. It ends a bounded input; another one rests.
func (in *Input) hopeless(err error) (ends bool) {
	if in.config.Bounded() {
		in.failed(err)
		return true
	}
	fresh, wait := in.rest.failed(err)
	in.metrics.stuck.Set(1, in.metrics.table)
	if fresh {
		in.log.Errorf("%v; trying again in %s, and then less and less often", err, wait)
	}
	return false
}

// recovered notes that reading went on.
func (in *Input) recovered() {
	in.rest.over()
	in.metrics.stuck.Set(0, in.metrics.table)
}
