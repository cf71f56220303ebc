package storage_test

import (
	"errors"
	"io/fs"
	"slices"
	"testing"
	"testing/fstest"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

func TestMemoryCopiesWhatIsPut(t *testing.T) {
	m, data := storage.NewMemory(), []byte("abc")
	m.Put("f", data)
	data[0] = 'X'
	buf := make([]byte, 3)
	if _, err := m.ReadAt(t.Context(), "f", buf, 0); err != nil || string(buf) != "abc" {
		t.Fatalf("got %q, %v", buf, err)
	}
	m.Delete("f")
	m.Delete("f")
	if _, err := m.Stat(t.Context(), "f"); !errors.Is(err, fs.ErrNotExist) {
		t.Fatalf("want not found, got %v", err)
	}
}

func TestMemoryCopyFSKeepsPathsAndTimes(t *testing.T) {
	at := time.Date(2024, 2, 29, 1, 2, 3, 0, time.UTC)
	m := storage.NewMemory()
	err := m.CopyFS("t", fstest.MapFS{
		"part":            {Data: []byte("rows"), ModTime: at},
		"_delta_log/0 0 ": {Data: []byte("{}"), ModTime: at.Add(time.Second)},
	})
	if err != nil {
		t.Fatal(err)
	}
	want := storage.Entry{Path: "t/_delta_log/0 0 ", Size: 2, ModTime: at.Add(time.Second)}
	if got, err := m.Stat(t.Context(), want.Path); err != nil || got != want {
		t.Fatalf("want %+v, got %+v, %v", want, got, err)
	}
	if got := paths(t, m.List(t.Context(), "t", "")); !slices.Equal(got, []string{"t/part"}) {
		t.Fatalf("got %q", got)
	}
}

func TestMemoryPutOfImpossiblePathPanics(t *testing.T) {
	defer func() {
		if recover() == nil {
			t.Fatal("want a panic")
		}
	}()
	storage.NewMemory().Put("a/../b", nil)
}
