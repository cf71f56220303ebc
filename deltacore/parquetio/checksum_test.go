package parquetio_test

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
)

// TestEveryBrokenPageIsNoticed changes each byte of files whose pages carry checksums. In page bodies no change goes
// unnoticed; in page headers and in the footer one may be harmless, and then the rows are right.
func TestEveryBrokenPageIsNoticed(t *testing.T) {
	for _, version := range []int{1, 2} {
		t.Run(strconv.Itoa(version), func(t *testing.T) {
			content, err := os.ReadFile(fmt.Sprintf("testdata/checksums-v%d.parquet", version))
			if err != nil {
				t.Fatal(err)
			}
			f := open(t, content, parquetio.Options{Allocator: checked(t)})
			want, err := readJSON(f, allLeaves(f))
			if err != nil || len(want) != 200 {
				t.Fatalf("want 200 rows, got %d and %v", len(want), err)
			}
			mismatches := 0
			for at := 4; at < len(content)-2000; at += 3 {
				broken := append([]byte{}, content...)
				broken[at] ^= 0x41
				f := open(t, broken, parquetio.Options{Allocator: checked(t)})
				got, err := readJSON(f, allLeaves(f))
				switch {
				case err == nil:
					compareRows(t, want, got)
				case strings.Contains(err.Error(), "has the checksum"):
					mismatches++
				}
			}
			if mismatches < 150 {
				t.Errorf("want most changes noticed by their checksum, got %d", mismatches)
			}
		})
	}
}
