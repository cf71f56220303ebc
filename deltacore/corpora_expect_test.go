package deltacore_test

import (
	"bufio"
	"compress/gzip"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// errWrongAnswer marks a check that got rows or a success where it should not have: no list of open entries excuses it.
var errWrongAnswer = errors.New("wrong answer")

func wrong(format string, args ...any) error {
	return fmt.Errorf("%w: %w", errWrongAnswer, fmt.Errorf(format, args...))
}

// expectation is an element of expected.json, in either of its two forms.
type expectation struct {
	Path string `json:"path"`

	// One statement an element.
	Version       *int64          `json:"version"`
	LatestVersion *int64          `json:"latest_version"`
	Rows          *int64          `json:"rows"`
	Files         *int            `json:"files"`
	FilesWithDV   int             `json:"files_with_dv"`
	Values        *valueList      `json:"values"`
	Values2       *valueList      `json:"values2"`
	ExpectedJSONL string          `json:"expected_jsonl"`
	ExpectError   json.RawMessage `json:"expect_error"` // a text here, a list in a history
	CDF           json.RawMessage `json:"cdf"`
	LogTail       []string        `json:"log_tail"`

	// A history: many statements about one table.
	Kind               string           `json:"kind"`
	Snapshots          []snapshotAnswer `json:"snapshots"`
	Commits            []commitAnswer   `json:"commits"`
	Steps              []stepAnswer     `json:"steps"`
	RowTracking        []rowIDAnswer    `json:"row_tracking"`
	InCommitTimestamps map[int64]string `json:"in_commit_timestamps"`
	AsOfTimestamp      []asOfAnswer     `json:"as_of_timestamp"`
}

type asOfAnswer struct {
	Timestamp string `json:"timestamp"`
	Version   int64  `json:"version"`
	Rows      int    `json:"rows"`
}

type rowIDAnswer struct {
	Version int64  `json:"version"`
	Rows    int    `json:"rows"`
	JSONL   string `json:"jsonl"`
}

type snapshotAnswer struct {
	Version     int64  `json:"version"`
	Rows        int64  `json:"rows"`
	SortedJSONL string `json:"sorted_jsonl"`
}

type errorAnswer struct {
	Meaning  string   `json:"meaning"`
	Version  *int64   `json:"version"`
	CDF      []int64  `json:"cdf"`
	MustName []string `json:"must_name"`
}

type changesAnswer struct {
	Start int64  `json:"start"`
	End   *int64 `json:"end"`
}

func readExpectations(t *testing.T, folder string) ([]entry, error) {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "expected.json"))
	if err != nil {
		return nil, err
	}
	var list []expectation
	if err := json.Unmarshal(text, &list); err != nil {
		return nil, err
	}
	var entries []entry
	for _, x := range list {
		c := corpus{folder: folder, table: materialize(t, filepath.Join(folder, x.Path))}
		found := c.statement(x)
		if x.Kind != "" {
			found = c.history(t, x)
		}
		for _, e := range found {
			e.id = filepath.Base(folder) + "/" + x.Path + e.id
			entries = append(entries, e)
		}
	}
	return distinct(entries), nil
}

// distinct numbers entries that say the same about the same version.
func distinct(entries []entry) []entry {
	seen := map[string]int{}
	for i, e := range entries {
		seen[e.id]++
		if n := seen[e.id]; n > 1 {
			entries[i].id = fmt.Sprintf("%s#%d", e.id, n)
		}
	}
	return entries
}

// corpus makes the checks of one table.
type corpus struct{ folder, table string }

// options allows the tables of a folder to point to each other, as clones do.
func (c corpus) options(o deltacore.Options) deltacore.Options {
	o.AllowedExternalPaths = []string{c.folder}
	return o
}

func (c corpus) statement(x expectation) []entry {
	id := "@latest"
	if x.Version != nil {
		id = fmt.Sprintf("@%d", *x.Version)
	}
	switch {
	case x.LogTail != nil:
		return []entry{{id + "+log_tail", notYet("a log tail supplied by a catalog")}}
	case x.CDF != nil:
		return []entry{{id + "+cdf", notYet("the change data feed")}}
	case x.ExpectError != nil:
		return []entry{{id, c.fails(x.Version, nil)}}
	default:
		return []entry{{id, c.reads(x)}}
	}
}

func (c corpus) history(t *testing.T, x expectation) []entry {
	t.Helper()
	var entries []entry
	for _, s := range x.Snapshots {
		entries = append(entries, entry{fmt.Sprintf("@%d", s.Version), c.readsExactly(s)})
	}
	var failures []errorAnswer
	unmarshal(t, x.ExpectError, &failures)
	for _, f := range failures {
		entries = append(entries, c.failure(f))
	}
	var changes []changesAnswer
	unmarshal(t, x.CDF, &changes)
	for _, f := range changes {
		entries = append(entries, entry{fmt.Sprintf("+cdf-%d", f.Start), notYet("the change data feed")})
	}
	if len(x.Steps) > 0 {
		for policy := range livePolicies {
			entries = append(entries, entry{"+live-" + policy, c.follows(policy, x.Steps)})
		}
	}
	if len(x.Commits) > 0 {
		entries = append(entries, entry{"+commits", c.commits(x)})
	}
	for _, r := range x.RowTracking {
		entries = append(entries, entry{fmt.Sprintf("@%d+row_tracking", r.Version), c.tracks(r)})
	}
	for version, timestamp := range x.InCommitTimestamps {
		entries = append(entries, entry{fmt.Sprintf("@%d+ict", version), c.wasCommitted(version, timestamp)})
	}
	for _, a := range x.AsOfTimestamp {
		entries = append(entries, entry{"+as_of", c.selects(a)})
	}
	return entries
}

func unmarshal(t *testing.T, text json.RawMessage, into any) {
	t.Helper()
	if text == nil {
		return
	}
	if err := json.Unmarshal(text, into); err != nil {
		t.Fatal(err)
	}
}

func (c corpus) failure(f errorAnswer) entry {
	if f.CDF != nil {
		return entry{fmt.Sprintf("!cdf-%d", f.CDF[0]), notYet("the change data feed")}
	}
	return entry{fmt.Sprintf("!%d", *f.Version), c.fails(f.Version, f.MustName)}
}

// notYet is the check of something that this release has no means to ask for.
func notYet(what string) func(context.Context) error {
	return func(context.Context) error { return fmt.Errorf("this release does not read %s", what) }
}

// wasCommitted compares the time of a version.
func (c corpus) wasCommitted(version int64, timestamp string) func(context.Context) error {
	return func(ctx context.Context) error {
		table, err := deltacore.Open(ctx, c.table, c.options(deltacore.Options{Version: &version}))
		if err != nil {
			return err
		}
		want, err := configspec.ParseTimestamp(timestamp)
		if err == nil && !table.Timestamp().Equal(want) {
			err = wrong("want version %d committed at %v, got %v", version, want, table.Timestamp())
		}
		return err
	}
}

// selects asks for the version at a time.
func (c corpus) selects(a asOfAnswer) func(context.Context) error {
	return func(ctx context.Context) error {
		at, err := configspec.ParseTimestamp(a.Timestamp)
		if err != nil {
			return err
		}
		table, err := deltacore.Open(ctx, c.table, c.options(deltacore.Options{Timestamp: &at}))
		if err != nil {
			return err
		}
		if table.Version() != a.Version {
			return wrong("want version %d as of %s, got %d", a.Version, a.Timestamp, table.Version())
		}
		rows, err := c.rowsOf(ctx, table)
		if err == nil && len(rows.lines) != a.Rows {
			err = wrong("want %d rows as of %s, got %d", a.Rows, a.Timestamp, len(rows.lines))
		}
		return err
	}
}

// fails expects an error whose text names every string.
func (c corpus) fails(version *int64, mustName []string) func(context.Context) error {
	return func(ctx context.Context) error {
		rows, err := c.scan(ctx, version)
		if err == nil {
			return wrong("want an error, got %d rows", len(rows.lines))
		}
		for _, name := range mustName {
			if !strings.Contains(err.Error(), name) {
				return fmt.Errorf("the message does not name %q: %w", name, err)
			}
		}
		return nil
	}
}

// readsExactly compares all rows of a version with a file of expected ones, text by text.
func (c corpus) readsExactly(s snapshotAnswer) func(context.Context) error {
	return func(ctx context.Context) error {
		rows, err := c.scan(ctx, &s.Version)
		if err != nil {
			return err
		}
		want, err := readLines(filepath.Join(c.folder, s.SortedJSONL))
		if err != nil {
			return err
		}
		return compareRows(rows.columns, want, rows.lines, exactText)
	}
}

// tracks compares all rows of a version together with their ids.
func (c corpus) tracks(r rowIDAnswer) func(context.Context) error {
	return func(ctx context.Context) error {
		table, err := deltacore.Open(ctx, c.table, c.options(deltacore.Options{Version: &r.Version}))
		if err != nil {
			return err
		}
		scan, err := table.Scan(ctx, deltacore.ScanOptions{RowIDs: true})
		if err != nil {
			return err
		}
		lines, err := encodeRows(ctx, scan)
		if err != nil {
			return err
		}
		want, err := readLines(filepath.Join(c.folder, r.JSONL))
		if err != nil {
			return err
		}
		if len(want) != r.Rows {
			return wrong("want %d rows, the file of expected ones has %d", r.Rows, len(want))
		}
		return compareRows(withRowIDs(scan.Columns()), want, lines, exactText)
	}
}

// withRowIDs adds the columns that hold the ids of rows.
func withRowIDs(columns *schema.Struct) *schema.Struct {
	out := &schema.Struct{Fields: slices.Clone(columns.Fields)}
	for _, name := range []string{"_row_id", "_row_commit_version"} {
		out.Fields = append(out.Fields, schema.Field{Name: name, Type: schema.Long})
	}
	return out
}

// reads checks one statement: version, files, row count, values.
func (c corpus) reads(x expectation) func(context.Context) error {
	return func(ctx context.Context) error {
		if err := c.lists(ctx, x); err != nil || x.Rows == nil {
			return err
		}
		rows, err := c.scan(ctx, x.Version)
		if err != nil {
			return err
		}
		if int64(len(rows.lines)) != *x.Rows {
			return wrong("want %d rows, got %d", *x.Rows, len(rows.lines))
		}
		if x.ExpectedJSONL != "" {
			want, err := readLines(filepath.Join(c.folder, x.ExpectedJSONL))
			if err != nil {
				return err
			}
			return compareRows(rows.columns, want, rows.lines, equalValue)
		}
		for _, values := range []*valueList{x.Values, x.Values2} {
			if err := values.compare(rows); err != nil {
				return err
			}
		}
		return nil
	}
}

// lists opens the table and counts its active files.
func (c corpus) lists(ctx context.Context, x expectation) error {
	table, err := deltacore.Open(ctx, c.table, c.options(deltacore.Options{Version: x.Version}))
	if err != nil {
		return err
	}
	if x.LatestVersion != nil && table.Version() != *x.LatestVersion {
		return wrong("want version %d, got %d", *x.LatestVersion, table.Version())
	}
	files, vectors := 0, 0
	for f, err := range table.Files(ctx) {
		if err != nil {
			return err
		}
		files++
		if f.Add.DeletionVector != nil {
			vectors++
		}
	}
	if x.Files != nil && files != *x.Files {
		return wrong("want %d files, got %d", *x.Files, files)
	}
	if x.FilesWithDV > 0 && vectors != x.FilesWithDV {
		return wrong("want %d files with a deletion vector, got %d", x.FilesWithDV, vectors)
	}
	return nil
}

// scanned is the rows of a version as the product writes them, one JSON object a line.
type scanned struct {
	columns *schema.Struct
	lines   []string
}

func (c corpus) scan(ctx context.Context, version *int64) (scanned, error) {
	table, err := deltacore.Open(ctx, c.table, c.options(deltacore.Options{Version: version}))
	if err != nil {
		return scanned{}, err
	}
	return c.rowsOf(ctx, table)
}

func (c corpus) rowsOf(ctx context.Context, table *deltacore.Table) (scanned, error) {
	scan, err := table.Scan(ctx, deltacore.ScanOptions{})
	if err != nil {
		return scanned{}, err
	}
	lines, err := encodeRows(ctx, scan)
	return scanned{scan.Columns(), lines}, err
}

// readLines reads the lines of a text file, or of its compressed form.
func readLines(path string) ([]string, error) {
	file, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	var text io.Reader = file
	if strings.HasSuffix(path, ".gz") {
		if text, err = gzip.NewReader(file); err != nil {
			return nil, err
		}
	}
	lines := bufio.NewScanner(text)
	lines.Buffer(nil, 1<<30)
	var all []string
	for lines.Scan() {
		all = append(all, lines.Text())
	}
	return all, lines.Err()
}

// compareRows compares two sets of rows without regard to order.
func compareRows(columns *schema.Struct, want, got []string, form canonicalForm) error {
	wanted, err := canonicalLines(columns, want, form)
	if err != nil {
		return err
	}
	found, err := canonicalLines(columns, got, form)
	if err != nil {
		return err
	}
	return firstDifference(wanted, found)
}

func firstDifference(want, got []string) error {
	slices.Sort(want)
	slices.Sort(got)
	for i := range min(len(want), len(got)) {
		if want[i] != got[i] {
			return wrong("row %d of %d in sorted order\nwant %s\ngot  %s", i+1, len(want), want[i], got[i])
		}
	}
	if len(want) != len(got) {
		return wrong("want %d rows, got %d", len(want), len(got))
	}
	return nil
}
