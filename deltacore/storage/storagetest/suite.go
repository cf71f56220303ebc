// Package storagetest answers "is this a [storage.Store]?": one suite of tests that every store passes.
package storagetest

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// New makes a store that holds the files, given by their paths.
type New func(t *testing.T, files map[string][]byte) storage.Store

// Run tests the stores that newStore makes. Each sub-test makes its own.
func Run(t *testing.T, newStore New) {
	tests := map[string]func(*testing.T, New){
		"ListYieldsOnlyObjectsDirectlyInside":   testList,
		"ListStartsAfterNameByBytes":            testListStartAfter,
		"ListOfMissingDirectoryYieldsNothing":   testListMissing,
		"ListEndsWhenLoopIsLeft":                testListStop,
		"ReadAtFillsTheBufferOrSaysWhy":         testReadAt,
		"GetStreamsTheWholeObject":              testGet,
		"StatDescribesTheObject":                testStat,
		"MissingObjectsAreNotFound":             testMissing,
		"PathsAreKeptInsideTheRoot":             testOutside,
		"OpenObjectReadsManyTimes":              testOpen,
		"CancelledContextsEndEveryOperation":    testCancelled,
		"ConcurrentReadsDoNotDisturbEachOther":  testConcurrent,
		"NamesAreTakenAsTheyAre":                testNames,
		"NamesThatDifferInEncodingAreDifferent": testEncodedTwins,
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) { test(t, newStore) })
	}
}

// RunByteNames tests that every byte but NUL and '/' may stand in a name. Object stores, whose keys are UTF-8, need not
// pass.
func RunByteNames(t *testing.T, newStore New) {
	var names []string
	for b := 1; b < 256; b++ {
		if b != '/' {
			names = append(names, "x="+string([]byte{byte(b)})+".bin")
		}
	}
	checkNames(t, newStore, names)
}

var tree = map[string][]byte{
	"root.txt":         []byte("in the root"),
	"dir/a":            []byte("a"),
	"dir/b":            []byte("bb"),
	"dir/b.crc":        {},
	"dir/sub/deep":     []byte("deep"),
	"dir/sub/deeper/x": []byte("x"),
	"dir2/c":           []byte("ccc"),
	"dir-x/d":          []byte("dddd"),
}

// list gathers a listing's paths, sorted.
func list(t *testing.T, s storage.Store, dir, startAfter string) []string {
	t.Helper()
	var paths []string
	for e, err := range s.List(t.Context(), dir, startAfter) {
		if err != nil {
			t.Fatalf("listing %q: %v", dir, err)
		}
		paths = append(paths, e.Path)
	}
	slices.Sort(paths)
	return paths
}

func wantPaths(t *testing.T, got []string, want ...string) {
	t.Helper()
	if !slices.Equal(want, got) {
		t.Fatalf("want %q\ngot  %q", want, got)
	}
}

func testList(t *testing.T, newStore New) {
	s := newStore(t, tree)
	wantPaths(t, list(t, s, "", ""), "root.txt")
	wantPaths(t, list(t, s, "dir", ""), "dir/a", "dir/b", "dir/b.crc")
	wantPaths(t, list(t, s, "dir/sub", ""), "dir/sub/deep")
	for e, err := range s.List(t.Context(), "dir", "") {
		stat, statErr := s.Stat(t.Context(), e.Path)
		if err = cmp.Or(err, statErr); err != nil {
			t.Fatal(err)
		}
		if e.Size != int64(len(tree[e.Path])) || !e.ModTime.Equal(stat.ModTime) || e.ModTime.IsZero() {
			t.Fatalf("listed %+v, stat %+v", e, stat)
		}
	}
}

func testListStartAfter(t *testing.T, newStore New) {
	s := newStore(t, tree)
	wantPaths(t, list(t, s, "dir", "a"), "dir/b", "dir/b.crc")
	wantPaths(t, list(t, s, "dir", "b"), "dir/b.crc")
	wantPaths(t, list(t, s, "dir", "aaa"), "dir/b", "dir/b.crc")
	wantPaths(t, list(t, s, "dir", "b.crc"))
	wantPaths(t, list(t, s, "dir", "Z"), "dir/a", "dir/b", "dir/b.crc")
	wantPaths(t, list(t, s, "", "a"), "root.txt")
}

func testListMissing(t *testing.T, newStore New) {
	s := newStore(t, tree)
	for _, dir := range []string{"nowhere", "nowhere/at/all", "di", "root.txt", "root.txt/below"} {
		wantPaths(t, list(t, s, dir, ""))
	}
	wantPaths(t, list(t, newStore(t, nil), "", ""))
}

func testListStop(t *testing.T, newStore New) {
	n := 0
	for range newStore(t, tree).List(t.Context(), "dir", "") {
		n++
		break
	}
	if n != 1 {
		t.Fatalf("want one entry, got %d", n)
	}
}

func testReadAt(t *testing.T, newStore New) {
	s := newStore(t, map[string][]byte{"f": []byte("0123456789"), "empty": {}})
	tests := []struct {
		path string
		len  int
		off  int64
		want string
		eof  bool // must be reported; at the exact end it may be
	}{
		{"f", 10, 0, "0123456789", false},
		{"f", 3, 2, "234", false},
		{"f", 3, 7, "789", false},
		{"f", 0, 3, "", false},
		{"f", 20, 0, "0123456789", true},
		{"f", 3, 8, "89", true},
		{"f", 3, 10, "", true},
		{"f", 3, 1 << 40, "", true},
		{"empty", 3, 0, "", true},
	}
	for _, tt := range tests {
		buf := make([]byte, tt.len)
		n, err := s.ReadAt(t.Context(), tt.path, buf, tt.off)
		if string(buf[:n]) != tt.want || (tt.eof && err != io.EOF) || (err != nil && err != io.EOF) { //nolint:errorlint // the bare io.EOF: a wrapped one is no end
			t.Errorf("%s, %d bytes at %d: want %q, end %v, got %q, %v", tt.path, tt.len, tt.off, tt.want, tt.eof, buf[:n], err)
		}
	}
	if n, err := s.ReadAt(t.Context(), "f", make([]byte, 3), -1); n != 0 || err == nil || errors.Is(err, io.EOF) {
		t.Errorf("at a negative offset: got %d, %v", n, err)
	}
}

// get reads a whole object.
func get(ctx context.Context, s storage.Store, path string) ([]byte, error) {
	r, err := s.Get(ctx, path)
	if err != nil {
		return nil, err
	}
	data, err := io.ReadAll(r)
	return data, cmp.Or(err, r.Close())
}

func testGet(t *testing.T, newStore New) {
	large := bytes.Repeat([]byte("0123456789abcdef"), 20_000)
	files := map[string][]byte{"large": large, "empty": {}, "dir/small": []byte("x")}
	s := newStore(t, files)
	for path, want := range files {
		got, err := get(t.Context(), s, path)
		if err != nil || !bytes.Equal(want, got) {
			t.Errorf("%s: want %d bytes, got %d, %v", path, len(want), len(got), err)
		}
	}
	r, err := s.Get(t.Context(), "large")
	if err != nil {
		t.Fatal(err)
	}
	if err := r.Close(); err != nil {
		t.Errorf("closing an unread stream: %v", err)
	}
}

func testStat(t *testing.T, newStore New) {
	s := newStore(t, tree)
	for path, data := range tree {
		e, err := s.Stat(t.Context(), path)
		if err != nil || e.Path != path || e.Size != int64(len(data)) || e.ModTime.IsZero() {
			t.Errorf("%s: got %+v, %v", path, e, err)
		}
	}
}

// operations are all ways to touch one object.
func operations(s storage.Store, path string) map[string]func(context.Context) error {
	return map[string]func(context.Context) error{
		"stat": func(ctx context.Context) error { _, err := s.Stat(ctx, path); return err },
		"read": func(ctx context.Context) error { _, err := s.ReadAt(ctx, path, make([]byte, 1), 0); return err },
		"get":  func(ctx context.Context) error { _, err := get(ctx, s, path); return err },
		"open": func(ctx context.Context) error {
			o, err := storage.OpenObject(ctx, s, path)
			if err != nil {
				return err
			}
			_, err = o.ReadAt(ctx, make([]byte, 1), 0)
			return cmp.Or(err, o.Close())
		},
	}
}

func testMissing(t *testing.T, newStore New) {
	s := newStore(t, tree)
	for _, path := range []string{"nothing", "dir/nothing", "nowhere/x", "dir", "dir/sub", "root.txt/x", "dir/A", strings.Repeat("n", 5000)} {
		for name, op := range operations(s, path) {
			err := op(t.Context())
			if !errors.Is(err, fs.ErrNotExist) || deltaerr.KindOf(err) != deltaerr.NotFound {
				t.Errorf("%s of %.20s: want not found, got %v", name, path, err)
			}
		}
	}
}

func testOutside(t *testing.T, newStore New) {
	s := newStore(t, tree)
	for _, path := range []string{"", ".", "..", "/", "../x", "dir/../root.txt", "dir/../../x", "./root.txt", "/root.txt", "dir//a", "dir/a/", "a\x00b"} {
		for name, op := range operations(s, path) {
			if err := op(t.Context()); err == nil || errors.Is(err, io.EOF) {
				t.Errorf("%s of %q: want an error, got %v", name, path, err)
			}
		}
	}
}

func testOpen(t *testing.T, newStore New) {
	s := newStore(t, map[string][]byte{"f": []byte("0123456789")})
	o, err := storage.OpenObject(t.Context(), s, "f")
	if err != nil {
		t.Fatal(err)
	}
	if size := o.Size(); size != 10 && size != -1 {
		t.Errorf("want a size of 10 or unknown, got %d", size)
	}
	for off := range int64(12) {
		buf := make([]byte, 4)
		n, err := o.ReadAt(t.Context(), buf, off)
		want := "0123456789"[min(off, 10):min(off+4, 10)]
		if string(buf[:n]) != want || (n < 4) != (err == io.EOF) || (n == 4 && err != nil) { //nolint:errorlint // the bare io.EOF: a wrapped one is no end
			t.Errorf("at %d: want %q, got %q, %v", off, want, buf[:n], err)
		}
	}
	if n, err := o.ReadAt(t.Context(), make([]byte, 3), -1); n != 0 || err == nil || errors.Is(err, io.EOF) {
		t.Errorf("at a negative offset: got %d, %v", n, err)
	}
	if err := o.Close(); err != nil {
		t.Error(err)
	}
}

func testCancelled(t *testing.T, newStore New) {
	s := newStore(t, tree)
	ctx, cancel := context.WithCancel(t.Context())
	stream, err := s.Get(ctx, "dir/b")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	cancel()
	ops := operations(s, "dir/b")
	ops["stream"] = func(context.Context) error { _, err := stream.Read(make([]byte, 1)); return err }
	ops["list"] = func(ctx context.Context) error {
		for _, err := range s.List(ctx, "dir", "") {
			if err != nil {
				return err
			}
		}
		return nil
	}
	for name, op := range ops {
		if err := op(ctx); !errors.Is(err, context.Canceled) || deltaerr.Retryable(err) {
			t.Errorf("%s: want the cancellation, got %v", name, err)
		}
	}
}

func testConcurrent(t *testing.T, newStore New) {
	data := bytes.Repeat([]byte("0123456789"), 1000)
	s := newStore(t, map[string][]byte{"f": data})
	o, err := storage.OpenObject(t.Context(), s, "f")
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	var group sync.WaitGroup
	for worker := range 8 {
		group.Go(func() {
			for i := range 20 {
				off, buf := int64(worker*1000+i*7), make([]byte, 500)
				if _, err := o.ReadAt(t.Context(), buf, off); err != nil || !bytes.Equal(buf, data[off:off+500]) {
					t.Errorf("object at %d: wrong bytes or %v", off, err)
				}
				if _, err := s.ReadAt(t.Context(), "f", buf, off); err != nil || !bytes.Equal(buf, data[off:off+500]) {
					t.Errorf("store at %d: wrong bytes or %v", off, err)
				}
			}
		})
	}
	group.Wait()
}

func testNames(t *testing.T, newStore New) {
	checkNames(t, newStore, []string{
		"a b.parquet", "x=A%2FA", "x=A%252FA", "50%", "%zz", "a+b", "R&D", "ts=2025-11-27 01:02:03.987654", "q?x=1#frag",
		"quote'\"`", "<tag>", "semi;colon,comma", "[1]{2}*", "back\\slash", "~tilde", "$HOME", "é", "e\u0301", "日本", "🙂",
		".hidden", "..dots", "trailing.", "-dash", "name=", "=", strings.Repeat("n", 200),
	})
}

func testEncodedTwins(t *testing.T, newStore New) {
	checkNames(t, newStore, []string{"a b", "a%20b", "a%2520b", "a+b", "A b", "é", "e\u0301", "%C3%A9"})
}

// checkNames stores files by these names, and inside directories by these names, and finds all of them.
func checkNames(t *testing.T, newStore New, names []string) {
	files := map[string][]byte{}
	for i, name := range names {
		files["dir/"+name] = fmt.Append(nil, "file ", i)
		files["in "+name+"/file"] = fmt.Append(nil, "inside ", i)
	}
	s := newStore(t, files)
	want := make([]string, 0, len(names))
	for _, name := range names {
		want = append(want, "dir/"+name)
		wantPaths(t, list(t, s, "in "+name, ""), "in "+name+"/file")
	}
	slices.Sort(want)
	wantPaths(t, list(t, s, "dir", ""), want...)
	for path, data := range files {
		got, err := get(t.Context(), s, path)
		if err != nil || !bytes.Equal(data, got) {
			t.Errorf("%q: want %q, got %q, %v", path, data, got, err)
		}
	}
}
