package deltatest

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Publish brings dir to the state of the table as a writer does, beside whoever reads it: each file appears whole, data before
// the log, and the hint at the last checkpoint at the end. Files that the table does not know stay.
func (t *Table) Publish(dir string) error {
	paths := sortedKeys(t.files)
	slices.SortStableFunc(paths, func(a, b string) int { return publishRank(a) - publishRank(b) })
	for _, path := range paths {
		if err := t.publish(filepath.Join(dir, filepath.FromSlash(path)), path); err != nil {
			return err
		}
	}
	return nil
}

func publishRank(path string) int {
	switch {
	case path == HintPath:
		return 2
	case strings.HasPrefix(path, "_delta_log/"):
		return 1
	}
	return 0
}

func (t *Table) publish(name, path string) error {
	if there, err := os.ReadFile(name); err == nil && bytes.Equal(there, t.files[path]) {
		return nil
	}
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		return err
	}
	temporary := name + ".tmp"
	return errors.Join(
		os.WriteFile(temporary, t.files[path], 0o644),
		os.Chtimes(temporary, t.times[path], t.times[path]),
		os.Rename(temporary, name),
	)
}
