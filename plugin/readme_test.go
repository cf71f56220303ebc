package plugin_test

import (
	"bytes"
	"context"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
)

//go:generate go test . -run TestReadmePartsThatAreMadeAreCurrent -update

var update = flag.Bool("update", false, "write the generated parts of README.md anew")

var readme = filepath.Join(root, "README.md")

// block is a fenced block of the README with the comment above it, which says how it is checked:
//
//	<!-- run -->            the commands are run; "lines=N": they print that many; "broker": a Kafka broker is there
//	<!-- ci -->             .ci/run has the command
//	<!-- file PATH -->      the block is that file, without its opening comment
//	<!-- build -->          the program compiles
type block struct{ check, language, text string }

var blocks = regexp.MustCompile("(?m)^(?:<!-- (.*) -->\n)?```([a-z]+)\n((?s:.*?))^```$")

func readmeBlocks(t *testing.T) []block {
	t.Helper()
	text, err := os.ReadFile(readme)
	if err != nil {
		t.Fatal(err)
	}
	var list []block
	for _, m := range blocks.FindAllSubmatch(text, -1) {
		list = append(list, block{string(m[1]), string(m[2]), string(m[3])})
	}
	return list
}

func TestReadmeBlocksAreAllChecked(t *testing.T) {
	for _, b := range readmeBlocks(t) {
		if b.check == "" && b.language != "json" {
			t.Errorf("a block of README.md is not checked by anything:\n%s", b.text)
		}
	}
}

func TestReadmeCommandsRun(t *testing.T) {
	if testing.Short() {
		t.Skip("it links the binary")
	}
	for _, b := range readmeBlocks(t) {
		switch kind, rest, _ := strings.Cut(b.check, " "); kind {
		case "run":
			t.Run(strings.SplitN(b.text, "\n", 2)[0], func(t *testing.T) { runBlock(t, b, strings.Fields(rest)) })
		case "ci":
			inCI(t, b)
		case "build":
			t.Run("program", func(t *testing.T) { buildBlock(t, b) })
		}
	}
}

func runBlock(t *testing.T, b block, options []string) {
	dir := t.TempDir()
	text := strings.NewReplacer("bin/", dir+"/bin/", "=out ", "="+dir+"/out ").Replace(b.text)
	if slices.Contains(options, "broker") {
		text = strings.ReplaceAll(text, "localhost:9092", broker(t))
	}
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	command := exec.CommandContext(ctx, "sh", "-e", "-c", text)
	command.Dir = root
	var stdout, stderr bytes.Buffer
	command.Stdout, command.Stderr = &stdout, &stderr
	if err := command.Run(); err != nil {
		t.Fatalf("%v\n%s\n%s", err, text, stderr.String())
	}
	for _, option := range options {
		want, lines := strings.CutPrefix(option, "lines=")
		if got := fmt.Sprint(bytes.Count(stdout.Bytes(), []byte("\n"))); lines && want != got {
			t.Errorf("lines: want %s, got %s", want, got)
		}
	}
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

func buildBlock(t *testing.T, b block) {
	dir := t.TempDir()
	program := filepath.Join(dir, "main.go")
	if err := os.WriteFile(program, []byte(b.text), 0o600); err != nil {
		t.Fatal(err)
	}
	command := exec.CommandContext(t.Context(), "go", "vet", program)
	command.Dir = root
	if out, err := command.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, out)
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
