package input

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/benthosdev/benthos/v4/public/service"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
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
