package deltatest

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/pqarrow"
	"github.com/go-json-experiment/json"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
)

var orderColumns = Columns("id long not null", "country string", "amount decimal(10,2)", "tags map<string,string>",
	"items array<struct<sku:string,quantity:integer>>")

func partitioned() *Table {
	t := New(orderColumns, Options{PartitionColumns: []string{"country"}})
	t.Append(Rows(orderColumns,
		`{"id": 1, "country": "NL", "amount": "9.90", "tags": {"b": "2", "a": "1"}, "items": [{"sku": "x", "quantity": 2}]}`,
		`{"id": 2, "country": "DE", "amount": "-0.05"}`,
		`{"id": 3, "country": "NL", "items": []}`,
		`{"id": 4, "amount": "1.00"}`))
	return t
}

func TestSameCallsGiveSameBytes(t *testing.T) {
	a, b := partitioned(), partitioned()
	a.Checkpoint()
	b.Checkpoint()
	if !maps.EqualFunc(a.Files(), b.Files(), bytes.Equal) {
		t.Error("two tables built by the same calls differ")
	}
}

func TestAppendWritesOneFilePerPartitionValue(t *testing.T) {
	table := partitioned()
	var dirs []string
	for _, add := range table.Active() {
		dirs = append(dirs, filepath.Dir(add.Path))
	}
	want := []string{"country=DE", "country=NL", "country=__HIVE_DEFAULT_PARTITION__"}
	if !slices.Equal(want, dirs) {
		t.Errorf("directories: want %q, got %q", want, dirs)
	}
	nl := table.Active()[1]
	if v := nl.PartitionValues["country"]; v == nil || *v != "NL" {
		t.Errorf("partition value: want NL, got %v", v)
	}
	got := readJSON(t, table.Files()[nl.Path])
	wantRows := `[{"amount":"9.9","id":1,"items":[{"quantity":2,"sku":"x"}],"tags":[{"key":"a","value":"1"},{"key":"b","value":"2"}]}` + "\n" +
		`,{"amount":null,"id":3,"items":[],"tags":null}` + "\n]"
	if strings.TrimSpace(got) != wantRows {
		t.Errorf("rows of NL: want\n%s\ngot\n%s", wantRows, got)
	}
}

func TestFirstCommitBringsProtocolAndMetadata(t *testing.T) {
	table := New(Columns("id long"), Options{})
	table.Commit()
	got := lineNames(t, table.Files()[CommitPath(0)])
	if want := []string{"commitInfo", "protocol", "metaData"}; !slices.Equal(want, got) {
		t.Errorf("want %q, got %q", want, got)
	}
	table.Commit(Raw(`{"add":`))
	if lines := string(table.Files()[CommitPath(1)]); !strings.HasSuffix(lines, "}\n{\"add\":\n") {
		t.Errorf("a raw line is not last as given: %q", lines)
	}
}

func TestCheckpointHoldsWhatCommitsAddUpTo(t *testing.T) {
	table := partitioned()
	table.Delete(table.Active()[0])
	table.Commit(Txn(action.Txn{AppID: "loader", Version: 7}))
	table.CheckpointParts(2)
	var all string
	for part := 1; part <= 2; part++ {
		all += readJSON(t, table.Files()[CheckpointPartPath(2, part, 2)])
	}
	for text, want := range map[string]int{
		`"path":"country=NL/`: 1, `"path":"country=DE/`: 1, `"deletionTimestamp":1714550460000`: 1,
		`"appId":"loader"`: 1, `"minReaderVersion":1`: 1, `{"key":"country","value":"NL"}`: 1,
	} {
		if got := strings.Count(all, text); got != want {
			t.Errorf("checkpoint has %s %d times, want %d\n%s", text, got, want, all)
		}
	}
	if want, got := `{"version":2,"size":6,"parts":2}`, string(table.Files()[HintPath]); want != got {
		t.Errorf("hint: want %s, got %s", want, got)
	}
}

func TestStatsAreBoundsOfEachColumn(t *testing.T) {
	columns := Columns("n integer", "d date", "at timestamp", "f double", "s string", "m decimal(20,3)", "b boolean",
		"in struct<x:long>", "none long")
	long := strings.Repeat("é", 40)
	got := Stats(Rows(columns,
		`{"n": 3, "d": "2024-02-29", "at": "2024-02-29T01:02:03.456789Z", "f": 1.5, "s": "`+long+`", "m": "1.50", "b": true, "in": {"x": 1}}`,
		`{"n": -3, "d": "1999-12-31", "at": "2024-02-29T01:02:03.456999Z", "f": -2, "s": "a", "m": "-7.001", "in": {"x": 9}}`,
		`{}`))
	want := `{"numRecords":3,` +
		`"minValues":{"at":"2024-02-29T01:02:03.456Z","d":"1999-12-31","f":-2,"in":{"x":1},"m":-7.001,"n":-3,"s":"a"},` +
		`"maxValues":{"at":"2024-02-29T01:02:03.456Z","d":"2024-02-29","f":1.5,"in":{"x":9},"m":1.500,"n":3,"s":"` + strings.Repeat("é", 32) + "\U0010ffff" + `"},` +
		`"nullCount":{"at":1,"b":2,"d":1,"f":1,"in":{"x":1},"m":1,"n":1,"none":3,"s":1}}`
	if want != got {
		t.Errorf("want %s\ngot  %s", want, got)
	}
}

func TestPathsAreEscapedForDirectoryAndLog(t *testing.T) {
	columns := Columns("id long", "p string")
	table := New(columns, Options{PartitionColumns: []string{"p"}})
	add := table.Append(Rows(columns, `{"id": 1, "p": "a/b c%"}`))[0]
	if !strings.HasPrefix(add.Path, "p=a%252Fb%20c%2525/part-") {
		t.Errorf("path in the log: %s", add.Path)
	}
	for path := range table.Files() {
		if !strings.HasPrefix(path, "_delta_log/") && !strings.HasPrefix(path, "p=a%2Fb c%25/part-") {
			t.Errorf("path of the file: %s", path)
		}
	}
}

func TestWriteDirKeepsCommitTimes(t *testing.T) {
	table, dir := partitioned(), t.TempDir()
	if err := table.WriteDir(dir); err != nil {
		t.Fatal(err)
	}
	info, err := os.Stat(filepath.Join(dir, CommitPath(0)))
	if err != nil {
		t.Fatal(err)
	}
	if want := table.CommitTime(0); !info.ModTime().Equal(want) {
		t.Errorf("modification time: want %v, got %v", want, info.ModTime())
	}
}

func TestDamageTouchesOneFileOnly(t *testing.T) {
	table, whole := partitioned(), partitioned()
	table.Checkpoint()
	whole.Checkpoint()
	data := table.Active()[0].Path
	table.Truncate(CheckpointPath(0), 0)
	table.Truncate(data, -10)
	table.Drop(CommitPath(0))
	table.Skip()
	table.CommitBytes(nil)
	var changed []string
	for path, content := range whole.Files() {
		if got, ok := table.Files()[path]; !ok || !bytes.Equal(content, got) {
			changed = append(changed, path)
		}
	}
	slices.Sort(changed)
	if want := []string{CheckpointPath(0), CommitPath(0), data}; !slices.Equal(want, changed) {
		t.Errorf("changed files: want %q, got %q", want, changed)
	}
	if got := len(table.Files()[data]); got != len(whole.Files()[data])-10 {
		t.Errorf("a file cut by 10 bytes has %d of %d", got, len(whole.Files()[data]))
	}
	if _, ok := table.Files()[CommitPath(2)]; !ok || table.Version() != 2 {
		t.Errorf("the commit after the gap is not version 2 but %d", table.Version())
	}
}

func TestOverwriteLeavesOnlyTheNewFiles(t *testing.T) {
	table := partitioned()
	adds := table.Overwrite(Rows(orderColumns, `{"id": 9, "country": "SE"}`))
	if got := table.Active(); len(got) != 1 || got[0].Path != adds[0].Path {
		t.Errorf("active files: want %v, got %v", adds, got)
	}
	names := lineNames(t, table.Files()[CommitPath(1)])
	if want := []string{"commitInfo", "remove", "remove", "remove", "add"}; !slices.Equal(want, names) {
		t.Errorf("lines: want %q, got %q", want, names)
	}
}

func TestCopyToGivesPathsContentsAndTimes(t *testing.T) {
	table := partitioned()
	got := map[string][]byte{}
	table.CopyTo(func(path string, content []byte, modified time.Time) {
		got[path] = content
		if !modified.Equal(table.CommitTime(0)) {
			t.Errorf("%s: time %v", path, modified)
		}
	})
	if !maps.EqualFunc(table.Files(), got, bytes.Equal) {
		t.Error("the copy differs")
	}
}

func TestParquetOptionsReachTheFile(t *testing.T) {
	columns := Columns("id long", "at timestamp", "m decimal(9,2)")
	record := Rows(columns, `{"id": 1, "at": "2024-01-01T00:00:00Z", "m": "1.25"}`, `{"id": 2}`, `{"id": 3}`)
	content := Parquet{
		Codec: "ZSTD", RowGroupRows: 2, PageVersion: 2, INT96: true, WideDecimals: true, PageIndex: true,
		Encodings: map[string]string{"id": "DELTA_BINARY_PACKED"}, KeyValue: map[string]string{"k": "v"},
	}.File(record)
	r, err := file.NewParquetReader(bytes.NewReader(content))
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	id, err := r.MetaData().RowGroup(0).ColumnChunk(0)
	if err != nil {
		t.Fatal(err)
	}
	got := []any{
		r.NumRowGroups(), r.MetaData().Schema.Column(1).PhysicalType(), r.MetaData().Schema.Column(2).PhysicalType(),
		id.Compression().String(), slices.Contains(id.Encodings(), parquet.Encodings.DeltaBinaryPacked),
		*r.MetaData().KeyValueMetadata().FindValue("k"),
	}
	want := []any{2, parquet.Types.Int96, parquet.Types.FixedLenByteArray, "ZSTD", true, "v"}
	if !slices.Equal(want, got) {
		t.Errorf("want %v, got %v", want, got)
	}
}

func readJSON(t *testing.T, content []byte) string {
	t.Helper()
	table, err := pqarrow.ReadTable(t.Context(), bytes.NewReader(content), nil, pqarrow.ArrowReadProperties{}, memory.DefaultAllocator)
	if err != nil {
		t.Fatal(err)
	}
	defer table.Release()
	reader := array.NewTableReader(table, 0)
	defer reader.Release()
	var text strings.Builder
	for reader.Next() {
		b, err := reader.RecordBatch().MarshalJSON()
		if err != nil {
			t.Fatal(err)
		}
		text.Write(b)
	}
	return text.String()
}

func lineNames(t *testing.T, commit []byte) []string {
	t.Helper()
	var names []string
	for line := range bytes.Lines(commit) {
		var body map[string]any
		if err := json.Unmarshal(line, &body); err != nil {
			t.Fatal(err)
		}
		names = append(names, slices.Collect(maps.Keys(body))...)
	}
	return names
}
