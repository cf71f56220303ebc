package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"
)

const runUsage = `Usage: benthos-delta run [flags] FILE

Runs the pipeline in FILE until its input ends or the process is told to stop.

  -e, --env-file FILE     read environment variables from a file
  -s, --set PATH=VALUE    set a field of the pipeline
  -r, --resources FILE    add resources from a file
  -t, --templates FILE    add templates from a file
      --log.level LEVEL   off, error, warn, info, debug or trace
      --chilled           run although the pipeline has lint errors
  -w, --watcher           apply changes of the file while running
`

// engineFlags are the flags of the engine's root command; only what their names take matters here.
var engineFlags = []cli.Flag{
	&cli.StringSliceFlag{Name: "env-file", Aliases: []string{"e"}},
	&cli.StringFlag{Name: "log.level"},
	&cli.StringSliceFlag{Name: "set", Aliases: []string{"s"}},
	&cli.StringFlag{Name: "config", Aliases: []string{"c"}},
	&cli.StringSliceFlag{Name: "resources", Aliases: []string{"r"}},
	&cli.StringSliceFlag{Name: "templates", Aliases: []string{"t"}},
	&cli.BoolFlag{Name: "chilled"},
	&cli.BoolFlag{Name: "watcher", Aliases: []string{"w"}},
	&cli.BoolFlag{Name: "version", Aliases: []string{"v"}},
}

// engineCommands are the commands of the engine.
var engineCommands = []string{"echo", "lint", "streams", "list", "create", "test", "template", "blobl", "studio", "help", "h"}

// root is what stands before the arguments of the engine's command.
type root struct{ version bool }

// parseRoot reads the flags before the engine's command, and the command. What is wrong with them the engine would say with
// its whole help, and for flags still end with status 0.
func parseRoot(args []string) (r root, err error) {
	for len(args) > 0 && len(args[0]) > 1 && args[0][0] == '-' {
		needsValue, err := flagNeedsValue(engineFlags, args[0])
		switch {
		case err != nil:
			return r, err
		case needsValue && len(args) == 1:
			return r, fmt.Errorf("flag %s needs a value", args[0])
		case needsValue:
			args = args[1:]
		}
		name := strings.TrimLeft(args[0], "-")
		r.version = r.version || !needsValue && (name == "version" || name == "v")
		args = args[1:]
	}
	if len(args) > 0 && !slices.Contains(engineCommands, args[0]) {
		return r, fmt.Errorf("there is no command %q", args[0])
	}
	return r, nil
}

// engineArguments translates the arguments after `run` into the engine's: its flags, and the one file as -c. It returns
// nil when help is asked for.
func engineArguments(args []string) ([]string, error) {
	flags, files, err := separate(engineFlags, args)
	if errors.Is(err, errHelp) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	if len(files) != 1 {
		return nil, fmt.Errorf("run takes one file, got %d: %s", len(files), strings.Join(files, " "))
	}
	if files[0] == "" {
		return nil, errors.New("run needs the name of a file, got an empty one")
	}
	if slices.ContainsFunc(flags, isConfigFlag) {
		return nil, errors.New("run takes its file as an argument: leave -c out")
	}
	return append(flags, "-c", files[0]), nil
}

func isConfigFlag(arg string) bool {
	name, _, _ := strings.Cut(strings.TrimLeft(arg, "-"), "=")
	return strings.HasPrefix(arg, "-") && (name == "c" || name == "config")
}

var errHelp = errors.New("help is asked for")

// separate splits args into flags with their values, and the rest, wherever they stand; after "--" everything is rest.
func separate(known []cli.Flag, args []string) (flags, rest []string, err error) {
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		switch {
		case arg == "--":
			return flags, append(rest, args...), nil
		case arg == "-" || !strings.HasPrefix(arg, "-"):
			rest = append(rest, arg)
			continue
		}
		needsValue, err := flagNeedsValue(known, arg)
		if err != nil {
			return nil, nil, err
		}
		if needsValue && len(args) == 0 {
			return nil, nil, fmt.Errorf("flag %s needs a value", arg)
		}
		flags = append(flags, arg)
		if needsValue {
			flags, args = append(flags, args[0]), args[1:]
		}
	}
	return flags, rest, nil
}

// givenOnce refuses flags of one value that are there twice: the library would take the last one. The flags are in the form of
// separate.
func givenOnce(known []cli.Flag, flags []string) error {
	seen := map[string]bool{}
	for len(flags) > 0 {
		f, inline := flagOf(known, flags[0])
		if seen[f.Names()[0]] {
			return fmt.Errorf("flag --%s is given twice", f.Names()[0])
		}
		if _, many := f.(*cli.StringSliceFlag); !many {
			seen[f.Names()[0]] = true
		}
		flags = flags[1:]
		if takesValue(f) && !inline {
			flags = flags[1:]
		}
	}
	return nil
}

// flagNeedsValue says whether the flag's value is the next argument.
func flagNeedsValue(known []cli.Flag, arg string) (bool, error) {
	f, inline := flagOf(known, arg)
	switch {
	case f == cli.HelpFlag:
		return false, errHelp
	case f == nil:
		return false, fmt.Errorf("there is no flag %s", arg)
	}
	return takesValue(f) && !inline, nil
}

// flagOf finds a flag, and says whether its value is in the same argument; nil: there is none.
func flagOf(known []cli.Flag, arg string) (f cli.Flag, inline bool) {
	name, _, inline := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
	for _, f := range append(slices.Clip(known), cli.HelpFlag) {
		if slices.Contains(f.Names(), name) {
			return f, inline
		}
	}
	return nil, inline
}

func takesValue(f cli.Flag) bool {
	documented, ok := f.(cli.DocGenerationFlag)
	return ok && documented.TakesValue()
}
