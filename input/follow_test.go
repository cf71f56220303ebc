package input

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benthosdev/benthos/v4/public/service"

	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

var idColumn = deltatest.Columns("id long")

// growing is a table in a directory that a writer adds commits to. Its ids ascend.
type growing struct {
	*deltatest.Table
	t   *testing.T
	dir string
	n   int
}

func newGrowing(t *testing.T) *growing {
	g := &growing{Table: deltatest.New(idColumn, deltatest.Options{}), t: t, dir: t.TempDir()}
	g.append(3)
	return g
}

func (g *growing) append(n int) {
	var rows []string
	for range n {
		rows = append(rows, fmt.Sprintf(`{"id":%d}`, g.n))
		g.n++
	}
	g.Append(deltatest.Rows(idColumn, rows...))
	g.publish()
}

// publish writes what is new as a writer does: data first, then the commit in one go.
func (g *growing) publish() {
	for _, logs := range []bool{false, true} {
		g.CopyTo(func(path string, content []byte, modified time.Time) {
			name := filepath.Join(g.dir, path)
			if _, err := os.Stat(name); err == nil || strings.HasPrefix(path, "_delta_log") != logs {
				return
			}
			check(g.t, errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name+".tmp", content, 0o600),
				os.Chtimes(name+".tmp", modified, modified), os.Rename(name+".tmp", name)))
		})
	}
}

// following returns the options of a pipeline that follows the table and keeps its position in a file.
func (g *growing) following(config string) pipelineOptions {
	return pipelineOptions{
		config: "uri: " + g.dir + "\ncheckpoint_cache: positions\ncheckpoint_interval: 0s\n" + config,
		caches: "label: positions\nfile: { directory: " + filepath.Dir(g.dir) + " }",
		open:   feed.Open,
	}
}

// started runs a stream beside the test; stop ends it and waits.
func (p *pipeline) started() (stop func()) {
	ended := make(chan error, 1)
	go func() { ended <- p.stream.Run(context.Background()) }()
	return func() {
		p.t.Helper()
		check(p.t, p.stream.StopWithin(10*time.Second))
		check(p.t, <-ended)
	}
}

// count waits until the sink has accepted so many messages.
func (s *sink) count(t *testing.T, n int) {
	t.Helper()
	for until := time.Now().Add(15 * time.Second); time.Now().Before(until); time.Sleep(5 * time.Millisecond) {
		s.mu.Lock()
		have := len(s.accepted)
		s.mu.Unlock()
		if have >= n {
			return
		}
	}
	t.Fatalf("want %d messages, got %q", n, s.rows())
}

// TestFollowedTableLosesNoRowOverRestarts follows a table while a writer appends to it.
func TestFollowedTableLosesNoRowOverRestarts(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	const commits, rows = 40, 3
	var writer sync.WaitGroup
	writer.Go(func() {
		for range commits {
			time.Sleep(8 * time.Millisecond)
			g.append(rows)
		}
	})
	total := 3 + commits*rows
	var got []string
	for _, upTo := range []int{10, 30, 60, total} {
		out := &sink{}
		p := buildPipeline(t, nil, out, g.following("mode: append\ntrigger: { interval: 20ms }\nbatch_rows: 2"))
		stop := p.started()
		out.count(t, upTo-len(got))
		stop()
		if len(p.failed) > 0 || len(p.unfinished) > 0 {
			t.Fatalf("want a stop without failure, got %v, %v", p.failed, p.unfinished)
		}
		got = append(got, out.accepted...)
	}
	writer.Wait()
	seen := ids(t, got)
	slices.Sort(seen)
	for id := range total {
		if at, found := slices.BinarySearch(seen, id); !found || at != id {
			t.Fatalf("want each row once, got %v", seen)
		}
	}
}

// events is an input that a test sends messages to. It ends when the channel is closed.
type events struct {
	in      chan string
	answers chan error
}

// onlyEvents is a configuration without an interval.
const onlyEvents = "mode: append\ntrigger:\n  interval: \"\"\n  input:\n    events: {}"

// newEvents returns an input that never waits for its answers to be read, up to a number of them.
func newEvents(answers int) *events { return &events{make(chan string), make(chan error, answers)} }

// options makes the input known to a pipeline.
func (e *events) options(o pipelineOptions) pipelineOptions {
	o.env = func(env *service.Environment) {
		check := env.RegisterBatchInput("events", service.NewConfigSpec(),
			func(*service.ParsedConfig, *service.Resources) (service.BatchInput, error) { return e, nil })
		if check != nil {
			panic(check)
		}
	}
	return o
}

func (e *events) Connect(context.Context) error { return nil }
func (e *events) Close(context.Context) error   { return nil }

func (e *events) ReadBatch(ctx context.Context) (service.MessageBatch, service.AckFunc, error) {
	select {
	case text, more := <-e.in:
		if !more {
			return nil, nil, service.ErrEndOfInput
		}
		return service.MessageBatch{service.NewMessage([]byte(text))}, func(_ context.Context, err error) error {
			e.answers <- err
			return nil
		}, nil
	case <-ctx.Done():
		return nil, nil, ctx.Err()
	}
}

// TestMessageOfTheTriggerInputCausesALook, and its end, without an interval, is that of the input.
func TestMessageOfTheTriggerInputCausesALook(t *testing.T) {
	t.Parallel()
	g, e := newGrowing(t), newEvents(10)
	out := &sink{}
	p := buildPipeline(t, nil, out, e.options(g.following(onlyEvents)))
	ended := make(chan error, 1)
	go func() { ended <- p.stream.Run(context.Background()) }()
	out.count(t, 3)
	g.append(2)
	began := time.Now()
	e.in <- "look"
	out.count(t, 5)
	if took := time.Since(began); took > 2*time.Second {
		t.Errorf("want the rows soon, got them after %s", took)
	}
	if err := <-e.answers; err != nil {
		t.Errorf("want the message acknowledged, got %v", err)
	}
	close(e.in)
	select {
	case err := <-ended:
		check(t, err)
	case <-time.After(10 * time.Second):
		t.Fatal("want the end of the trigger to be that of the input")
	}
}

func TestReloadMarksTheBoundariesOfAVersion(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	var mu sync.Mutex
	var marks []string
	out := &sink{write: func(_ context.Context, batch service.MessageBatch) error {
		mu.Lock()
		defer mu.Unlock()
		mark, _ := batch[0].MetaGet("delta_reload")
		version, _ := batch[0].MetaGet("delta_version")
		marks = append(marks, version+":"+mark)
		return nil
	}}
	p := buildPipeline(t, nil, out, g.following("mode: reload\ntrigger: { interval: 20ms }\nbatch_rows: 2\nend_version: 1"))
	ended := make(chan error, 1)
	go func() { ended <- p.stream.Run(context.Background()) }()
	out.count(t, 3)
	g.append(2)
	check(t, <-ended)
	want := []string{"0:first", "0:last", "1:first", "1:", "1:last"}
	if !slices.Equal(want, marks) {
		t.Errorf("want %q, got %q", want, marks)
	}
}

// TestErrorOfAnEndlessRunDoesNotEndIt but a bounded one.
func TestErrorOfAnEndlessRunDoesNotEndIt(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	g.Overwrite(deltatest.Rows(idColumn, `{"id":9}`))
	g.publish()
	g.append(1)
	for _, end := range []string{"forever", "caught_up"} {
		out, log := &sink{}, &logged{}
		p := buildPipeline(t, nil, out, pipelineOptions{
			config: "uri: " + g.dir + "\nmode: append\nstart_version: 0\nuntil: " + end, open: feed.Open, log: log,
		})
		if end == "forever" {
			stop := p.started()
			until(t, "another attempt promised", func() bool { return len(log.with("trying again in 30s")) > 0 })
			stop()
		} else {
			p.run()
		}
		if want := end == "caught_up"; want != (len(p.failed) == 1) || len(out.accepted) != 3 {
			t.Errorf("%s: want a failure: %v, got %v, and %q", end, want, p.failed, out.accepted)
		}
	}
}

func TestRestGrowsAndTellsEachErrorOnce(t *testing.T) {
	var r rest
	first, second := errors.New("first"), errors.New("second")
	for i, tt := range []struct {
		err   error
		fresh bool
		wait  time.Duration
	}{
		{first, true, 30 * time.Second},
		{first, false, time.Minute},
		{second, true, 2 * time.Minute},
		{second, false, 4 * time.Minute},
		{second, false, 8 * time.Minute},
		{second, false, 10 * time.Minute},
	} {
		if fresh, wait := r.failed(tt.err); fresh != tt.fresh || wait != tt.wait {
			t.Errorf("%d: want %v and %s, got %v and %s", i, tt.fresh, tt.wait, fresh, wait)
		}
	}
	r.over()
	if fresh, wait := r.failed(second); !fresh || wait != 30*time.Second {
		t.Errorf("want to begin anew, got %v and %s", fresh, wait)
	}
}
