//go:build unix

package storage_test

import (
	"errors"
	"io/fs"
	"path/filepath"
	"syscall"
	"testing"
)

func TestLocalPipeDoesNotBlock(t *testing.T) {
	dir := t.TempDir()
	if err := syscall.Mkfifo(filepath.Join(dir, "pipe"), 0o644); err != nil {
		t.Skip(err)
	}
	s := openLocal(t, dir)
	if _, err := s.Get(t.Context(), "pipe"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("want not found, got %v", err)
	}
	if got := paths(t, s.List(t.Context(), "", "")); len(got) > 0 {
		t.Fatalf("got %q", got)
	}
}
