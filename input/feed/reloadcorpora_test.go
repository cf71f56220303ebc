package feed_test

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"math/big"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benthos-delta/benthos-delta/input/feed"
)

var reloading = feed.Follow{Mode: feed.Reload, OnSchemaChange: feed.Any}

// TestCorporaReloadedAtEachVersion shows the versions of recorded tables one by one to a stream that loads the table again at
// each: it hands out exactly the rows of each version, and nothing where the commit changed none.
func TestCorporaReloadedAtEachVersion(t *testing.T) {
	readable := func(h history) bool {
		return len(h.Snapshots) > 1 && h.Kind != "live" && h.Kind != "broken" && h.Kind != "vacuum"
	}
	for _, h := range histories(t, readable) {
		for _, restarts := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/restarts=%v", h.Path, restarts), func(t *testing.T) {
				r := &reloads{live: live{t: t, dir: t.TempDir(), outside: h.folder, follow: reloading, restarts: restarts, batchRows: h.batchRows()}}
				source := materialized(t, h)
				r.link(source)
				shown := int64(-1)
				for i, s := range h.Snapshots {
					if i > 0 && s.Version != shown+1 {
						t.Logf("version %d is not described: what comes after it is not shown", shown+1)
						break
					}
					r.show(source, shown, s.Version)
					shown = s.Version
					r.look(h, i == 0)
				}
				r.close()
			})
		}
	}
}

// TestCorporaReloadedLive applies the steps of a recorded stream: each look hands out the newest version.
func TestCorporaReloadedLive(t *testing.T) {
	for _, h := range histories(t, func(h history) bool { return h.Kind == "live" }) {
		for _, restarts := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s/restarts=%v", h.Path, restarts), func(t *testing.T) {
				r := &reloads{live: live{t: t, dir: t.TempDir(), follow: reloading, restarts: restarts, batchRows: h.batchRows()}}
				for i, step := range h.Steps {
					r.apply(h.folder, step.Dir, step.Remove)
					if len(step.Versions) > 0 {
						r.version = slices.Max(step.Versions)
					}
					r.look(h, i == 0)
				}
				r.close()
			})
		}
	}
}

// batchRows divides files into several batches, and large ones not into too many.
func (h history) batchRows() int64 {
	rows := int64(0)
	for _, s := range h.Snapshots {
		rows = max(rows, s.Count)
	}
	return max(3, rows/12)
}

// reloads is a stream that loads a table again at each look.
type reloads struct {
	live
	version int64 // the newest that is shown
	looked  int64 // the newest at the last look
}

// link shows all of a table but its log.
func (r *reloads) link(table string) {
	r.t.Helper()
	entries, err := os.ReadDir(table)
	check(r.t, err)
	check(r.t, os.Mkdir(filepath.Join(r.dir, "_delta_log"), 0o700))
	for _, e := range entries {
		if e.Name() != "_delta_log" {
			check(r.t, os.Symlink(filepath.Join(table, e.Name()), filepath.Join(r.dir, e.Name())))
		}
	}
	if _, err := os.Stat(filepath.Join(table, "_delta_log", "_sidecars")); err == nil {
		check(r.t, os.Symlink(filepath.Join(table, "_delta_log", "_sidecars"), filepath.Join(r.dir, "_delta_log", "_sidecars")))
	}
}

// show shows the files of the log of the versions behind one, up to another. The hint is not shown.
func (r *reloads) show(table string, from, to int64) {
	r.t.Helper()
	entries, err := os.ReadDir(filepath.Join(table, "_delta_log"))
	check(r.t, err)
	for _, e := range entries {
		version, last := int64(-1), int64(-1)
		n, _ := fmt.Sscanf(e.Name(), "%d.%d.compacted", &version, &last)
		if n < 2 || !strings.Contains(e.Name(), ".compacted.") {
			last = version
		}
		if n == 0 || last <= from || last > to {
			continue
		}
		text, err := os.ReadFile(filepath.Join(table, "_delta_log", e.Name()))
		check(r.t, err)
		check(r.t, os.WriteFile(filepath.Join(r.dir, "_delta_log", e.Name()), text, 0o600))
	}
	r.version = to
}

// look compares what a look hands out with the rows of the newest version, if they may be others than at the last look.
func (r *reloads) look(h history, first bool) {
	r.t.Helper()
	changed := first
	for _, c := range h.Commits {
		if c.Version > r.looked && c.Version <= r.version {
			changed = changed || c.Kind == "append" || c.Kind == "delete" || c.Kind == "rewrite"
		}
	}
	r.looked = r.version
	var want []string
	if changed {
		for _, s := range h.Snapshots {
			if s.Version == r.version {
				want = expectedRows(r.t, filepath.Join(h.folder, s.File))
			}
		}
	}
	got := r.loaded()
	if !sameRows(want, got) {
		r.t.Fatalf("version %d: want %d rows\n%s\ngot %d\n%s", r.version, len(want), strings.Join(want, "\n"), len(got), strings.Join(got, "\n"))
	}
}

// loaded reads until the newest version is handed out.
func (r *reloads) loaded() (rows []string) {
	r.t.Helper()
	if r.source == nil {
		r.open()
	}
	feed.SettleAtOnce(r.source)
	for range 2 { // the second look is for a newest version of no bytes
		check(r.t, r.source.Refresh(r.t.Context()))
	}
	for r.behind == nil || !r.behind.Done || r.behind.Version < r.version {
		ctx, cancel := context.WithTimeout(r.t.Context(), 10*time.Second)
		e, err := r.source.Next(ctx)
		cancel()
		if err != nil {
			r.t.Fatalf("version %d: %v", r.version, err)
		}
		switch e := e.(type) {
		case feed.Rows:
			r.behind = &e.Position
			rows = append(rows, encoded(r.t, e)...)
			r.restart()
		case feed.Progress:
			r.behind = &e.Position
			r.restart()
		}
	}
	slices.Sort(rows)
	return rows
}

func expectedRows(t *testing.T, path string) []string {
	t.Helper()
	file, err := os.Open(path)
	check(t, err)
	defer file.Close()
	in := io.Reader(file)
	if filepath.Ext(path) == ".gz" {
		in, err = gzip.NewReader(file)
		check(t, err)
	}
	text, err := io.ReadAll(in)
	check(t, errors.Join(err))
	return split(strings.TrimSuffix(string(text), "\n"))
}

// sameRows compares rows as JSON values with exact digits.
func sameRows(want, got []string) bool {
	return slices.EqualFunc(want, got, func(want, got string) bool { return want == got || sameValue(parsed(want), parsed(got)) })
}

// parsed is nil for what is no JSON.
func parsed(text string) (v any) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	if d.Decode(&v) != nil {
		return nil
	}
	return v
}

// sameValue compares values. One that is expected as text may be the JSON of a variant.
func sameValue(want, got any) bool {
	switch want := want.(type) {
	case map[string]any:
		got, ok := got.(map[string]any)
		return ok && maps.EqualFunc(want, got, sameValue)
	case []any:
		got, ok := got.([]any)
		return ok && slices.EqualFunc(want, got, sameValue)
	case json.Number:
		got, ok := got.(json.Number)
		w, _ := new(big.Rat).SetString(want.String())
		g, exact := new(big.Rat).SetString(got.String())
		return ok && exact && w.Cmp(g) == 0
	case string:
		return want == got || json.Valid([]byte(want)) && sameValue(parsed(want), got)
	}
	return want == got
}
