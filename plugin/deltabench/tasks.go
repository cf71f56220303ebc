package main

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/go-json-experiment/json"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/exec"
	"github.com/benthos-delta/benthos-delta/deltacore/recycle"
	"github.com/benthos-delta/benthos-delta/limits"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// tasks by name. Those that read leave the rows where they are after having counted them.
var tasks = map[string]func(context.Context, *bench) error{
	"scan_all": func(ctx context.Context, b *bench) error { return b.read(ctx, selection{}) },
	"scan3": func(ctx context.Context, b *bench) error {
		return b.read(ctx, selection{columns: threeColumns, sums: idSum})
	},
	"verify":      func(ctx context.Context, b *bench) error { return b.read(ctx, verification) },
	"sel_id":      func(ctx context.Context, b *bench) error { return b.read(ctx, b.expected.byID(0)) },
	"sel_date":    func(ctx context.Context, b *bench) error { return b.read(ctx, b.expected.byDate(0)) },
	"sel_str":     func(ctx context.Context, b *bench) error { return b.read(ctx, b.expected.byUser()) },
	"first_batch": func(ctx context.Context, b *bench) error { return b.firstBatch(ctx) },
	"plan":        func(ctx context.Context, b *bench) error { return b.plan(ctx) },
	"plan_all":    func(ctx context.Context, b *bench) error { return b.planAll(ctx) },
	"to_ndjson":   func(ctx context.Context, b *bench) error { return b.toNDJSON(ctx) },
}

// bench is one run of a task.
type bench struct {
	arguments
	target   int
	budget   *exec.Budget
	expected expected
	began    time.Time
	result   result
	written  chan []byte // chunks of lines, to be filled again
}

func newBench(a arguments) (*bench, error) {
	b := &bench{arguments: a, budget: exec.NewBudget(deltacore.DefaultMemoryLimit)}
	text, err := os.ReadFile(a.table + ".expected.json")
	if err == nil {
		err = json.Unmarshal(text, &b.expected)
	}
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("reading what is expected of the table: %w", err)
	}
	b.began, b.result = time.Now(), result{}
	decision, err := limits.Decide(limits.ThisHost(), limits.Overrides{})
	b.target = decision.Target
	b.written = make(chan []byte, b.target+1)
	return b, err
}

// expected holds the values that tasks look for.
type expected struct {
	Low       int64  `json:"id_lo"`
	High      int64  `json:"id_hi"`
	ProbeDate string `json:"probe_date"`
	ProbeUser string `json:"probe_user"`
}

// selection is what a task reads.
type selection struct {
	columns []string
	where   string   // "": all rows
	sums    []string // columns to add up, as sum_NAME
	nulls   []string // columns whose nulls to count, as nulls_NAME
}

var (
	idSum        = []string{"id"}
	threeColumns = []string{"id", "country", "money"}
	verification = selection{columns: []string{"id", "qty", "money"}, sums: []string{"id", "qty"}, nulls: []string{"money"}}
)

// byID selects a range of ids, shifted.
func (e expected) byID(shift int64) selection {
	where := fmt.Sprintf("id >= %d AND id <= %d", e.Low+shift, e.High+shift)
	return selection{columns: []string{"id", "ts", "user"}, where: where, sums: idSum}
}

// byDate selects the day of the probe, or one after it.
func (e expected) byDate(days int) selection {
	day, _ := time.Parse(time.DateOnly, e.ProbeDate) // a table without one has no such column either
	where := fmt.Sprintf("date = DATE '%s'", day.AddDate(0, 0, days).Format(time.DateOnly))
	return selection{columns: []string{"id", "ts", "user"}, where: where, sums: idSum}
}

func (e expected) byUser() selection {
	return selection{columns: threeColumns, where: fmt.Sprintf("user = '%s'", e.ProbeUser), sums: idSum}
}

func (b *bench) open(ctx context.Context) (*deltacore.Table, error) {
	return deltacore.Open(ctx, b.table, deltacore.Options{Allocator: new(recycle.Allocator), Budget: b.budget})
}

func (b *bench) options(s selection) (o deltacore.ScanOptions, err error) {
	o = deltacore.ScanOptions{Columns: s.columns, TargetPartitions: b.target}
	if s.where != "" {
		o.Where, err = pruning.Parse(s.where)
	}
	return o, err
}

func (b *bench) scan(ctx context.Context, s selection) (*deltacore.Scan, error) {
	table, err := b.open(ctx)
	if err != nil {
		return nil, err
	}
	o, err := b.options(s)
	if err != nil {
		return nil, err
	}
	return table.Scan(ctx, o)
}

// read reads a selection and adds up what it says.
func (b *bench) read(ctx context.Context, s selection) error {
	scan, err := b.scan(ctx, s)
	if err != nil {
		return err
	}
	total := newTotals(s)
	for batch, err := range scan.Batches(ctx) {
		if err != nil {
			return err
		}
		total.add(batch.Record)
		batch.Record.Release()
	}
	total.report(b.result)
	return nil
}

// firstBatch stops at the first rows.
func (b *bench) firstBatch(ctx context.Context) error {
	scan, err := b.scan(ctx, selection{})
	if err != nil {
		return err
	}
	for batch, err := range scan.Batches(ctx) {
		if err != nil {
			return err
		}
		rows := batch.Record.NumRows()
		batch.Record.Release()
		if rows > 0 {
			b.result["first_rows"], b.result["first_s"] = rows, b.since()
			break
		}
	}
	return nil
}

// plan plans by partition and by statistics, once each: a second plan is made as the first one was.
func (b *bench) plan(ctx context.Context) error {
	return b.plans(ctx, []planning{
		{"part1_s", "date_files", selection{where: b.expected.byDate(0).where}},
		{"stats1_s", "id_files", selection{where: b.expected.byID(0).where}},
	})
}

func (b *bench) planAll(ctx context.Context) error {
	return b.plans(ctx, []planning{{"plan_s", "files", selection{}}})
}

// planning is a plan with the names for its time and for the files that are left.
type planning struct {
	time, files string
	selection   selection
}

func (b *bench) plans(ctx context.Context, all []planning) error {
	table, err := b.open(ctx)
	if err != nil {
		return err
	}
	b.result["open_s"] = b.since()
	for _, p := range all {
		before := b.since()
		o, err := b.options(p.selection)
		if err != nil {
			return err
		}
		scan, err := table.Scan(ctx, o)
		if err != nil {
			return err
		}
		b.result[p.files], b.result[p.time] = scan.Files(), b.since()-before
	}
	return nil
}

// totals are what a reader says about a selection.
type totals struct {
	selection
	rows, batches int64
	sum, null     map[string]int64
}

func newTotals(s selection) *totals {
	return &totals{selection: s, sum: map[string]int64{}, null: map[string]int64{}}
}

func (t *totals) add(record arrow.RecordBatch) {
	t.rows += record.NumRows()
	t.batches++
	for _, name := range t.sums {
		t.sum[name] += sum(column(record, name))
	}
	for _, name := range t.nulls {
		t.null[name] += int64(column(record, name).NullN())
	}
}

func (t *totals) report(r result) {
	r["rows"], r["batches"] = t.rows, t.batches
	for _, name := range t.sums {
		r["sum_"+name] = t.sum[name]
	}
	for _, name := range t.nulls {
		r["nulls_"+name] = t.null[name]
	}
}

func column(record arrow.RecordBatch, name string) arrow.Array {
	return record.Column(record.Schema().FieldIndices(name)[0])
}

// sum adds up integers.
func sum(a arrow.Array) (total int64) {
	switch a := a.(type) {
	case *array.Int64:
		for i, v := range a.Int64Values() {
			if a.IsValid(i) {
				total += v
			}
		}
	case *array.Int32:
		for i, v := range a.Int32Values() {
			if a.IsValid(i) {
				total += int64(v)
			}
		}
	}
	return total
}
