package main

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"syscall"
	"testing"
	"time"
)

// A reader that has enough closes its end, as head does: the scan ends at once and says nothing. Its status is the one
// that every filter has then.
func TestBrokenPipeEndsQuietly(t *testing.T) {
	cmd, rows, errs := startScan(t, numberedRows(t, 60_000))
	if _, err := rows.ReadString('\n'); err != nil {
		t.Fatal(err)
	}
	if err := cmd.closeOutput(); err != nil {
		t.Fatal(err)
	}
	err := cmd.wait(t)
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || signalOf(exit) != syscall.SIGPIPE) {
		t.Errorf("want the end of a process whose output is closed, got %v", err)
	}
	if errs.Len() > 0 {
		t.Errorf("want nothing said, got %q", errs)
	}
}

func TestInterruptEndsAScan(t *testing.T) {
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		cmd, rows, errs := startScan(t, numberedRows(t, 60_000))
		if _, err := rows.ReadString('\n'); err != nil {
			t.Fatal(err)
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		time.Sleep(50 * time.Millisecond) // the signal comes before the pipe is free again
		if _, err := rows.WriteTo(&bytes.Buffer{}); err != nil {
			t.Fatal(err)
		}
		err := cmd.wait(t)
		if cmd.ProcessState.ExitCode() != exitFailed || errs.String() != "interrupted\n" {
			t.Errorf("%v: want status 1 and that it was interrupted, got %v and %q", signal, err, errs)
		}
	}
}

// slowPipeline pauses before each row.
const (
	slowPipeline = `
http: { enabled: false }
input: { delta_lake: { uri: "${ORDERS}", batch_rows: 1 } }
pipeline: { threads: 1, processors: [ { sleep: { duration: ${PAUSE} } } ] }
output: { stdout: {} }
`
	stoppedEarly = "(?m)^stopped before the end: [1-9][0-9]* rows delivered of file:///.*/orders$"
)

// startPipeline runs the slow pipeline with its pause before each row.
func startPipeline(t *testing.T, pause string) (runningScan, *bufio.Reader, *bytes.Buffer) {
	t.Helper()
	file := filepath.Join(t.TempDir(), "slow.yaml")
	if err := os.WriteFile(file, []byte(slowPipeline), 0o600); err != nil {
		t.Fatal(err)
	}
	cmd := exec.Command("benthos-delta", "run", file)
	cmd.Env = append(os.Environ(), "ORDERS="+filepath.Join(moduleRoot(t), "testdata", "tables", "orders"), "PAUSE="+pause)
	return started(t, cmd)
}

func TestStoppedRunHasStatusOneAndSaysHowFarItCame(t *testing.T) {
	t.Parallel()
	for _, signal := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		cmd, rows, errs := startPipeline(t, "20ms")
		for range 2 { // the first is acknowledged once the second comes
			if _, err := rows.ReadString('\n'); err != nil {
				t.Fatal(err, errs)
			}
		}
		if err := cmd.Process.Signal(signal); err != nil {
			t.Fatal(err)
		}
		if _, err := rows.WriteTo(&bytes.Buffer{}); err != nil {
			t.Fatal(err)
		}
		err := cmd.wait(t)
		if cmd.ProcessState.ExitCode() != exitFailed || !regexp.MustCompile(stoppedEarly).Match(errs.Bytes()) {
			t.Errorf("%v: want status 1 and how far it came, got %v and %s", signal, err, errs)
		}
	}
}

func TestSecondSignalEndsARunAtOnce(t *testing.T) {
	t.Parallel()
	cmd, rows, errs := startPipeline(t, "1h")
	time.Sleep(time.Second)
	for range 2 {
		if err := cmd.Process.Signal(os.Interrupt); err != nil {
			t.Fatal(err, errs)
		}
		time.Sleep(500 * time.Millisecond)
	}
	began := time.Now()
	if _, err := rows.WriteTo(&bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	if err := cmd.wait(t); err == nil || time.Since(began) > 5*time.Second {
		t.Errorf("want an end that is no success, at once, got %v after %s: %s", err, time.Since(began), errs)
	}
}

// A signal may come before the engine listens for it.
func TestSignalAtAnyTimeOfAStartIsNoSuccess(t *testing.T) {
	t.Parallel()
	for delay := time.Duration(0); delay < 200*time.Millisecond; delay += 25 * time.Millisecond {
		cmd, rows, errs := startPipeline(t, "20ms")
		time.Sleep(delay)
		if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
			t.Fatal(err)
		}
		if _, err := rows.WriteTo(&bytes.Buffer{}); err != nil {
			t.Fatal(err)
		}
		if err := cmd.wait(t); err == nil {
			t.Errorf("after %s: want an end that is no success, got %s", delay, errs)
		}
	}
}

type runningScan struct {
	*exec.Cmd
	closeOutput func() error
}

// startScan runs a scan whose output is far larger than a pipe holds.
func startScan(t *testing.T, table string) (runningScan, *bufio.Reader, *bytes.Buffer) {
	t.Helper()
	return started(t, exec.Command("benthos-delta", "delta", "scan", table))
}

func started(t *testing.T, cmd *exec.Cmd) (runningScan, *bufio.Reader, *bytes.Buffer) {
	t.Helper()
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	var errs bytes.Buffer
	cmd.Stderr = &errs
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	return runningScan{cmd, out.Close}, bufio.NewReaderSize(out, 16), &errs
}

func (r runningScan) wait(t *testing.T) error {
	t.Helper()
	timer := time.AfterFunc(10*time.Second, func() { _ = r.Process.Kill() })
	defer timer.Stop()
	return r.Wait()
}

func signalOf(exit *exec.ExitError) syscall.Signal {
	status, _ := exit.Sys().(syscall.WaitStatus)
	return status.Signal()
}
