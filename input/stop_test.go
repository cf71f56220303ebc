package input

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/benthosdev/benthos/v4/public/service"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/exec"
	"github.com/benthos-delta/benthos-delta/input/ack"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

// stopped runs a stream until ready is closed, stops it, and returns how long that took.
func (p *pipeline) stopped(ready <-chan struct{}) time.Duration {
	p.t.Helper()
	ended := make(chan error, 1)
	go func() { ended <- p.stream.Run(context.Background()) }()
	<-ready
	began := time.Now()
	_ = p.stream.StopWithin(1500 * time.Millisecond)
	took := time.Since(began)
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		p.t.Fatal("the stream did not end")
	}
	return took
}

func TestStopWhileTheOutputBlocksKeepsThePosition(t *testing.T) {
	ready := make(chan struct{})
	var once sync.Once
	out := &sink{write: func(ctx context.Context, _ service.MessageBatch) error {
		once.Do(func() { close(ready) })
		<-ctx.Done()
		return ctx.Err()
	}}
	p := newPipeline(t, newFakeTable().rows(100, true).done(), out, pipelineOptions{config: "batch_rows: 10\ncheckpoint_limit: 30"})
	if took := p.stopped(ready); took > 5*time.Second {
		t.Fatalf("want a stop within 5s, took %s", took)
	}
	if pos, ok := p.input.Position(); ok {
		t.Fatalf("want no position, got %v", pos)
	}
}

func TestStopWhileTheSourceBlocks(t *testing.T) {
	ready := make(chan struct{})
	out := &sink{write: func(context.Context, service.MessageBatch) error { close(ready); return nil }}
	source := newFakeTable().rows(8192, true).blocks().source()
	p := newPipeline(t, source, out, pipelineOptions{config: "batch_rows: 8192"})
	if took := p.stopped(ready); took > 2*time.Second {
		t.Fatalf("want a prompt stop, took %s", took)
	}
	if pos, ok := p.input.Position(); !ok || pos.Done || !pos.FileDone {
		t.Fatalf("want the position behind the acknowledged file, got %v", pos)
	}
}

// TestRejectionWhileStoppingIsNoVerdict answers with an error only after the stop has begun: dropping such rows would lose
// them.
func TestRejectionWhileStoppingIsNoVerdict(t *testing.T) {
	ready, reads := make(chan struct{}), make(chan context.Context, 10)
	out := &sink{write: func(context.Context, service.MessageBatch) error {
		close(ready)
		<-(<-reads).Done()
		return errors.New("shutting down")
	}}
	p := newPipeline(t, newFakeTable().rows(5, true).done(), out, pipelineOptions{
		config: "auto_replay_nacks: false", watch: func(read context.Context) { reads <- read },
	})
	p.stopped(ready)
	if pos, ok := p.input.Position(); ok {
		t.Fatalf("want no position, got %v", pos)
	}
}

func TestOutputThatClosesEarly(t *testing.T) {
	ready := make(chan struct{})
	var once sync.Once
	out := &sink{write: func(context.Context, service.MessageBatch) error {
		once.Do(func() { close(ready) })
		return service.ErrEndOfInput // the engine takes it for a closed output
	}}
	p := newPipeline(t, newFakeTable().rows(20, true).done(), out, pipelineOptions{config: "batch_rows: 5"})
	if took := p.stopped(ready); took > 5*time.Second {
		t.Fatalf("want a stop within 5s, took %s", took)
	}
}

func TestInputThatIsClosedBeforeItsEndTellsWhatItDelivered(t *testing.T) {
	ready := make(chan struct{})
	out := &sink{write: func(context.Context, service.MessageBatch) error { close(ready); return nil }}
	source := newFakeTable().rows(8192, true).blocks().source()
	p := newPipeline(t, source, out, pipelineOptions{config: "batch_rows: 8192"})
	p.stopped(ready)
	if want := []string{"file:///tables/fake: 8192"}; !slices.Equal(want, p.unfinished) {
		t.Errorf("want %q, got %q", want, p.unfinished)
	}
}

func TestInputThatEndsOrFailsIsNotUnfinished(t *testing.T) {
	broken := deltaerr.New(deltaerr.Corrupt, "the footer is damaged")
	for _, source := range []*script{newFakeTable().rows(5, true).done(), newFakeTable().rows(5, true).fails(broken).done()} {
		p := buildPipeline(t, source, &sink{}, pipelineOptions{})
		p.run()
		if len(p.unfinished) > 0 {
			t.Errorf("want nothing told, got %q", p.unfinished)
		}
	}
}

// hung is a source whose last read does not come back before it is let: a mount that hangs takes no notice of a context.
type hung struct {
	*script
	let  chan struct{}
	gone chan struct{} // closed when the source was closed
}

func (h *hung) Next(ctx context.Context) (feed.Event, error) {
	if h.at == len(h.steps) {
		<-h.let
		return nil, context.Canceled
	}
	return h.script.Next(ctx)
}

func (h *hung) Close() error {
	<-h.let
	close(h.gone)
	return nil
}

// connectedTo returns an input that reads a source, and keeps its position in the cache that is returned.
func connectedTo(t *testing.T, open func(context.Context, feed.Config) (feed.Source, error)) (service.BatchInput, *ack.Store) {
	t.Helper()
	res := service.MockResources(service.MockResourcesOptAddCache("positions"))
	k := newKept()
	in, err := New(parse(t, "uri: /tables/fake\ncheckpoint_cache: positions\ncheckpoint_cache_key: "+k.key+"\ncheckpoint_interval: 1h"),
		res, Deps{Open: open, Budget: exec.NewBudget(1 << 20)})
	check(t, err)
	cache, err := NewCheckpointCache(res, "positions")
	check(t, err)
	return in, ack.NewStore(cache, k.key, nil)
}

// TestCloseStoresThePositionAndEndsWhileAReadHangs, and says what is left running. That is let go when it ends.
func TestCloseStoresThePositionAndEndsWhileAReadHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		source := newFakeTable().rows(9000, true).source()
		start := feed.Position{TableID: "t", Version: 3, Phase: feed.PhaseSnapshot, Part: feed.PartAdd, Row: -1}
		source.steps = append([]step{{event: feed.Planned{Position: start}}}, source.steps...)
		h := &hung{source, make(chan struct{}), make(chan struct{})}
		in, store := connectedTo(t, func(context.Context, feed.Config) (feed.Source, error) { return h, nil })
		check(t, in.Connect(t.Context()))
		_, answer, err := in.ReadBatch(t.Context())
		check(t, err)
		check(t, answer(t.Context(), nil))
		began := time.Now()
		err = in.Close(context.Background()) // as the engine calls it
		if err == nil || !strings.Contains(err.Error(), "a read of the table does not come to an end") {
			t.Errorf("want it said what is left, got %v", err)
		}
		if took := time.Since(began); took > longestClose {
			t.Errorf("want an end within %s, took %s", longestClose, took)
		}
		if stored, found, err := store.Load(t.Context()); err != nil || !found || stored.Position.Row != 8191 {
			t.Errorf("want the position behind the batch stored, got %v, %v, %v", stored, found, err)
		}
		close(h.let)
		<-h.gone
	})
}

// TestCloseEndsWhileTheOpeningHangs, and gives the key of its position free.
func TestCloseEndsWhileTheOpeningHangs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		let := make(chan struct{})
		in, _ := connectedTo(t, func(context.Context, feed.Config) (feed.Source, error) {
			<-let
			return newFakeTable().done(), nil
		})
		connected := make(chan error, 1)
		go func() { connected <- in.Connect(t.Context()) }()
		synctest.Wait()
		if err := in.Close(context.Background()); err == nil || !strings.Contains(err.Error(), "the opening of the table") {
			t.Errorf("want it said what is left, got %v", err)
		}
		release, err := claimKey("positions", in.(*Input).positions.key)
		check(t, err)
		release()
		close(let)
		if err := <-connected; !errors.Is(err, context.Canceled) {
			t.Errorf("want the opening given up, got %v", err)
		}
		if err := in.Connect(t.Context()); !errors.Is(err, context.Canceled) {
			t.Errorf("want an input that is closed to stay so, got %v", err)
		}
	})
}
