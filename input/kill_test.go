package input

import (
	"bytes"
	"context"
	"errors"
	"io/fs"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benthosdev/benthos/v4/public/service"

	"github.com/benthos-delta/benthos-delta/input/feed"
)

// childDir is the environment variable that makes a run of this test binary the process that is killed.
const childDir = "DELTA_LAKE_TEST_CHILD"

// TestKilledChild is that process: it appends each batch to a file, as an output without memory of its own does.
func TestKilledChild(t *testing.T) {
	dir := os.Getenv(childDir)
	if dir == "" {
		t.Skip("runs in a child process only")
	}
	file, err := os.OpenFile(filepath.Join(dir, "out"), os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	check(t, err)
	defer file.Close()
	out := &sink{write: func(_ context.Context, batch service.MessageBatch) error {
		var lines bytes.Buffer
		for _, m := range batch {
			lines.Write(bytesOf(t, m))
			lines.WriteByte('\n')
		}
		time.Sleep(time.Millisecond)
		_, err := file.Write(lines.Bytes())
		return err
	}}
	p := buildPipeline(t, nil, out, pipelineOptions{
		config: "uri: " + dir + "/table\nbatch_rows: 5\ncheckpoint_limit: 20\ncheckpoint_cache: positions\ncheckpoint_interval: 0s",
		caches: "label: positions\nfile: { directory: " + dir + " }",
		open:   feed.Open, inFlight: 2,
	})
	p.run()
	if len(p.failed) > 0 {
		t.Fatal(p.failed)
	}
}

// TestKilledProcessLosesNothing kills a process at random moments, with SIGKILL, until one comes to the end.
func TestKilledProcessLosesNothing(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	check(t, newChecked(false).table.WriteDir(filepath.Join(dir, "table")))
	var killed int
	for killed < 5 && len(missing(delivered(t, dir))) > 0 && !runAndKill(t, dir, int64(1+rand.IntN(900))) {
		killed++
	}
	if killed == 0 {
		t.Fatal("want a process killed before its end")
	}
	if len(missing(delivered(t, dir))) > 0 { // else the next run, behind the end, would read anew
		runAndKill(t, dir, 1<<40)
	}
	all := delivered(t, dir)
	if lost := missing(all); len(lost) > 0 {
		t.Errorf("the rows %v are lost", lost)
	}
	const most = 20 + 5 // checkpoint_limit and one batch: what was delivered and is not stored
	if repeated := len(all) - 160; repeated > most*killed {
		t.Errorf("want at most %d rows again after each of %d kills, got %d", most, killed, repeated)
	}
}

// delivered is the ids of the rows at the output, in their order.
func delivered(t *testing.T, dir string) []int {
	t.Helper()
	text, err := os.ReadFile(filepath.Join(dir, "out"))
	if len(text) == 0 || errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	check(t, err)
	return ids(t, strings.Split(strings.TrimSpace(string(text)), "\n"))
}

// missing is the ids of the table that are not among some.
func missing(ids []int) (out []int) {
	for id := range 160 {
		if !slices.Contains(ids, id) {
			out = append(out, id)
		}
	}
	return out
}

// runAndKill runs a child until it has written some bytes more, and kills it then. It returns true when the child came to its
// end before.
func runAndKill(t *testing.T, dir string, more int64) bool {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Second)
	defer cancel()
	child := exec.CommandContext(ctx, os.Args[0], "-test.run=^TestKilledChild$")
	child.Env = append(os.Environ(), childDir+"="+dir)
	var said bytes.Buffer
	child.Stdout, child.Stderr = &said, &said
	before := sizeOf(dir)
	check(t, child.Start())
	ended := make(chan error, 1)
	go func() { ended <- child.Wait() }()
	for {
		select {
		case err := <-ended:
			if err != nil {
				t.Fatalf("the child ended with %v:\n%s", err, said.Bytes())
			}
			return true
		case <-time.After(200 * time.Microsecond):
		}
		if sizeOf(dir)-before >= more {
			_ = child.Process.Kill() // it may have ended meanwhile
			return <-ended == nil
		}
	}
}

func sizeOf(dir string) int64 {
	info, err := os.Stat(filepath.Join(dir, "out"))
	if err != nil {
		return 0
	}
	return info.Size()
}
