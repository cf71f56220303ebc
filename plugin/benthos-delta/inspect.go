package main

import (
	"cmp"
	"context"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/urfave/cli/v2"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltalog"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

func inspectCommand() *cli.Command {
	return &cli.Command{
		Name: "inspect", Usage: "write what a table version is made of", ArgsUsage: "URI",
		Flags: append(settingFlags(), &cli.StringFlag{Name: "format", Value: "text", Usage: "text or json"}),
		Action: func(c *cli.Context) error {
			table, asJSON, err := openFor(c)
			if err != nil {
				return err
			}
			i, err := inspect(c.Context, table)
			if err != nil {
				return err
			}
			if asJSON {
				return writeJSONValue(c.App.Writer, i)
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
	Rows             *int64            `json:"rows"`             // null: some file has no statistics
	DeletionVectors  int64             `json:"deletion_vectors"` // files with one
	DeletedRows      int64             `json:"deleted_rows"`     // that they leave out
	Checkpoints      []int64           `json:"checkpoints"`      // their versions
	Properties       map[string]string `json:"properties"`

	Problem           *string           `json:"problem"` // why rows of the version cannot be read; null: nothing known
	Features          []feature         `json:"features"`
	ColumnMapping     string            `json:"column_mapping"`
	InCommitTimestamp inCommitTimestamp `json:"in_commit_timestamps"`
	Checkpoint        *checkpoint       `json:"checkpoint"` // the one that the version is rebuilt from; null: none
}

type feature struct {
	Name      string `json:"name"`
	For       string `json:"for"` // readers, writers: those who must support it
	Supported bool   `json:"supported"`
	Reason    string `json:"reason,omitempty"` // why it is not
}

type inCommitTimestamp struct {
	Enabled bool   `json:"enabled"`
	Since   *int64 `json:"since_version"` // null: not enabled, or not known
}

type checkpoint struct {
	Version int64  `json:"version"`
	Kind    string `json:"kind"`
	Files   int    `json:"files"`
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
		Timestamp: timestampText(table.Timestamp()),
		Protocol: protocol{
			MinReaderVersion: s.Protocol.MinReaderVersion, MinWriterVersion: s.Protocol.MinWriterVersion,
			ReaderFeatures: s.Protocol.ReaderFeatures, WriterFeatures: s.Protocol.WriterFeatures,
			Unsupported: action.UnsupportedFeatures(s.Protocol, s.Metadata),
		},
		Schema:           schemaJSON(s.Metadata.SchemaString),
		PartitionColumns: s.Metadata.PartitionColumns,
		Checkpoints:      s.Segment.Checkpoints,
		Properties:       s.Metadata.Configuration,
		Features:         featuresOf(s),
		ColumnMapping:    columnMapping(s),
		Checkpoint:       checkpointOf(s),

		InCommitTimestamp: inCommitTimestampOf(s),
	}
	if err := problemOf(s); err != nil {
		text := err.Error()
		i.Problem = &text
	}
	return i, i.count(ctx, table)
}

// problemOf is what a scan of all columns would say before it lists any file.
func problemOf(s *deltalog.Snapshot) error {
	if err := cmp.Or(action.CheckReadable(s.Protocol, s.Metadata), s.CheckTimestamp()); err != nil {
		return err
	}
	columns, err := schema.Parse(s.Metadata.SchemaString)
	if err != nil {
		return err
	}
	mapping, err := action.ColumnMapping(s.Protocol, s.Metadata)
	if err != nil {
		return err
	}
	_, err = schema.ArrowSchema(columns)
	return cmp.Or(mapping.Check(columns), schema.CheckTypeChanges(columns), err)
}

func featuresOf(s *deltalog.Snapshot) []feature {
	var all []feature
	for _, f := range action.Features(s.Protocol, s.Metadata) {
		who := "writers"
		if f.Reader {
			who = "readers"
		}
		all = append(all, feature{f.Name, who, f.Supported, f.Reason})
	}
	return all
}

// columnMapping is the mode; a word that is none as it stands in the log.
func columnMapping(s *deltalog.Snapshot) string {
	mapping, err := action.ColumnMapping(s.Protocol, s.Metadata)
	if err != nil {
		return s.Metadata.Configuration["delta.columnMapping.mode"]
	}
	return string(mapping)
}

// inCommitTimestampOf leaves out since when if the properties do not tell: that is in the way of reading by time alone.
func inCommitTimestampOf(s *deltalog.Snapshot) inCommitTimestamp {
	enabled, since, err := s.InCommitTimestamps()
	if !enabled || err != nil {
		return inCommitTimestamp{Enabled: enabled}
	}
	return inCommitTimestamp{enabled, &since}
}

func checkpointOf(s *deltalog.Snapshot) *checkpoint {
	c := s.Segment.Checkpoint
	if c == nil {
		return nil
	}
	return &checkpoint{c.Version, c.Kind.String(), len(c.Files)}
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
			i.DeletedRows += f.Add.DeletionVector.Cardinality
		}
		rows, known := f.Add.LiveRows()
		if i.Rows != nil && known {
			*i.Rows += rows
		} else {
			i.Rows = nil
		}
	}
	return nil
}

func schemaJSON(text string) jsontext.Value {
	v := jsontext.Value(text)
	if !v.IsValid() {
		return jsontext.Value("null")
	}
	return v
}
