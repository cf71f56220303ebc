package input

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/benthosdev/benthos/v4/public/service"

	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/deltacore/storage/faulty"
	"github.com/benthos-delta/benthos-delta/input/ack"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

// remembered is a table in memory whose store tells what it was asked for.
type remembered struct {
	*deltatest.Table
	memory *storage.Memory
	store  *faulty.Store // of the last run
	n      int
}

func newRemembered(rows int) *remembered {
	r := &remembered{Table: deltatest.New(idColumn, deltatest.Options{}), memory: storage.NewMemory()}
	r.append(rows)
	return r
}

func (r *remembered) append(n int) {
	rows := make([]string, n)
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"id":%d}`, r.n)
		r.n++
	}
	r.Append(deltatest.Rows(idColumn, rows...))
	r.CopyTo(r.memory.PutAt)
}

func (r *remembered) open(ctx context.Context, c feed.Config) (feed.Source, error) {
	r.store = faulty.New(r.memory)
	c.Open.Store = r.store
	return feed.Open(ctx, c)
}

// quiet commits what has no rows to hand out.
func (r *remembered) quiet(commits int) {
	for i := range commits {
		m := r.Metadata()
		m.Configuration["comment"] = fmt.Sprint(r.Version())
		old := r.Active()[0]
		switch again := old; i % 3 {
		case 0:
			r.Commit(deltatest.Metadata(m))
		case 1: // OPTIMIZE
			old.DataChange, again.DataChange, again.Path = false, false, fmt.Sprintf("again-%d.parquet", i)
			r.Commit(deltatest.Remove(old), deltatest.Add(again))
		default: // a rewrite, which is skipped
			old.DataChange, again.DataChange, again.Path = true, true, fmt.Sprintf("update-%d.parquet", i)
			r.Commit(deltatest.Remove(old), deltatest.Add(again))
		}
		if r.Version()%10 == 0 {
			r.Checkpoint()
		}
	}
	r.CopyTo(r.memory.PutAt)
}

// until waits until something holds.
func until(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for end := time.Now().Add(15 * time.Second); !holds(); time.Sleep(2 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("want %s", what)
		}
	}
}

// positionIn reads what is stored while a run is going on.
func (k *kept) positionIn(t *testing.T) feed.Position {
	t.Helper()
	k.mu.Lock()
	defer k.mu.Unlock()
	if len(k.values) == 0 {
		return feed.Position{}
	}
	return k.position(t)
}

// TestCommitsWithoutRowsAreNotReadAgainAfterARestart: the position follows a thousand commits that hand nothing out.
func TestCommitsWithoutRowsAreNotReadAgainAfterARestart(t *testing.T) {
	t.Parallel()
	const commits = 1000
	r, k := newRemembered(3), newKept()
	o := k.options("mode: append\non_rewrite: skip\ntrigger: { interval: 20ms }")
	o.open = r.open
	out := &sink{}
	stop := buildPipeline(t, nil, out, o).started()
	out.count(t, 3)
	r.quiet(commits)
	until(t, "the position behind the last commit", func() bool { p := k.positionIn(t); return p.Version == commits && p.Done })
	stop()
	again := &sink{}
	log := &logged{}
	o.log = log
	stop = buildPipeline(t, nil, again, o).started()
	until(t, "to be caught up", func() bool { return len(log.with("Caught up with version 1000")) > 0 })
	stop()
	lists, checkpoints := 0, 0
	for _, c := range r.store.Calls() {
		switch {
		case c.Op == storage.OpList:
			lists++
		case strings.Contains(c.Path, ".checkpoint."):
			checkpoints++
		case c.Path != deltatest.HintPath && c.Path != deltatest.CommitPath(commits):
			t.Errorf("want nothing but the checkpoint and the last commit read, got %v", c)
		}
	}
	if lists == 0 || checkpoints == 0 || len(again.accepted) > 0 {
		t.Errorf("want the log listed, the checkpoint read and no row, got %d, %d and %q", lists, checkpoints, again.accepted)
	}
}

// TestPositionIsSavedWhenTheSnapshotIsDoneAndAtTheEnd, whatever the interval is.
func TestPositionIsSavedWhenTheSnapshotIsDoneAndAtTheEnd(t *testing.T) {
	t.Parallel()
	r, k := newRemembered(30), newKept()
	var saves atomic.Int64
	k.set = func([]byte) error { saves.Add(1); return nil }
	o := k.options("mode: append\ntrigger: { interval: 20ms }\nbatch_rows: 4")
	o.config = strings.Replace(o.config, "checkpoint_interval: 0s", "checkpoint_interval: 1h", 1)
	o.open = r.open
	out := &sink{}
	stop := buildPipeline(t, nil, out, o).started()
	until(t, "the end of the snapshot stored", func() bool { p := k.positionIn(t); return p.Phase == feed.PhaseSnapshot && p.Done })
	r.append(2)
	out.count(t, 32)
	time.Sleep(50 * time.Millisecond)
	if p := k.positionIn(t); p.Phase != feed.PhaseSnapshot || saves.Load() != 3 {
		t.Errorf("want the start, under both keys, and the end of the snapshot stored until the interval is over, got %d saves and %v", saves.Load(), p)
	}
	stop()
	if p := k.position(t); p.Version != 1 || !p.Done {
		t.Errorf("want the end of version 1 stored at the end, got %v", p)
	}
}

// TestLastPositionIsStoredInASlowCache although the engine's own patience is shorter.
func TestLastPositionIsStoredInASlowCache(t *testing.T) {
	t.Parallel()
	r, k := newRemembered(5), newKept()
	var slow atomic.Bool
	k.set = func([]byte) error {
		if slow.Load() {
			time.Sleep(1500 * time.Millisecond)
		}
		return nil
	}
	o := k.options("mode: append\ntrigger: { interval: 20ms }")
	o.config = strings.Replace(o.config, "checkpoint_interval: 0s", "checkpoint_interval: 1h", 1)
	o.open = r.open
	out := &sink{}
	p := buildPipeline(t, nil, out, o)
	ended := make(chan error, 1)
	go func() { ended <- p.stream.Run(context.Background()) }()
	out.count(t, 5)
	r.append(1)
	out.count(t, 6)
	slow.Store(true)
	_ = p.stream.StopWithin(500 * time.Millisecond) // gives up before
	until(t, "the end of version 1 stored", func() bool { p := k.positionIn(t); return p.Version == 1 && p.Done })
	<-ended
}

// TestCloseStoresThePositionThoughItsContextHasEnded.
func TestCloseStoresThePositionThoughItsContextHasEnded(t *testing.T) {
	t.Parallel()
	for range 20 {
		k := newKept()
		res := service.MockResources(service.MockResourcesOptAddCache("positions"))
		in, err := New(parse(t, "uri: /tables/fake\ncheckpoint_cache: positions\ncheckpoint_cache_key: "+k.key+"\ncheckpoint_interval: 1h"),
			res, Deps{Open: newRemembered(4).open})
		check(t, err)
		check(t, in.Connect(t.Context()))
		_, answer, err := in.ReadBatch(t.Context())
		check(t, err)
		check(t, answer(t.Context(), nil))
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		if err := in.Close(ended); err != nil && !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		cache, err := NewCheckpointCache(res, "positions")
		check(t, err)
		stored, found, err := ack.NewStore(cache, k.key, nil).Load(t.Context())
		if err != nil || !found || !stored.Position.FileDone && !stored.Position.Done {
			t.Fatalf("want the position behind the batch stored, got %v, %v, %v", stored, found, err)
		}
	}
}

// TestCacheThatFailsHoldsNothingUp: rows are delivered without a stored position, which is stored when the cache is there again.
func TestCacheThatFailsHoldsNothingUp(t *testing.T) {
	t.Parallel()
	r, k := newRemembered(40), newKept()
	var saves atomic.Int64
	k.set = func([]byte) error {
		if n := saves.Add(1); n > 1 && n < 5 {
			return errors.New("busy")
		}
		return nil
	}
	o := k.options("batch_rows: 2\ncheckpoint_limit: 4")
	o.open = r.open
	wantIDs(t, 40, finished(t, o))
	if p := k.position(t); !p.Done {
		t.Errorf("want the end stored, got %v", p)
	}
}

// TestFieldsThatSayWhereToStartAreIgnoredOnceAPositionIsStored, and the log says so.
func TestFieldsThatSayWhereToStartAreIgnoredOnceAPositionIsStored(t *testing.T) {
	t.Parallel()
	const notice = "Ignored, because a position is stored"
	for config, ignored := range map[string]string{
		"start_version: 1":                        "delta_lake.start_version",
		"start_timestamp: 1990-01-01":             "delta_lake.start_timestamp",
		"start_version: 0\nstream_snapshot: true": "delta_lake.start_version",
		"stream_snapshot: false":                  "delta_lake.stream_snapshot",
		"until: caught_up":                        "",
	} {
		r, k := newRemembered(3), newKept()
		with := func(config string) (pipelineOptions, *logged) {
			o := k.options("mode: append\nuntil: caught_up\n" + strings.TrimPrefix(config, "until: caught_up"))
			o.open, o.log = r.open, &logged{}
			return o, o.log
		}
		o, log := with("")
		wantIDs(t, 3, finished(t, o))
		if lines := log.with(notice); len(lines) > 0 {
			t.Errorf("%s: want nothing ignored by a first run, got %q", config, lines)
		}
		r.append(1)
		r.append(1)
		o, log = with(config)
		if got := ids(t, finished(t, o)); !slices.Equal(got, []int{3, 4}) {
			t.Errorf("%s: want the rows behind the position, got %v", config, got)
		}
		lines := log.with(notice)
		if ignored == "" {
			if len(lines) > 0 {
				t.Errorf("%s: want nothing ignored, got %q", config, lines)
			}
			continue
		}
		if len(lines) != 1 || !strings.HasSuffix(lines[0], ": "+ignored) {
			t.Errorf("%s: want one line that %s is ignored, got %q", config, ignored, lines)
		}
		if lines := log.with("Resuming behind version 0, done"); len(lines) != 1 {
			t.Errorf("%s: want the position in a short text, got %q", config, log.with("Resuming"))
		}
	}
}

// TestReconnectGoesOnWhereTheLastConnectionCameTo, which the log says: that is behind what is stored.
func TestReconnectGoesOnWhereTheLastConnectionCameTo(t *testing.T) {
	t.Parallel()
	r, k := newRemembered(3), newKept()
	o := k.options("mode: append\ntrigger: { interval: 10ms }")
	o.config = strings.Replace(o.config, "checkpoint_interval: 0s", "checkpoint_interval: 1h", 1)
	o.log = &logged{}
	var p *pipeline
	o.open = func(ctx context.Context, c feed.Config) (feed.Source, error) {
		p.input.rest.shortest = time.Millisecond
		return r.open(ctx, c)
	}
	out := &sink{}
	p = buildPipeline(t, nil, out, o)
	stop := p.started()
	defer stop()
	out.count(t, 3)
	r.append(1)
	out.count(t, 4)
	old := r.Active()[0]
	r.Commit(deltatest.Remove(old)) // which stops it
	r.CopyTo(r.memory.PutAt)
	until(t, "another attempt", func() bool { return len(o.log.with("Going on behind version 1, done")) > 1 })
	if lines := o.log.with("Resuming behind"); len(lines) > 0 {
		t.Errorf("want nothing said of what is stored, got %q", lines)
	}
}
