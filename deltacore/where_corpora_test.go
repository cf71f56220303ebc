package deltacore_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// seeded draws the same in every run.
type seeded struct{ *rand.Rand }

func newSeeded(seed uint64) seeded { return seeded{rand.New(rand.NewPCG(seed, 5))} }

func (s seeded) below(n int) int { return s.IntN(n) }

// comparedRows bounds what is compared of a table.
const comparedRows = 5_000

// wrongStatistics are tables whose log says of files what their rows contradict, which nobody can see there (ST2): they are
// read without those statistics.
var wrongStatistics = map[string]string{
	"issue_1374":   "the least timestamp of files is 4 ms after their first one",
	"parsed-stats": "ts_col has values and no nulls, but the files have no such column",
}

// whereRows is a version of a table, its first rows without a predicate, and what can be asked of it.
type whereRows struct {
	table  *deltacore.Table
	rows   []placedRow
	values []map[string]any
	conditions

	by deltacore.Skipping
}

// errRefused is the error of a table that cannot be read without a predicate either.
var errRefused = errors.New("the table cannot be read")

func readForWhere(ctx context.Context, uri string, o deltacore.Options) (*whereRows, error) {
	table, err := deltacore.Open(ctx, uri, o)
	if err != nil {
		return nil, errRefused
	}
	limit := int64(comparedRows)
	scan, err := table.Scan(ctx, deltacore.ScanOptions{Limit: &limit})
	if err != nil {
		return nil, errRefused
	}
	all := everythingOf(ctx, scan)
	if all.err != "" {
		return nil, errRefused
	}
	w := &whereRows{table: table, rows: all.rows, by: everything}
	w.by.Statistics = wrongStatistics[filepath.Base(uri)] == ""
	if w.values, err = valuesOf(w.rows); err != nil {
		return nil, err
	}
	w.conditions = conditionsFor(newSeeded(uint64(len(w.rows))), scan.Columns(), w.values)
	return w, nil
}

// drawn are predicates on all columns, each of which is asked in every way, and on pairs of them.
func (w *whereRows) drawn() (list []condition) {
	for _, p := range w.pools[:min(len(w.pools), 25)] {
		c, l := p.column, p.literal(w)
		list = append(list,
			c.isNull(true), c.isNull(false), c.compared("=", l), c.compared("<", l), c.compared(">=", l), negated(c.compared("=", l)),
			c.listed(false, false, w.literals(p, 3)), negated(c.listed(false, true, w.literals(p, 2))), w.about(p),
		)
	}
	for _, n := range w.opaque {
		list = append(list, n.isNull(true), n.isNull(false))
	}
	if len(w.pools) > 0 {
		for range 6 {
			a, b := w.about(oneOf(w, w.pools...)), w.about(oneOf(w, w.pools...))
			list = append(list, both(a, b), either(a, negated(b)))
		}
	}
	return list
}

// compare wants the rows of an exact filter from a version of the same table. It returns the scan.
func (w *whereRows) compare(ctx context.Context, c condition, of *deltacore.Table, o deltacore.ScanOptions) (*deltacore.Scan, error) {
	where, err := pruning.Parse(c.text)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.text, err)
	}
	o.Where = where
	scan, err := of.ScanSkipping(ctx, o, w.by)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", c.text, err)
	}
	got, want := everythingOf(ctx, scan), c.matching(w.rows, w.values)
	if len(w.rows) == comparedRows {
		got.rows = upToRow(got.rows, w.rows[len(w.rows)-1])
	}
	if difference := (told{rows: want, ends: got.ends}).difference(got); difference != "" {
		return nil, fmt.Errorf("%s: %s", c.text, difference)
	}
	return scan, nil
}

func upToRow(rows []placedRow, last placedRow) []placedRow {
	return slices.DeleteFunc(rows, func(r placedRow) bool {
		order := r.key.Compare(last.key)
		return order > 0 || order == 0 && r.row > last.row
	})
}

// asked counts what was compared.
type asked struct{ tables, twice, predicates int }

// comparePredicates asks a table as it lies there, and once more without the checkpoints of its log, if it can be read so.
func comparePredicates(ctx context.Context, uri string, allowed []string) (n asked, err error) {
	w, err := readForWhere(ctx, uri, deltacore.Options{AllowedExternalPaths: allowed})
	switch {
	case errors.Is(err, errRefused):
		return n, nil
	case err != nil:
		return n, err
	}
	tables := []*deltacore.Table{w.table}
	if other := withoutCheckpoints(ctx, uri, w); other != nil {
		tables = append(tables, other)
	}
	n.tables, n.twice = 1, len(tables)-1
	anySize := int64(0)
	for number, c := range w.drawn() {
		if len(w.rows) == comparedRows && number%4 > 0 {
			continue
		}
		for i, table := range tables {
			o := deltacore.ScanOptions{TargetPartitions: 1 + n.predicates%3, Repartitioning: scanplan.Always, RepartitionMinSize: &anySize}
			if _, err := w.compare(ctx, c, table, o); err != nil {
				return n, fmt.Errorf("%s: %w", []string{"as it is", "without checkpoints"}[i], err)
			}
			n.predicates++
		}
	}
	return n, nil
}

// withoutCheckpoints opens the table from its commits alone; nil where it has no checkpoint or not all commits.
func withoutCheckpoints(ctx context.Context, uri string, w *whereRows) *deltacore.Table {
	if checkpoints, _ := filepath.Glob(filepath.Join(uri, "_delta_log", "*.checkpoint*")); len(checkpoints) == 0 {
		return nil
	}
	store := storage.NewMemory()
	if err := store.CopyFS("", os.DirFS(uri)); err != nil {
		return nil
	}
	for e, err := range store.List(ctx, "_delta_log", "") {
		if err != nil {
			return nil
		}
		if strings.Contains(e.Path, ".checkpoint") || strings.HasSuffix(e.Path, "_last_checkpoint") {
			store.Delete(e.Path)
		}
	}
	other, err := readForWhere(ctx, "/without", deltacore.Options{Store: store})
	if err != nil || !slices.Equal(w.rows, other.rows) {
		return nil
	}
	return other.table
}

// TestCorporaGiveTheRowsOfAnExactFilter asks the newest version of all tables in DELTA_CORPORA.
func TestCorporaGiveTheRowsOfAnExactFilter(t *testing.T) {
	var entries []entry
	var mu sync.Mutex
	var all asked
	eachCorporaTable(t, func(folder, path, table string) {
		entries = append(entries, entry{path, func(ctx context.Context) error {
			n, err := comparePredicates(ctx, table, []string{folder})
			mu.Lock()
			defer mu.Unlock()
			all = asked{all.tables + n.tables, all.twice + n.twice, all.predicates + n.predicates}
			return err
		}})
	})
	for i, err := range runEntries(entries) {
		if err != nil {
			t.Errorf("%s: %v", entries[i].id, err)
		}
	}
	if all.predicates == 0 {
		t.Error("no table was asked anything")
	}
	t.Logf("%d predicates on %d of %d tables, %d of them without their checkpoints, too", all.predicates, all.tables, len(entries), all.twice)
}

// TestCorporaSkipWhatTheyAreKnownToLetSkip asks what the notes about the tables say.
func TestCorporaSkipWhatTheyAreKnownToLetSkip(t *testing.T) {
	for _, folder := range corporaFolders(t) {
		for _, c := range []struct {
			paths, where string
			files, rows  int
		}{
			{"*/data-skipping-partition-and-data-column", "part > 0 AND id > 0", 1, 1},
			{"*/data-skipping-partition-and-data-column/delta", "part > 0 AND id > 0", 1, 1},
			{"kernel-rs/*-struct-stats-only", "id > 3", 2, 2},
		} {
			for _, dir := range glob(t, filepath.Join(folder, c.paths)) {
				if _, err := os.Stat(filepath.Join(dir, "_delta_log")); err != nil {
					continue
				}
				table, err := deltacore.Open(t.Context(), dir, deltacore.Options{})
				check(t, err)
				scan, err := table.Scan(t.Context(), deltacore.ScanOptions{Where: parsed(t, c.where)})
				check(t, err)
				rows, err := countRows(t.Context(), scan)
				if err != nil || rows != c.rows || scan.Files() > c.files {
					t.Errorf("%s, %s: want %d rows of %d files, got %d of %d, %v", dir, c.where, c.rows, c.files, rows, scan.Files(), err)
				}
			}
		}
	}
}

// TestFormsOfStatisticsGiveTheSameRows, and let skip the same files (protocol C5).
func TestFormsOfStatisticsGiveTheSameRows(t *testing.T) {
	forms := map[string]func(*deltatest.Table){
		"commits":            func(*deltatest.Table) {},
		"checkpoint, JSON":   func(t *deltatest.Table) { t.CheckpointWith(deltatest.CheckpointStats{JSON: true}) },
		"checkpoint, parsed": func(t *deltatest.Table) { t.CheckpointWith(deltatest.CheckpointStats{Parsed: true}) },
		"checkpoint, both":   func(t *deltatest.Table) { t.CheckpointWith(deltatest.CheckpointStats{JSON: true, Parsed: true}) },
		"checkpoint, none":   func(t *deltatest.Table) { t.CheckpointWith(deltatest.CheckpointStats{}) },
	}
	var first *whereRows
	tables := map[string]*deltacore.Table{}
	for name, checkpoint := range forms {
		source := everyTypeTable()
		checkpoint(source)
		store := storage.NewMemory()
		source.CopyTo(store.PutAt)
		w, err := readForWhere(t.Context(), at, deltacore.Options{Store: store})
		check(t, err)
		if first == nil {
			first = w
		}
		tables[name] = w.table
	}
	skipped := 0
	for i, c := range first.drawn() {
		if i%3 > 0 {
			continue
		}
		files := map[string]int{}
		for name, table := range tables {
			scan, err := first.compare(t.Context(), c, table, deltacore.ScanOptions{})
			check(t, err)
			files[name] = scan.Files()
			skipped += int(scan.Skipped().Files())
		}
		if a := files["commits"]; a != files["checkpoint, JSON"] || a != files["checkpoint, parsed"] || a != files["checkpoint, both"] || a > files["checkpoint, none"] {
			t.Errorf("%s: want as many files read with every form of statistics, and not fewer without, got %v", c.text, files)
		}
	}
	if skipped == 0 {
		t.Error("want files skipped")
	}
}

// everyTypeTable has a column of every type, in files that hold other values.
func everyTypeTable() *deltatest.Table {
	columns := deltatest.Columns("p date", "p2 decimal(12,3)")
	r := &randomTable{leaves: map[string]randomLeaf{"p": {style: 0, spread: 3}, "p2": {style: 0, spread: 3, nulls: 3}}, random: rand.New(rand.NewPCG(8, 9))}
	for i, kind := range leafKinds {
		name := fmt.Sprint("c", i)
		columns.Fields = append(columns.Fields, deltatest.Columns(name+" "+kind.now).Fields...)
		r.leaves[name] = randomLeaf{style: i, spread: 4, nulls: oneStyle(i, 0, 5)}
	}
	columns.Fields = append(columns.Fields, deltatest.Columns("s struct<x:long,y:struct<z:timestamp>>").Fields...)
	r.leaves["s/x"], r.leaves["s/y/z"] = randomLeaf{spread: 4}, randomLeaf{spread: 4, nulls: 9}
	r.Table = deltatest.New(columns, deltatest.Options{
		Protocol: deltatest.Features("deletionVectors", "timestampNtz"), PartitionColumns: []string{"p", "p2"},
	})
	for range 3 {
		adds := r.Append(deltatest.Rows(columns, r.rows(columns, 6)...))
		r.files++
		r.DeleteRows(adds[0], 0)
	}
	return r.Table
}
