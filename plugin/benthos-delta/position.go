package main

import (
	"context"
	"fmt"

	"github.com/urfave/cli/v2"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/input"
	"github.com/benthos-delta/benthos-delta/input/ack"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

func positionCommand() *cli.Command {
	flags := []cli.Flag{
		&cli.StringFlag{Name: "label", Usage: "the input, where the pipeline has several that store a position"},
		&cli.StringSliceFlag{Name: "resources", Aliases: []string{"r"}, Usage: "add resources from a file, as run does"},
	}
	return &cli.Command{
		Name: "position", Usage: "read or write how far a pipeline has delivered a table",
		Subcommands: []*cli.Command{{
			Name: "show", Usage: "write the stored position as JSON", ArgsUsage: "PIPELINE", Flags: flags,
			Action: showPosition,
		}, {
			Name: "set", Usage: "store a position, a changed text of show; the next start continues behind it; stop the pipeline first",
			ArgsUsage: "PIPELINE POSITION", Flags: flags,
			Action: setPosition,
		}},
		Action: func(c *cli.Context) error {
			return usagef("delta position needs show or set, got %q", c.Args().First())
		},
	}
}

func showPosition(c *cli.Context) error {
	if c.NArg() != 1 {
		return usagef("delta position show takes one pipeline file, got %d arguments", c.NArg())
	}
	return withPositions(c, func(ctx context.Context, key string, store *ack.Store) error {
		record, found, err := store.Load(ctx)
		switch {
		case err != nil:
			return err
		case !found:
			return fmt.Errorf("no position is stored under the key %s", key)
		}
		_, err = fmt.Fprintln(c.App.Writer, record.Position)
		return err
	})
}

func setPosition(c *cli.Context) error {
	if c.NArg() != 2 {
		return usagef("delta position set takes a pipeline file and a position, got %d arguments", c.NArg())
	}
	position, err := feed.ParsePosition([]byte(c.Args().Get(1)))
	if err != nil {
		return usageError{err}
	}
	return withPositions(c, func(ctx context.Context, key string, store *ack.Store) error {
		switch old, found, err := store.Load(ctx); {
		case deltaerr.KindOf(err) == deltaerr.Unresumable:
			warn(c, fmt.Sprintf("What was stored is replaced: %v", err))
		case err != nil:
			return err
		case found && old.Position.TableID != position.TableID:
			warn(c, fmt.Sprintf("The position before it, %s, was of another table.", old.Position))
		}
		if err := store.Save(ctx, position); err != nil {
			return err
		}
		fmt.Fprintln(c.App.ErrWriter, "stored under the key", key)
		return nil
	})
}

// withPositions calls use with the store of the input that the command names.
func withPositions(c *cli.Context, use func(ctx context.Context, key string, store *ack.Store) error) error {
	p, err := readPipeline(c.Args().First(), c.StringSlice("resources"))
	if err != nil {
		return err
	}
	inputs, err := p.inputs()
	if err != nil {
		return err
	}
	chosen, err := pick(inputs, c.String("label"))
	if err != nil {
		return err
	}
	key, err := input.CheckpointKey(chosen.config, chosen.label)
	if err != nil {
		return err
	}
	return p.withCache(c.Context, chosen.config.Checkpoint.Cache, func(ctx context.Context, cache ack.Cache) error {
		return use(ctx, key, ack.NewStore(cache, key, func(msg string) { warn(c, msg) }))
	})
}

func warn(c *cli.Context, msg string) { fmt.Fprintln(c.App.ErrWriter, "warning:", msg) }
