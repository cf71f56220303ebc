package plugin

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/benthosdev/benthos/v4/public/service"
)

// RunCLI runs the engine's command line, which reads os.Args, and returns the status to exit with: 1 after a permanent error
// of a bounded input, and when the process was told to stop before a bounded input had come to its end, which it says on
// stderr. The engine ends the process itself when it cannot start. A second signal ends it at once.
func RunCLI(ctx context.Context) int {
	stopped := watchSignals() //nolint:contextcheck // signals come whatever becomes of ctx
	service.RunCLI(ctx)
	if Failure() != nil {
		return 1
	}
	unfinished := Unfinished()
	if !stopped() || len(unfinished) == 0 {
		return 0
	}
	for _, u := range unfinished {
		fmt.Fprintln(os.Stderr, u)
	}
	return 1
}

// watchSignals notes the signals that the engine stops at, beside the engine, and returns whether one came.
func watchSignals() (stopped func() bool) {
	seen := make(chan os.Signal, 1)
	signal.Notify(seen, os.Interrupt, syscall.SIGTERM)
	for _, s := range []os.Signal{os.Interrupt, syscall.SIGTERM} {
		ctx, stop := signal.NotifyContext(context.Background(), s)
		context.AfterFunc(ctx, func() {
			stop()
			signal.Stop(seen)
			passOn(s)
		})
	}
	return func() bool { return len(seen) > 0 }
}

// passOn sends a signal once more: to the engine, which passes over a second one, or, where it does not listen yet, to the
// default, which ends the process. After that the default is in force.
func passOn(s os.Signal) {
	const arrival = 100 * time.Millisecond
	if self, err := os.FindProcess(os.Getpid()); err == nil {
		_ = self.Signal(s) // not every system can
	}
	time.Sleep(arrival)
	signal.Reset(os.Interrupt, syscall.SIGTERM)
}
