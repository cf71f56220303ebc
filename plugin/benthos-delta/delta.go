package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"syscall"

	"github.com/urfave/cli/v2"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/exec"
	"github.com/benthos-delta/benthos-delta/deltacore/recycle"
)

// streams are where a command writes: data to out, everything else to err.
type streams struct{ out, err io.Writer }

// usageError is a failure of the arguments, told apart by the exit status.
type usageError struct{ error }

func usagef(format string, args ...any) error { return usageError{fmt.Errorf(format, args...)} }

// runDelta runs a delta command, given "delta" and what follows, and returns the exit status. An interrupt cancels it; a second one
// ends the process at once.
func runDelta(args []string, s streams) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop)
	err := deltaCommand(ctx, args, s)
	var usage usageError
	switch {
	case err == nil, errors.Is(err, syscall.EPIPE): // whoever read the output has enough
		return 0
	case ctx.Err() != nil:
		fmt.Fprintln(s.err, "interrupted")
		return exitFailed
	case errors.As(err, &usage):
		fmt.Fprintf(s.err, "%v\nSee benthos-delta %s --help.\n", err, strings.Join(commandOf(args), " "))
		return exitUsage
	default:
		fmt.Fprintln(s.err, err)
		return exitFailed
	}
}

// commandOf returns the arguments that name the command.
func commandOf(args []string) []string {
	_, n := named(deltaCommands(), args[1:])
	return args[:1+n]
}

func deltaCommand(ctx context.Context, args []string, s streams) error {
	args, err := flagsFirst(args)
	if err != nil {
		return usageError{err}
	}
	return deltaApp(s).RunContext(ctx, args)
}

func deltaApp(s streams) *cli.App {
	return &cli.App{
		Name: "benthos-delta delta", Usage: "look at a Delta table",
		Commands: deltaCommands(), Writer: s.out, ErrWriter: s.err,
		HideVersion: true, DisableSliceFlagSeparator: true, OnUsageError: asUsageError,
		ExitErrHandler: func(*cli.Context, error) {},
		Action: func(c *cli.Context) error {
			if c.NArg() > 0 {
				return usagef("there is no command delta %s", c.Args().First())
			}
			return usagef("delta needs a command: scan, plan, inspect, history, limits, position or docs")
		},
	}
}

func deltaCommands() []*cli.Command {
	commands := []*cli.Command{scanCommand(), planCommand(), inspectCommand(), historyCommand(), limitsCommand(), positionCommand(), docsCommand()}
	complete(commands)
	return commands
}

func complete(commands []*cli.Command) {
	for _, c := range commands {
		c.OnUsageError, c.HideHelpCommand = asUsageError, true
		complete(c.Subcommands)
	}
}

func asUsageError(_ *cli.Context, err error, _ bool) error { return usageError{err} }

// flagsFirst moves a command's flags before its other arguments, where the library looks for them.
func flagsFirst(args []string) ([]string, error) {
	command, named := named(deltaCommands(), args[1:])
	if command == nil {
		return args, nil
	}
	own := args[:1+named]
	flags, rest, err := separate(command.Flags, args[1+named:])
	if errors.Is(err, errHelp) {
		return append(slices.Clip(own), "--help"), nil
	}
	if err == nil {
		err = givenOnce(command.Flags, flags)
	}
	return slices.Concat(own, flags, []string{"--"}, rest), err
}

// named returns the command that args begin with, or its command that they go on with, and the number of names; nil: args do
// not name a command that can run.
func named(commands []*cli.Command, args []string) (*cli.Command, int) {
	if len(args) == 0 {
		return nil, 0
	}
	i := slices.IndexFunc(commands, func(c *cli.Command) bool { return c.Name == args[0] })
	if i < 0 {
		return nil, 0
	}
	if len(commands[i].Subcommands) == 0 {
		return commands[i], 1
	}
	command, n := named(commands[i].Subcommands, args[1:])
	return command, n + 1
}

// open opens the table of a configuration. What was passed over is told on the command's error stream.
func open(c *cli.Context, config configspec.Config, budget *exec.Budget) (*deltacore.Table, error) {
	return deltacore.Open(c.Context, config.URI, deltacore.Options{
		Version: config.Version, Timestamp: config.Timestamp, AllowedExternalPaths: config.AllowedExternalPaths,
		FooterReadSize: config.Scan.FooterReadSize, Budget: budget, Allocator: new(recycle.Allocator),
		Warn: func(msg string) { fmt.Fprintln(c.App.ErrWriter, "warning:", msg) },
	})
}

// openFor opens the table of a command that looks at the log alone, and says whether it is to write JSON.
func openFor(c *cli.Context) (table *deltacore.Table, asJSON bool, err error) {
	format, err := oneOf(c, "format", "text", "json")
	if err != nil {
		return nil, false, err
	}
	config, err := settings(c, openFields)
	if err != nil {
		return nil, false, err
	}
	table, err = open(c, config, exec.NewBudget(config.Scan.MemoryLimit))
	return table, format == "json", err
}

// oneOf checks a flag that names one of a few things.
func oneOf(c *cli.Context, flag string, allowed ...string) (string, error) {
	value := c.String(flag)
	if !slices.Contains(allowed, value) {
		return "", usagef("--%s must be one of %s, got %q", flag, strings.Join(allowed, ", "), value)
	}
	return value, nil
}
