package main

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/urfave/cli/v2"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
)

// The fields that a command uses, beside those that are flags.
var (
	openFields = []string{"version", "timestamp", "allowed_external_paths", "scan.memory_limit"}
	planFields = slices.Concat(openFields, []string{"columns", "where", "limit"}, limitFields, []string{
		"intra_file_repartitioning", "repartition_file_min_size", "scan.file_reads_per_partition",
		"scan.prefetch_files_per_partition", "scan.footer_read_size",
	})
	scanFields = append(slices.Clip(planFields), "batch_rows",
		"values.decimal", "values.int64", "values.timestamp", "values.binary", "values.non_finite")
)

// fieldFlags are the flags that set the field of their name.
var fieldFlags = []string{"version", "timestamp", "columns", "where", "limit"}

// rowFlags say which rows are read, and which columns of them.
func rowFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringSliceFlag{Name: "columns", Usage: "the columns to read, joined by commas, or a JSON array (default: all)"},
		&cli.StringFlag{Name: "where", Usage: "the rows to read: a condition, as in --where \"country = 'NL' AND amount > 10\" (default: all)"},
		&cli.StringFlag{Name: "limit", Usage: "the number of rows to read (default: all)"},
	}
}

// settingFlags are shared by the commands that open a table.
func settingFlags() []cli.Flag {
	return []cli.Flag{
		&cli.StringFlag{Name: "version", Usage: "the table version to read (default: the latest)"},
		&cli.StringFlag{Name: "timestamp", Usage: "read the version of a point in time: the newest one committed at or before it"},
		&cli.StringSliceFlag{Name: "set", Usage: "set a field of the input, as in --set scan.memory_limit=128MiB"},
	}
}

// settings makes a configuration of the command's URI, its --set flags, for which the command uses some fields, and those of
// its flags that are fields.
func settings(c *cli.Context, uses []string) (configspec.Config, error) {
	if c.NArg() != 1 {
		return configspec.Config{}, usagef("delta %s takes one table URI, got %d", c.Command.Name, c.NArg())
	}
	if err := checkSet(c, uses); err != nil {
		return configspec.Config{}, err
	}
	assignments, err := flagAssignments(c)
	if err != nil {
		return configspec.Config{}, err
	}
	raw, err := configspec.Assign(slices.Concat(c.StringSlice("set"), assignments, []string{"uri=" + c.Args().First()}))
	if err != nil {
		return configspec.Config{}, usageError{err}
	}
	config, err := configspec.Decode(raw)
	if err != nil {
		return config, usageError{namingFlags(c, err)}
	}
	return config, nil
}

// checkSet refuses fields that the command would ignore, or that it is given in another way as well.
func checkSet(c *cli.Context, uses []string) error {
	for _, s := range c.StringSlice("set") {
		field, _, _ := strings.Cut(s, "=")
		_, known := configspec.Lookup(field)
		switch {
		case field == "uri":
			return usagef("the URI is an argument: leave --set uri out")
		case slices.Contains(fieldFlags, field) && c.IsSet(field):
			return usagef("%s is given twice: leave out --%s or --set %s", field, field, field)
		case known && !slices.Contains(uses, field):
			return usagef("delta %s does not use %s: it takes %s", c.Command.Name, field, strings.Join(uses, ", "))
		}
	}
	if c.IsSet("version") && c.IsSet("timestamp") {
		return usagef("--version and --timestamp cannot go together: leave one of them out")
	}
	return nil
}

// flagAssignments turns the flags that are fields into assignments. Several --columns add up.
func flagAssignments(c *cli.Context) ([]string, error) {
	var out []string
	for _, name := range []string{"version", "timestamp", "where", "limit"} {
		if c.IsSet(name) {
			out = append(out, name+"="+c.String(name))
		}
	}
	given := c.StringSlice("columns")
	if slices.ContainsFunc(given, func(s string) bool { return strings.TrimSpace(s) == "" }) {
		return nil, usagef("--columns names no column: leave it out for all of them")
	}
	switch len(given) {
	case 0:
		return out, nil
	case 1:
		return append(out, "columns="+given[0]), nil
	}
	if i := slices.IndexFunc(given, func(s string) bool { return strings.HasPrefix(s, "[") }); i >= 0 {
		return nil, usagef("a JSON array of --columns stands alone: name all of them in %s", given[i])
	}
	return append(out, "columns="+strings.Join(given, ",")), nil
}

// namingFlags names the flag in the problems with fields that came from one.
func namingFlags(c *cli.Context, err error) error {
	var problems []error
	for _, p := range configspec.Problems(err) {
		name := strings.TrimPrefix(p.Path, configspec.Component+".")
		if slices.Contains(fieldFlags, name) && c.IsSet(name) {
			problems = append(problems, fmt.Errorf("--%s: %s", name, p.Message))
		} else {
			problems = append(problems, p)
		}
	}
	return errors.Join(problems...)
}
