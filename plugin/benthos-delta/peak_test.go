package main

import (
	"os"
	"os/exec"
	"path/filepath"
	"syscall"
	"testing"
)

// tablesVariable names a directory of tables, those of the kit of other readers: TestPeakMemory measures nothing without it.
const tablesVariable = "DELTA_LAKE_TEST_TABLES"

// TestPeakMemory writes the largest resident size of scans and pipelines over large tables, each in a process of its own.
// Those of flat rows stay below the default of scan.memory_limit and 100 MiB, whatever their size; how much nested rows and
// hundreds of columns take is only written.
func TestPeakMemory(t *testing.T) {
	dir := os.Getenv(tablesVariable)
	if dir == "" {
		t.Skip(tablesVariable + " is not set")
	}
	const ceiling = 164
	for _, c := range []struct {
		table   string
		ceiling int // MiB; 0: none
	}{{"events", ceiling}, {"onebig", ceiling}, {"dv", ceiling}, {"manyfiles", ceiling}, {"nested", 0}, {"wide", 0}} {
		table := filepath.Join(dir, c.table)
		if _, err := os.Stat(table); err != nil {
			t.Logf("%-10s is not there", c.table)
			continue
		}
		for name, peak := range map[string]int{
			"scan": peakOf(t, "delta", "scan", table), "run": peakOf(t, "run", pipelineOver(t, table)),
		} {
			t.Logf("%-10s %-5s %4d MiB", c.table, name, peak)
			if c.ceiling > 0 && peak > c.ceiling {
				t.Errorf("%s of %s: want at most %d MiB, got %d", name, c.table, c.ceiling, peak)
			}
		}
	}
}

func pipelineOver(t *testing.T, table string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "pipeline.yaml")
	text := "http: { enabled: false }\ninput: { delta_lake: { uri: '" + table + "', format: json_lines } }\n" +
		"output: { file: { path: /dev/null, codec: lines } }\n"
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// peakOf runs the command with its output thrown away and returns its largest resident size in MiB.
func peakOf(t *testing.T, args ...string) int {
	t.Helper()
	command := exec.CommandContext(t.Context(), "benthos-delta", args...) // see TestMain
	if err := command.Run(); err != nil {
		t.Fatalf("%v: %v", args, err)
	}
	usage, ok := command.ProcessState.SysUsage().(*syscall.Rusage)
	if !ok {
		t.Skip("this system does not tell")
	}
	return int(usage.Maxrss >> 10)
}
