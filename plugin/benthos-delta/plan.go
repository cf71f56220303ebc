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
			&cli.BoolFlag{Name: "tasks", Usage: "list the tasks too, and each file and row group that is left out"},
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
	Skipped          []skipped        `json:"skipped"`            // by reason and part of the predicate
	Partitions       int              `json:"partitions"`
	Cut              bool             `json:"cut"` // files are cut: their row groups are decoded at once
	Tasks            int64            `json:"tasks"`
	IdleTasks        *int64           `json:"tasks_without_row_groups"` // ranges in which no row group begins
	Bytes            int64            `json:"bytes"`                    // of the files to read
	ColumnBytes      *int64           `json:"column_bytes"`             // of those, compressed, what belongs to the columns and row groups that are read
	Requests         *int64           `json:"requests"`                 // about as many
	Target           limits.Decision  `json:"target"`
	TaskList         *taskList        `json:"task_list,omitempty"`
	SkippedList      []skippedPart    `json:"skipped_list,omitempty"`
}

// taskList yields the tasks of the partitions; it is written as it comes.
type taskList struct {
	partitions []deltacore.Partition
	survey     *deltacore.Survey // nil: the footers were not looked at
}

// plannedTask is a task with the number of its partition.
type plannedTask struct {
	Partition int    `json:"partition"`
	RowGroups *int64 `json:"row_groups"` // to read; null where the footers were not looked at
	scanplan.FileTask
}

func (l *taskList) all() iter.Seq[plannedTask] {
	return func(yield func(plannedTask) bool) {
		for i, p := range l.partitions {
			part := 0
			for t := range p.Tasks() {
				planned := plannedTask{Partition: i, FileTask: t}
				if l.survey != nil {
					n := l.survey.RowGroupsOf(p, part)
					planned.RowGroups = &n
				}
				if !yield(planned) {
					return
				}
				part++
			}
		}
	}
}

// idle counts the tasks without a row group to read.
func (l *taskList) idle() (n int64) {
	for t := range l.all() {
		if t.RowGroups != nil && *t.RowGroups == 0 {
			n++
		}
	}
	return n
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
	left := &skips{listed: c.Bool("tasks")}
	options.Explain = left.add
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
	tasks := &taskList{partitions: divided.Partitions}
	if !c.Bool("log-only") {
		err = p.survey(c.Context, scan, tasks)
	}
	if c.Bool("tasks") {
		p.TaskList = tasks
	}
	p.skipped(scan.Skipped())
	p.Skipped, p.SkippedList = left.counts(), left.parts()
	return p, err
}

// survey adds what the footers say.
func (p *plan) survey(ctx context.Context, scan *deltacore.Scan, tasks *taskList) error {
	s, err := scan.Survey(ctx)
	if err != nil {
		return err
	}
	tasks.survey = &s
	idle := tasks.idle()
	p.RowGroupsRead, p.ColumnBytes, p.Requests, p.IdleTasks = &s.RowGroups, &s.Bytes, &s.Requests, &idle
	return nil
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
	parts := []string{p.overview().Render()}
	if len(p.Skipped) > 0 {
		parts = append(parts, causeTable(p.Skipped).Render())
	}
	parts = append(parts, targetTable(p.Target).Render())
	if len(p.Target.Caps) > 0 {
		parts = append(parts, capTable(p.Target.Caps).Render())
	}
	if p.TaskList != nil {
		parts = append(parts, p.TaskList.table().Render())
	}
	if len(p.SkippedList) > 0 {
		parts = append(parts, skippedTable(p.SkippedList).Render())
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
		{"work divided into", p.divisionText()},
	} {
		t.AppendRow(table.Row{line[0], line[1]})
	}
	return t
}

func (p *plan) divisionText() string {
	how := "whole files"
	if p.Cut {
		how = "ranges of files"
	}
	text := fmt.Sprintf("%s of %s: %s", counted(int64(p.Partitions), "partition"), how, counted(p.Tasks, "task"))
	if p.IdleTasks != nil && *p.IdleTasks > 0 {
		text += fmt.Sprintf(", %s of them without a row group to read", humanize.Comma(*p.IdleTasks))
	}
	return text
}

// counted is a number with its noun.
func counted(n int64, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return humanize.Comma(n) + " " + noun
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
			texts = append(texts, fmt.Sprintf("%s by %s", humanize.Comma(n), evidenceText(r.String())))
		}
	}
	if len(texts) == 0 {
		return "none"
	}
	return strings.Join(texts, ", ")
}

// evidenceText names what a reason goes by. Partitions of the table are not those of the work.
func evidenceText(reason string) string {
	if reason == scanplan.ByPartition.String() {
		return "table partition"
	}
	return strings.ReplaceAll(reason, "_", " ")
}

func (l *taskList) table() table.Writer {
	t := plainTable()
	t.AppendHeader(table.Row{"partition", "bytes", "row groups", "range", "file"})
	for task := range l.all() {
		size, part := task.Size, "all"
		if r := task.Range; r != nil {
			size, part = r.End-r.Start, fmt.Sprintf("%d-%d", r.Start, r.End)
		}
		t.AppendRow(table.Row{task.Partition, size, countText(task.RowGroups), part, task.File})
	}
	return t
}
