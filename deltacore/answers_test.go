package deltacore_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/input/encode"
	"github.com/benthos-delta/benthos-delta/testdata/tables"
)

// way is one of the ways to the same answer.
type way struct {
	workers    int
	batchRows  int64
	memory     bool // the table lies in memory
	structured bool // rows are plain values instead of text
}

var ways = []way{
	{workers: 1},
	{workers: 2, batchRows: 100},
	{workers: 7, batchRows: 1000},
	{workers: 1, memory: true, batchRows: 7},
	{workers: 7, memory: true},
	{workers: 2, structured: true},
	{workers: 7, memory: true, structured: true, batchRows: 333},
}

// answerRows bounds what is read of a table. It is above the size at which a limit makes one worker enough.
const answerRows = 10_000

// answer is the rows of a table, in the order in which they come, as JSON with sorted keys and numbers by their value; or
// what kind of error there is.
type answer struct {
	rows []string
	kind string
}

func (w way) ask(ctx context.Context, table string, allowed []string) (answer, error) {
	o := deltacore.Options{AllowedExternalPaths: allowed}
	if w.memory {
		store := storage.NewMemory()
		if err := store.CopyFS("", os.DirFS(table)); err != nil {
			return answer{}, err
		}
		o.Store = store
	}
	rows, err := w.read(ctx, table, o)
	if err != nil {
		return answer{kind: fmt.Sprint(deltaerr.KindOf(err))}, nil
	}
	for i, row := range rows {
		values, err := decodeRow(row)
		if err != nil {
			return answer{}, err
		}
		text, err := json.Marshal(canonicalJSON(values))
		if err != nil {
			return answer{}, err
		}
		rows[i] = string(text)
	}
	return answer{rows: rows}, nil
}

func (w way) read(ctx context.Context, uri string, o deltacore.Options) ([]string, error) {
	table, err := deltacore.Open(ctx, uri, o)
	if err != nil {
		return nil, err
	}
	limit := int64(answerRows)
	scan, err := table.Scan(ctx, deltacore.ScanOptions{TargetPartitions: w.workers, BatchRows: w.batchRows, Limit: &limit})
	if err != nil {
		return nil, err
	}
	if w.structured {
		return structuredRows(ctx, scan)
	}
	return encodeRows(ctx, scan)
}

// structuredRows reads a scan to its end as plain values, and writes those as JSON.
func structuredRows(ctx context.Context, scan *deltacore.Scan) ([]string, error) {
	encoder, err := newEncoder(scan)
	if err != nil {
		return nil, err
	}
	var lines []string
	for batch, err := range scan.Batches(ctx) {
		if err != nil {
			return nil, err
		}
		rows, err := encoder.Structured(batch.Record, encode.Part{})
		batch.Record.Release()
		if err != nil {
			return nil, err
		}
		for _, row := range rows.Rows {
			text, err := json.Marshal(row)
			if err != nil {
				return nil, err
			}
			lines = append(lines, string(text))
		}
	}
	return lines, nil
}

// sameAnswers asks for the rows of a table in every way.
func sameAnswers(ctx context.Context, table string, allowed []string) (rows int, err error) {
	want, err := ways[0].ask(ctx, table, allowed)
	if err != nil {
		return 0, err
	}
	for _, w := range ways[1:] {
		got, err := w.ask(ctx, table, allowed)
		if err != nil {
			return 0, err
		}
		if want.kind != got.kind || len(want.rows) != len(got.rows) {
			return 0, fmt.Errorf("%+v: want %d rows or a %s error, got %d or %s", w, len(want.rows), want.kind, len(got.rows), got.kind)
		}
		for i := range want.rows {
			if want.rows[i] != got.rows[i] {
				return 0, fmt.Errorf("%+v: row %d\nwant %s\ngot  %s", w, i, want.rows[i], got.rows[i])
			}
		}
	}
	return len(want.rows), sameInDivisions(ctx, table, deltacore.Options{AllowedExternalPaths: allowed})
}

// sameInDivisions reads the version that is there in all ways to divide the work.
func sameInDivisions(ctx context.Context, uri string, o deltacore.Options) error {
	table, err := deltacore.Open(ctx, uri, o)
	if err == nil {
		_, err = table.Scan(ctx, deltacore.ScanOptions{})
	}
	if err != nil {
		return nil //nolint:nilerr // it is refused in every way
	}
	limit := int64(answerRows)
	return sameInEveryDivision(ctx, table, deltacore.ScanOptions{Limit: &limit})
}

func TestSampleTableHasTheSameRowsInEveryWay(t *testing.T) {
	dir := t.TempDir()
	check(t, os.CopyFS(dir, tables.Orders()))
	rows, err := sameAnswers(t.Context(), dir, nil)
	if err != nil || rows != tables.OrdersRows {
		t.Errorf("want %d rows, got %d, %v", tables.OrdersRows, rows, err)
	}
}

// eachCorporaTable visits each table in DELTA_CORPORA once: its folder, its path there and where it can be read.
func eachCorporaTable(t *testing.T, visit func(folder, path, table string)) {
	t.Helper()
	for _, folder := range corporaFolders(t) {
		var list []expectation
		unmarshal(t, []byte(readFile(t, filepath.Join(folder, "expected.json"))), &list)
		seen := map[string]bool{}
		for _, x := range list {
			if seen[x.Path] || strings.Contains(x.Path, "..") {
				continue
			}
			seen[x.Path] = true
			visit(folder, x.Path, materialize(t, filepath.Join(folder, x.Path)))
		}
	}
}

// TestCorporaHaveTheSameRowsInEveryWay reads the newest version of all tables in DELTA_CORPORA.
func TestCorporaHaveTheSameRowsInEveryWay(t *testing.T) {
	var entries []entry
	eachCorporaTable(t, func(folder, path, table string) {
		entries = append(entries, entry{path, func(ctx context.Context) error {
			_, err := sameAnswers(ctx, table, []string{folder})
			return err
		}})
	})
	for i, err := range runEntries(entries) {
		if err != nil {
			t.Errorf("%s: %v", entries[i].id, err)
		}
	}
}
