package ack

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/input/feed"
)

// mortal is a cache of a process that is killed after a number of bytes: what it holds then is all that is left. Some of its
// writes fail, and leave a torn value.
type mortal struct {
	mu      sync.Mutex
	values  map[string][]byte
	left    int // bytes until the kill
	inPlace bool
	fails   []bool // whether the next writes fail
}

var errKilled = errors.New("killed")

func (m *mortal) Get(_ context.Context, key string) ([]byte, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if value, ok := m.values[key]; ok {
		return slices.Clone(value), nil
	}
	return nil, ErrAbsent
}

func (m *mortal) Set(_ context.Context, key string, value []byte) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.left <= 0 {
		return errKilled
	}
	n := min(len(value), m.left)
	fails := len(m.fails) > 0 && m.fails[0]
	if len(m.fails) > 0 {
		m.fails = m.fails[1:]
	}
	if fails {
		n = min(n, len(value)/2)
	}
	m.values[key] = tear(m.values[key], value, n, m.inPlace)
	if m.left -= n; m.left <= 0 {
		return errKilled
	}
	if n < len(value) {
		return errors.New("cut short")
	}
	return nil
}

// life is one process: it loads, begins or goes on, moves a while, and is killed or closed.
type life struct {
	t      *rapid.T
	cache  *mortal
	writer *Writer

	mu    sync.Mutex
	saved feed.Position // the last one that the writer called stored
}

func newLife(t *rapid.T, values map[string][]byte, kill bool) *life {
	l := &life{t: t, cache: &mortal{
		values: maps.Clone(values), left: 1 << 30, inPlace: rapid.Bool().Draw(t, "in place"),
		fails: rapid.SliceOfN(rapid.Bool(), 0, 4).Draw(t, "failing writes"),
	}}
	if kill {
		l.cache.left = rapid.IntRange(1, rapid.SampledFrom([]int{400, 3000}).Draw(t, "at most")).Draw(t, "bytes until the kill")
	}
	l.writer = NewWriter(NewStore(l.cache, "k", nil), WriterOptions{
		Interval: rapid.SampledFrom([]time.Duration{0, 50 * time.Microsecond}).Draw(t, "interval"),
		Wait:     func(int) time.Duration { return 10 * time.Microsecond },
		Saved:    l.note,
	})
	return l
}

// note checks that what is stored never goes back.
func (l *life) note(p feed.Position) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if p.Compare(l.saved) < 0 {
		panic("the stored position went back")
	}
	l.saved = p
}

// stop closes the writer, or leaves nothing of the process but its cache, and returns the last position that was stored for sure.
func (l *life) stop(kill bool) feed.Position {
	var err error
	if kill {
		l.writer.cancelAll()
	} else {
		err = l.writer.Close(context.Background())
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.t.Fatal(err)
	}
	return l.saved
}

// cancelAll ends the goroutine as a kill does: without a last save.
func (w *Writer) cancelAll() {
	w.mu.Lock()
	cancel := w.cancel
	w.mu.Unlock()
	if cancel != nil {
		cancel()
		<-w.done
	}
}

func TestNoCrashLosesMoreThanTheLastWrite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values, highest, stored := map[string][]byte{}, int64(0), feed.Position{}
		for range rapid.IntRange(1, 5).Draw(t, "lives") {
			kill := rapid.Bool().Draw(t, "kill")
			l := newLife(t, values, kill)
			r, found, err := l.writer.Load(context.Background())
			p := r.Position
			if err != nil || found && p.Version > highest || !found && stored != (feed.Position{}) || p.Compare(stored) < 0 {
				t.Fatalf("want a position from %v to version %d, got %v, %v, %v", stored, highest, p, found, err)
			}
			l.saved = p
			version := p.Version
			for range rapid.IntRange(0, 20).Draw(t, "moves") {
				version++
				l.writer.Moved(at(version))
				if rapid.Bool().Draw(t, "pause") {
					time.Sleep(20 * time.Microsecond)
				}
			}
			highest = max(highest, version)
			stored = l.stop(kill)
			if !kill && stored.Version != version {
				t.Fatalf("want version %d stored at the end, got %v", version, stored)
			}
			values = l.cache.values
		}
	})
}
