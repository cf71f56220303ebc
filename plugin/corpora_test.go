package plugin_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"math/big"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	_ "github.com/benthosdev/benthos/v4/public/components/io"
	_ "github.com/benthosdev/benthos/v4/public/components/pure"
	"github.com/benthosdev/benthos/v4/public/service"

	"github.com/benthos-delta/benthos-delta/plugin"
)

// corporaVariable names folders of tables with expected rows, separated as in PATH, relative to the module root.
const corporaVariable = "DELTA_CORPORA"

// streamed are public tables that differ in what it takes to read them.
var streamed = []string{
	"basic-decimal-table",               // decimals, also in partition values
	"basic-with-inserts-merge",          // many commits that rewrite files
	"data-reader-map",                   // maps with keys of every kind
	"data-reader-timestamp_ntz-id-mode", // columns found by id, timestamps without a zone
	"dv-partitioned-with-checkpoint",    // deletion vectors
	"dv-with-columnmapping",             // deletion vectors, and columns found by name
	"kernel-timestamp-int96",            // timestamps of old writers
	"multi-part-checkpoint",
	"parquet-all-types", // all types, nested, with nulls
	"v2-checkpoint-parquet",
}

func TestCorporaStreamThroughAPipelineIntoAFile(t *testing.T) {
	folder := goldenFolder(t)
	expected := expectedRows(t, folder)
	for _, name := range streamed {
		t.Run(name, func(t *testing.T) {
			table := filepath.Join("kernel-rs-golden", name, "delta")
			lines, ok := expected[filepath.ToSlash(table)]
			if !ok {
				t.Fatalf("expected.json has no rows for %s", table)
			}
			want := canonicalRows(t, filepath.Join(folder, lines))
			got := canonicalRows(t, streamToFile(t, filepath.Join(folder, table)))
			if !slices.Equal(want, got) {
				t.Errorf("want %d rows\n%s\ngot %d\n%s", len(want), strings.Join(want, "\n"), len(got), strings.Join(got, "\n"))
			}
		})
	}
}

// goldenFolder is the folder of the corpora that holds the streamed tables.
func goldenFolder(t *testing.T) string {
	t.Helper()
	list := os.Getenv(corporaVariable)
	if list == "" {
		t.Skipf("%s is not set: no public tables to stream", corporaVariable)
	}
	for _, folder := range filepath.SplitList(list) {
		if !filepath.IsAbs(folder) {
			folder = filepath.Join(root, folder)
		}
		if _, err := os.Stat(folder); err != nil {
			t.Fatalf("%s: %v", corporaVariable, err)
		}
		if _, err := os.Stat(filepath.Join(folder, "kernel-rs-golden")); err == nil {
			absolute, err := filepath.Abs(folder)
			if err != nil {
				t.Fatal(err)
			}
			return absolute
		}
	}
	t.Skipf("no folder of %s holds kernel-rs-golden", corporaVariable)
	return ""
}

// expectedRows maps the tables to the files of the rows of their latest versions.
func expectedRows(t *testing.T, folder string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(folder, "expected.json"))
	if err != nil {
		t.Fatal(err)
	}
	var entries []struct {
		Path          string `json:"path"`
		Version       *int64 `json:"version"`
		ExpectedJSONL string `json:"expected_jsonl"`
	}
	if err := json.Unmarshal(text, &entries); err != nil {
		t.Fatal(err)
	}
	files := map[string]string{}
	for _, e := range entries {
		if e.Version == nil && e.ExpectedJSONL != "" {
			files[e.Path] = e.ExpectedJSONL
		}
	}
	return files
}

// streamToFile runs a pipeline from the table to a file of lines, with the engine's own output, to its end.
func streamToFile(t *testing.T, table string) string {
	t.Helper()
	file := filepath.Join(t.TempDir(), "rows.ndjson")
	builder := service.NewStreamBuilder()
	err := builder.SetYAML(fmt.Sprintf(
		"input: { delta_lake: { uri: %q } }\noutput: { file: { path: %q, codec: lines } }\nlogger: { level: 'OFF' }\n", table, file))
	if err != nil {
		t.Fatal(err)
	}
	stream, err := builder.Build()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := stream.Run(ctx); err != nil {
		t.Fatal(err)
	}
	if err := plugin.Failure(); err != nil {
		t.Fatal(err)
	}
	return file
}

// canonicalRows reads lines of JSON, sorted, in a form in which equal rows are equal texts.
func canonicalRows(t *testing.T, file string) []string {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var rows []string
	for line := range bytes.Lines(text) {
		d := json.NewDecoder(bytes.NewReader(line))
		d.UseNumber()
		var row any
		if err := d.Decode(&row); err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		canonical, err := json.Marshal(canonical(row))
		if err != nil {
			t.Fatal(err)
		}
		rows = append(rows, string(canonical))
	}
	slices.Sort(rows)
	return rows
}

var (
	decimal = regexp.MustCompile(`^-?(0|[1-9]\d*)(\.\d+)?(e[+-]\d+)?$`)
	second  = regexp.MustCompile(`^(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d)\.(\d+)(Z?)$`) // with a fraction
)

// canonical rewrites what the two writers of rows spell differently: the zeros at the end of a fraction, numbers, and maps,
// which the expected rows always hold as a list of entries.
func canonical(value any) any {
	switch value := value.(type) {
	case json.Number:
		if n, ok := new(big.Rat).SetString(value.String()); ok {
			return "number " + n.RatString()
		}
	case string:
		if n, ok := new(big.Rat).SetString(value); ok && decimal.MatchString(value) {
			return n.RatString()
		}
		if m := second.FindStringSubmatch(value); m != nil {
			return strings.TrimSuffix(m[1]+"."+strings.TrimRight(m[2], "0"), ".") + m[3]
		}
	case map[string]any:
		for k, v := range value {
			value[k] = canonical(v)
		}
	case []any:
		for i, v := range value {
			value[i] = canonical(v)
		}
		return asMap(value)
	}
	return value
}

// asMap turns a list of entries into an object by the texts of their keys; any other list stays as it is.
func asMap(list []any) any {
	entries := map[string]any{}
	for _, e := range list {
		entry, ok := e.(map[string]any)
		if !ok || len(entry) != 2 || entry["key"] == nil {
			return list
		}
		entries[fmt.Sprint(entry["key"])] = entry["value"]
	}
	if len(list) == 0 {
		return list
	}
	return entries
}
