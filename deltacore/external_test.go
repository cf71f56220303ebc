package deltacore_test

import (
	"net/url"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

// H2: what a log points to outside the table's directory is refused before any file is opened.
func TestFilesOutsideTheTableAreRefused(t *testing.T) {
	for path, named := range map[string]string{
		"file:///lake/other/f.parquet": "file:///lake/other/f.parquet",
		"/lake/other/f.parquet":        "file:///lake/other/f.parquet",
		"file:/lake/other/f.parquet":   "file:///lake/other/f.parquet",
		"../other/f.parquet":           "file:///lake/other/f.parquet",
		"a/%2E%2E/../../x/f.parquet":   "file:///x/f.parquet",
		"s3a://bucket/t/f.parquet":     "s3://bucket/t/f.parquet",
		"abfss://c@account/t/f":        "abfss://c@account/t/f",
		"/lake/t2/f.parquet":           "file:///lake/t2/f.parquet",
	} {
		table := deltatest.New(idColumn, deltatest.Options{})
		table.Append(deltatest.Rows(idColumn, numbers(0, 1)...))
		table.Commit(deltatest.Add(action.Add{Path: path, DataChange: true}))
		reading{table: table}.wantUntouched(t, deltaerr.Config,
			"table file:///lake/t, version 1, file "+named, "lies outside the table root", "allowed_external_paths")
	}
}

// H2: the same for vectors.
func TestVectorsOutsideTheTableAreRefused(t *testing.T) {
	for _, d := range []action.DeletionVector{
		{StorageType: "p", PathOrInlineDv: "file:///lake/other/dv.bin", SizeInBytes: 34, Cardinality: 1},
		{StorageType: "p", PathOrInlineDv: "s3://bucket/dv.bin", SizeInBytes: 34, Cardinality: 1},
		deltatest.NewVectorFile("../other", "61d16c75-6994-46b7-a15b-8b538852e50e").Add(deltatest.Bitmap{}, 1),
	} {
		table := vectorTable()
		add := table.Append(deltatest.Rows(idColumn, numbers(0, 3)...))[0]
		table.SetVector(add, &d)
		reading{table: table}.wantUntouched(t, deltaerr.Config, "lies outside the table root", "allowed_external_paths")
	}
}

// H6: an absolute path below the root is a file of the table, in any spelling.
func TestAbsolutePathsBelowTheRootAreFilesOfTheTable(t *testing.T) {
	table := vectorTable()
	add := table.Append(deltatest.Rows(idColumn, numbers(0, 3)...))[0]
	f := deltatest.NewVectorFile("dv dir", "61d16c75-6994-46b7-a15b-8b538852e50e")
	d := f.Add(deltatest.Bitmap{}, 1)
	table.Put(f.Path, f.Content)
	d.StorageType, d.PathOrInlineDv = "p", "file:///lake/t/"+(&url.URL{Path: f.Path}).EscapedPath()
	absolute := add
	absolute.Path = "file:/lake/t/" + add.Path
	absolute.DeletionVector = &d
	table.Commit(deltatest.Remove(add), deltatest.Add(absolute))
	reading{table: table}.want(t, `{"id":0}`, `{"id":2}`)
}

// TestShallowClone reads a table whose log points to the files of another one, with a vector that is its own.
func TestShallowClone(t *testing.T) {
	dir := t.TempDir()
	source := vectorTable()
	adds := source.Append(deltatest.Rows(idColumn, numbers(0, 3)...), deltatest.Rows(idColumn, numbers(3, 2)...))
	adds[1] = source.DeleteRows(adds[1], 0)
	sourceDir, cloneDir := filepath.Join(dir, "source of clones"), filepath.Join(dir, "clone")
	check(t, source.WriteDir(sourceDir))

	clone := vectorTable()
	var actions []deltatest.Action
	for i, add := range adds {
		add.Path = "file://" + (&url.URL{Path: filepath.ToSlash(filepath.Join(sourceDir, add.Path))}).EscapedPath()
		if v := add.DeletionVector; v != nil { // that of the source, by its absolute path
			names, err := filepath.Glob(filepath.Join(sourceDir, "deletion_vector_*.bin"))
			check(t, err)
			moved := *v
			moved.StorageType, moved.PathOrInlineDv = "p", "file://"+(&url.URL{Path: filepath.ToSlash(names[0])}).EscapedPath()
			add.DeletionVector = &moved
		}
		adds[i] = add
		actions = append(actions, deltatest.Add(add))
	}
	clone.Commit(actions...)
	clone.DeleteRows(adds[0], 1)
	check(t, clone.WriteDir(cloneDir))

	read := func(o deltacore.Options) ([]string, error) {
		table, err := deltacore.Open(t.Context(), cloneDir, o)
		check(t, err)
		scan, err := table.Scan(t.Context(), deltacore.ScanOptions{})
		if err != nil {
			return nil, err
		}
		return encodeRows(t.Context(), scan)
	}
	for _, allowed := range []string{dir, sourceDir, "file://" + (&url.URL{Path: sourceDir}).EscapedPath()} {
		got, err := read(deltacore.Options{AllowedExternalPaths: []string{filepath.Join(dir, "elsewhere"), allowed}})
		check(t, err)
		slices.Sort(got)
		if want := `{"id":0} {"id":2} {"id":4}`; strings.Join(got, " ") != want {
			t.Errorf("%s allowed: want %s, got %s", allowed, want, got)
		}
	}
	for _, allowed := range []string{cloneDir, filepath.Join(dir, "source"), sourceDir + "/../clone"} {
		rows, err := read(deltacore.Options{AllowedExternalPaths: []string{allowed}})
		if deltaerr.KindOf(err) != deltaerr.Config {
			t.Errorf("%s allowed: want a config error, got %v and %v", allowed, err, rows)
		}
	}
	check(t, os.Remove(filepath.Join(sourceDir, filepath.Base(adds[0].Path))))
	_, err := read(deltacore.Options{AllowedExternalPaths: []string{sourceDir}})
	if deltaerr.KindOf(err) != deltaerr.NotFound || !strings.Contains(err.Error(), "source%20of%20clones") {
		t.Errorf("want the missing file of the source named, got %v", err)
	}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
