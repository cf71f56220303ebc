package input

import (
	"context"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/benthosdev/benthos/v4/public/service"

	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/deltacore/storage/faulty"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

// arrivals is an output that notes when each message came.
type arrivals struct {
	sink
	mu sync.Mutex
	at []time.Time
}

func newArrivals() *arrivals {
	a := &arrivals{}
	a.write = func(_ context.Context, batch service.MessageBatch) error {
		a.mu.Lock()
		defer a.mu.Unlock()
		for range batch {
			a.at = append(a.at, time.Now())
		}
		return nil
	}
	return a
}

// latencies appends rows to a table on disk, one a commit, and returns how long each took from then to the output, shortest
// first. The machine may be busy, so that some come late.
func latencies(t *testing.T, g *growing, a *arrivals, commits int, committed func()) []time.Duration {
	t.Helper()
	var out []time.Duration
	for range commits {
		n := g.n
		g.append(1)
		began := time.Now()
		committed()
		a.count(t, n+1)
		a.mu.Lock()
		out = append(out, a.at[n].Sub(began))
		a.mu.Unlock()
	}
	slices.Sort(out)
	return out
}

// TestNewCommitIsAtTheOutputWithinTheInterval is not parallel to others, as the next one is not: they measure.
func TestNewCommitIsAtTheOutputWithinTheInterval(t *testing.T) {
	const interval = 250 * time.Millisecond
	g, a := newGrowing(t), newArrivals()
	p := buildPipeline(t, nil, &a.sink, g.following("mode: append\ntrigger: { interval: "+interval.String()+" }"))
	stop := p.started()
	defer stop()
	a.count(t, 3)
	got := latencies(t, g, a, 9, func() {})
	t.Logf("at an interval of %s: %v", interval, got)
	if median := got[len(got)/2]; median > interval+200*time.Millisecond {
		t.Errorf("want a commit at the output within the interval and 200 ms, got %v", got)
	}
}

func TestEventBringsANewCommitToTheOutputAtOnce(t *testing.T) {
	g, a, e := newGrowing(t), newArrivals(), newEvents(20)
	p := buildPipeline(t, nil, &a.sink, e.options(g.following(onlyEvents)))
	stop := p.started()
	defer stop()
	a.count(t, 3)
	got := latencies(t, g, a, 15, func() { e.in <- "look" })
	t.Logf("after an event: %v", got)
	if median := got[len(got)/2]; median > 100*time.Millisecond {
		t.Errorf("want a commit at the output within 100 ms of the event, got %v", got)
	}
}

// TestBurstOfEventsIsOneRequest: a thousand messages of the trigger's input list the log once.
func TestBurstOfEventsIsOneRequest(t *testing.T) {
	t.Parallel()
	const burst = 1000
	g, out, e := newGrowing(t), &sink{}, newEvents(burst)
	o := e.options(g.following(onlyEvents))
	var store *faulty.Store
	o.open = func(ctx context.Context, c feed.Config) (feed.Source, error) {
		uri, err := storage.ParseURI(c.URI)
		check(t, err)
		local, err := storage.NewLocal(uri)
		check(t, err)
		store = faulty.New(local)
		c.Open.Store = store
		return feed.Open(ctx, c)
	}
	p := buildPipeline(t, nil, out, o)
	stop := p.started()
	defer stop()
	out.count(t, 3)
	before := len(store.Calls())
	for range burst {
		e.in <- "look"
	}
	for range burst {
		if err := <-e.answers; err != nil {
			t.Fatalf("want every message acknowledged, got %v", err)
		}
	}
	if got := store.Calls()[before:]; len(got) != 1 || got[0].Op != storage.OpList {
		t.Errorf("want one listing, got %v", got)
	}
}
