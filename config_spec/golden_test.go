package configspec

import (
	"flag"
	"os"
	"path/filepath"
	"testing"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func TestReferenceEqualsGoldenFiles(t *testing.T) {
	for name, got := range map[string]string{"fields.md": Markdown(), "schema.json": string(JSONSchema())} {
		path := filepath.Join("testdata", name)
		if *update {
			if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		if string(want) != got {
			t.Errorf("%s is out of date: run go test ./config_spec -update\nwant:\n%s\ngot:\n%s", path, want, got)
		}
	}
}
