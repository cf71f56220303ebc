package main

import (
	"bufio"
	"cmp"
	"context"
	"iter"
	"time"

	"github.com/dustin/go-humanize"
	"github.com/go-json-experiment/json"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/jedib0t/go-pretty/v6/text"
	"github.com/urfave/cli/v2"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltalog"
)

func historyCommand() *cli.Command {
	return &cli.Command{
		Name: "history", Usage: "write what each commit did, newest first, up to a version", ArgsUsage: "URI",
		Flags: append(settingFlags(), &cli.StringFlag{Name: "format", Value: "text", Usage: "text, or json: one object a line"}),
		Action: func(c *cli.Context) error {
			opened, asJSON, err := openFor(c)
			if err != nil {
				return err
			}
			write := writeHistoryText
			if asJSON {
				write = writeHistoryJSON
			}
			out := bufio.NewWriter(c.App.Writer)
			err = write(out, commitsOf(c.Context, opened))
			return cmp.Or(err, writing(out.Flush()))
		},
	}
}

// commit is what one commit did, in the shape of the command's JSON.
type commit struct {
	Version    int64   `json:"version"`
	Timestamp  string  `json:"timestamp"` // RFC 3339, UTC, ms
	Operation  *string `json:"operation"` // null: the writer does not say
	Adds       int64   `json:"adds"`
	Removes    int64   `json:"removes"`
	Changes    int64   `json:"changes"` // files of recorded changes
	DataChange bool    `json:"data_change"`
	RowsAdded  *int64  `json:"rows_added"` // null: some added file has no statistics
	BytesAdded int64   `json:"bytes_added"`
	Protocol   bool    `json:"protocol"` // whether it was set
	Metadata   bool    `json:"metadata"`
}

// commitsOf yields the commits that the log still holds up to the version of the table.
func commitsOf(ctx context.Context, t *deltacore.Table) iter.Seq2[commit, error] {
	return func(yield func(commit, error) bool) {
		last := t.Version()
		for s, err := range t.Snapshot().Log.History(ctx, 0, &last) {
			if !yield(commitOf(s), deltaerr.Annotate(err, deltaerr.Table(t.URI()))) || err != nil {
				return
			}
		}
	}
}

func commitOf(s deltalog.CommitSummary) commit {
	c := commit{
		Version: s.Version, Timestamp: timestampText(s.Timestamp),
		Adds: s.Adds, Removes: s.Removes, Changes: s.Changes, DataChange: s.DataChange,
		RowsAdded: s.RowsAdded, BytesAdded: s.BytesAdded, Protocol: s.Protocol, Metadata: s.Metadata,
	}
	if s.Operation != "" {
		c.Operation = &s.Operation
	}
	return c
}

// timestampText is RFC 3339 in UTC with milliseconds, the precision of commit times.
func timestampText(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

func writeHistoryJSON(out *bufio.Writer, commits iter.Seq2[commit, error]) error {
	for c, err := range commits {
		if err != nil {
			return err
		}
		line, err := json.Marshal(c)
		if err != nil {
			return err
		}
		if err := writeLines(out, line); err != nil {
			return err
		}
	}
	return nil
}

// historyPage is the number of commits in a table of the text form, so that memory does not grow with the log.
const historyPage = 1000

// writeHistoryText writes tables for people; after an error what came before it is still written.
func writeHistoryText(out *bufio.Writer, commits iter.Seq2[commit, error]) error {
	page := historyTable()
	for c, err := range commits {
		if err != nil {
			return cmp.Or(err, writePage(out, page))
		}
		page.AppendRow(c.row())
		if page.Length() < historyPage {
			continue
		}
		if err := writePage(out, page); err != nil {
			return err
		}
		page = historyTable()
	}
	return writePage(out, page)
}

func historyTable() table.Writer {
	t := plainTable()
	t.AppendHeader(table.Row{"version", "timestamp", "operation", "added", "removed", "changes", "data change", "rows added", "bytes added"})
	var right []table.ColumnConfig
	for _, number := range []int{1, 4, 5, 6, 8, 9} {
		right = append(right, table.ColumnConfig{Number: number, Align: text.AlignRight, AlignHeader: text.AlignRight})
	}
	t.SetColumnConfigs(right)
	return t
}

func (c commit) row() table.Row {
	operation, rows, data := "unknown", "unknown", "no"
	if c.Operation != nil {
		operation = *c.Operation
	}
	if c.RowsAdded != nil {
		rows = humanize.Comma(*c.RowsAdded)
	}
	if c.DataChange {
		data = "yes"
	}
	return table.Row{
		c.Version, c.Timestamp, operation, humanize.Comma(c.Adds), humanize.Comma(c.Removes), humanize.Comma(c.Changes), data,
		rows, bytesText(c.BytesAdded),
	}
}

func bytesText(n int64) string { return humanize.IBytes(uint64(max(n, 0))) }

func writePage(out *bufio.Writer, page table.Writer) error {
	if page.Length() == 0 {
		return nil
	}
	return writeLines(out, []byte(page.Render()))
}
