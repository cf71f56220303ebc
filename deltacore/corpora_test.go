package deltacore_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// corporaVariable names the folders of tables with expected answers, separated as in PATH.
const corporaVariable = "DELTA_CORPORA"

// openEntries lists the entries that this release does not read yet, with the protocol rule of what they need.
const openEntries = "testdata/corpora_open.txt"

// entry is one statement about one table: its check fails when the reader's answer is another one.
type entry struct {
	id    string
	check func(ctx context.Context) error
}

// TestCorpora runs every entry of the folders in DELTA_CORPORA. An entry that fails must stand in the list of open
// entries, and one that passes must not, so that the list can only shrink.
func TestCorpora(t *testing.T) {
	entries := loadEntries(t)
	open := loadOpenEntries(t)
	results := runEntries(entries)
	passed, failed, listed := 0, 0, 0
	for i, e := range entries {
		rule, isOpen := open[e.id]
		delete(open, e.id)
		err := results[i]
		switch {
		case err == nil && isOpen:
			t.Errorf("%s: passes, but is listed as open (%s): remove it from %s", e.id, rule, openEntries)
			failed++
		case err == nil:
			passed++
		case isOpen && !errors.Is(err, errWrongAnswer):
			listed++
		default:
			t.Errorf("%s: %v", e.id, err)
			failed++
		}
	}
	if os.Getenv(corporaVariable) != "" {
		requireNoStrangers(t, entries, open)
	}
	fmt.Printf("corpora: %d entries, %d passed, %d failed, %d skipped (open, by rule: %s)\n",
		len(entries), passed, failed, listed, openEntries)
}

// requireNoStrangers refuses listed entries that do not exist in a folder that was read.
func requireNoStrangers(t *testing.T, entries []entry, left map[string]string) {
	t.Helper()
	read := map[string]bool{}
	for _, e := range entries {
		folder, _, _ := strings.Cut(e.id, "/")
		read[folder] = true
	}
	for id := range left {
		if folder, _, _ := strings.Cut(id, "/"); read[folder] {
			t.Errorf("%s: listed as open, but there is no such entry", id)
		}
	}
}

// runEntries checks all entries, as many at once as there are processors.
func runEntries(entries []entry) []error {
	results := make([]error, len(entries))
	next := make(chan int)
	var workers sync.WaitGroup
	for range runtime.GOMAXPROCS(0) {
		workers.Go(func() {
			for i := range next {
				results[i] = runEntry(entries[i])
			}
		})
	}
	for i := range entries {
		next <- i
	}
	close(next)
	workers.Wait()
	return results
}

func runEntry(e entry) (err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("%w: panic: %v", errWrongAnswer, r)
		}
	}()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	defer cancel()
	return e.check(ctx)
}

// corporaFolders skips the test where there are none.
func corporaFolders(t *testing.T) []string {
	t.Helper()
	list := os.Getenv(corporaVariable)
	if list == "" {
		t.Skipf("%s is not set: no tables with expected answers to read", corporaVariable)
	}
	var folders []string
	for _, folder := range filepath.SplitList(list) {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join("..", folder) // relative to the module root
		}
		absolute, err := filepath.Abs(folder)
		if err != nil {
			t.Fatal(err)
		}
		folders = append(folders, absolute)
	}
	return folders
}

func loadEntries(t *testing.T) []entry {
	t.Helper()
	var entries []entry
	for _, folder := range corporaFolders(t) {
		found, err := readExpectations(t, folder)
		if err != nil {
			t.Fatalf("%s names %s: %v", corporaVariable, folder, err)
		}
		entries = append(entries, found...)
	}
	return entries
}

// loadOpenEntries reads lines of "entry"; a line "# RULE text" gives the rule of those after it.
func loadOpenEntries(t *testing.T) map[string]string {
	t.Helper()
	file, err := os.Open(openEntries)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	open := map[string]string{}
	rule := ""
	for lines := bufio.NewScanner(file); lines.Scan(); {
		line := strings.TrimSpace(lines.Text())
		switch {
		case strings.HasPrefix(line, "#"):
			rule = strings.TrimSpace(line[1:])
		case line == "":
		case rule == "" || open[line] != "":
			t.Errorf("%s: %q has no rule above it or stands there twice", openEntries, line)
		default:
			open[line] = rule
		}
	}
	return open
}

// templateToken and rootToken stand in logs for the absolute folder of the tables.
const (
	rootToken     = "{{TABLE_ROOT}}"
	templateToken = "{{FOLDER_WITH_SPECIAL_CHAR}}"
)

// materialize returns the folder of a table as a reader finds it: the table itself, a copy with all its steps applied, or a
// copy whose log has no tokens left.
func materialize(t *testing.T, table string) string {
	t.Helper()
	if steps := glob(t, filepath.Join(table, "steps", "*")); len(steps) > 0 {
		return applySteps(t, steps)
	}
	tokens := map[string]string{
		rootToken:     uriPath(filepath.Dir(table)),
		templateToken: uriPath(filepath.Join(table, "folder&with%special char")),
	}
	if !slices.ContainsFunc(glob(t, filepath.Join(table, "_delta_log", "*.json")), func(path string) bool { return holdsToken(t, path, tokens) }) {
		return table
	}
	copied := filepath.Join(t.TempDir(), filepath.Base(table))
	if err := os.CopyFS(copied, os.DirFS(table)); err != nil {
		t.Fatal(err)
	}
	for _, path := range glob(t, filepath.Join(copied, "_delta_log", "*.json")) {
		text := readFile(t, path)
		for token, value := range tokens {
			text = strings.ReplaceAll(text, token, value)
		}
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return copied
}

// applySteps copies the folders one over the other.
func applySteps(t *testing.T, steps []string) string {
	t.Helper()
	table := t.TempDir()
	for _, step := range steps {
		err := filepath.WalkDir(step, func(path string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			to := filepath.Join(table, strings.TrimPrefix(path, step))
			if err := os.MkdirAll(filepath.Dir(to), 0o700); err != nil {
				return err
			}
			return os.WriteFile(to, []byte(readFile(t, path)), 0o600)
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return table
}

func glob(t *testing.T, pattern string) []string {
	t.Helper()
	files, err := filepath.Glob(pattern)
	if err != nil {
		t.Fatal(err)
	}
	return files
}

func holdsToken(t *testing.T, path string, tokens map[string]string) bool {
	t.Helper()
	text := readFile(t, path)
	for token := range tokens {
		if strings.Contains(text, token) {
			return true
		}
	}
	return false
}

func readFile(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// uriPath encodes an absolute path as the path of a URI.
func uriPath(path string) string {
	return strings.ReplaceAll(strings.ReplaceAll(path, "%", "%25"), " ", "%20")
}
