package main

import (
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/urfave/cli/v2"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/input"
	"github.com/benthos-delta/benthos-delta/limits"
)

// limitFields are those that the partition target depends on.
var limitFields = []string{"target_partitions", "file_descriptors_per_partition", "memory_per_partition"}

func limitsCommand() *cli.Command {
	return &cli.Command{
		Name: "limits", Usage: "write what this host allows, and the number of partitions that follows",
		Flags: []cli.Flag{
			&cli.StringSliceFlag{Name: "set", Usage: "set a field of the input, as in --set memory_per_partition=512MiB"},
			&cli.StringFlag{Name: "format", Value: "text", Usage: "text or json"},
		},
		Action: func(c *cli.Context) error {
			format, err := oneOf(c, "format", "text", "json")
			if err != nil {
				return err
			}
			config, err := limitSettings(c)
			if err != nil {
				return err
			}
			_, decision := input.ScanOptions(config)
			if format == "json" {
				return writeJSONValue(c.App.Writer, decision)
			}
			_, err = io.WriteString(c.App.Writer, limitsText(decision))
			return writing(err)
		},
	}
}

// limitSettings makes a configuration of --set flags alone. There is no table, so that any URI does.
func limitSettings(c *cli.Context) (configspec.Config, error) {
	if c.NArg() > 0 {
		return configspec.Config{}, usagef("delta limits takes no arguments, got %s", c.Args().First())
	}
	if err := checkSet(c, limitFields); err != nil {
		return configspec.Config{}, err
	}
	raw, err := configspec.Assign(append(c.StringSlice("set"), "uri=."))
	if err != nil {
		return configspec.Config{}, usageError{err}
	}
	config, err := configspec.Decode(raw)
	if err != nil {
		return config, usageError{err}
	}
	return config, nil
}

// writeJSONValue writes an indented value and a newline.
func writeJSONValue(w io.Writer, v any) error {
	text, err := json.Marshal(v, jsontext.WithIndent("  "), json.Deterministic(true))
	if err != nil {
		return err
	}
	_, err = w.Write(append(text, '\n'))
	return writing(err)
}

// limitsText is a decision for people: the target, the caps, and where each signal was found.
func limitsText(d limits.Decision) string {
	parts := []string{targetTable(d).Render()}
	if len(d.Caps) > 0 {
		parts = append(parts, capTable(d.Caps).Render(), signalTable(d.Signals).Render())
	}
	if len(d.Absent) > 0 {
		parts = append(parts, absenceTable(d.Absent).Render())
	}
	return strings.Join(parts, "\n\n") + "\n"
}

func targetTable(d limits.Decision) table.Writer {
	t := plainTable()
	t.AppendRow(table.Row{"target", counted(int64(d.Target), "partition")})
	t.AppendRow(table.Row{"because", d.Reason})
	return t
}

func capTable(caps []limits.Cap) table.Writer {
	t := plainTable()
	t.AppendHeader(table.Row{"cap", "partitions", "reason"})
	for _, c := range caps {
		t.AppendRow(table.Row{c.Name, c.Value, c.Reason})
	}
	return t
}

func signalTable(signals []limits.Signal) table.Writer {
	t := plainTable()
	t.AppendHeader(table.Row{"signal", "value", "source", "note"})
	for _, s := range signals {
		t.AppendRow(table.Row{string(s.Name), signalText(s), s.Source, s.Note})
	}
	return t
}

func signalText(s limits.Signal) string {
	if s.Unit == limits.UnitBytes {
		return fmt.Sprintf("%d (%s)", s.Value, humanize.IBytes(s.Value))
	}
	return strconv.FormatUint(s.Value, 10)
}

func absenceTable(absent []limits.Absence) table.Writer {
	t := plainTable()
	t.AppendHeader(table.Row{"without effect", "why"})
	for _, a := range absent {
		t.AppendRow(table.Row{a.Source, a.Why})
	}
	return t
}
