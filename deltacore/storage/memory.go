package storage

import (
	"bytes"
	"cmp"
	"context"
	"io"
	"io/fs"
	"iter"
	"path"
	"slices"
	"strings"
	"sync"
	"time"
)

// Memory is a store in memory, for tests and for tables that are made in a program. It is safe for concurrent use. It
// is an [Opener]: an open object keeps the bytes it had.
type Memory struct {
	mu      sync.RWMutex
	objects map[string]memoryObject
}

// memoryObject is one state of an object. Its bytes never change.
type memoryObject struct {
	path    string
	data    []byte
	modTime time.Time
}

// NewMemory returns an empty memory store.
func NewMemory() *Memory { return &Memory{objects: map[string]memoryObject{}} }

// Put stores a copy of data, modified now. It panics when no object can have the path (an empty, "." or ".." segment).
func (m *Memory) Put(path string, data []byte) { m.PutAt(path, data, time.Now()) }

// PutAt is Put with a time of modification.
func (m *Memory) PutAt(path string, data []byte, modTime time.Time) {
	if !isClean(path) {
		panic(uncleanPath(path))
	}
	m.mu.Lock()
	defer m.mu.Unlock()
	m.objects[path] = memoryObject{path, bytes.Clone(data), modTime}
}

// Delete removes the object, if it exists.
func (m *Memory) Delete(path string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.objects, path)
}

// CopyFS stores the files of fsys below dir ("" is the root) with their times of modification. Use os.DirFS or fs.Sub
// to choose a directory.
func (m *Memory) CopyFS(dir string, fsys fs.FS) error {
	return fs.WalkDir(fsys, ".", func(name string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		info, err := fs.Stat(fsys, name)
		if err != nil {
			return err
		}
		data, err := fs.ReadFile(fsys, name)
		if err != nil {
			return err
		}
		m.PutAt(path.Join(dir, name), data, info.ModTime())
		return nil
	})
}

// List implements [Store]. Entries come in order of their names.
func (m *Memory) List(ctx context.Context, dir, startAfter string) iter.Seq2[Entry, error] {
	return func(yield func(Entry, error) bool) {
		for _, e := range m.entries(dir, startAfter) {
			if err := ctx.Err(); err != nil {
				yield(Entry{}, err)
				return
			}
			if !yield(e, nil) {
				return
			}
		}
		if err := ctx.Err(); err != nil {
			yield(Entry{}, err)
		}
	}
}

func (m *Memory) entries(dir, startAfter string) []Entry {
	m.mu.RLock()
	defer m.mu.RUnlock()
	var found []Entry
	for p, o := range m.objects {
		name, inside := strings.CutPrefix(p, joinPath(dir, ""))
		if inside && !strings.Contains(name, "/") && name > startAfter {
			found = append(found, o.entry())
		}
	}
	slices.SortFunc(found, func(a, b Entry) int { return cmp.Compare(a.Path, b.Path) })
	return found
}

// ReadAt implements [Store].
func (m *Memory) ReadAt(ctx context.Context, path string, buf []byte, off int64) (int, error) {
	o, err := m.find(ctx, path)
	if err != nil {
		return 0, err
	}
	return o.ReadAt(ctx, buf, off)
}

// Get implements [Store].
func (m *Memory) Get(ctx context.Context, path string) (io.ReadCloser, error) {
	o, err := m.find(ctx, path)
	if err != nil {
		return nil, err
	}
	return &objectReader{Object: o, ctx: ctx}, nil
}

// Stat implements [Store].
func (m *Memory) Stat(ctx context.Context, path string) (Entry, error) {
	o, err := m.find(ctx, path)
	if err != nil {
		return Entry{}, err
	}
	return o.entry(), nil
}

// Open implements [Opener].
func (m *Memory) Open(ctx context.Context, path string) (Object, error) {
	o, err := m.find(ctx, path)
	if err != nil {
		return nil, err
	}
	return o, nil
}

func (m *Memory) find(ctx context.Context, path string) (memoryObject, error) {
	if err := ctx.Err(); err != nil {
		return memoryObject{}, err
	}
	m.mu.RLock()
	defer m.mu.RUnlock()
	o, ok := m.objects[path]
	if !ok {
		return memoryObject{}, notFound(path, "")
	}
	return o, nil
}

func (o memoryObject) entry() Entry {
	return Entry{Path: o.path, Size: int64(len(o.data)), ModTime: o.modTime}
}

// ReadAt implements [Object].
func (o memoryObject) ReadAt(ctx context.Context, buf []byte, off int64) (int, error) {
	if err := ctx.Err(); err != nil {
		return 0, err
	}
	if off < 0 {
		return 0, negativeOffset(o.path)
	}
	return bytes.NewReader(o.data).ReadAt(buf, off)
}

// Size implements [Object].
func (o memoryObject) Size() int64 { return int64(len(o.data)) }

// Close implements [Object].
func (o memoryObject) Close() error { return nil }
