package storage_test

import (
	"iter"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/deltacore/storage/storagetest"
)

// writeFiles makes files below dir.
func writeFiles(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	for path, data := range files {
		name := filepath.Join(dir, path)
		if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func openLocal(t *testing.T, dir string) storage.Store {
	t.Helper()
	s, err := storage.NewLocal(storage.URI{Scheme: storage.SchemeFile, Path: dir})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func newLocal(t *testing.T, files map[string][]byte) storage.Store {
	t.Helper()
	dir := t.TempDir()
	writeFiles(t, dir, files)
	return openLocal(t, dir)
}

func newMemory(_ *testing.T, files map[string][]byte) storage.Store {
	m := storage.NewMemory()
	for path, data := range files {
		m.Put(path, data)
	}
	return m
}

func newMetered(t *testing.T, files map[string][]byte) storage.Store {
	return storage.NewMetered(newMemory(t, files))
}

// plain hides everything but the Store.
type plain struct{ storage.Store }

func newPlain(t *testing.T, files map[string][]byte) storage.Store { return plain{newMemory(t, files)} }

func TestStoresConform(t *testing.T) {
	for name, newStore := range map[string]storagetest.New{
		"local": newLocal, "memory": newMemory, "metered": newMetered, "without open": newPlain,
	} {
		t.Run(name, func(t *testing.T) {
			storagetest.Run(t, newStore)
			storagetest.RunByteNames(t, newStore)
		})
	}
}

func paths(t *testing.T, seq iter.Seq2[storage.Entry, error]) (found []string) {
	t.Helper()
	for e, err := range seq {
		if err != nil {
			t.Fatal(err)
		}
		found = append(found, e.Path)
	}
	slices.Sort(found)
	return found
}

func TestOpenObjectKeepsOneStateOfReplacedObject(t *testing.T) {
	dir := t.TempDir()
	memory := storage.NewMemory()
	local := openLocal(t, dir)
	stores := map[storage.Store]func(data string){
		memory: func(data string) { memory.Put("f", []byte(data)) },
		local: func(data string) {
			writeFiles(t, dir, map[string][]byte{"new": []byte(data)})
			if err := os.Rename(filepath.Join(dir, "new"), filepath.Join(dir, "f")); err != nil {
				t.Fatal(err)
			}
		},
	}
	for s, put := range stores {
		put("before")
		o, err := storage.OpenObject(t.Context(), s, "f")
		if err != nil {
			t.Fatal(err)
		}
		defer o.Close()
		put("after it")
		buf := make([]byte, 6)
		if _, err := o.ReadAt(t.Context(), buf, 0); err != nil || string(buf) != "before" || o.Size() != 6 {
			t.Errorf("got %q of %d, %v", buf, o.Size(), err)
		}
	}
}
