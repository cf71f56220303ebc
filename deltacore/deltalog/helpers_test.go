package deltalog

import (
	"context"
	"fmt"
	"io"
	"iter"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// tracing counts the requests to a store and lists in random order.
type tracing struct {
	storage.Store
	mu       sync.Mutex
	requests []string
	before   func(request string) // told of each request before it is served
}

func (s *tracing) note(operation, path string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	request := operation + " " + strings.TrimPrefix(path, logDir+"/")
	s.requests = append(s.requests, request)
	if s.before != nil {
		s.before(request)
	}
}

func (s *tracing) count(operation string) (n int) {
	for _, r := range s.requests {
		if strings.HasPrefix(r, operation) {
			n++
		}
	}
	return n
}

func (s *tracing) List(ctx context.Context, dir, startAfter string) iter.Seq2[storage.Entry, error] {
	s.note("list", startAfter)
	return func(yield func(storage.Entry, error) bool) {
		var entries []storage.Entry
		for e, err := range s.Store.List(ctx, dir, startAfter) {
			if err != nil {
				yield(e, err)
				return
			}
			entries = append(entries, e)
		}
		rand.Shuffle(len(entries), func(i, j int) { entries[i], entries[j] = entries[j], entries[i] })
		for _, e := range entries {
			if !yield(e, nil) {
				return
			}
		}
	}
}

func (s *tracing) Get(ctx context.Context, path string) (io.ReadCloser, error) {
	s.note("get", path)
	return s.Store.Get(ctx, path)
}

func (s *tracing) ReadAt(ctx context.Context, path string, buf []byte, off int64) (int, error) {
	s.note("read", path)
	return s.Store.ReadAt(ctx, path, buf, off)
}

func (s *tracing) Stat(ctx context.Context, path string) (storage.Entry, error) {
	s.note("stat", path)
	return s.Store.Stat(ctx, path)
}

// testLog is a log over files in memory, with what it warned of.
type testLog struct {
	Log
	memory   *storage.Memory
	store    *tracing
	warnings []string
}

func newLog(files map[string][]byte) *testLog {
	memory := storage.NewMemory()
	for path, content := range files {
		memory.Put(path, content)
	}
	return logOver(memory)
}

// logOf is newLog with each file as old as its commit.
func logOf(table *deltatest.Table) *testLog {
	memory := storage.NewMemory()
	table.CopyTo(memory.PutAt)
	return logOver(memory)
}

func logOver(memory *storage.Memory) *testLog {
	l := &testLog{memory: memory, store: &tracing{Store: memory}}
	l.Log = Log{
		Store: l.store, Root: storage.URI{Scheme: storage.SchemeFile, Path: "/lake/orders"},
		Warn: func(msg string) { l.warnings = append(l.warnings, msg) },
	}
	return l
}

// load opens a version, or the latest.
func (l *testLog) load(at int64) (*Snapshot, error) {
	version := &at
	if at == latest {
		version = nil
	}
	seg, err := l.FindSegment(context.Background(), version)
	if err != nil {
		return nil, err
	}
	return l.Load(context.Background(), seg)
}

// files lists what is active in a version, sorted, as "path" or "path vector".
func (l *testLog) files(at int64) ([]string, error) {
	s, err := l.load(at)
	if err != nil {
		return nil, err
	}
	return filesOf(s)
}

func filesOf(s *Snapshot) ([]string, error) {
	var list []string
	for f, err := range s.Adds(context.Background()) {
		if err != nil {
			return nil, err
		}
		list = append(list, strings.TrimSpace(f.Location.Key()+" "+f.Add.DeletionVector.UniqueID()))
	}
	slices.Sort(list)
	return list, nil
}

func wantFiles(t *testing.T, l *testLog, at int64, want ...string) {
	t.Helper()
	got, err := l.files(at)
	if err != nil || !slices.Equal(want, got) {
		t.Errorf("version %d: want %v, got %v, %v", at, want, got, err)
	}
}

func wantError(t *testing.T, err error, want ...string) {
	t.Helper()
	if err == nil {
		t.Fatalf("want an error with %q", want)
	}
	for _, text := range want {
		if !strings.Contains(err.Error(), text) {
			t.Errorf("want %q in the error, got: %v", text, err)
		}
	}
}

func newTable() *deltatest.Table {
	return deltatest.New(deltatest.Columns("id long"), deltatest.Options{})
}

func file(path string) action.Add {
	return action.Add{Path: path, Size: int64(len(path)), ModificationTime: 7, DataChange: true}
}

func fileWith(path, vector string) action.Add {
	a := file(path)
	if vector != "" {
		a.DeletionVector = &action.DeletionVector{StorageType: "u", PathOrInlineDv: vector, SizeInBytes: 40, Cardinality: 2}
	}
	return a
}

func add(path string) deltatest.Action    { return deltatest.Add(file(path)) }
func remove(path string) deltatest.Action { return deltatest.Remove(file(path)) }

// shuffled returns the files with the lines of every commit in another order.
func shuffled(files map[string][]byte) map[string][]byte {
	files = maps.Clone(files)
	for path, content := range files {
		if n, ok := parseName(strings.TrimPrefix(path, logDir+"/")); !ok || n.kind != commitName {
			continue
		}
		lines := strings.Split(strings.TrimSpace(string(content)), "\n")
		rand.Shuffle(len(lines), func(i, j int) { lines[i], lines[j] = lines[j], lines[i] })
		files[path] = []byte(strings.Join(lines, "\n"))
	}
	return files
}

func commitPath(version int64) string { return deltatest.CommitPath(version) }

func without(files map[string][]byte, paths ...string) map[string][]byte {
	files = maps.Clone(files)
	for _, p := range paths {
		if _, ok := files[p]; !ok {
			panic(fmt.Sprintf("no %s among %v", p, slices.Sorted(maps.Keys(files))))
		}
		delete(files, p)
	}
	return files
}

const (
	protocolLine = `{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":["v2Checkpoint"]}}`
	metadataLine = `{"metaData":{"id":"t","format":{"provider":"parquet"},"schemaString":"{}","partitionColumns":[],"configuration":{}}}`
)

// manifestColumns is the form of a V2 manifest; sidecars use its add alone.
var manifestColumns = deltatest.Columns(
	"checkpointMetadata struct<version:long>",
	"sidecar struct<path:string,sizeInBytes:long,modificationTime:long>",
	"add struct<path:string,partitionValues:map<string,string>,size:long,modificationTime:long,dataChange:boolean>",
	"metaData struct<id:string,format:struct<provider:string>,schemaString:string,partitionColumns:array<string>,configuration:map<string,string>>",
	"protocol struct<minReaderVersion:integer,minWriterVersion:integer,readerFeatures:array<string>>",
)

// manifest is a Parquet file with one row a line.
func manifest(lines ...string) []byte {
	return deltatest.Parquet{}.File(deltatest.Rows(manifestColumns, lines...))
}

func addLine(path string) string {
	return fmt.Sprintf(`{"add":{"path":%q,"partitionValues":{},"size":1,"modificationTime":7,"dataChange":true}}`, path)
}

func sidecarLine(path string, size int) string {
	return fmt.Sprintf(`{"sidecar":{"path":%q,"sizeInBytes":%d,"modificationTime":7}}`, path, size)
}
