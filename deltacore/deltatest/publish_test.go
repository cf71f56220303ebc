package deltatest

import (
	"bytes"
	"maps"
	"os"
	"path/filepath"
	"testing"
)

func TestPublishedTableFollowsTheOneInMemory(t *testing.T) {
	columns := Columns("id long")
	table, dir := New(columns, Options{}), t.TempDir()
	for range 2 {
		table.Append(Rows(columns, `{"id":1}`))
		table.Checkpoint()
		if err := table.Publish(dir); err != nil {
			t.Fatal(err)
		}
		got := map[string][]byte{}
		for path := range table.Files() {
			content, err := os.ReadFile(filepath.Join(dir, path))
			if err != nil {
				t.Fatal(err)
			}
			got[path] = content
		}
		if !maps.EqualFunc(table.Files(), got, bytes.Equal) {
			t.Errorf("version %d: the directory is not the table", table.Version())
		}
	}
	if left, err := filepath.Glob(filepath.Join(dir, "*", "*.tmp")); err != nil || len(left) > 0 {
		t.Errorf("want no temporary files, got %v, %v", left, err)
	}
}
