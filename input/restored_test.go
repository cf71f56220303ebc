package input

import (
	"context"
	"fmt"
	"io"
	"iter"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

// switched is a store whose whole content is another one's from one moment to the next.
type switched struct{ atomic.Pointer[storage.Memory] }

func (s *switched) List(ctx context.Context, dir, startAfter string) iter.Seq2[storage.Entry, error] {
	return s.Load().List(ctx, dir, startAfter)
}

func (s *switched) ReadAt(ctx context.Context, path string, buf []byte, off int64) (int, error) {
	return s.Load().ReadAt(ctx, path, buf, off)
}

func (s *switched) Get(ctx context.Context, path string) (io.ReadCloser, error) {
	return s.Load().Get(ctx, path)
}

func (s *switched) Stat(ctx context.Context, path string) (storage.Entry, error) {
	return s.Load().Stat(ctx, path)
}

// history is a table of one row a commit: the first ones, and behind them others, which were written a day later.
func history(kept, others int) *storage.Memory {
	table, memory := deltatest.New(idColumn, deltatest.Options{}), storage.NewMemory()
	for id := range kept {
		table.Append(deltatest.Rows(idColumn, fmt.Sprintf(`{"id":%d}`, id)))
	}
	table.CopyTo(memory.PutAt)
	for id := range others {
		table.WriteFiles(deltatest.Rows(idColumn, `{"id":0}`)) // so that no file has a name of another history
		table.Append(deltatest.Rows(idColumn, fmt.Sprintf(`{"id":%d}`, 100+id)))
	}
	table.CopyTo(func(path string, content []byte, modified time.Time) {
		if _, err := memory.Stat(context.Background(), path); err != nil {
			memory.PutAt(path, content, modified.Add(24*time.Hour))
		}
	})
	return memory
}

// TestRestoredTableBeginsAnewWhereThatIsWanted while it is followed, by a run that began anew itself, with and without a cache;
// else it is told what is lost for as long as it is.
func TestRestoredTableBeginsAnewWhereThatIsWanted(t *testing.T) {
	t.Parallel()
	for _, mode := range []string{"append", "reload"} {
		for _, cached := range []bool{true, false} {
			for _, reset := range []bool{true, false} {
				t.Run(fmt.Sprintf("%s, cache: %v, reset: %v", mode, cached, reset), func(t *testing.T) {
					t.Parallel()
					restoredBeside(t, "mode: "+mode+"\ntrigger: { interval: 5ms }", cached, reset)
				})
			}
		}
	}
}

func restoredBeside(t *testing.T, config string, cached, reset bool) {
	k, log, store := newKept(), &logged{}, &switched{}
	store.Store(history(5, 0))
	o := pipelineOptions{config: "uri: /tables/fake\n" + config}
	if cached {
		o = k.options(config)
	}
	if reset {
		o.config += "\non_unresumable_position: reset"
	}
	o.log = log
	var p *pipeline
	o.open = func(ctx context.Context, c feed.Config) (feed.Source, error) {
		p.input.rest.shortest, c.Open.Store = time.Millisecond, store
		return feed.Open(ctx, c)
	}
	out := &sink{}
	p = buildPipeline(t, nil, out, o)
	stop := p.started()
	defer stop()
	out.count(t, 5)
	until(t, "to be caught up", func() bool { return len(log.with("Caught up with version 4")) > 0 })
	store.Store(history(2, 5))
	if reset {
		until(t, "every row of the restored table", func() bool { return slices.Contains(out.ids(t), 104) && slices.Contains(out.ids(t), 100) })
		return
	}
	until(t, "what is lost", func() bool { return len(log.with("Lost are rows of versions 2 to 4")) > 0 })
	time.Sleep(100 * time.Millisecond) // for some attempts
	if lines := log.with("Lost are rows"); len(lines) != 1 || slices.Contains(out.ids(t), 104) {
		t.Errorf("want it told once, and no row behind what is lost, got %q and %v", lines, out.ids(t))
	}
}

func (s *sink) ids(t *testing.T) []int {
	s.mu.Lock()
	defer s.mu.Unlock()
	return ids(t, s.accepted)
}
