package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

var growingColumns = deltatest.Columns("id long", "name string")

// growing is a table in a directory that a test adds commits to. Its ids ascend from 0.
type growing struct {
	t     *testing.T
	table *deltatest.Table
	dir   string
	rows  int
}

// newGrowing returns a table of two commits.
func newGrowing(t *testing.T) *growing {
	t.Helper()
	g := &growing{t: t, table: deltatest.New(growingColumns, deltatest.Options{}), dir: filepath.Join(t.TempDir(), "orders")}
	g.commit(20, 10)
	g.commit(5)
	return g
}

// commit adds a version with files of so many rows each.
func (g *growing) commit(files ...int) {
	g.t.Helper()
	var records []arrow.RecordBatch
	for _, n := range files {
		records = append(records, deltatest.Rows(growingColumns, growingRows(g.rows, g.rows+n)...))
		g.rows += n
	}
	g.table.Append(records...)
	g.publish()
}

func (g *growing) publish() {
	g.t.Helper()
	if err := g.table.Publish(g.dir); err != nil {
		g.t.Fatal(err)
	}
}

// all are the rows of the table, by their ids.
func (g *growing) all() []string { return growingRows(0, g.rows) }

func growingRows(from, to int) (rows []string) {
	for id := from; id < to; id++ {
		rows = append(rows, fmt.Sprintf(`{"id":%d,"name":"row %d"}`, id, id))
	}
	return rows
}

// output is what a process has written until now.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) Write(p []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(p)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

// lines are the whole lines.
func (o *output) lines() []string {
	lines := strings.Split(o.String(), "\n")
	return lines[:len(lines)-1]
}

// example is one of the example pipelines, with its own directory for what it keeps.
type example struct {
	t    *testing.T
	name string
	dir  string
	env  []string
}

// newExample returns an example that reads the table. Each assignment in env adds to its environment.
func newExample(t *testing.T, name, table string, env ...string) *example {
	t.Helper()
	e := &example{t: t, name: name, dir: t.TempDir()}
	for _, d := range []string{"positions", "delivered"} {
		if err := os.Mkdir(filepath.Join(e.dir, d), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	e.env = append(os.Environ(), "TABLE="+table, "POSITIONS="+filepath.Join(e.dir, "positions"),
		"DELIVERED="+filepath.Join(e.dir, "delivered"), "FILE="+filepath.Join(e.dir, "out.ndjson"), "ADDRESS=127.0.0.1:0", "INTERVAL=20ms")
	e.env = append(e.env, env...)
	return e
}

// process is one run of an example.
type process struct {
	*example
	cmd  *exec.Cmd
	out  *output // and the log, where the pipeline does not write to stdout
	log  *output
	done chan struct{} // closed when it has ended
	err  error         // how it ended
}

// start runs the example. It is killed when the test ends.
func (e *example) start(flags ...string) *process {
	e.t.Helper()
	p := &process{example: e, out: &output{}, log: &output{}, done: make(chan struct{})}
	args := append(append([]string{"run"}, flags...), filepath.Join(moduleRoot(e.t), "examples", "pipelines", e.name+".yaml"))
	p.cmd = exec.Command("benthos-delta", args...)
	p.cmd.Env, p.cmd.Stdout, p.cmd.Stderr = e.env, p.out, p.log
	if err := p.cmd.Start(); err != nil {
		e.t.Fatal(err)
	}
	go func() {
		p.err = p.cmd.Wait()
		close(p.done)
	}()
	e.t.Cleanup(p.kill)
	return p
}

func (p *process) kill() {
	_ = p.cmd.Process.Kill() // it may have ended
	<-p.done
}

// patience is how long a test waits for what has to come. It does not matter unless the test fails.
const patience = 30 * time.Second

// until waits until something holds that the process brings about. want says what, when it does not.
func (p *process) until(want string, holds func() bool) {
	p.t.Helper()
	for deadline := time.Now().Add(patience); !holds(); time.Sleep(3 * time.Millisecond) {
		select {
		case <-p.done:
			p.t.Fatalf("%s: want %s, but it ended: %v\n%s%s", p.name, want, p.err, p.out, p.log)
		default:
		}
		if time.Now().After(deadline) {
			p.t.Fatalf("%s: want %s\n%s%s", p.name, want, p.out, p.log)
		}
	}
}

// rows waits until stdout has so many lines.
func (p *process) rows(n int) {
	p.t.Helper()
	p.until(fmt.Sprint(n, " rows"), func() bool { return len(p.out.lines()) >= n })
}

// caughtUp waits until the log says that the version is the newest.
func (p *process) caughtUp(version int64) {
	p.t.Helper()
	said := fmt.Sprintf("Caught up with version %d of ", version)
	p.until(said, func() bool { return strings.Contains(p.log.String()+p.out.String(), said) })
}

// stop ends the process by SIGTERM. It has had nothing to complain about.
func (p *process) stop() {
	p.t.Helper()
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil {
		p.t.Fatal(err)
	}
	p.ended()
}

// ended waits for the end of the process, which is one without errors.
func (p *process) ended() {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(patience):
		p.t.Fatalf("%s does not end\n%s%s", p.name, p.out, p.log)
	}
	if p.err != nil {
		p.t.Errorf("%s: %v\n%s", p.name, p.err, p.log)
	}
	if err := calm(p.log.String() + p.out.String()); err != nil {
		p.t.Errorf("%s: %v", p.name, err)
	}
}

// wantRows compares what was delivered, in any order, each row once.
func wantRows(t *testing.T, want, got []string) {
	t.Helper()
	want, got = slices.Sorted(slices.Values(want)), slices.Sorted(slices.Values(got))
	if !slices.Equal(want, got) {
		t.Errorf("want %d rows, each once, got %d:\n%s", len(want), len(got), strings.Join(got, "\n"))
	}
}

// Every example is run by a test: by one of those here, or by a script.
func TestEveryExampleHasATest(t *testing.T) {
	tests := []string{
		"backfill", "deduplicate", "follow", "follow_cron", "follow_event", "follow_files", "follow_s3_event", "kafka", "ndjson_files",
		"ordered", "quickstart", "where",
	}
	files, err := filepath.Glob(filepath.Join(moduleRoot(t), "examples", "*", "*"))
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, f := range files {
		got = append(got, strings.TrimSuffix(filepath.Base(f), ".yaml"))
	}
	if !slices.Equal(tests, got) {
		t.Errorf("want the examples %q, got %q: run the new one in a test, and list it here", tests, got)
	}
}
