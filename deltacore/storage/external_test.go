package storage

import (
	"io"
	"strings"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

func TestExternalReadsOnlyBelowItsPrefixes(t *testing.T) {
	table, other := NewMemory(), NewMemory()
	table.Put("f", []byte("table"))
	other.Put("d/f", []byte("other"))
	opened := 0
	e, err := NewExternal(table, []string{"s3a://bucket/lake"}, func(u URI) (Store, error) {
		opened++
		if want := (URI{Scheme: SchemeS3, Bucket: "bucket", Path: "lake"}); u != want {
			t.Errorf("want the store of %v, got %v", want, u)
		}
		return other, nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]string{"f": "table", "s3://bucket/lake/d/f": "other"} {
		r, err := e.Get(t.Context(), path)
		if err != nil {
			t.Fatal(err)
		}
		if got, _ := io.ReadAll(r); string(got) != want {
			t.Errorf("%s: want %q, got %q", path, want, got)
		}
	}
	for _, path := range []string{"s3://bucket/lakeside/f", "s3://bucket/lake/../f", "s3://other/lake/d/f", "file:///lake/d/f"} {
		_, err := e.Stat(t.Context(), path)
		if deltaerr.KindOf(err) != deltaerr.Config || !strings.Contains(err.Error(), "allowed_external_paths") {
			t.Errorf("%s: want a config error that names the field, got %v", path, err)
		}
	}
	if opened != 1 {
		t.Errorf("want one store opened, got %d", opened)
	}
}

// H1: a path of the log is decoded once, also on its way to another store.
func TestExternalPathsAreDecodedOnce(t *testing.T) {
	for prefix, external := range map[string]string{
		"s3://bucket/lake": "s3://bucket/lake/a%2520b",
		"/lake":            "file:///lake/a%2520b",
	} {
		other := NewMemory()
		other.Put("a%20b", []byte("other"))
		e, err := NewExternal(NewMemory(), []string{prefix}, func(URI) (Store, error) { return other, nil })
		if err != nil {
			t.Fatal(err)
		}
		l := ResolvePath(URI{Scheme: SchemeFile, Path: "/table"}, external)
		if err := e.Allows(l); err != nil {
			t.Fatal(err)
		}
		if entry, err := e.Stat(t.Context(), l.Key()); err != nil || entry.Size != 5 {
			t.Errorf("%s: want the object of 5 bytes, got %+v, %v", external, entry, err)
		}
	}
}
