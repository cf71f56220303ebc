package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/go-json-experiment/json"
	"github.com/twmb/franz-go/pkg/kgo"
)

// sent is a row as a stream hands it out: a rewritten one comes again under another version.
type sent struct {
	operation string
	version   int64
	id        int
}

// topic is what has arrived in the broker, in order.
type topic struct {
	mu    sync.Mutex
	rows  []sent
	lives []int // of the sender of each
	seen  map[sent]bool
}

// consume reads the topic until the test ends.
func consume(t *testing.T, brokers []string) *topic {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(brokers...), kgo.ConsumeTopics("rows"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()), kgo.FetchMaxWait(20*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	in := &topic{seen: map[sent]bool{}}
	ctx, cancel := context.WithCancel(context.Background())
	var done sync.WaitGroup
	t.Cleanup(func() { cancel(); done.Wait(); client.Close() })
	done.Go(func() {
		for ctx.Err() == nil {
			fetches := client.PollFetches(ctx)
			if err := fetches.Err0(); err != nil && !errors.Is(err, context.Canceled) {
				t.Error(err)
				return
			}
			fetches.EachRecord(func(r *kgo.Record) {
				if err := in.take(r); err != nil {
					t.Error(err)
				}
			})
		}
	})
	return in
}

func (in *topic) take(r *kgo.Record) error {
	var row struct {
		ID  int    `json:"id"`
		Pad string `json:"pad"`
	}
	s := sent{operation: header(r, "operation")}
	life := 0
	_, err := fmt.Sscan(header(r, "delta_version")+" "+header(r, "life"), &s.version, &life)
	if err = errors.Join(err, json.Unmarshal(r.Value, &row)); err != nil {
		return err
	}
	if row.Pad != fmt.Sprint("row ", row.ID) {
		return fmt.Errorf("want the row of %d, got %s", row.ID, r.Value)
	}
	s.id = row.ID
	in.mu.Lock()
	defer in.mu.Unlock()
	in.rows, in.lives = append(in.rows, s), append(in.lives, life)
	in.seen[s] = true
	return nil
}

func (in *topic) len() int {
	in.mu.Lock()
	defer in.mu.Unlock()
	return len(in.rows)
}

// await waits until so many rows have come, for some time.
func (in *topic) await(n int, within time.Duration) {
	for until := time.Now().Add(within); in.len() < n && time.Now().Before(until); {
		time.Sleep(time.Millisecond)
	}
}

// awaitAll waits until all of them have come.
func (in *topic) awaitAll(want map[sent]bool, within time.Duration) bool {
	for until := time.Now().Add(within); len(in.missing(want)) > 0; time.Sleep(10 * time.Millisecond) {
		if time.Now().After(until) {
			return false
		}
	}
	return len(want) > 0
}

func (in *topic) missing(want map[sent]bool) (out []sent) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for s := range want {
		if !in.seen[s] {
			out = append(out, s)
		}
	}
	return out
}

// beyond is what has come though nobody wants it.
func (in *topic) beyond(want map[sent]bool) (out []sent) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for s := range in.seen {
		if !want[s] {
			out = append(out, s)
		}
	}
	return out
}

// snapshotVersion is the version at which reading began.
func (in *topic) snapshotVersion() (int64, bool) {
	in.mu.Lock()
	defer in.mu.Unlock()
	i := slices.IndexFunc(in.rows, func(s sent) bool { return s.operation == "read" })
	if i < 0 {
		return 0, false
	}
	return in.rows[i].version, true
}

// repeats counts the rows of each life that had been sent before.
func (in *topic) repeats() map[int]int {
	in.mu.Lock()
	defer in.mu.Unlock()
	out, seen := map[int]int{}, map[sent]bool{}
	for i, s := range in.rows {
		if seen[s] {
			out[in.lives[i]]++
		}
		seen[s] = true
	}
	return out
}
