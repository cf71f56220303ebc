// Command deltabench does one task of a benchmark of readers in a fresh process, and prints what it took as a line of JSON.
//
//	deltabench -task scan_all -table DIR/events -threads 2
//
// It answers how fast the reader is without the engine around it: beside the benchmarks of the packages, which measure parts,
// and beside other readers, which whoever measures runs in turn with it. What a task selects stands in the table's neighbour
// DIR/events.expected.json. Exit status: 0 done, 1 failed, 3 a task that it does not do.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/go-json-experiment/json"

	"github.com/benthos-delta/benthos-delta/plugin/heap"
)

const (
	exitFailed      = 1
	exitUnsupported = 3
)

var errUnsupported = errors.New("deltabench does not do this")

func main() {
	heap.Bound()
	os.Exit(run(context.Background(), os.Args[1:], os.Stdout))
}

// arguments of an invocation.
type arguments struct {
	task, table, out, s3 string
	threads              int
}

func parse(args []string) (a arguments, err error) {
	flags := flag.NewFlagSet("deltabench", flag.ContinueOnError)
	flags.StringVar(&a.task, "task", "", "what to do")
	flags.StringVar(&a.table, "table", "", "the directory of the table")
	flags.StringVar(&a.out, "out", "/dev/null", "the file for rows that are written")
	flags.StringVar(&a.s3, "s3", "", "an endpoint that has the table")
	flags.IntVar(&a.threads, "threads", runtime.NumCPU(), "CPUs to use")
	return a, flags.Parse(args)
}

// run does the task of the arguments and returns the exit status.
func run(ctx context.Context, args []string, out io.Writer) int {
	a, err := parse(args)
	if err != nil {
		return exitFailed
	}
	runtime.GOMAXPROCS(max(a.threads, 1))
	result, err := measure(ctx, a)
	if err == nil {
		err = json.MarshalWrite(out, result, json.Deterministic(true))
	}
	switch {
	case errors.Is(err, errUnsupported):
		return exitUnsupported
	case err != nil:
		fmt.Fprintln(os.Stderr, err)
		return exitFailed
	}
	fmt.Fprintln(out)
	return 0
}

// result are numbers by the name that the line of JSON has for them: seconds end in _s.
type result map[string]any

// measure times a task alone. CPU time and memory are for whoever started the process to take.
func measure(ctx context.Context, a arguments) (result, error) {
	do, known := tasks[a.task]
	if !known || a.s3 != "" {
		return nil, errUnsupported
	}
	b, err := newBench(a)
	if err != nil {
		return nil, err
	}
	err = do(ctx, b)
	b.result["wall_s"] = b.since()
	return b.result, cmp.Or(err, ctx.Err())
}

// since is how many seconds ago the task began.
func (b *bench) since() float64 { return time.Since(b.began).Seconds() }
