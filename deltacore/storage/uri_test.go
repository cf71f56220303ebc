package storage_test

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

func TestParseURI(t *testing.T) {
	wd, err := os.Getwd()
	if err != nil {
		t.Fatal(err)
	}
	file := func(path string) storage.URI { return storage.URI{Scheme: "file", Path: path} }
	s3 := func(bucket, path string) storage.URI { return storage.URI{Scheme: "s3", Bucket: bucket, Path: path} }
	tests := []struct {
		text string
		want storage.URI
		str  string // "" where it depends on the working directory
	}{
		{"/data/orders", file("/data/orders"), "file:///data/orders"},
		{"/data//a/../orders/", file("/data/orders"), "file:///data/orders"},
		{"/data/a b%20c+d", file("/data/a b%20c+d"), "file:///data/a%20b%2520c+d"},
		{"/data/what?#", file("/data/what?#"), "file:///data/what%3F%23"},
		{"/", file("/"), "file:///"},
		{"orders", file(filepath.Join(wd, "orders")), ""},
		{"a:b/orders", file(filepath.Join(wd, "a:b/orders")), ""},
		{"file:orders", file(filepath.Join(wd, "file:orders")), ""},
		{"file:/data/orders", file("/data/orders"), "file:///data/orders"},
		{"file:///data/orders/", file("/data/orders"), "file:///data/orders"},
		{"FILE://localhost/data/a%20b%2520c+d", file("/data/a b%20c+d"), "file:///data/a%20b%2520c+d"},
		{"file:///data/50%", file("/data/50%"), "file:///data/50%25"},
		{"file:///data/\xff", file("/data/\xff"), "file:///data/%FF"},
		{"s3://lake/orders", s3("lake", "orders"), "s3://lake/orders"},
		{"s3a://lake/a/orders/", s3("lake", "a/orders"), "s3://lake/a/orders"},
		{"S3N://lake//orders", s3("lake", "orders"), "s3://lake/orders"},
		{"s3://lake", s3("lake", ""), "s3://lake"},
		{"s3://lake/", s3("lake", ""), "s3://lake"},
		{"s3://lake/a b%20c+d#e", s3("lake", "a b%20c+d#e"), "s3://lake/a b%20c+d#e"},
	}
	for _, tt := range tests {
		got, err := storage.ParseURI(tt.text)
		if err != nil || got != tt.want {
			t.Errorf("%s: want %+v, got %+v, %v", tt.text, tt.want, got, err)
		}
		if tt.str != "" && got.String() != tt.str {
			t.Errorf("%s: want %s, got %s", tt.text, tt.str, got)
		}
	}
}

func TestParseURIRefusesWithAdvice(t *testing.T) {
	tests := map[string]string{
		"":                    "the table URI is empty (give a path, or a URI like s3://bucket/path)",
		"gs://lake/orders":    "tables cannot be read from gs:// URIs (use a local path, file:///path or s3://bucket/path)",
		"file://data/orders":  "the table URI file://data/orders names a host (write file:///path with three slashes)",
		"file://":             "the table URI file:// names a host (write file:///path with three slashes)",
		"file:///a?b":         "the table URI file:///a has a query (write a question mark of the path as %3F)",
		"s3:///orders":        "the table URI s3:///orders names no bucket (write s3://bucket/path)",
		"s3:/lake/orders":     "the table URI s3:/lake/orders names no bucket (write s3://bucket/path)",
		"s3://lake/a?x=SECRE": "the table URI s3://lake/a has a query (write s3://bucket/path alone)",
		"s3://lake/a/../b":    "the table URI s3://lake/a/../b has an empty, . or .. segment (write the path without it)",
		"s3://KEY:SEC/RE@lake/a": "the table URI s3://lake/a holds credentials or a port " +
			"(write s3://bucket/path and use the fields aws.credentials and aws.endpoint)",
	}
	for text, want := range tests {
		_, err := storage.ParseURI(text)
		if deltaerr.KindOf(err) != deltaerr.Config || err.Error() != want {
			t.Errorf("%s:\nwant %s\ngot  %v", text, want, err)
		}
	}
}

func FuzzParseURI(f *testing.F) {
	for _, seed := range []string{
		"", "/a/b", "a", "file:/a%20b", "file:///a/%zz", "file://h/a", "s3://b/k", "s3a://b", "s3n://k:s@b/k", "s3://b/a/../c",
		"gs://b", "://", ":", "S3://b//k//", "s3:/b", "file:", "\x00", "s3://b/\xff",
	} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		u, err := storage.ParseURI(text)
		if err != nil {
			if deltaerr.KindOf(err) != deltaerr.Config {
				t.Fatalf("%q: %v is no config error", text, err)
			}
			return
		}
		again, err := storage.ParseURI(u.String())
		if err != nil || again != u {
			t.Fatalf("%q is %+v, whose text %q is %+v, %v", text, u, u, again, err)
		}
	})
}
