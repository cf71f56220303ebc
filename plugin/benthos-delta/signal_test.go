package main

import (
	"bufio"
	"bytes"
	"errors"
	"os"
	"os/exec"
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

type runningScan struct {
	*exec.Cmd
	closeOutput func() error
}

// startScan runs a scan whose output is far larger than a pipe holds.
func startScan(t *testing.T, table string) (runningScan, *bufio.Reader, *bytes.Buffer) {
	t.Helper()
	cmd := exec.Command("benthos-delta", "delta", "scan", table)
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
