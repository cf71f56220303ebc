package storage_test

import (
	"strings"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

func TestResolvePath(t *testing.T) {
	const local, s3, bucket = "/data/my table", "s3://lake/t", "s3://lake"
	tests := []struct{ root, path, relative, external string }{
		// H1: decoded exactly once, '+' stays.
		{local, "part-0.parquet", "part-0.parquet", ""},
		{local, "x=A%252FA/p", "x=A%2FA/p", ""},
		{local, "x=B%20B/p+q", "x=B B/p+q", ""},
		{local, "x=%C3%A9%FF/p", "x=é\xff/p", ""},
		{local, "ts=2025-11-27 01:02:03/p?#", "ts=2025-11-27 01:02:03/p?#", ""},
		// H4: what is not encoded is used as it is.
		{local, "x=50%/p", "x=50%/p", ""},
		{local, "x=50%/a%20b", "x=50%/a%20b", ""},
		{local, "%zz", "%zz", ""},
		// H2, R4: absolute paths under the root become relative, in every spelling.
		{local, "/data/my%20table/a/b", "a/b", ""},
		{local, "file:/data/my%20table/a/b", "a/b", ""},
		{local, "file:///data/my%20table/a/b", "a/b", ""},
		{local, "FILE://localhost/data/my%20table//a/./b", "a/b", ""},
		{"/", "file:///a/b", "a/b", ""},
		{s3, "s3://lake/t/a%20b", "a b", ""},
		{s3, "s3a://lake/t/a%20b", "a b", ""},
		{s3, "s3n://KEY:SECRET@lake/t/a%20b", "a b", ""},
		{s3, "/t/a%20b", "a b", ""},
		{bucket, "s3a://lake/a/b", "a/b", ""},
		// Elsewhere.
		{local, "/data/other/x", "", "file:///data/other/x"},
		{local, "file:/data/my%20table2/x", "", "file:///data/my%20table2/x"},
		{local, "s3a://lake/t/x", "", "s3://lake/t/x"},
		{local, "file://host/a%20b", "", "file://host/a%20b"},
		{s3, "s3://other/t/x", "", "s3://other/t/x"},
		{s3, "s3n://lake/t2/x%20y", "", "s3://lake/t2/x y"},
		{s3, "/other/x", "", "s3://lake/other/x"},
		{s3, "file:///t/x", "", "file:///t/x"},
		{s3, "abfss://box:pw@account/t/x%20y", "", "abfss://box@account/t/x%20y"},
		// Segments are resolved after decoding.
		{local, "a/../b//./c", "b/c", ""},
		{local, "../x", "", "file:///data/x"},
		{local, "%2E%2e/x", "", "file:///data/x"},
		{local, "a/../../my%20table/x", "x", ""},
		{local, "../../../../x", "", "file:///x"},
		{s3, "../../../x", "", "s3://lake/x"},
		// What only looks like a URI.
		{local, "file:x", "file:x", ""},
		{local, "s3:x", "s3:x", ""},
		{local, "s3%3A//b/x", "s3:/b/x", ""},
		{local, "a:b", "a:b", ""},
		{local, "", ".", ""},
		{local, "file:///data/my%20table/", ".", ""},
	}
	for _, tt := range tests {
		root, err := storage.ParseURI(tt.root)
		if err != nil {
			t.Fatal(err)
		}
		want := storage.Location{Path: tt.relative, External: tt.external}
		if got := storage.ResolvePath(root, tt.path); got != want {
			t.Errorf("%s in %s: want %+v, got %+v", tt.path, tt.root, want, got)
		}
	}
}

func TestKeyIsEqualForSpellingsOfOneFile(t *testing.T) {
	for _, spellings := range [][]string{
		{"/a/b", "file:/a/b", "file:///a/b", "file://localhost/a/b", "../a/b"},
		{"s3://b/k", "s3a://b/k", "s3n://b/k", "s3://K:S@b//k"},
		{"c/d", "/t/c/d", "file:/t/c/d", "c/%64", "./c//d"},
	} {
		root := storage.URI{Scheme: storage.SchemeFile, Path: "/t"}
		want := storage.ResolvePath(root, spellings[0]).Key()
		for _, s := range spellings {
			if got := storage.ResolvePath(root, s).Key(); got != want {
				t.Errorf("%s and %s: %s is not %s", spellings[0], s, want, got)
			}
		}
	}
}

func FuzzResolvePath(f *testing.F) {
	for _, seed := range []string{
		"", ".", "..", "/", "a/b", "a%2Fb", "%2e%2e/x", "a/../../t/x", "/t/x", "/t", "file:/t/x", "file:///u", "s3://lake/t/x",
		"s3a://lake/../t/x", "s3n://k:s@lake/u", "abfss://c@a/x", "50%", "a%00b", "a:b", "//t/x", "file:////t//x", "\xff%FF",
	} {
		f.Add(seed)
	}
	roots := []storage.URI{
		{Scheme: storage.SchemeFile, Path: "/t"},
		{Scheme: storage.SchemeFile, Path: "/"},
		{Scheme: storage.SchemeFile, Path: "/a b%20/t"},
		{Scheme: storage.SchemeS3, Bucket: "lake", Path: "t"},
		{Scheme: storage.SchemeS3, Bucket: "lake"},
	}
	f.Fuzz(func(t *testing.T, logPath string) {
		for _, root := range roots {
			l := storage.ResolvePath(root, logPath)
			if (l.Path == "") == (l.External == "") {
				t.Fatalf("%q in %v: want one of path and external, got %+v", logPath, root, l)
			}
			if l.Path == "" {
				if !strings.Contains(l.External, "://") {
					t.Fatalf("%q in %v: %q is no URI", logPath, root, l.External)
				}
				continue
			}
			for segment := range strings.SplitSeq(l.Path, "/") {
				if l.Path != "." && (segment == "" || segment == "." || segment == "..") {
					t.Fatalf("%q in %v: %q does not stay in the root", logPath, root, l.Path)
				}
			}
			if again := storage.ResolvePath(root, storage.EncodePath(l.Path)); again != l {
				t.Fatalf("%q in %v: %+v encoded is %+v", logPath, root, l, again)
			}
		}
	})
}

func BenchmarkResolvePath(b *testing.B) {
	root := storage.URI{Scheme: storage.SchemeS3, Bucket: "lake", Path: "a/b/orders"}
	for name, path := range map[string]string{
		"relative": "country=NL/ts=2025-11-27 01:02:03/part-00000-4b41b3d6-6ff0-4f46-8d2b-3c2a3f9c3b0a-c000.snappy.parquet",
		"encoded":  "country=NL/ts=2025-11-27%2001%3A02%3A03/part-00000-4b41b3d6-6ff0-4f46-8d2b-3c2a3f9c3b0a-c000.snappy.parquet",
		"absolute": "s3a://lake/a/b/orders/part-00000-4b41b3d6-6ff0-4f46-8d2b-3c2a3f9c3b0a-c000.snappy.parquet",
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				storage.ResolvePath(root, path)
			}
		})
	}
}
