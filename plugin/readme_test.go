package plugin_test

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/input/encode"
)

//go:generate go test . -run TestReadmePartsThatAreMadeAreCurrent -update

var update = flag.Bool("update", false, "write the generated parts of README.md anew")

var readme = filepath.Join(root, "README.md")

// block is a fenced block of the README or of plugin/binary.md with the comment above it, which says how it is checked:
//
//	<!-- run -->            the commands are run; "lines=N": they print that many; "broker": a Kafka broker is there
//	<!-- follow -->         they are run until the pipeline has caught up, and stopped; options as for run
//	<!-- meanwhile -->      they are run while those of the block before them run and have caught up
//	<!-- ci -->             .ci/run has the command
//	<!-- clone -->          the repository is the one of the module
//	<!-- file PATH -->      the block is that file, without its opening comment
//	<!-- program -->        the program of the next block
//	<!-- own -->            the commands are run where the program is, beside the repository
type block struct{ check, language, text string }

var blocks = regexp.MustCompile("(?m)^(?:<!-- (.*) -->\n)?```([a-z]+)\n((?s:.*?))^```$")

func readmeBlocks(t *testing.T) []block {
	t.Helper()
	var list []block
	for _, file := range []string{readme, "binary.md"} {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range blocks.FindAllSubmatch(text, -1) {
			list = append(list, block{string(m[1]), string(m[2]), string(m[3])})
		}
	}
	return list
}

func TestReadmeBlocksAreAllChecked(t *testing.T) {
	for _, b := range readmeBlocks(t) {
		if b.check == "" && b.language != "json" {
			t.Errorf("a block of README.md or binary.md is not checked by anything:\n%s", b.text)
		}
	}
}

func TestReadmeCommandsRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it links the binary")
	}
	r := newReader(t)
	program := ""
	for i, b := range r.blocks {
		name := strings.SplitN(b.text, "\n", 2)[0]
		if t.Failed() { // later commands need what earlier ones made
			return
		}
		switch b.kind() {
		case "run":
			t.Run(name, func(t *testing.T) { r.run(t, b) })
		case "follow":
			t.Run(name, func(t *testing.T) { r.follow(t, b, r.meanwhile(i+1)) })
		case "ci":
			inCI(t, b)
		case "clone":
			clonesModule(t, b)
		case "program":
			program = b.text
		case "own":
			t.Run("own binary", func(t *testing.T) { ownBlock(t, b, program) })
		}
	}
}

// reader is somebody who tries what the README says, from its beginning to its end.
type reader struct {
	blocks  []block
	dir     string // in the place of /tmp, and of what the commands write in the repository
	address string // in the place of localhost:4195
}

func newReader(t *testing.T) reader {
	t.Helper()
	l, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return reader{blocks: readmeBlocks(t), dir: t.TempDir(), address: l.Addr().String()}
}

// meanwhile are the blocks from one on that belong to the one before.
func (r reader) meanwhile(from int) []block {
	to := from
	for to < len(r.blocks) && r.blocks[to].kind() == "meanwhile" {
		to++
	}
	return r.blocks[from:to]
}

// command is the shell that runs a block.
func (r reader) command(t *testing.T, b block) *exec.Cmd {
	t.Helper()
	binary := r.dir + "/bin/benthos-delta"
	if b.kind() == "follow" { // it is to be stopped itself, not the shell
		binary = "exec " + binary
	}
	text := strings.NewReplacer("bin/benthos-delta", binary, "bin/", r.dir+"/bin/", "=out ", "="+r.dir+"/out ", "/tmp/", r.dir+"/",
		"/path/to/table", "testdata/tables/orders", "localhost:4195", r.address).Replace(b.text)
	if b.has("broker") {
		text = strings.ReplaceAll(text, "localhost:9092", broker(t))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	t.Cleanup(cancel)
	command := exec.CommandContext(ctx, "sh", "-e", "-c", text)
	command.Dir = root
	command.Env = append(os.Environ(), "POSITIONS="+r.dir+"/positions", "DELIVERED="+r.dir+"/delivered", "FILE="+r.dir+"/orders.ndjson",
		"DIRECTORY="+r.dir+"/orders", "ADDRESS="+r.address)
	return command
}

func (r reader) run(t *testing.T, b block) {
	t.Helper()
	command := r.command(t, b)
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, b.text, stderr.String())
	}
	if why := b.missing(stdout.String()); why != "" {
		t.Error(why)
	}
}

// follow runs a block until its pipeline has caught up and printed what it should, with other blocks meanwhile.
func (r reader) follow(t *testing.T, b block, meanwhile []block) {
	t.Helper()
	for _, m := range meanwhile {
		if _, err := exec.LookPath("curl"); err != nil && strings.Contains(m.text, "curl") {
			t.Skip("there is no curl")
		}
	}
	command := r.command(t, b)
	var stdout, stderr written
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- command.Wait() }()
	until := func(holds func() bool) {
		t.Helper()
		for deadline := time.Now().Add(time.Minute); !holds(); time.Sleep(5 * time.Millisecond) {
			if time.Now().After(deadline) || len(ended) > 0 {
				t.Fatalf("it has not come so far: %v %s\n%s%s", command.ProcessState, b.missing(stdout.String()), stdout.String(), stderr.String())
			}
		}
	}
	until(func() bool { return strings.Contains(stdout.String()+stderr.String(), "Caught up with version ") })
	for _, m := range meanwhile {
		r.run(t, m)
	}
	until(func() bool { return b.missing(stdout.String()) == "" })
	if err := errors.Join(command.Process.Signal(os.Interrupt), <-ended); err != nil {
		t.Errorf("%v\n%s%s", err, stdout.String(), stderr.String())
	}
}

// written is what a command has written until now.
type written struct {
	mu   sync.Mutex
	text strings.Builder
}

func (w *written) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.Write(p)
}

func (w *written) String() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.text.String()
}

func (b block) kind() string {
	kind, _, _ := strings.Cut(b.check, " ")
	return kind
}

func (b block) has(option string) bool { return slices.Contains(strings.Fields(b.check), option) }

// missing says what is wrong with the number of lines that were printed, "" for nothing.
func (b block) missing(stdout string) string {
	for option := range strings.FieldsSeq(b.check) {
		want, lines := strings.CutPrefix(option, "lines=")
		if got := fmt.Sprint(strings.Count(stdout, "\n")); lines && want != got {
			return fmt.Sprintf("lines: want %s, got %s", want, got)
		}
	}
	return ""
}

func broker(t *testing.T) string {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "orders"))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(cluster.Close)
	return strings.Join(cluster.ListenAddrs(), ",")
}

func clonesModule(t *testing.T, b block) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(root, "go.mod"))
	if err != nil {
		t.Fatal(err)
	}
	module, _, _ := strings.Cut(strings.TrimPrefix(string(text), "module "), "\n")
	if want := "git clone https://" + module + "\ncd " + path.Base(module) + "\n"; b.text != want {
		t.Errorf("want\n%s\ngot\n%s", want, b.text)
	}
}

func inCI(t *testing.T, b block) {
	t.Helper()
	script, err := os.ReadFile(filepath.Join(root, ".ci", "run"))
	if err != nil {
		t.Fatal(err)
	}
	if command := strings.TrimSpace(b.text); !bytes.Contains(script, []byte(command)) {
		t.Errorf(".ci/run does not have the command %q of README.md", command)
	}
}

// ownBlock builds somebody else's binary. It needs no more modules than the repository.
func ownBlock(t *testing.T, b block, program string) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o600); err != nil {
		t.Fatal(err)
	}
	absolute, err := filepath.Abs(root)
	if err != nil {
		t.Fatal(err)
	}
	text := strings.ReplaceAll(b.text, "../benthos-delta", absolute)
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "sh", "-e", "-c", text)
	command.Dir = dir
	command.Env = append(os.Environ(), "GOFLAGS=-buildvcs=false")
	out, err := command.CombinedOutput()
	if err != nil || !strings.Contains(string(out), "- "+configspec.Component+"\n") {
		t.Fatalf("want the input among those of the binary, got %v\n%s", err, out)
	}
}

var typeRows = regexp.MustCompile("(?m)^\\| (`[^|]+) \\| [^|]+ \\| (?:`([^|`]+)`)? \\|$")

// The examples of the table of types are what is written for themselves.
func TestReadmeTypesAreWrittenAsItSays(t *testing.T) {
	text, err := os.ReadFile(filepath.Join(root, "input", "encode", "values.md"))
	if err != nil {
		t.Fatal(err)
	}
	found := 0
	for _, m := range typeRows.FindAllStringSubmatch(string(text), -1) {
		for name := range strings.SplitSeq(strings.ReplaceAll(m[1], "`, `", "|"), "|") {
			if m[2] == "" {
				continue
			}
			found++
			columns := deltatest.Columns("v " + strings.Trim(name, "`"))
			want := `{"v":` + m[2] + `}`
			if got := encoded(t, columns, want); got != want {
				t.Errorf("%s: want %s, got %s", name, want, got)
			}
		}
	}
	if found < 15 {
		t.Errorf("want every type in the table, got %d", found)
	}
}

// encoded is a row as the format json has it.
func encoded(t *testing.T, columns *schema.Struct, row string) string {
	t.Helper()
	config, err := configspec.Decode(map[string]any{"uri": "."}) // for its defaults
	if err != nil {
		t.Fatal(err)
	}
	encoder, err := encode.New(columns, config.Values)
	if err != nil {
		t.Fatal(err)
	}
	rows, err := encoder.JSON(deltatest.Rows(columns, row), encode.Part{})
	if err != nil {
		t.Fatal(err)
	}
	return string(rows.Row(0))
}

var metricNames = regexp.MustCompile(`m\.New[A-Za-z]+\("(delta_lake_[a-z_]+)"`)

func TestReadmeListsTheMetrics(t *testing.T) {
	source, err := os.ReadFile(filepath.Join(root, "input", "metrics.go"))
	if err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	names := metricNames.FindAllSubmatch(source, -1)
	for _, m := range names {
		if !bytes.Contains(text, fmt.Appendf(nil, "| `%s` | ", m[1])) {
			t.Errorf("README.md does not list %s", m[1])
		}
	}
	if listed := bytes.Count(text, []byte("\n| `delta_lake_")); listed != len(names) {
		t.Errorf("want %d metrics in README.md, got %d", len(names), listed)
	}
}

func TestReadmePartsThatAreMadeAreCurrent(t *testing.T) {
	old, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	made := withFields(t, withFiles(t, string(old)))
	if *update {
		if err := os.WriteFile(readme, []byte(made), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if made != string(old) {
		t.Error("README.md is out of date: run go generate ./plugin")
	}
}

// withFiles puts the files in place that the README shows.
func withFiles(t *testing.T, text string) string {
	t.Helper()
	return blocks.ReplaceAllStringFunc(text, func(whole string) string {
		m := blocks.FindStringSubmatch(whole)
		path, ok := strings.CutPrefix(m[1], "file ")
		if !ok {
			return whole
		}
		content, err := os.ReadFile(filepath.Join(root, path))
		if err != nil {
			t.Fatal(err)
		}
		return fmt.Sprintf("<!-- %s -->\n```%s\n%s```", m[1], m[2], withoutOpeningComment(string(content)))
	})
}

func withoutOpeningComment(text string) string {
	for strings.HasPrefix(text, "#") || strings.HasPrefix(text, "\n") {
		_, text, _ = strings.Cut(text, "\n")
	}
	return text
}

var fields = regexp.MustCompile(`(?s)(<!-- fields: begin.*? -->\n).*(<!-- fields: end -->)`)

// reference is where the sections of the fields are.
const reference = "config_spec/testdata/fields.md"

// withFields puts the overview of the fields in place, with links to their sections.
func withFields(t *testing.T, text string) string {
	t.Helper()
	overview, _, _ := strings.Cut(configspec.Markdown(), "\n## ")
	i := strings.Index(overview, "| ")
	if i < 0 || !fields.MatchString(text) {
		t.Fatal("no table of fields, or no place for it")
	}
	table := strings.ReplaceAll(strings.TrimSpace(overview[i:]), "](#", "]("+reference+"#")
	return fields.ReplaceAllStringFunc(text, func(whole string) string {
		m := fields.FindStringSubmatch(whole)
		return m[1] + "\n" + table + "\n\n" + m[2]
	})
}
