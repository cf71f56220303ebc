package deltalog

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

func uuidPath(version int64, ext string) string {
	return fmt.Sprintf("%s/%020d.checkpoint.%s.%s", logDir, version, someUUID, ext)
}

// v2Table is a table whose version 2 has a V2 checkpoint with two sidecars in the given form, and whose commits below
// it are gone.
func v2Table(form string) map[string][]byte {
	one, two := manifest(addLine("a"), addLine("b")), manifest(addLine("c"))
	lines := []string{
		`{"checkpointMetadata":{"version":2}}`, protocolLine, metadataLine,
		sidecarLine("one.parquet", len(one)), sidecarLine("two%20.parquet", len(two)),
	}
	files := map[string][]byte{
		commitPath(2):                       []byte(`{"commitInfo":{}}`),
		commitPath(3):                       []byte(`{"remove":{"path":"b","dataChange":true}}` + "\n" + addLine("d")),
		"_delta_log/_sidecars/one.parquet":  one,
		"_delta_log/_sidecars/two .parquet": two,
	}
	switch form {
	case "json":
		files[uuidPath(2, "json")] = []byte(strings.Join(lines, "\n"))
	case "parquet":
		files[uuidPath(2, "parquet")] = manifest(lines...)
	case "classic":
		files[deltatest.CheckpointPath(2)] = manifest(lines...)
	}
	return files
}

// TestSidecarsAreReadWhateverTheManifestsForm covers C2 and C3.
func TestSidecarsAreReadWhateverTheManifestsForm(t *testing.T) {
	for _, form := range []string{"json", "parquet", "classic"} {
		l := newLog(v2Table(form))
		wantFiles(t, l, 2, "a", "b", "c")
		wantFiles(t, l, latest, "a", "c", "d")
		s, err := l.load(latest)
		if err != nil || s.Metadata.ID != "t" || s.Protocol.MinReaderVersion != 3 {
			t.Errorf("%s: got %+v, %v", form, s, err)
		}
	}
}

// TestManifestMayHoldItsAddsItself covers C2 and C3.
func TestManifestMayHoldItsAddsItself(t *testing.T) {
	lines := []string{`{"checkpointMetadata":{"version":0}}`, protocolLine, metadataLine}
	for i := range 1000 {
		lines = append(lines, addLine(fmt.Sprintf("f%04d", i)))
	}
	text := []byte(strings.Join(lines, "\n"))
	for path, content := range map[string][]byte{uuidPath(0, "json"): text, uuidPath(0, "parquet"): manifest(lines...)} {
		l := newLog(map[string][]byte{
			path:          content,
			commitPath(1): []byte(`{"remove":{"path":"f0500","dataChange":true}}`),
		})
		got, err := l.files(latest)
		if err != nil || len(got) != 999 || slices.Contains(got, "f0500") {
			t.Errorf("%s: want 999 files, got %d, %v", path, len(got), err)
		}
	}
}

// TestSidecarPathForms covers C2.
func TestSidecarPathForms(t *testing.T) {
	l := newLog(nil)
	for text, want := range map[string]string{
		"x.parquet":                      "_delta_log/_sidecars/x.parquet",
		"x%20y.parquet":                  "_delta_log/_sidecars/x y.parquet",
		"_sidecars/x.parquet":            "_delta_log/_sidecars/x.parquet",
		"_delta_log/_sidecars/x.parquet": "_delta_log/_sidecars/x.parquet",
		"file:///lake/orders/_delta_log/_sidecars/x.parquet": "_delta_log/_sidecars/x.parquet",
		"/lake/orders/_delta_log/_sidecars/x.parquet":        "_delta_log/_sidecars/x.parquet",
	} {
		if got, err := l.sidecarPath(text); err != nil || got != want {
			t.Errorf("%s: want %s, got %s, %v", text, want, got, err)
		}
	}
	for _, text := range []string{"s3://bucket/x.parquet", "/elsewhere/x.parquet", "../x.parquet"} {
		_, err := l.sidecarPath(text)
		wantError(t, err, "outside the table")
	}
}

// damaged breaks the newest checkpoint of a table in one way, and names the file at fault.
type damaged struct {
	name  string
	files map[string][]byte
	want  string
}

func damagedCheckpoints() []damaged {
	table := newTable()
	table.Commit(add("a"))
	table.Commit(add("b"))
	table.Checkpoint()
	table.Commit(add("c"))
	base := table.Files()
	with := func(path string, content []byte) map[string][]byte {
		files := without(base, deltatest.HintPath)
		files[path] = content
		return files
	}
	good := manifest(protocolLine, metadataLine, addLine("a"), addLine("b"), addLine("c"))
	sidecar := v2Table("json")
	return []damaged{
		{"cut", with(deltatest.CheckpointPath(2), good[:len(good)-20]), deltatest.CheckpointPath(2)},
		{"garbage", with(deltatest.CheckpointPath(2), []byte("nothing of the kind")), deltatest.CheckpointPath(2)},
		{"empty", with(deltatest.CheckpointPath(2), nil), deltatest.CheckpointPath(2)},
		{"a part missing", with(deltatest.CheckpointPartPath(2, 1, 2), good), deltatest.CheckpointPartPath(2, 2, 2)},
		{"sidecars missing", with(uuidPath(2, "json"), sidecar[uuidPath(2, "json")]), "_delta_log/_sidecars/one.parquet"},
		{"manifest cut", with(uuidPath(2, "json"), sidecar[uuidPath(2, "json")][:100]), uuidPath(2, "json")},
		{"a column of another type", with(deltatest.CheckpointPath(2), wrongTypes()), deltatest.CheckpointPath(2)},
	}
}

func wrongTypes() []byte {
	columns := deltatest.Columns("add struct<path:string>", "protocol struct<minReaderVersion:string>")
	return deltatest.Parquet{}.File(deltatest.Rows(columns, `{"protocol":{"minReaderVersion":"1"}}`))
}

// TestBrokenCheckpointIsPassedOver covers L8, L9 and L10.
func TestBrokenCheckpointIsPassedOver(t *testing.T) {
	for _, d := range damagedCheckpoints() {
		d.files[commitPath(2)] = []byte(addLine("c"))
		for _, base := range [][]string{{}, {deltatest.CheckpointPath(1)}, {commitPath(0)}} {
			l := newLog(without(d.files, base...))
			wantFiles(t, l, latest, "a", "b", "c")
			if len(l.warnings) == 0 || !strings.Contains(strings.Join(l.warnings, " "), d.want) {
				t.Errorf("%s: want a warning that names %s, got %q", d.name, d.want, l.warnings)
			}
		}
	}
}

// TestBrokenCheckpointIsNamedWhenNothingReplacesIt covers L10 and RV5.
func TestBrokenCheckpointIsNamedWhenNothingReplacesIt(t *testing.T) {
	for _, d := range damagedCheckpoints() {
		files := without(d.files, commitPath(0), deltatest.CheckpointPath(1))
		_, err := newLog(files).load(latest)
		wantError(t, err, "table file:///lake/orders, version 2", d.want)
		if kind := deltaerr.KindOf(err); kind != deltaerr.Corrupt && kind != deltaerr.NotFound {
			t.Errorf("%s: got %v, %v", d.name, kind, err)
		}
	}
}

// TestOldAndForeignColumnsOfACheckpoint covers C1: missing columns are null, unknown ones are ignored, order is free.
func TestOldAndForeignColumnsOfACheckpoint(t *testing.T) {
	columns := deltatest.Columns(
		"unknown struct<x:map<string,string>>",
		"protocol struct<writerFuture:string,minWriterVersion:long,minReaderVersion:short>",
		"metaData struct<schemaString:binary,extra:array<struct<a:long>>,configuration:map<string,string>,id:string>",
		"add struct<zone:struct<size:long>,size:integer,stats_parsed:struct<numRecords:long>,path:string>",
	)
	table := map[string][]byte{deltatest.CheckpointPath(4): deltatest.Parquet{RowGroupRows: 2}.File(deltatest.Rows(columns,
		`{"add":{"path":"a","size":5,"zone":{"size":9}}}`, `{"add":{"path":"b"}}`,
		`{"unknown":{"x":[{"key":"k","value":"v"}]}}`, `{"add":{"size":3}}`,
		`{"metaData":{"id":"t","schemaString":"e30=","configuration":[{"key":"k","value":null}]}}`,
		`{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}`, `{"add":{"path":"c","size":2147483647}}`, `{}`,
	))}
	l := newLog(table)
	wantFiles(t, l, latest, "a", "b", "c")
	s, err := l.load(latest)
	if err != nil || s.Metadata.SchemaString != "{}" || s.Metadata.Configuration["k"] != "" || s.Protocol.MinWriterVersion != 2 {
		t.Fatalf("got %+v, %v", s, err)
	}
	for f, err := range s.Adds(context.Background()) {
		if err != nil || f.Add.Path == "a" && f.Add.Size != 5 || f.Add.Stats != "" || f.Add.DeletionVector != nil || f.Add.BaseRowID != nil {
			t.Errorf("got %+v, %v", f, err)
		}
	}
}

// TestAddsOfACheckpointEqualThoseOfTheCommit covers C1 for every field of an add.
func TestAddsOfACheckpointEqualThoseOfTheCommit(t *testing.T) {
	value, empty, id, version := "NL", "", int64(1)<<60, int64(3)
	full := fileWith("p=NL/a%20b.parquet", "vector")
	full.DeletionVector.Offset = &version
	full.PartitionValues = map[string]*string{"p": &value, "q": nil, "r": &empty}
	full.Stats, full.BaseRowID, full.DefaultRowCommitVersion = `{"numRecords":3}`, &id, &version
	full.Size, full.ModificationTime = 1<<61, 1<<62
	table := newTable()
	table.Commit(deltatest.Add(full), add("plain"))
	table.Checkpoint()
	files := table.Files()
	got := [2][]string{}
	for i, gone := range []string{commitPath(0), deltatest.CheckpointPath(0)} {
		s, err := newLog(without(files, gone)).load(latest)
		if err != nil {
			t.Fatal(err)
		}
		for f, err := range s.Adds(context.Background()) {
			if err != nil {
				t.Fatal(err)
			}
			got[i] = append(got[i], describe(f))
		}
		slices.Sort(got[i])
	}
	if !slices.Equal(got[0], got[1]) {
		t.Errorf("want %q\ngot  %q", got[1], got[0])
	}
}

// describe writes all of a file as text.
func describe(f ActiveFile) string {
	a := f.Add
	text := fmt.Sprintf("%s %s|%s %d %d %v %s", a.Path, f.Location.Path, f.Location.External, a.Size, a.ModificationTime, a.DataChange, a.Stats)
	var values []string
	for name, value := range a.PartitionValues {
		if value == nil {
			values = append(values, name)
		} else {
			values = append(values, name+"="+*value)
		}
	}
	slices.Sort(values)
	text += fmt.Sprint(" ", values)
	if v := a.DeletionVector; v != nil {
		text += fmt.Sprint(" ", v.UniqueID(), v.SizeInBytes, v.Cardinality)
	}
	for _, p := range []*int64{a.BaseRowID, a.DefaultRowCommitVersion} {
		if p != nil {
			text += fmt.Sprint(" ", *p)
		}
	}
	return text
}

func TestCheckpointBatchesAreReleased(t *testing.T) {
	checked := memory.NewCheckedAllocator(deltatest.Overwriting{Allocator: memory.DefaultAllocator})
	defer checked.AssertSize(t, 0)
	table := newTable()
	table.Commit(manyAdds(3000)...)
	table.CheckpointParts(3)
	table.Commit(remove("f7"))
	l := newLog(table.Files())
	l.Parquet.Allocator, l.Parquet.BatchRows = checked, 100
	s, err := l.load(latest)
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, err := range s.Adds(context.Background()) {
		if err != nil {
			t.Fatal(err)
		}
		n++
	}
	for range s.Adds(context.Background()) {
		break
	}
	if n != 2999 {
		t.Errorf("want 2999 files, got %d", n)
	}
}
