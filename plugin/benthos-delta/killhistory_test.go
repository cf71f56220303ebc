package main

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

var historyColumns = deltatest.Columns("id long", "pad string")

// history is a table in a directory that grows by commits of all kinds, and what a stream of it has to hand out.
type history struct {
	t         *testing.T
	dir       string
	table     *deltatest.Table
	next      int              // id of the next row
	rows      map[string][]int // ids of the physical rows of each data file
	deleted   map[string][]int64
	published map[string]int // size of each file that is on disk

	mu       sync.Mutex
	versions []written
}

// written is what one version holds.
type written struct {
	live    []fileOf // all its files, in canonical order
	added   []fileOf // those that its commit added with dataChange
	rewrite bool     // the commit removed rows, too
}

// fileOf is a data file with its live rows.
type fileOf struct {
	key    scanplan.Key
	vector string // file of its deletion vector; "": none
	ids    []int
}

func newHistory(t *testing.T, dir string) *history {
	t.Helper()
	return &history{
		t: t, dir: dir, rows: map[string][]int{}, deleted: map[string][]int64{}, published: map[string]int{},
		table: deltatest.New(historyColumns, deltatest.Options{Protocol: deltatest.Features(action.DeletionVectorsFeature)}),
	}
}

// grow makes some commits drawn at random, with a checkpoint behind every tenth.
func (h *history) grow(versions int64) {
	for range versions {
		rewrite := false
		switch n := rand.IntN(20); {
		case n < 11 || len(h.table.Active()) < 3:
			h.append(1 + rand.IntN(3))
		case n < 13:
			h.optimize()
		case n < 15:
			h.deleteFile()
		case n < 17:
			h.deleteRows()
			rewrite = true
		case n < 19:
			h.update()
			rewrite = true
		default:
			m := h.table.Metadata()
			m.Configuration["comment"] = fmt.Sprint(h.table.Version())
			h.table.Commit(deltatest.Metadata(m))
		}
		h.note(rewrite)
		if h.table.Version()%10 == 9 {
			h.table.Checkpoint()
		}
		h.publish()
	}
}

func (h *history) append(files int) {
	var actions []deltatest.Action
	for range files {
		ids := make([]int, 3+rand.IntN(15))
		for i := range ids {
			ids[i] = h.next
			h.next++
		}
		actions = append(actions, deltatest.Add(h.write(ids)))
	}
	h.table.Commit(actions...)
}

// write writes a data file of the rows.
func (h *history) write(ids []int) action.Add {
	lines := make([]string, len(ids))
	for i, id := range ids {
		lines[i] = fmt.Sprintf(`{"id":%d,"pad":"row %d"}`, id, id)
	}
	a := h.table.WriteFiles(deltatest.Rows(historyColumns, lines...))[0]
	h.rows[a.Path] = ids
	return a
}

// some draws an active file, as a commit removes it.
func (h *history) some() action.Add {
	active := h.table.Active()
	a := active[rand.IntN(len(active))]
	a.DataChange = true // also where OPTIMIZE wrote it
	return a
}

// optimize writes two files again as one.
func (h *history) optimize() {
	active := h.table.Active()
	at := rand.IntN(len(active) - 1)
	var ids []int
	var actions []deltatest.Action
	for _, a := range active[at : at+2] {
		a.DataChange = false
		ids = append(ids, h.liveRows(a.Path)...)
		actions = append(actions, deltatest.Remove(a))
	}
	if len(ids) > 0 {
		a := h.write(ids)
		a.DataChange = false
		actions = append(actions, deltatest.Add(a))
	}
	h.table.Commit(actions...)
}

func (h *history) deleteFile() { h.table.Delete(h.some()) }

// deleteRows deletes one more row of a file by a vector.
func (h *history) deleteRows() {
	a := h.some()
	row := rand.Int64N(int64(len(h.rows[a.Path])))
	if !slices.Contains(h.deleted[a.Path], row) {
		h.deleted[a.Path] = append(slices.Clone(h.deleted[a.Path]), row)
		slices.Sort(h.deleted[a.Path])
	}
	h.table.DeleteRows(a, h.deleted[a.Path]...)
}

// update writes a file again, with one more row.
func (h *history) update() {
	a := h.some()
	ids := append(h.liveRows(a.Path), h.next)
	h.next++
	remove := a
	remove.ModificationTime = h.table.CommitTime(h.table.Version() + 1).UnixMilli()
	h.table.Commit(deltatest.Remove(remove), deltatest.Add(h.write(ids)))
}

func (h *history) liveRows(path string) (ids []int) {
	for row, id := range h.rows[path] {
		if !slices.Contains(h.deleted[path], int64(row)) {
			ids = append(ids, id)
		}
	}
	return ids
}

// note keeps what the newest version holds.
func (h *history) note(rewrite bool) {
	w := written{rewrite: rewrite}
	var before []fileOf
	if n := len(h.versions); n > 0 {
		before = h.versions[n-1].live
	}
	for _, a := range h.table.Active() {
		f := fileOf{key: scanplan.Key{ModificationTime: a.ModificationTime, Path: a.Path}, ids: h.liveRows(a.Path)}
		if a.DeletionVector != nil {
			f.vector = fmt.Sprint(a.DeletionVector.PathOrInlineDv)
		}
		w.live = append(w.live, f)
		known := slices.ContainsFunc(before, func(b fileOf) bool { return b.key == f.key && b.vector == f.vector })
		if a.DataChange && !known {
			w.added = append(w.added, f)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.versions = append(h.versions, w)
}

// publish writes what is new as a writer does: data, then the log, then the hint, each file in one go.
func (h *history) publish() {
	rank := func(path string) int {
		switch {
		case path == deltatest.HintPath:
			return 2
		case strings.HasPrefix(path, "_delta_log"):
			return 1
		}
		return 0
	}
	for wave := range 3 {
		h.table.CopyTo(func(path string, content []byte, modified time.Time) {
			if size, done := h.published[path]; rank(path) != wave || done && (wave < 2 || size == len(content)) {
				return
			}
			h.published[path] = len(content)
			name := filepath.Join(h.dir, path)
			if err := errors.Join(os.MkdirAll(filepath.Dir(name), 0o700), os.WriteFile(name+".tmp", content, 0o600),
				os.Chtimes(name+".tmp", modified, modified), os.Rename(name+".tmp", name)); err != nil {
				h.t.Error(err)
			}
		})
	}
}

// tail is what a version hands out in the tail.
func (w written) tail(emit bool) []fileOf {
	if w.rewrite && !emit {
		return nil
	}
	return w.added
}

// expected is every row that a stream hands out that begins with the snapshot of a version.
func (h *history) expected(begun int64, emit bool) map[sent]bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	want := map[sent]bool{}
	for _, f := range h.versions[begun].live {
		for _, id := range f.ids {
			want[sent{"read", begun, id}] = true
		}
	}
	for v := begun + 1; v < int64(len(h.versions)); v++ {
		for _, f := range h.versions[v].tail(emit) {
			for _, id := range f.ids {
				want[sent{"insert", v, id}] = true
			}
		}
	}
	return want
}

// files is the number of files that such a stream reads.
func (h *history) files(begun int64, emit bool) int {
	n := len(h.versions[begun].live)
	for _, w := range h.versions[begun+1:] {
		n += len(w.tail(emit))
	}
	return n
}

// wanted says whether a run behind a position may open a data file: one with rows behind it.
func (h *history) wanted(name string, behind feed.Position, emit bool) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	for v := behind.Version; v < int64(len(h.versions)); v++ {
		files := h.versions[v].tail(emit)
		switch {
		case v == behind.Version && behind.Done:
			continue
		case v == behind.Version && behind.Phase == feed.PhaseSnapshot:
			files = h.versions[v].live
		}
		for _, f := range files {
			order := 1
			if v == behind.Version {
				order = f.key.Compare(behind.File)
			}
			if f.key.Path == name && (order > 0 || order == 0 && !behind.FileDone) {
				return true
			}
		}
	}
	return false
}

// isData says whether a path is that of a data file that was noted.
func (h *history) isData(name string) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.ContainsFunc(h.versions, func(w written) bool {
		return slices.ContainsFunc(w.live, func(f fileOf) bool { return f.key.Path == name })
	})
}
