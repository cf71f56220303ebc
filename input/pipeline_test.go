package input

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/benthosdev/benthos/v4/public/bloblang"
	_ "github.com/benthosdev/benthos/v4/public/components/pure"
	"github.com/benthosdev/benthos/v4/public/service"
	"go.uber.org/goleak"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore/exec"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

func TestMain(m *testing.M) {
	registerLintFunctions()
	goleak.VerifyTestMain(m)
}

// registerLintFunctions makes the rules of the specification parse; what they say is tested where they are made.
func registerLintFunctions() {
	nothing := func(*bloblang.ParsedParams) (bloblang.Function, error) {
		return func() (any, error) { return []any{}, nil }, nil
	}
	field := bloblang.NewPluginSpec().Param(bloblang.NewStringParam("path")).Param(bloblang.NewAnyParam("value"))
	config := bloblang.NewPluginSpec().Param(bloblang.NewAnyParam("config"))
	err := errors.Join(
		bloblang.RegisterFunctionV2(configspec.LintFieldFunction, field, nothing),
		bloblang.RegisterFunctionV2(configspec.LintConfigFunction, config, nothing),
	)
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

// sink is an output whose behaviour a test gives. It notes what it accepted.
type sink struct {
	write func(ctx context.Context, batch service.MessageBatch) error // nil error: all accepted

	mu       sync.Mutex
	accepted []string
	attempts int
}

func (s *sink) Connect(context.Context) error { return nil }
func (s *sink) Close(context.Context) error   { return nil }

func (s *sink) WriteBatch(ctx context.Context, batch service.MessageBatch) error {
	s.mu.Lock()
	s.attempts++
	s.mu.Unlock()
	var err error
	if s.write != nil {
		err = s.write(ctx, batch)
	}
	refused := map[int]bool{}
	var partial *service.BatchError
	switch {
	case err == nil:
	case errors.As(err, &partial) && partial.IndexedErrors() > 0:
		//lint:ignore SA1019 here the batch is the one that the error was made of
		partial.WalkMessages(func(i int, _ *service.Message, err error) bool {
			refused[i] = err != nil
			return true
		})
	default:
		return err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for i, m := range batch {
		if !refused[i] {
			text, _ := m.AsBytes()
			s.accepted = append(s.accepted, string(text))
		}
	}
	return err
}

func (s *sink) rows() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []string
	for _, m := range s.accepted {
		out = append(out, strings.Split(m, "\n")...)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// watched tells of the context of each read.
type watched struct {
	*Input
	read func(context.Context)
}

func (w watched) ReadBatch(ctx context.Context) (service.MessageBatch, service.AckFunc, error) {
	if w.read != nil {
		w.read(ctx)
	}
	return w.Input.ReadBatch(ctx)
}

// pipeline is a stream of delta_lake over a fake source.
type pipeline struct {
	t      *testing.T
	stream *service.Stream
	input  *Input
	source *script
	sink   *sink

	mu         sync.Mutex
	failed     []error
	unfinished []string // "table: rows"
}

type pipelineOptions struct {
	config     string // fields of delta_lake beside uri, each on a line
	processors string
	inFlight   int
	open       func(context.Context, feed.Config) (feed.Source, error) // nil: the fake source
	allocator  memory.Allocator
	watch      func(read context.Context) // told of the context of each read
	caches     string                     // cache resources, as YAML, with --- between them
	metrics    *http.ServeMux             // serves /metrics; nil: there are none
	log        *logged                    // nil: nothing is logged
	env        func(*service.Environment) // registers what else the stream needs
}

func newPipeline(t *testing.T, source *script, out *sink, o pipelineOptions) *pipeline {
	t.Helper()
	t.Parallel() // most of these wait for something
	return buildPipeline(t, source, out, o)
}

func buildPipeline(t *testing.T, source *script, out *sink, o pipelineOptions) *pipeline {
	t.Helper()
	p := &pipeline{t: t, source: source, sink: out}
	env := service.NewEnvironment()
	deps := Deps{
		Open: func(context.Context, feed.Config) (feed.Source, error) {
			return source, nil
		},
		Failed: p.fail,
		Unfinished: func(table string, rows int64) {
			p.mu.Lock()
			defer p.mu.Unlock()
			p.unfinished = append(p.unfinished, fmt.Sprintf("%s: %d", table, rows))
		},
		Budget:    exec.NewBudget(1 << 20),
		Allocator: o.allocator,
	}
	if o.open != nil {
		deps.Open = o.open
	}
	check(t, env.RegisterBatchInput("delta_lake", Spec(),
		func(conf *service.ParsedConfig, res *service.Resources) (service.BatchInput, error) {
			in, err := New(conf, res, deps)
			if err == nil {
				p.input = in.(*Input)
				return watched{p.input, o.watch}, nil
			}
			return nil, err
		}))
	check(t, env.RegisterBatchOutput("sink", service.NewConfigSpec(),
		func(*service.ParsedConfig, *service.Resources) (service.BatchOutput, service.BatchPolicy, int, error) {
			return out, service.BatchPolicy{}, max(o.inFlight, 1), nil
		}))
	if o.env != nil {
		o.env(env)
	}
	b := env.NewStreamBuilder()
	check(t, b.SetLoggerYAML("level: none"))
	if o.log != nil {
		b.SetPrintLogger(o.log)
	}
	if o.metrics != nil {
		b.SetHTTPMux(o.metrics)
		check(t, b.SetMetricsYAML("prometheus: {}"))
	}
	if o.caches != "" {
		for cache := range strings.SplitSeq(o.caches, "\n---\n") {
			check(t, b.AddCacheYAML(cache))
		}
	}
	uri := "  uri: /tables/fake\n"
	if strings.HasPrefix(o.config, "uri:") {
		uri = ""
	}
	check(t, b.AddInputYAML("delta_lake:\n"+uri+indent(o.config)))
	if o.processors != "" {
		check(t, b.AddProcessorYAML(o.processors))
	}
	check(t, b.AddOutputYAML("sink: {}"))
	stream, err := b.Build()
	check(t, err)
	p.stream = stream
	return p
}

func refuses(err error) func(context.Context, feed.Config) (feed.Source, error) {
	return func(context.Context, feed.Config) (feed.Source, error) { return nil, err }
}

// logged keeps the lines that the engine logs.
type logged struct {
	mu    sync.Mutex
	lines []string
}

func (l *logged) Printf(format string, v ...any) { l.Println(fmt.Sprintf(format, v...)) }

func (l *logged) Println(v ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, strings.TrimSpace(fmt.Sprintln(v...)))
}

// with returns the lines that hold a text.
func (l *logged) with(text string) (out []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, line := range l.lines {
		if strings.Contains(line, text) {
			out = append(out, line)
		}
	}
	return out
}

func indent(fields string) string {
	var out strings.Builder
	for line := range strings.Lines(strings.TrimSpace(fields) + "\n") {
		out.WriteString("  " + line)
	}
	return out.String()
}

func (p *pipeline) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.failed = append(p.failed, err)
}

func (p *pipeline) failures() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.failed)
}

// run runs to the end of the input.
func (p *pipeline) run() {
	p.t.Helper()
	ctx, cancel := context.WithTimeout(p.t.Context(), 20*time.Second)
	defer cancel()
	check(p.t, p.stream.Run(ctx))
	if ctx.Err() != nil {
		p.t.Fatal("the stream did not end by itself")
	}
}

func (p *pipeline) wantRows(want string) {
	p.t.Helper()
	wanted := strings.Split(want, "\n")
	slices.Sort(wanted)
	if got := p.sink.rows(); !slices.Equal(wanted, got) {
		p.t.Fatalf("want rows\n%s\ngot\n%s", strings.Join(wanted, "\n"), strings.Join(got, "\n"))
	}
}

func (p *pipeline) wantDone() {
	p.t.Helper()
	if pos, ok := p.input.Position(); !ok || !pos.Done {
		p.t.Fatalf("want the position at the end, got %v", pos)
	}
	if !p.source.closed.Load() {
		p.t.Fatal("the source was not closed")
	}
}
