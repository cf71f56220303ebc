package feed_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/input/encode"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

// corporaVariable names the folders of tables with expected answers, separated as in PATH.
const corporaVariable = "DELTA_CORPORA"

// history is a table that was recorded while a stream followed it, or commit by commit.
type history struct {
	folder string

	Path  string
	Kind  string
	Steps []struct {
		Step     int
		Versions []int64
		Dir      string
		Remove   []string
		Emitted  map[string]struct {
			Rows  int
			JSONL string `json:"jsonl"`
		}
	}
	Commits []struct {
		Version int64
		Kind    string
		Rows    *int64 `json:"rows_added_by_dataChange_adds"`
	}
	Snapshots []struct {
		Version int64
		Count   int64  `json:"rows"`
		File    string `json:"sorted_jsonl"`
	}
}

func histories(t *testing.T, wanted func(history) bool) []history {
	t.Helper()
	list := os.Getenv(corporaVariable)
	if list == "" {
		t.Skipf("%s is not set: no tables with expected answers to read", corporaVariable)
	}
	var out []history
	for _, folder := range filepath.SplitList(list) {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join("..", "..", folder) // relative to the module root
		}
		folder, err := filepath.Abs(folder) // logs of clones are made to hold it
		check(t, err)
		text, err := os.ReadFile(filepath.Join(folder, "expected.json"))
		check(t, err)
		var all []history
		check(t, json.Unmarshal(text, &all))
		for _, h := range all {
			if h.folder = folder; wanted(h) {
				out = append(out, h)
			}
		}
	}
	return out
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

var modes = map[string]feed.Follow{
	"append_skip_change_commits": {Mode: feed.Append, OnRewrite: feed.Skip, OnDelete: feed.Skip, OnSchemaChange: feed.Additive},
	"append_ignore_changes":      {Mode: feed.Append, OnRewrite: feed.Emit, OnDelete: feed.Skip, OnSchemaChange: feed.Additive},
}

// TestCorporaFollowedLive applies the steps of a recorded stream one by one and compares what each one brings: with one
// source for all of them, and with another one from the stored position after every batch.
func TestCorporaFollowedLive(t *testing.T) {
	for _, h := range histories(t, func(h history) bool { return h.Kind == "live" }) {
		for mode, follow := range modes {
			for _, restarts := range []bool{false, true} {
				t.Run(fmt.Sprintf("%s/%s/restarts=%v", h.Path, mode, restarts), func(t *testing.T) {
					l := &live{t: t, dir: t.TempDir(), follow: follow, restarts: restarts, batchRows: 2}
					for _, step := range h.Steps {
						l.apply(h.folder, step.Dir, step.Remove)
						want := lines(t, filepath.Join(h.folder, step.Emitted[mode].JSONL))
						if got := l.settle(); !slices.Equal(want, got) {
							t.Fatalf("step %d: want\n%s\ngot\n%s", step.Step, strings.Join(want, "\n"), strings.Join(got, "\n"))
						}
					}
					l.close()
				})
			}
		}
	}
}

// live follows a table that grows.
type live struct {
	t         *testing.T
	dir       string
	outside   string // where files of the table may lie besides
	follow    feed.Follow
	restarts  bool // after every event with a position
	batchRows int64
	source    feed.Source
	behind    *feed.Position
}

func (l *live) apply(folder, step string, remove []string) {
	l.t.Helper()
	for _, name := range remove {
		check(l.t, os.Remove(filepath.Join(l.dir, name)))
	}
	from := filepath.Join(folder, step)
	check(l.t, filepath.Walk(from, func(path string, info os.FileInfo, err error) error {
		if err != nil || info.IsDir() {
			return err
		}
		to := filepath.Join(l.dir, strings.TrimPrefix(path, from))
		text, err := os.ReadFile(path)
		return errors.Join(err, os.MkdirAll(filepath.Dir(to), 0o700), os.WriteFile(to, text, 0o600))
	}))
}

// settle reads until everything is handed out, and returns the rows as sorted lines.
func (l *live) settle() []string {
	l.t.Helper()
	if l.source == nil {
		l.open()
	} else {
		check(l.t, l.source.Refresh(l.t.Context()))
	}
	var rows []string
	for {
		patience := 10 * time.Second
		if l.source.(feed.Behind).Lag().Versions() == 0 { // a look may have brought nothing
			patience = 50 * time.Millisecond
		}
		ctx, cancel := context.WithTimeout(l.t.Context(), patience)
		e, err := l.source.Next(ctx)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, io.EOF) {
			slices.Sort(rows)
			return rows
		}
		check(l.t, err)
		switch e := e.(type) {
		case feed.Rows:
			l.behind = &e.Position
			rows = append(rows, encoded(l.t, e)...)
			l.restart()
		case feed.Progress:
			l.behind = &e.Position
			l.restart()
		case feed.CaughtUp:
			slices.Sort(rows)
			return rows
		}
	}
}

func (l *live) open() {
	l.t.Helper()
	var err error
	l.source, err = feed.Open(l.t.Context(), feed.Config{
		URI: l.dir, Follow: l.follow, Resume: l.behind, Scan: deltacore.ScanOptions{BatchRows: l.batchRows},
		Open: deltacore.Options{AllowedExternalPaths: l.allowed()},
	})
	check(l.t, err)
}

func (l *live) allowed() []string {
	if l.outside == "" {
		return nil
	}
	return []string{l.outside}
}

func (l *live) restart() {
	l.t.Helper()
	if l.restarts {
		l.close()
		l.open()
	}
}

func (l *live) close() { check(l.t, l.source.Close()) }

func encoded(t *testing.T, r feed.Rows) []string {
	t.Helper()
	defer r.Record.Release()
	values := configspec.Values{Decimal: "string", Int64: "number", Timestamp: "rfc3339", Binary: "base64", NonFinite: "string"}
	e, err := encode.New(r.Columns, values)
	check(t, err)
	rows, err := e.JSON(r.Record, encode.Part{Rows: int(r.Record.NumRows()), Bytes: 1 << 30})
	check(t, err)
	var out []string
	for i := range rows.Len() {
		out = append(out, string(rows.Row(i)))
	}
	return out
}

func lines(t *testing.T, path string) []string {
	t.Helper()
	text, err := os.ReadFile(path)
	check(t, err)
	return split(string(bytes.TrimSpace(text)))
}

// TestCorporaFollowedFromTheirBeginning reads the commits of recorded tables and compares the rows that each one adds.
func TestCorporaFollowedFromTheirBeginning(t *testing.T) {
	readable := func(h history) bool {
		return len(h.Commits) > 0 && h.Kind != "live" && h.Kind != "broken" && h.Kind != "vacuum"
	}
	for _, h := range histories(t, readable) {
		for mode, follow := range modes {
			follow.OnSchemaChange, follow.UntilCaughtUp, follow.StartVersion = feed.Any, true, &h.Commits[0].Version
			t.Run(h.Path+"/"+mode, func(t *testing.T) {
				want := map[int64]int64{}
				for _, c := range h.Commits {
					if c.Kind == "append" || c.Kind == "rewrite" && follow.OnRewrite == feed.Emit {
						if c.Rows == nil {
							t.Skip("the number of rows of a commit is not known")
						}
						want[c.Version] = *c.Rows
					}
				}
				maps.DeleteFunc(want, func(_, rows int64) bool { return rows == 0 })
				for _, restarts := range []bool{false, true} {
					l := &live{t: t, dir: materialized(t, h), outside: h.folder, follow: follow, restarts: restarts}
					if got := l.rowsByVersion(); !maps.Equal(want, got) {
						t.Errorf("restarts %v: want %v, got %v", restarts, want, got)
					}
				}
			})
		}
	}
}

// rowsByVersion reads to the end of a bounded run and counts the rows that each version adds.
func (l *live) rowsByVersion() map[int64]int64 {
	l.t.Helper()
	out := map[int64]int64{}
	l.open()
	defer func() { l.close() }()
	for {
		e, err := l.source.Next(l.t.Context())
		if errors.Is(err, io.EOF) {
			return out
		}
		check(l.t, err)
		switch e := e.(type) {
		case feed.Rows:
			if e.Operation != feed.Insert {
				l.t.Errorf("want the operation insert, got %s", e.Operation)
			}
			out[e.Version] += e.Record.NumRows()
			e.Record.Release()
			l.behind = &e.Position
			l.restart()
		case feed.Progress:
			l.behind = &e.Position
			l.restart()
		}
	}
}

// rootToken stands in logs for the absolute folder of the tables.
const rootToken = "{{TABLE_ROOT}}"

// materialized returns the folder of a table whose log has no tokens.
func materialized(t *testing.T, h history) string {
	t.Helper()
	table := filepath.Join(h.folder, h.Path)
	logs, err := filepath.Glob(filepath.Join(table, "_delta_log", "*.json"))
	check(t, err)
	texts := map[string]string{}
	for _, path := range logs {
		text, err := os.ReadFile(path)
		check(t, err)
		if strings.Contains(string(text), rootToken) {
			texts[filepath.Base(path)] = strings.ReplaceAll(string(text), rootToken, h.folder)
		}
	}
	if len(texts) == 0 {
		return table
	}
	copied := filepath.Join(t.TempDir(), h.Path)
	check(t, os.CopyFS(copied, os.DirFS(table)))
	for name, text := range texts {
		check(t, os.WriteFile(filepath.Join(copied, "_delta_log", name), []byte(text), 0o600))
	}
	return copied
}

func split(text string) []string {
	if text == "" {
		return nil
	}
	out := strings.Split(text, "\n")
	slices.Sort(out)
	return out
}
