package orders

import (
	"bytes"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/go-json-experiment/json/jsontext"
)

var update = flag.Bool("update", false, "write the sample table anew")

// sampleDir is where the repository keeps the sample table.
const sampleDir = "../../../testdata/tables/orders"

//go:generate go test . -run TestSampleTableInTheRepositoryIsCurrent -update
func TestSampleTableInTheRepositoryIsCurrent(t *testing.T) {
	table := Sample().Table
	if *update {
		if err := os.RemoveAll(sampleDir); err != nil {
			t.Fatal(err)
		}
		if err := table.WriteDir(sampleDir); err != nil {
			t.Fatal(err)
		}
	}
	got := filesUnder(t, sampleDir)
	if !maps.EqualFunc(table.Files(), got, bytes.Equal) {
		t.Errorf("%s is not what the generator makes: run go generate ./deltacore/deltatest/orders", sampleDir)
	}
	size := 0
	for _, content := range got {
		size += len(content)
	}
	if size > 300<<10 {
		t.Errorf("the sample table has %d bytes: it must stay below 300 KiB", size)
	}
}

func TestSampleEndsWithTheStatedRows(t *testing.T) {
	h := Sample()
	if v := h.Table.Version(); v != SampleVersion || len(h.Versions) != SampleVersion+1 {
		t.Errorf("version: want %d, got %d with %d versions", SampleVersion, v, len(h.Versions))
	}
	var counts []int
	for _, rows := range h.Versions {
		counts = append(counts, len(rows))
	}
	if want := []int{0, 400, 650, 850, 850, 950, 945, 945, SampleRows}; !slices.Equal(want, counts) {
		t.Errorf("rows by version: want %v, got %v", want, counts)
	}
}

func TestRowsAreCanonicalJSONObjects(t *testing.T) {
	for _, o := range Generate(300, 100).Rows() {
		row := o.AppendJSON(nil)
		if !jsontext.Value(row).IsValid() {
			t.Errorf("not JSON: %s", row)
		}
		compact := jsontext.Value(slices.Clone(row))
		if err := compact.Compact(); err != nil || !bytes.Equal(compact, row) {
			t.Errorf("not compact: %s", row)
		}
	}
}

func filesUnder(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		name, err := filepath.Rel(dir, path)
		files[filepath.ToSlash(name)] = content
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}
