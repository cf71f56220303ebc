package main

import (
	"context"
	"fmt"
	"io"
	"iter"
	"strconv"
	"strings"

	"github.com/dustin/go-humanize"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/jedib0t/go-pretty/v6/table"
	"github.com/urfave/cli/v2"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/exec"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/input"
	"github.com/benthos-delta/benthos-delta/limits"
)

func planCommand() *cli.Command {
	return &cli.Command{
		Name: "plan", Usage: "write what a scan would read, what it would leave out, and how the work is divided", ArgsUsage: "URI",
		Flags: append(append(settingFlags(), rowFlags()...),
			&cli.BoolFlag{Name: "log-only", Usage: "open no data file: nothing is known about row groups then"},
			&cli.BoolFlag{Name: "tasks", Usage: "list the tasks too"},
			&cli.StringFlag{Name: "format", Value: "text", Usage: "text or json"},
		),
		Action: func(c *cli.Context) error {
			format, err := oneOf(c, "format", "text", "json")
			if err != nil {
				return err
			}
			config, err := settings(c, planFields)
			if err != nil {
				return err
			}
			p, err := makePlan(c, config)
			if err != nil {
				return err
			}
			if format == "json" {
				return writeJSONValue(c.App.Writer, p)
			}
			return p.writeText(c.App.Writer)
		},
	}
}

// plan is what a scan would do, in the shape of the command's JSON. What only the footers of the files say is null when they
// were not looked at.
type plan struct {
	Table            string           `json:"table"`
	Version          int64            `json:"version"`
	FilesTotal       int64            `json:"files_total"`
	FilesRead        int64            `json:"files_read"`
	FilesSkipped     map[string]int64 `json:"files_skipped"` // by reason
	RowGroupsRead    *int64           `json:"row_groups_read"`
	RowGroupsSkipped map[string]int64 `json:"row_groups_skipped"` // by reason
	Partitions       int              `json:"partitions"`
	Cut              bool             `json:"cut"` // files are cut: their row groups are decoded at once
	Tasks            int64            `json:"tasks"`
	Bytes            int64            `json:"bytes"`        // of the files to read
	ColumnBytes      *int64           `json:"column_bytes"` // of those, compressed, what belongs to the columns and row groups that are read
	Requests         *int64           `json:"requests"`     // about as many
	Target           limits.Decision  `json:"target"`
	TaskList         *taskList        `json:"task_list,omitempty"`
}

// taskList yields the tasks of the partitions; it is written as it comes.
type taskList struct{ partitions []deltacore.Partition }

// plannedTask is a task with the number of its partition.
type plannedTask struct {
	Partition int `json:"partition"`
	scanplan.FileTask
}

func (l *taskList) all() iter.Seq[plannedTask] {
	return func(yield func(plannedTask) bool) {
		for i, p := range l.partitions {
			for t := range p.Tasks() {
				if !yield(plannedTask{i, t}) {
					return
				}
			}
		}
	}
}

// MarshalJSONTo writes an array.
func (l *taskList) MarshalJSONTo(e *jsontext.Encoder) error {
	if err := e.WriteToken(jsontext.BeginArray); err != nil {
		return err
	}
	for t := range l.all() {
		if err := json.MarshalEncode(e, t); err != nil {
			return err
		}
	}
	return e.WriteToken(jsontext.EndArray)
}

func makePlan(c *cli.Context, config configspec.Config) (plan, error) {
	opened, err := open(c, config, exec.NewBudget(config.Scan.MemoryLimit))
	if err != nil {
		return plan{}, err
	}
	options, target := input.ScanOptions(config)
	scan, err := opened.Scan(c.Context, options)
	if err != nil {
		return plan{}, err
	}
	divided, err := scan.Plan()
	if err != nil {
		return plan{}, err
	}
	p := plan{
		Table: opened.URI(), Version: opened.Version(), Target: target,
		FilesRead: int64(divided.Files), Bytes: divided.Bytes, Partitions: len(divided.Partitions), Cut: divided.Cut,
	}
	for _, part := range divided.Partitions {
		p.Tasks += int64(len(part.Parts))
	}
	if c.Bool("tasks") {
		p.TaskList = &taskList{divided.Partitions}
	}
	if !c.Bool("log-only") {
		err = p.survey(c.Context, scan)
	}
	p.skipped(scan.Skipped())
	return p, err
}

// survey adds what the footers say.
func (p *plan) survey(ctx context.Context, scan *deltacore.Scan) error {
	s, err := scan.Survey(ctx)
	p.RowGroupsRead, p.ColumnBytes, p.Requests = &s.RowGroups, &s.Bytes, &s.Requests
	return err
}

// skipped adds what is left out, by reason.
func (p *plan) skipped(counts scanplan.SkippedCounts) {
	p.FilesSkipped, p.RowGroupsSkipped = map[string]int64{}, map[string]int64{}
	for reason, n := range counts.By {
		if n.Files > 0 {
			p.FilesSkipped[reason.String()] = n.Files
		}
		if n.RowGroups > 0 {
			p.RowGroupsSkipped[reason.String()] = n.RowGroups
		}
	}
	p.FilesTotal = p.FilesRead + counts.Files()
}

func (p *plan) writeText(w io.Writer) error {
	parts := []string{p.overview().Render(), targetTable(p.Target).Render()}
	if len(p.Target.Caps) > 0 {
		parts = append(parts, capTable(p.Target.Caps).Render())
	}
	if p.TaskList != nil {
		parts = append(parts, p.TaskList.table().Render())
	}
	_, err := io.WriteString(w, strings.Join(parts, "\n\n")+"\n")
	return writing(err)
}

func (p *plan) overview() table.Writer {
	t := plainTable()
	for _, line := range [][2]string{
		{"table", p.Table},
		{"version", strconv.FormatInt(p.Version, 10)},
		{"files", fmt.Sprintf("%s of %s read", humanize.Comma(p.FilesRead), humanize.Comma(p.FilesTotal))},
		{"files left out", reasonsText(p.FilesSkipped)},
		{"row groups read", countText(p.RowGroupsRead)},
		{"row groups left out", reasonsText(p.RowGroupsSkipped)},
		{"bytes of the files", fmt.Sprintf("%s (%s)", humanize.Comma(p.Bytes), bytesText(p.Bytes))},
		{"bytes of the columns", countText(p.ColumnBytes)},
		{"requests, about", countText(p.Requests)},
		{"partitions", p.divisionText()},
	} {
		t.AppendRow(table.Row{line[0], line[1]})
	}
	return t
}

func (p *plan) divisionText() string {
	how := "of whole files"
	if p.Cut {
		how = "of ranges of files"
	}
	return fmt.Sprintf("%d %s, with %s tasks", p.Partitions, how, humanize.Comma(p.Tasks))
}

// countText is a number that may not be known.
func countText(n *int64) string {
	if n == nil {
		return "not looked at"
	}
	return humanize.Comma(*n)
}

// reasonsText lists how many were left out for each reason, in the order in which the reasons are looked at.
func reasonsText(by map[string]int64) string {
	var texts []string
	for _, r := range scanplan.Reasons() {
		if n := by[r.String()]; n > 0 {
			texts = append(texts, fmt.Sprintf("%s by %s", humanize.Comma(n), r))
		}
	}
	if len(texts) == 0 {
		return "none"
	}
	return strings.Join(texts, ", ")
}

func (l *taskList) table() table.Writer {
	t := plainTable()
	t.AppendHeader(table.Row{"partition", "bytes", "range", "file"})
	for task := range l.all() {
		size, part := task.Size, "all"
		if r := task.Range; r != nil {
			size, part = r.End-r.Start, fmt.Sprintf("%d-%d", r.Start, r.End)
		}
		t.AppendRow(table.Row{task.Partition, size, part, task.File})
	}
	return t
}
