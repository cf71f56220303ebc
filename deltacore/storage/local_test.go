package storage_test

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

func TestNewLocalNeedsFileURI(t *testing.T) {
	if _, err := storage.NewLocal(storage.URI{Scheme: storage.SchemeS3, Bucket: "b"}); deltaerr.KindOf(err) != deltaerr.Internal {
		t.Fatalf("want an internal error, got %v", err)
	}
}

func TestLocalListsNothingWhereNoDirectoryIs(t *testing.T) {
	if got := paths(t, openLocal(t, filepath.Join(t.TempDir(), "gone")).List(t.Context(), "", "")); len(got) > 0 {
		t.Fatalf("got %q", got)
	}
}

func TestLocalListsManyEntries(t *testing.T) {
	files := map[string][]byte{}
	for i := range 300 {
		files["d/"+strings.Repeat("x", i%50)+time.Duration(i).String()] = nil
	}
	if got := paths(t, newLocal(t, files).List(t.Context(), "d", "")); len(got) != len(files) {
		t.Fatalf("want %d entries, got %d", len(files), len(got))
	}
}

func TestLocalDirectoryNamedLikeFileIsNoObject(t *testing.T) {
	s := newLocal(t, map[string][]byte{"_delta_log/0.json/inside": nil, "_delta_log/1.json": nil})
	if got := paths(t, s.List(t.Context(), "_delta_log", "")); !slices.Equal(got, []string{"_delta_log/1.json"}) {
		t.Fatalf("got %q", got)
	}
	_, err := s.Get(t.Context(), "_delta_log/0.json")
	want := "file _delta_log/0.json: a directory stands in its place: file does not exist"
	if err == nil || err.Error() != want || deltaerr.KindOf(err) != deltaerr.NotFound {
		t.Fatalf("want %q, got %v", want, err)
	}
}

func TestLocalFollowsLinks(t *testing.T) {
	dir, elsewhere := t.TempDir(), t.TempDir()
	writeFiles(t, elsewhere, map[string][]byte{"part": []byte("rows"), "x=1/part": []byte("more")})
	for link, target := range map[string]string{
		"part": filepath.Join(elsewhere, "part"), "x=1": filepath.Join(elsewhere, "x=1"), "broken": "nowhere", "loop": "loop",
	} {
		if err := os.Symlink(target, filepath.Join(dir, link)); err != nil {
			t.Fatal(err)
		}
	}
	s := openLocal(t, dir)
	if got := paths(t, s.List(t.Context(), "", "")); !slices.Equal(got, []string{"part"}) {
		t.Fatalf("want the link to a file alone, got %q", got)
	}
	if e, err := s.Stat(t.Context(), "part"); err != nil || e.Size != 4 {
		t.Fatalf("got %+v, %v", e, err)
	}
	if got := paths(t, s.List(t.Context(), "x=1", "")); !slices.Equal(got, []string{"x=1/part"}) {
		t.Fatalf("got %q", got)
	}
	for _, path := range []string{"broken", "loop"} {
		if _, err := s.Stat(t.Context(), path); !errors.Is(err, fs.ErrNotExist) {
			t.Fatalf("%s: want not found, got %v", path, err)
		}
	}
}

func TestLocalUnreadableIsDeniedAndNamed(t *testing.T) {
	if os.Geteuid() == 0 {
		t.Skip("the superuser may read everything")
	}
	dir := t.TempDir()
	writeFiles(t, dir, map[string][]byte{"_delta_log/0.json": nil, "part": nil})
	for _, name := range []string{"_delta_log", "part"} {
		if err := os.Chmod(filepath.Join(dir, name), 0); err != nil {
			t.Fatal(err)
		}
		defer os.Chmod(filepath.Join(dir, name), 0o755)
	}
	s := openLocal(t, dir)
	_, readErr := s.ReadAt(t.Context(), "part", make([]byte, 1), 0)
	var listErr error
	for _, listErr = range s.List(t.Context(), "_delta_log", "") {
	}
	for want, err := range map[string]error{
		"file part: permission denied (give the user of this process the right to read it)":        readErr,
		"file _delta_log/: permission denied (give the user of this process the right to read it)": listErr,
	} {
		if deltaerr.KindOf(err) != deltaerr.Denied || err.Error() != want {
			t.Errorf("want %q, got %v", want, err)
		}
	}
}

func TestLocalShrunkObjectEndsShort(t *testing.T) {
	dir := t.TempDir()
	writeFiles(t, dir, map[string][]byte{"f": []byte("0123456789")})
	o, err := storage.OpenObject(t.Context(), openLocal(t, dir), "f")
	if err != nil {
		t.Fatal(err)
	}
	defer o.Close()
	if err := os.Truncate(filepath.Join(dir, "f"), 4); err != nil {
		t.Fatal(err)
	}
	n, err := o.ReadAt(t.Context(), make([]byte, 10), 0)
	if n != 4 || err != io.EOF || o.Size() != 10 { //nolint:errorlint // the bare io.EOF: a wrapped one is no end
		t.Fatalf("want 4 bytes of 10 and the end, got %d of %d, %v", n, o.Size(), err)
	}
}

func TestLocalReadOfClosedObjectIsAnError(t *testing.T) {
	o, err := storage.OpenObject(t.Context(), newLocal(t, map[string][]byte{"f": []byte("x")}), "f")
	if err != nil {
		t.Fatal(err)
	}
	o.Close()
	if _, err := o.ReadAt(t.Context(), make([]byte, 1), 0); deltaerr.KindOf(err) != deltaerr.Internal {
		t.Fatalf("want an internal error, got %v", err)
	}
}

func BenchmarkLocalReadAt64KiB(b *testing.B) {
	dir := b.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "f"), make([]byte, 1<<20), 0o644); err != nil {
		b.Fatal(err)
	}
	s, err := storage.NewLocal(storage.URI{Scheme: storage.SchemeFile, Path: dir})
	if err != nil {
		b.Fatal(err)
	}
	o, err := storage.OpenObject(b.Context(), s, "f")
	if err != nil {
		b.Fatal(err)
	}
	defer o.Close()
	buf := make([]byte, 64<<10)
	b.Run("by path", func(b *testing.B) {
		for i := range b.N {
			s.ReadAt(b.Context(), "f", buf, int64(i%16)<<16)
		}
	})
	b.Run("open object", func(b *testing.B) {
		for i := range b.N {
			o.ReadAt(b.Context(), buf, int64(i%16)<<16)
		}
	})
}
