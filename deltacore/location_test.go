package deltacore_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

func TestOpenSaysWhyALocationIsNoTable(t *testing.T) {
	dir := t.TempDir()
	t.Chdir(dir)
	if err := os.MkdirAll("t/_delta_log", 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile("file", nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for location, want := range map[string]string{
		"nothing":                "there is no such directory (check the location)",
		"file:///nowhere/at/all": "there is no such directory (check the location)",
		"~/table":                "there is no such directory: ~ is not expanded by the program (write the path in full, or ${HOME} in a pipeline)",
		"file":                   "not a Delta table: it is a file (name the directory that holds _delta_log)",
		"t/_delta_log":           "not a Delta table: it is the log of one (name the directory that holds _delta_log)",
		"t":                      "not a Delta table: _delta_log is missing or has no commits (check the location)",
		filepath.Join(dir, "t"):  "not a Delta table: _delta_log is missing or has no commits (check the location)",
	} {
		_, err := deltacore.Open(t.Context(), location, deltacore.Options{})
		if deltaerr.KindOf(err) != deltaerr.NotFound || !strings.HasSuffix(err.Error(), ": "+want) {
			t.Errorf("%s: want %s, got %v", location, want, err)
		}
	}
}

func TestS3IsRefused(t *testing.T) {
	const want = "table s3://lake/orders: S3 is not supported yet (copy the table to a local directory)"
	_, err := deltacore.Open(t.Context(), "s3://lake/orders", deltacore.Options{})
	if deltaerr.KindOf(err) != deltaerr.Unsupported || err.Error() != want {
		t.Errorf("want %s, got %v", want, err)
	}
}
