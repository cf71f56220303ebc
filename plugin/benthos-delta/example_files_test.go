package main

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func TestFollowFilesExampleWritesEachRowOnceOverARestart(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	e := newExample(t, "follow_files", g.dir)
	dir := filepath.Join(e.dir, "rows")
	e.env = append(e.env, "DIRECTORY="+dir)
	all := func() bool { return len(fileLines(t, dir)) >= g.rows }
	p := e.start()
	p.until("the rows that exist", all)
	for range 5 {
		g.commit(3, 4)
	}
	p.until("rows of new versions", all)
	g.commit(6) // stopped at an arbitrary moment behind this
	p.stop()
	g.commit(2)
	p = e.start()
	p.until("the rows that came meanwhile", all)
	g.commit(1, 1)
	p.until("rows behind the restart", all)
	p.stop()
	wantRows(t, g.all(), fileLines(t, dir))
	last := filepath.Join(dir, fmt.Sprintf("version-%d.ndjson", g.table.Version()))
	if text, err := os.ReadFile(last); err != nil || strings.Count(string(text), "\n") != 2 {
		t.Errorf("want the 2 rows of the last version in a file of its own, got %q, %v", text, err)
	}
}

// fileLines are the whole lines of the files in a directory.
func fileLines(t *testing.T, dir string) (all []string) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(dir, "*.ndjson"))
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range files {
		text, err := os.ReadFile(f)
		if err != nil {
			t.Fatal(err)
		}
		lines := strings.Split(string(text), "\n")
		all = append(all, lines[:len(lines)-1]...)
	}
	return all
}
