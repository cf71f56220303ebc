package deltalog

import (
	"fmt"
	"strings"
	"testing"
)

const someUUID = "2a0d5911-69c8-4190-9e8e-2237d070f765"

func v(n int64) string { return fmt.Sprintf("%020d", n) }

// TestNamesOfTheLogAreRecognised covers L1.
func TestNamesOfTheLogAreRecognised(t *testing.T) {
	for name, want := range map[string]logName{
		v(0) + ".json":               {kind: commitName},
		v(12) + ".json":              {kind: commitName, version: 12},
		v(12) + ".crc":               {kind: checksumName, version: 12},
		v(3) + ".checkpoint.parquet": {kind: classicName, version: 3},
		v(3) + ".checkpoint.0000000002.0000000005.parquet": {kind: partName, version: 3, part: 2, parts: 5},
		v(3) + ".checkpoint." + someUUID + ".parquet":      {kind: uuidName, version: 3},
		v(3) + ".checkpoint." + someUUID + ".json":         {kind: uuidName, version: 3},
		v(4) + "." + v(9) + ".compacted.json":              {kind: compactionName, version: 4, through: 9},
		"09223372036854775807.json":                        {kind: commitName, version: 1<<63 - 1},
	} {
		if got, ok := parseName(name); !ok || got != want {
			t.Errorf("parseName(%q): want %+v, got %+v, %v", name, want, got, ok)
		}
	}
}

// TestForeignNamesAreIgnored covers L2.
func TestForeignNamesAreIgnored(t *testing.T) {
	for _, name := range []string{
		"", ".", "_last_checkpoint", "info.txt", "_sidecars", ".gitignore",
		"0000000000000000001.json", "000000000000000000001.json", "0000000000000000000a.json", "+0000000000000000001.json",
		"." + v(1) + ".json.crc", "._" + v(1) + ".json", v(1), v(1) + ".", v(1) + ".jsonx", v(1) + ".json.tmp", v(1) + ".JSON",
		v(1) + "." + someUUID + ".json", v(1) + ".checkpoint", v(1) + ".checkpoint.", v(1) + ".checkpoint.json",
		v(1) + ".checkpoint.parquet.tmp12", v(1) + ".checkpoint.parquet.json",
		v(1) + ".checkpoint.0000000000.0000000005.parquet", v(1) + ".checkpoint.0000000006.0000000005.parquet",
		v(1) + ".checkpoint.1.5.parquet", v(1) + ".checkpoint.0000000001.0000000005.json",
		v(1) + ".checkpoint.0000000001.0000000001." + someUUID + ".parquet",
		v(1) + ".checkpoint." + strings.Replace(someUUID, "-", "x", 1) + ".json",
		v(1) + ".checkpoint." + strings.Replace(someUUID, "a", "g", 1) + ".json",
		v(4) + "." + v(3) + ".compacted.json", v(4) + ".5.compacted.json", v(1) + ".0000000000.stats.json",
		"99999999999999999999.json", ".s3-optimization-2", "١٢٣٤٥٦٧٨٩٠.json",
	} {
		if got, ok := parseName(name); ok {
			t.Errorf("parseName(%q): want it ignored, got %+v", name, got)
		}
	}
}

func FuzzParseName(f *testing.F) {
	f.Add(v(1) + ".json")
	f.Add(v(1) + ".checkpoint.0000000002.0000000005.parquet")
	f.Add(v(1) + ".checkpoint." + someUUID + ".json")
	f.Add(v(1) + "." + v(2) + ".compacted.json")
	f.Fuzz(func(t *testing.T, name string) {
		n, ok := parseName(name)
		if !ok {
			return
		}
		if !strings.HasPrefix(name, v(n.version)+".") {
			t.Errorf("%q is not of version %d", name, n.version)
		}
		if n.kind == partName && (n.part < 1 || n.part > n.parts) {
			t.Errorf("%q: part %d of %d", name, n.part, n.parts)
		}
	})
}
