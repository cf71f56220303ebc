// Command benthos-delta is the Benthos command line with the delta_lake input, and the delta subcommands.
//
// It answers what an invocation means: `run FILE` becomes the engine's `-c FILE`, `delta …` is taken before the engine sees
// it, everything else is the engine's. Exit status: 0 done, 1 failed or stopped before the end, 2 wrong arguments; a command
// whose output is closed before its end, as by head, is ended by SIGPIPE like every filter. Reading tables is left to deltacore, the input to the
// packages plugin and input.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	_ "time/tzdata" // for TZ= in cron expressions, on machines without time zones

	_ "github.com/benthosdev/benthos/v4/public/components/aws"
	_ "github.com/benthosdev/benthos/v4/public/components/io"
	_ "github.com/benthosdev/benthos/v4/public/components/kafka"
	_ "github.com/benthosdev/benthos/v4/public/components/prometheus"
	_ "github.com/benthosdev/benthos/v4/public/components/pure"

	"github.com/benthos-delta/benthos-delta/plugin"
	"github.com/benthos-delta/benthos-delta/plugin/heap"
)

const (
	exitFailed = 1
	exitUsage  = 2
)

func main() {
	heap.Bound()
	os.Exit(run(os.Args[1:]))
}

// run does what the arguments say and returns the exit status. The engine ends the process itself when it cannot start.
func run(args []string) int {
	if len(args) > 0 {
		switch args[0] {
		case "delta":
			return runDelta(args, streams{out: os.Stdout, err: os.Stderr})
		case "run":
			return runPipeline(args[1:])
		case "help", "h":
			return help(args[1:])
		}
	}
	root, err := parseRoot(args)
	switch {
	case errors.Is(err, errHelp), err == nil && len(args) == 0:
		return help(nil)
	case err != nil:
		fmt.Fprintf(os.Stderr, "%v\nSee benthos-delta --help.\n", err)
		return exitUsage
	case root.version:
		fmt.Print(versions())
		return 0
	}
	return runEngine(args)
}

const preface = `benthos-delta is Benthos with the delta_lake input. Besides the engine's commands below there are:

  benthos-delta run [flags] FILE    run a pipeline, as "benthos -c FILE" does
  benthos-delta delta COMMAND       look at a Delta table: scan, plan, inspect, history, limits, position, docs

`

// help writes the help of the command that args name.
func help(args []string) int {
	switch {
	case len(args) == 0:
		fmt.Print(preface)
		return runEngine([]string{"--help"})
	case args[0] == "run":
		return runPipeline([]string{"--help"})
	case args[0] == "delta":
		return runDelta(append(args, "--help"), streams{out: os.Stdout, err: os.Stderr})
	}
	return run(append(args, "--help"))
}

func runPipeline(args []string) int {
	translated, err := engineArguments(args)
	if err != nil {
		fmt.Fprintf(os.Stderr, "%v\n\n%s", err, runUsage)
		return exitUsage
	}
	if translated == nil {
		fmt.Print(runUsage)
		return 0
	}
	return runEngine(translated)
}

// runEngine hands over to the engine, which reads os.Args and returns when the pipeline has ended.
func runEngine(args []string) int {
	os.Args = append([]string{"benthos-delta"}, args...)
	return plugin.RunCLI(context.Background())
}
