package main

import (
	"context"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/urfave/cli/v2"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/exec"
)

func inspectCommand() *cli.Command {
	return &cli.Command{
		Name: "inspect", Usage: "write what a table version is made of", ArgsUsage: "URI",
		Flags: append(settingFlags(), &cli.StringFlag{Name: "format", Value: "text", Usage: "text or json"}),
		Action: func(c *cli.Context) error {
			format, err := oneOf(c, "format", "text", "json")
			if err != nil {
				return err
			}
			config, err := settings(c)
			if err != nil {
				return err
			}
			table, err := open(c, config, exec.NewBudget(config.Scan.MemoryLimit))
			if err != nil {
				return err
			}
			i, err := inspect(c.Context, table)
			if err != nil {
				return err
			}
			if format == "json" {
				return i.writeJSON(c.App.Writer)
			}
			return i.writeText(c.App.Writer)
		},
	}
}

// inspection is what a table version is made of, in the shape of the command's JSON.
type inspection struct {
	Table            string            `json:"table"`
	Version          int64             `json:"version"`
	Timestamp        string            `json:"timestamp"` // RFC 3339, UTC, ms
	Protocol         protocol          `json:"protocol"`
	Schema           jsontext.Value    `json:"schema"` // null where the log holds none that can be read
	PartitionColumns []string          `json:"partition_columns"`
	Files            int64             `json:"files"`
	Bytes            int64             `json:"bytes"`
	Rows             *int64            `json:"rows"` // null: some file has no statistics
	DeletionVectors  int64             `json:"deletion_vectors"`
	Checkpoints      []int64           `json:"checkpoints"`
	Properties       map[string]string `json:"properties"`
}

type protocol struct {
	MinReaderVersion int      `json:"min_reader_version"`
	MinWriterVersion int      `json:"min_writer_version"`
	ReaderFeatures   []string `json:"reader_features"`
	WriterFeatures   []string `json:"writer_features"`
	Unsupported      []string `json:"unsupported"`
}

// inspect reads the log of a version and no data file. Tables that a scan would refuse are described as well.
func inspect(ctx context.Context, table *deltacore.Table) (inspection, error) {
	s := table.Snapshot()
	i := inspection{
		Table: table.URI(), Version: table.Version(),
		Timestamp: table.Timestamp().UTC().Format("2006-01-02T15:04:05.000Z07:00"),
		Protocol: protocol{
			MinReaderVersion: s.Protocol.MinReaderVersion, MinWriterVersion: s.Protocol.MinWriterVersion,
			ReaderFeatures: s.Protocol.ReaderFeatures, WriterFeatures: s.Protocol.WriterFeatures,
			Unsupported: action.UnsupportedFeatures(s.Protocol, s.Metadata),
		},
		Schema:           schemaJSON(s.Metadata.SchemaString),
		PartitionColumns: s.Metadata.PartitionColumns,
		Checkpoints:      s.Segment.Checkpoints,
		Properties:       s.Metadata.Configuration,
	}
	return i, i.count(ctx, table)
}

// count adds up the active files.
func (i *inspection) count(ctx context.Context, table *deltacore.Table) error {
	i.Rows = new(int64)
	for f, err := range table.Files(ctx) {
		if err != nil {
			return err
		}
		i.Files++
		i.Bytes += f.Add.Size
		if f.Add.DeletionVector != nil {
			i.DeletionVectors++
		}
		rows, known := liveRows(f.Add)
		if i.Rows != nil && known {
			*i.Rows += rows
		} else {
			i.Rows = nil
		}
	}
	return nil
}

// liveRows is the number of rows that the statistics of a file and its deletion vector leave.
func liveRows(a action.Add) (rows int64, known bool) {
	var stats struct {
		NumRecords *int64 `json:"numRecords"`
	}
	if err := json.Unmarshal([]byte(a.Stats), &stats); err != nil || stats.NumRecords == nil {
		return 0, false
	}
	rows = *stats.NumRecords
	if a.DeletionVector != nil {
		rows -= a.DeletionVector.Cardinality
	}
	return rows, rows >= 0
}

func schemaJSON(text string) jsontext.Value {
	v := jsontext.Value(text)
	if !v.IsValid() {
		return jsontext.Value("null")
	}
	return v
}
