package main

import (
	"io"

	"github.com/urfave/cli/v2"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
)

func docsCommand() *cli.Command {
	return &cli.Command{
		Name: "docs", Usage: "write the reference of the input's fields",
		Flags: []cli.Flag{&cli.StringFlag{Name: "format", Value: "markdown", Usage: "markdown or json_schema"}},
		Action: func(c *cli.Context) error {
			format, err := oneOf(c, "format", "markdown", "json_schema")
			if err != nil {
				return err
			}
			if c.NArg() > 0 {
				return usagef("delta docs takes no arguments, got %s", c.Args().First())
			}
			text := configspec.Markdown()
			if format == "json_schema" {
				text = string(configspec.JSONSchema())
			}
			_, err = io.WriteString(c.App.Writer, text)
			return writing(err)
		},
	}
}
