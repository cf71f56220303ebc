package input

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	_ "github.com/benthosdev/benthos/v4/public/components/io"
	"github.com/benthosdev/benthos/v4/public/service"
	"github.com/go-json-experiment/json"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/input/ack"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

// kept is a cache that outlives the streams that use it, with the key that its test uses.
type kept struct {
	key string

	mu     sync.Mutex
	values map[string][]byte
	set    func(value []byte) error // told of each value before it is kept; nil: nobody
}

var keptKeys atomic.Int64

func newKept() *kept { return &kept{key: fmt.Sprintf("kept%d", keptKeys.Add(1))} }

func (k *kept) Get(_ context.Context, key string) ([]byte, error) {
	k.mu.Lock()
	defer k.mu.Unlock()
	if value, ok := k.values[key]; ok {
		return slices.Clone(value), nil
	}
	return nil, service.ErrKeyNotFound
}

func (k *kept) Set(_ context.Context, key string, value []byte, _ *time.Duration) error {
	if k.set != nil {
		if err := k.set(value); err != nil {
			return err
		}
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	if k.values == nil {
		k.values = map[string][]byte{}
	}
	k.values[key] = slices.Clone(value)
	return nil
}

func (k *kept) Add(context.Context, string, []byte, *time.Duration) error {
	return service.ErrKeyAlreadyExists
}
func (k *kept) Delete(context.Context, string) error { return nil }
func (k *kept) Close(context.Context) error          { return nil }

// position is what is stored.
func (k *kept) position(t *testing.T) feed.Position {
	t.Helper()
	var newest ack.Record
	for _, key := range slices.Collect(maps.Keys(k.values)) {
		r, err := ack.DecodeRecord(k.values[key])
		check(t, err)
		if r.Sequence > newest.Sequence {
			newest = r
		}
	}
	return newest.Position
}

func (k *kept) options(config string) pipelineOptions {
	return pipelineOptions{
		config: "checkpoint_cache: positions\ncheckpoint_cache_key: " + k.key + "\ncheckpoint_interval: 0s\n" + config,
		open:   feed.Open,
		caches: "label: positions\nkept: {}",
		env: func(env *service.Environment) {
			err := env.RegisterCache("kept", service.NewConfigSpec(), func(*service.ParsedConfig, *service.Resources) (service.Cache, error) {
				return k, nil
			})
			if err != nil {
				panic(err)
			}
		},
	}
}

// stopsAfter is an output that accepts some batches and then stops the stream: it refuses everything.
func stopsAfter(batches int) (*sink, <-chan struct{}) {
	ready := make(chan struct{})
	accepted := 0
	return &sink{write: func(context.Context, service.MessageBatch) error {
		if accepted < batches {
			accepted++
			return nil
		}
		if accepted == batches {
			accepted++
			close(ready)
		}
		return errors.New("stopping")
	}}, ready
}

// interrupted runs a stream that is stopped after some batches, and returns what it delivered.
func interrupted(t *testing.T, batches int, o pipelineOptions) []string {
	t.Helper()
	out, ready := stopsAfter(batches)
	p := buildPipeline(t, nil, out, o)
	p.stopped(ready)
	if len(p.failed) > 0 {
		t.Fatalf("want no failure, got %v", p.failed)
	}
	return out.accepted
}

// finished runs a stream to its end and returns what it delivered.
func finished(t *testing.T, o pipelineOptions) []string {
	t.Helper()
	out := &sink{}
	p := buildPipeline(t, nil, out, o)
	p.run()
	if len(p.failed) > 0 {
		t.Fatalf("want no failure, got %v", p.failed)
	}
	return out.accepted
}

// failure runs a stream that ends with an error before its first row.
func failure(t *testing.T, o pipelineOptions) error {
	t.Helper()
	out := &sink{}
	p := buildPipeline(t, nil, out, o)
	p.run()
	if len(p.failed) != 1 || len(out.accepted) > 0 {
		t.Fatalf("want one failure and no rows, got %v and %d rows", p.failed, len(out.accepted))
	}
	return p.failed[0]
}

func ids(t *testing.T, rows []string) (out []int) {
	t.Helper()
	for _, row := range rows {
		var v struct {
			ID int `json:"id"`
		}
		check(t, json.Unmarshal([]byte(row), &v))
		out = append(out, v.ID)
	}
	return out
}

func wantIDs(t *testing.T, n int, rows ...[]string) {
	t.Helper()
	got := ids(t, slices.Concat(rows...))
	slices.Sort(got)
	want := make([]int, n)
	for i := range want {
		want[i] = i
	}
	if !slices.Equal(want, got) {
		t.Fatalf("want each of %d ids once, got %v", n, got)
	}
}

// TestRunStoppedAfterEveryBatchGoesOnBehindIt stops after 0, 1, 2, … batches: the second run delivers exactly the others.
func TestRunStoppedAfterEveryBatchGoesOnBehindIt(t *testing.T) {
	t.Parallel()
	caches := map[string]func(t *testing.T) pipelineOptions{
		"kept": func(*testing.T) pipelineOptions { return newKept().options(smallBatches) },
		"file": func(t *testing.T) pipelineOptions {
			t.Helper()
			o := newKept().options(smallBatches)
			o.caches = "label: positions\nfile: { directory: " + t.TempDir() + " }"
			return o
		},
		"multilevel": func(t *testing.T) pipelineOptions {
			t.Helper()
			o := newKept().options(smallBatches)
			o.caches = "label: positions\nmultilevel: [ near, far ]\n---\nlabel: near\nmemory: {}\n---\nlabel: far\nfile: { directory: " + t.TempDir() + " }"
			return o
		},
	}
	for name, options := range caches {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for n := range 23 {
				c, o := newChecked(false), options(t)
				o.open, o.allocator = c.open, c.mem
				first := interrupted(t, n, o)
				wantIDs(t, 160, first, finished(t, o))
				c.mem.AssertSize(t, 0)
			}
		})
	}
}

// TestRunStoppedAgainAndAgainComesToItsEnd delivers one batch a run.
func TestRunStoppedAgainAndAgainComesToItsEnd(t *testing.T) {
	t.Parallel()
	c, o := newChecked(false), newKept().options("batch_rows: 20\nformat: json")
	o.open = c.open
	var all [][]string
	for range 7 {
		all = append(all, interrupted(t, 1, o))
	}
	wantIDs(t, 160, append(all, finished(t, o))...)
}

// TestStoredPositionNeverPassesAnUnresolvedRow rejects at random and looks at every position that is stored.
func TestStoredPositionNeverPassesAnUnresolvedRow(t *testing.T) {
	t.Parallel()
	c, k := newChecked(false), newKept()
	calls := 0
	out := &sink{write: func(_ context.Context, batch service.MessageBatch) error {
		if calls++; calls%5 == 0 {
			return errors.New("all of it")
		}
		return batch.WalkWithBatchedErrors(func(i int, _ *service.Message) error {
			if (calls+i)%11 == 0 {
				return errors.New("this one")
			}
			return nil
		})
	}}
	var stored []int
	k.set = func(value []byte) error {
		r, err := ack.DecodeRecord(value)
		if err != nil {
			return err
		}
		n := rowsBehind(c, r.Position)
		stored = append(stored, n)
		accepted := map[int]bool{}
		for _, id := range ids(t, out.rows()) {
			accepted[id] = true
		}
		for id := range n {
			if !accepted[id] {
				t.Errorf("%v is stored and row %d is not delivered", r.Position, id)
			}
		}
		return nil
	}
	o := k.options("batch_rows: 9\ncheckpoint_limit: 60")
	o.open = c.open
	p := buildPipeline(t, nil, out, o)
	p.run()
	if len(out.rows()) != 160 || !k.position(t).Done || len(stored) < 3 || stored[0] != 0 || !slices.IsSorted(stored) {
		t.Fatalf("want positions from the start to the end, got %v and %v", stored, k.position(t))
	}
}

// rowsBehind is the number of rows at or before a position, in a table of 20 rows a file.
func rowsBehind(c *checked, p feed.Position) int {
	file := slices.Index(c.files, p.File.Path)
	switch {
	case p.Done:
		return 20 * len(c.files)
	case p.FileDone:
		return 20 * (file + 1)
	}
	return max(20*file, 0) + int(p.Row) + 1
}

func TestNoRowComesBeforeTheStartIsStored(t *testing.T) {
	t.Parallel()
	k, out := newKept(), &sink{}
	o := k.options("retry_max_elapsed: 300ms")
	o.open = newChecked(false).open
	p := buildPipeline(t, nil, out, o)
	k.set = func([]byte) error {
		if p.failures() > 0 { // the run has been given up: let Close store something
			return nil
		}
		return errors.New("the cache is full")
	}
	p.run()
	if len(p.failed) != 1 || len(out.accepted) > 0 {
		t.Fatalf("want one failure and no row, got %v and %d rows", p.failed, len(out.accepted))
	}
	for _, want := range []string{"the cache is full", "retry_max_elapsed"} {
		if !strings.Contains(p.failed[0].Error(), want) {
			t.Errorf("want %q said, got %v", want, p.failed[0])
		}
	}
}

func TestPositionSurvivesOtherColumns(t *testing.T) {
	t.Parallel()
	c, o := newChecked(false), newKept().options(smallBatches)
	o.open = c.open
	first := interrupted(t, 4, o)
	o.config += "\ncolumns: [ x, id ]"
	second := finished(t, o)
	wantIDs(t, 160, first, second)
	if !strings.HasPrefix(second[0], `{"x":`) {
		t.Errorf("want the chosen columns, got %s", second[0])
	}
}

func TestFinishedRunIsReadAnew(t *testing.T) {
	t.Parallel()
	c, k := newChecked(false), newKept()
	o := k.options("")
	o.open = c.open
	for range 2 {
		wantIDs(t, 160, finished(t, o))
		if p := k.position(t); !p.Done || p.Version != 7 {
			t.Fatalf("want the end of version 7 stored, got %v", p)
		}
	}
}

func TestLimitedRunIsReadAnew(t *testing.T) {
	t.Parallel()
	o := newKept().options("limit: 20\nbatch_rows: 5")
	o.open = newChecked(false).open
	interrupted(t, 2, o)
	wantIDs(t, 20, finished(t, o))
}

func TestSecondInputOnOneKeyIsRefused(t *testing.T) {
	t.Parallel()
	k := newKept()
	release, err := claimKey("positions", k.key)
	check(t, err)
	defer release()
	o := k.options("")
	o.open = newChecked(false).open
	if err := failure(t, o); deltaerr.KindOf(err) != deltaerr.Config {
		t.Fatalf("want a config error, got %v", err)
	}
}

func TestCacheThatIsNotThereIsAConfigError(t *testing.T) {
	_, err := New(parse(t, "uri: /t\ncheckpoint_cache: nowhere"), service.MockResources(), Deps{})
	if deltaerr.KindOf(err) != deltaerr.Config || !strings.Contains(err.Error(), "nowhere") {
		t.Fatalf("want a config error that names the label, got %v", err)
	}
}

func TestPositionThatCannotBeContinuedFrom(t *testing.T) {
	t.Parallel()
	good := feed.Position{TableID: "5d7a5c3e-0000-4000-8000-00000000d01a", Version: 7, Phase: feed.PhaseSnapshot, Part: feed.PartAdd, Row: -1}
	other, tail, gone := good, good, good
	other.TableID, tail.Phase, gone.Version = "another", feed.PhaseTail, 99
	for name, tt := range map[string]struct {
		stored *feed.Position // nil: two damaged records
		config string
		rows   int // of the version that is read anew
		kind   deltaerr.Kind
	}{
		"of another table":       {&other, "", 160, deltaerr.Replaced},
		"in the tail":            {&tail, "", 160, deltaerr.Unresumable},
		"of a version not there": {&gone, "", 160, deltaerr.Unresumable},
		"of another version":     {&good, "version: 6", 140, deltaerr.Unresumable},
		"that is damaged":        {nil, "", 160, deltaerr.Unresumable},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			k := newKept()
			k.values = map[string][]byte{k.key + "_a": []byte("{"), k.key + "_b": []byte("{}")}
			if tt.stored != nil {
				text, err := ack.Record{Sequence: 4, Position: *tt.stored}.Encode()
				check(t, err)
				k.values = map[string][]byte{k.key + "_a": text}
			}
			before, o := maps.Clone(k.values), k.options(tt.config)
			o.open = newChecked(false).open
			err := failure(t, o)
			if deltaerr.KindOf(err) != tt.kind || !strings.Contains(err.Error(), "on_unresumable_position: reset") {
				t.Fatalf("want a %s error that says what to do, got %v", tt.kind, err)
			}
			if !maps.EqualFunc(before, k.values, slices.Equal) {
				t.Fatal("want what is stored left alone")
			}
			o.config += "\non_unresumable_position: reset"
			wantIDs(t, tt.rows, finished(t, o))
			if p := k.position(t); !p.Done || p.TableID != good.TableID {
				t.Fatalf("want the new run's end stored, got %v", p)
			}
		})
	}
}

// grown is a table on disk of three files of ten rows, a commit each, that a run is interrupted in.
func grown(t *testing.T) (table *deltatest.Table, dir string) {
	t.Helper()
	columns := deltatest.Columns("id long")
	table = deltatest.New(columns, deltatest.Options{})
	for file := range 3 {
		table.Append(deltatest.Rows(columns, tenRows(file)...))
	}
	dir = t.TempDir()
	check(t, table.WriteDir(dir))
	return table, dir
}

func tenRows(file int) (rows []string) {
	for i := range 10 {
		rows = append(rows, fmt.Sprintf(`{"id":%d}`, file*10+i))
	}
	return rows
}

func TestInterruptedRunStaysAtItsVersion(t *testing.T) {
	t.Parallel()
	table, dir := grown(t)
	k := newKept()
	o := k.options("batch_rows: 4")
	o.config = "uri: " + dir + "\n" + o.config
	first := interrupted(t, 2, o)
	table.Append(deltatest.Rows(deltatest.Columns("id long"), tenRows(3)...))
	check(t, table.WriteDir(dir))
	wantIDs(t, 30, first, finished(t, o))
	wantIDs(t, 40, finished(t, o))
}

// TestFileThatIsGoneSinceThePositionWasStored removes the second file from the table and from the disk while the input is down.
func TestFileThatIsGoneSinceThePositionWasStored(t *testing.T) {
	t.Parallel()
	table, dir := grown(t)
	k := newKept()
	o := k.options("batch_rows: 4\ncheckpoint_limit: 4")
	o.config = "uri: " + dir + "\n" + o.config
	interrupted(t, 2, o)
	gone := table.Active()[1]
	table.Commit(deltatest.Remove(gone))
	check(t, table.WriteDir(dir))
	check(t, os.Remove(filepath.Join(dir, gone.Path)))

	out := &sink{}
	p := buildPipeline(t, nil, out, o)
	p.run()
	if len(p.failed) != 1 || deltaerr.KindOf(p.failed[0]) != deltaerr.Unresumable || !strings.Contains(p.failed[0].Error(), gone.Path) {
		t.Fatalf("want an unresumable error that names the file, got %v", p.failed)
	}
	o.config += "\non_unresumable_position: reset"
	got := ids(t, finished(t, o))
	slices.Sort(got)
	if want := append(ids(t, tenRows(0)), ids(t, tenRows(2))...); !slices.Equal(want, got) {
		t.Fatalf("want the rows of the newest version, got %v", got)
	}
	if at := k.position(t); !at.Done || at.Version != table.Version() {
		t.Fatalf("want the newest version stored as done, got %v", at)
	}
}
