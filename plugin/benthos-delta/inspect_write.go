package main

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// writeText writes an overview, the features, the columns and the properties, for people.
func (i inspection) writeText(w io.Writer) error {
	parts := []string{i.overview().Render()}
	if len(i.Features) > 0 {
		parts = append(parts, i.features().Render())
	}
	parts = append(parts, i.columns())
	if len(i.Properties) > 0 {
		parts = append(parts, i.properties().Render())
	}
	_, err := io.WriteString(w, strings.Join(parts, "\n\n")+"\n")
	return writing(err)
}

func (i inspection) overview() table.Writer {
	t := plainTable()
	rows := "unknown (some files have no statistics)"
	if i.Rows != nil {
		rows = humanize.Comma(*i.Rows)
	}
	for _, line := range [][2]string{
		{"table", i.Table},
		{"version", strconv.FormatInt(i.Version, 10)},
		{"timestamp", i.Timestamp},
		{"protocol", fmt.Sprintf("reader %d, writer %d", i.Protocol.MinReaderVersion, i.Protocol.MinWriterVersion)},
		{"can be read", i.readable()},
		{"partitioned by", listed(i.PartitionColumns)},
		{"column mapping", i.ColumnMapping},
		{"files", humanize.Comma(i.Files)},
		{"bytes", fmt.Sprintf("%s (%s)", humanize.Comma(i.Bytes), bytesText(i.Bytes))},
		{"rows", rows},
		{"deletion vectors", i.deletionVectors()},
		{"checkpoints", listed(i.Checkpoints)},
		{"read from", i.base()},
		{"in-commit times", i.InCommitTimestamp.String()},
	} {
		t.AppendRow(table.Row{line[0], line[1]})
	}
	return t
}

func (i inspection) readable() string {
	if i.Problem != nil {
		return "no: " + *i.Problem
	}
	return "yes"
}

func (i inspection) deletionVectors() string {
	if i.DeletionVectors == 0 {
		return "none"
	}
	return fmt.Sprintf("%s (%s deleted rows)", humanize.Comma(i.DeletionVectors), humanize.Comma(i.DeletedRows))
}

// base says what the version is rebuilt from.
func (i inspection) base() string {
	if i.Checkpoint == nil {
		return "the commits alone"
	}
	return fmt.Sprintf("the %s checkpoint of version %d", i.Checkpoint.Kind, i.Checkpoint.Version)
}

func (t inCommitTimestamp) String() string {
	switch {
	case !t.Enabled:
		return "off"
	case t.Since == nil:
		return "on"
	default:
		return fmt.Sprintf("on, since version %d", *t.Since)
	}
}

func (i inspection) features() table.Writer {
	t := plainTable()
	t.AppendHeader(table.Row{"feature", "for", "supported"})
	for _, f := range i.Features {
		supported := "yes"
		if !f.Supported {
			supported = "no: " + f.Reason
		}
		t.AppendRow(table.Row{f.Name, f.For, supported})
	}
	return t
}

// columns renders the schema as a table, or says why there is none.
func (i inspection) columns() string {
	s, err := schema.Parse(string(i.Schema))
	if err != nil {
		return "no schema: " + err.Error()
	}
	t := plainTable()
	t.AppendHeader(table.Row{"column", "type", "nullable"})
	for _, f := range s.Fields {
		t.AppendRow(table.Row{f.Name, f.Type.String(), f.Nullable})
	}
	return t.Render()
}

func (i inspection) properties() table.Writer {
	t := plainTable()
	t.AppendHeader(table.Row{"property", "value"})
	for _, name := range slices.Sorted(maps.Keys(i.Properties)) {
		t.AppendRow(table.Row{name, i.Properties[name]})
	}
	return t
}

// plainTable has columns and no lines, so that it reads well in a terminal and in a file.
func plainTable() table.Writer {
	t := table.NewWriter()
	t.SetStyle(table.StyleDefault)
	t.Style().Options = table.OptionsNoBordersAndSeparators
	t.Style().Format.Header = 0
	t.SuppressTrailingSpaces()
	return t
}

func listed[T any](values []T) string {
	if len(values) == 0 {
		return "none"
	}
	texts := make([]string, len(values))
	for i, v := range values {
		texts[i] = fmt.Sprint(v)
	}
	return strings.Join(texts, ", ")
}
