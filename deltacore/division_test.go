package deltacore_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"go.uber.org/goleak"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/exec"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/deltacore/storage/faulty"
	"github.com/benthos-delta/benthos-delta/input/encode"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// divisions are ways to divide the work of a scan. None of them is kept from it by the size of a table.
func divisions() (list []deltacore.ScanOptions) {
	anySize := int64(0)
	for _, target := range []int{1, 2, 3, 7, 64} {
		for _, policy := range []scanplan.Policy{scanplan.Off, scanplan.WhenBelowTarget, scanplan.Always} {
			list = append(list, deltacore.ScanOptions{TargetPartitions: target, Repartitioning: policy, RepartitionMinSize: &anySize})
		}
	}
	return list
}

// placedRow is a row as text, with its place.
type placedRow struct {
	key  scanplan.Key
	row  int64
	text string
}

// told is all that a scan says: its rows, where each file ended, and the error.
type told struct {
	rows []placedRow
	ends []string // the last file and the number of rows so far
	err  string
}

func everythingOf(ctx context.Context, s *deltacore.Scan) (all told) {
	encoder, err := newEncoder(s)
	if err != nil {
		return told{err: err.Error()}
	}
	for b, err := range s.Batches(ctx) {
		if err != nil {
			all.err = err.Error()
			break
		}
		rows, err := encoder.JSON(b.Record, encode.Part{})
		b.Record.Release()
		if err != nil {
			return told{err: err.Error()}
		}
		for i := range rows.Ends {
			all.rows = append(all.rows, placedRow{b.Task.Key, b.PhysicalRow(i), string(rows.Row(i))})
		}
		if b.Last {
			all.ends = append(all.ends, fmt.Sprint(b.Task.Key.Path, len(all.rows)))
		}
	}
	return all
}

// difference says where two scans differ first.
func (a told) difference(b told) string {
	for i := range min(len(a.rows), len(b.rows)) {
		if a.rows[i] != b.rows[i] {
			return fmt.Sprintf("row %d: want %+v, got %+v", i, a.rows[i], b.rows[i])
		}
	}
	switch {
	case a.err != b.err:
		return fmt.Sprintf("want the error %q, got %q", a.err, b.err)
	case len(a.rows) != len(b.rows):
		return fmt.Sprintf("want %d rows, got %d", len(a.rows), len(b.rows))
	case !slices.Equal(a.ends, b.ends):
		return fmt.Sprintf("want files to end at %v, got %v", a.ends, b.ends)
	}
	return ""
}

// sameInEveryDivision reads a version with one worker, then in all ways to divide the work.
func sameInEveryDivision(ctx context.Context, t *deltacore.Table, o deltacore.ScanOptions) error {
	var want *told
	for _, d := range divisions() {
		d.Where, d.BatchRows, d.From, d.FromRow, d.Limit = o.Where, o.BatchRows, o.From, o.FromRow, o.Limit
		scan, err := t.Scan(ctx, d)
		if err != nil {
			return err
		}
		got := everythingOf(ctx, scan)
		if want == nil {
			want = &got
		}
		if difference := want.difference(got); difference != "" {
			return fmt.Errorf("%d partitions, cut %s: %s", d.TargetPartitions, d.Repartitioning, difference)
		}
	}
	return nil
}

// manyRowGroups is a table of files with up to 15 row groups, some with vectors: one of them, and one row group, has no live
// row. A file has no rows at all.
func manyRowGroups() *deltatest.Table {
	table := deltatest.New(idColumn, deltatest.Options{
		Protocol: deltatest.Features("deletionVectors"), Parquet: deltatest.Parquet{RowGroupRows: 10, NoDictionary: true},
	})
	first := 0
	for _, n := range []int{150, 1, 35, 80, 10} {
		add := table.Append(deltatest.Rows(idColumn, numbers(first, n)...))[0]
		first += n
		switch n {
		case 35:
			table.DeleteRows(add, upTo(35)...)
		case 80:
			table.DeleteRows(add, append(upTo(10), 12, 25, 26, 79)...)
		}
	}
	table.Append(deltatest.Rows(idColumn))
	return table
}

func upTo(n int64) (rows []int64) {
	for i := range n {
		rows = append(rows, i)
	}
	return rows
}

// openTable opens a table in memory with a budget, nil: one of its own.
func openTable(t *testing.T, table *deltatest.Table, budget *exec.Budget, rules ...faulty.Rule) (*deltacore.Table, *openCounter) {
	t.Helper()
	store := storage.NewMemory()
	table.CopyTo(store.PutAt)
	counter := &openCounter{Store: faulty.New(store, rules...)}
	mem := memory.NewCheckedAllocator(deltatest.Overwriting{Allocator: memory.NewGoAllocator()})
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	opened, err := deltacore.Open(t.Context(), at, deltacore.Options{Store: counter, Allocator: mem, Budget: budget, FooterReadSize: 1})
	if err != nil {
		t.Fatal(err)
	}
	return opened, counter
}

func TestRowsAreTheSameHoweverTheWorkIsDivided(t *testing.T) {
	defer goleak.VerifyNone(t)
	for _, limit := range []int64{1, 2000, 64 << 20} {
		budget := exec.NewBudget(limit)
		table, store := openTable(t, manyRowGroups(), budget)
		for _, batchRows := range []int64{0, 3} {
			check(t, sameInEveryDivision(t.Context(), table, deltacore.ScanOptions{BatchRows: batchRows}))
		}
		if store.open() != 0 || budget.InUse() != 0 {
			t.Errorf("want nothing open or held, got %d files and %d bytes", store.open(), budget.InUse())
		}
	}
}

func TestPredicatesFindTheSameRowsHoweverTheWorkIsDivided(t *testing.T) {
	defer goleak.VerifyNone(t)
	table, store := openTable(t, manyRowGroups(), exec.NewBudget(2000))
	none, few := int64(0), int64(7)
	for text, want := range map[string]func(id int) bool{
		"id >= 100 AND id < 190":    func(id int) bool { return id >= 100 && id < 190 },
		"id IN (3, 150, 275, 9999)": func(id int) bool { return id == 3 || id == 150 || id == 275 },
		"id IS NULL":                func(int) bool { return false },
		"id <> 5":                   func(id int) bool { return id != 5 },
	} {
		where, err := pruning.Parse(text)
		check(t, err)
		all, err := table.Scan(t.Context(), deltacore.ScanOptions{})
		check(t, err)
		rows := slices.DeleteFunc(everythingOf(t.Context(), all).rows, func(r placedRow) bool {
			var id int
			_, err := fmt.Sscanf(r.text, `{"id":%d}`, &id)
			return err != nil || !want(id)
		})
		for _, limit := range []*int64{nil, &none, &few} {
			o := deltacore.ScanOptions{Where: where, Limit: limit, BatchRows: 4}
			check(t, sameInEveryDivision(t.Context(), table, o))
			scan, err := table.Scan(t.Context(), o)
			check(t, err)
			wanted := rows
			if limit != nil {
				wanted = rows[:min(len(rows), int(*limit))]
			}
			if got := everythingOf(t.Context(), scan).rows; !slices.Equal(wanted, got) {
				t.Errorf("%s: want %d rows, got %d", text, len(wanted), len(got))
			}
		}
	}
	if store.open() != 0 {
		t.Errorf("%d files are open", store.open())
	}
}

func TestResumedReadsAreTheSameHoweverTheWorkIsDivided(t *testing.T) {
	table, _ := openTable(t, manyRowGroups(), nil)
	all, err := table.Scan(t.Context(), deltacore.ScanOptions{})
	check(t, err)
	rows := everythingOf(t.Context(), all).rows
	for i := 0; i < len(rows); i += 23 {
		at := rows[i]
		o := deltacore.ScanOptions{From: &at.key, FromRow: at.row}
		check(t, sameInEveryDivision(t.Context(), table, o))
		scan, err := table.Scan(t.Context(), o)
		check(t, err)
		if got := everythingOf(t.Context(), scan).rows; !slices.Equal(rows[i:], got) {
			t.Fatalf("from %+v: want %d rows, got %d", at, len(rows)-i, len(got))
		}
	}
}

func TestLimitsAreTheSameHoweverTheWorkIsDivided(t *testing.T) {
	table, store := openTable(t, manyRowGroups(), nil)
	for _, limit := range []int64{0, 1, 10, 149, 150, 152, 10_000} {
		check(t, sameInEveryDivision(t.Context(), table, deltacore.ScanOptions{Limit: &limit, BatchRows: 4}))
	}
	if store.open() != 0 {
		t.Errorf("%d files are open", store.open())
	}
}

// The units of a file that was resumed before their rows are not read.
func TestRowGroupsBeforeTheFirstRowAreNotRead(t *testing.T) {
	table, store := openTable(t, manyRowGroups(), nil)
	scan, err := table.Scan(t.Context(), deltacore.ScanOptions{Repartitioning: scanplan.Off})
	check(t, err)
	read := func(s *deltacore.Scan) int64 {
		before := store.reads()
		everythingOf(t.Context(), s)
		return store.reads() - before
	}
	for task := range scan.Tasks() {
		whole, end := read(scan), read(scan.From(task.Key, 140, nil))
		if whole-end < 14 {
			t.Errorf("want at least 14 reads fewer than %d, got %d", whole, end)
		}
		break
	}
}

func TestLeavingAScanEarlyLeavesNothingOpen(t *testing.T) {
	defer goleak.VerifyNone(t)
	budget := exec.NewBudget(500)
	table, store := openTable(t, manyRowGroups(), budget)
	for _, d := range divisions() {
		for _, after := range []int{1, 2, 9, 16, 17} {
			scan, err := table.Scan(t.Context(), d)
			check(t, err)
			for b, err := range scan.Batches(t.Context()) {
				check(t, err)
				b.Record.Release()
				if after--; after == 0 {
					break
				}
			}
			if store.open() != 0 || budget.InUse() != 0 {
				t.Fatalf("%+v: want nothing open or held, got %d files and %d bytes", d, store.open(), budget.InUse())
			}
		}
	}
}

// The first error in canonical order is told, behind all rows before it, whatever went wrong elsewhere.
func TestFirstErrorIsTheSameHoweverTheWorkIsDivided(t *testing.T) {
	defer goleak.VerifyNone(t)
	for name, damage := range map[string]func(table *deltatest.Table, files []action.Add){
		"a file is gone, and the last one": func(table *deltatest.Table, files []action.Add) {
			table.Drop(files[3].Path)
			table.Drop(files[4].Path)
		},
		"a file is empty": func(table *deltatest.Table, files []action.Add) { table.Put(files[1].Path, nil) },
		"pages are damaged": func(table *deltatest.Table, files []action.Add) {
			content := slices.Clone(table.Files()[files[0].Path])
			clear(content[len(content)/3 : len(content)/3+40])
			table.Put(files[0].Path, content)
		},
	} {
		source := manyRowGroups()
		damage(source, source.Active())
		table, store := openTable(t, source, nil)
		if err := sameInEveryDivision(t.Context(), table, deltacore.ScanOptions{}); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		scan, err := table.Scan(t.Context(), deltacore.ScanOptions{})
		check(t, err)
		if everythingOf(t.Context(), scan).err == "" {
			t.Errorf("%s: want an error", name)
		}
		if store.open() != 0 {
			t.Errorf("%s: %d files are open", name, store.open())
		}
	}
}

// Wherever the store fails, the rows until the error are the first ones, and nothing is left open, held or running.
func TestAnyFailingCallEndsTheScanCleanly(t *testing.T) {
	defer goleak.VerifyNone(t)
	source, budget := manyRowGroups(), exec.NewBudget(800)
	table, _ := openTable(t, source, nil)
	scan, err := table.Scan(t.Context(), deltacore.ScanOptions{})
	check(t, err)
	want := everythingOf(t.Context(), scan)
	anySize, failed := int64(0), 0
	for n := 1; ; n += 3 {
		broken := faulty.Rule{Path: "*.parquet", From: n, Calls: 1, Fault: faulty.Fault{Err: faulty.Broken}}
		table, store := openTable(t, source, budget, broken)
		scan, err := table.Scan(t.Context(), deltacore.ScanOptions{
			TargetPartitions: 3, Repartitioning: scanplan.Always, RepartitionMinSize: &anySize,
		})
		check(t, err)
		got := everythingOf(t.Context(), scan)
		if len(got.rows) > len(want.rows) || !slices.Equal(want.rows[:len(got.rows)], got.rows) {
			t.Fatalf("call %d: other rows", n)
		}
		if store.open() != 0 || budget.InUse() != 0 {
			t.Fatalf("call %d: %d files are open, %d bytes held", n, store.open(), budget.InUse())
		}
		if got.err == "" {
			if len(got.rows) != len(want.rows) {
				t.Fatalf("call %d: want %d rows without an error, got %d", n, len(want.rows), len(got.rows))
			}
			break
		}
		failed++
	}
	if failed < 10 {
		t.Errorf("only %d calls failed", failed)
	}
}

func TestSizesThatCannotBeAreRefused(t *testing.T) {
	reading{table: oddFile(func(content []byte, add *action.Add) []byte {
		add.Size = -7
		return content
	})}.wantUntouched(t, deltaerr.Corrupt, "file part-0.parquet", "the log says that the file has -7 bytes")
	huge := deltatest.New(idColumn, deltatest.Options{})
	huge.Commit(
		deltatest.Add(action.Add{Path: "a", Size: 1<<63 - 1, DataChange: true}), deltatest.Add(action.Add{Path: "b", Size: 1, DataChange: true}),
	)
	reading{table: huge}.wantUntouched(t, deltaerr.Corrupt, "add up to more than 9223372036854775807 bytes")
}

func TestMeaninglessDivisionsAreRefused(t *testing.T) {
	less := -1
	for want, o := range map[string]deltacore.ScanOptions{
		"the number of partitions is -3":     {TargetPartitions: -3},
		"the number of partitions is 131073": {TargetPartitions: scanplan.MostPartitions + 1},
		`there is no repartitioning "often"`: {Repartitioning: "often"},
		"-2 files are to be open at once":    {FileReadsPerPartition: -2},
		"-1 to be opened ahead":              {PrefetchFilesPerPartition: &less},
	} {
		reading{table: manyRowGroups(), options: o}.wantUntouched(t, deltaerr.Config, want)
	}
}

func TestPlanCoversEveryFile(t *testing.T) {
	table, store := openTable(t, manyRowGroups(), nil)
	for _, d := range divisions() {
		scan, err := table.Scan(t.Context(), d)
		check(t, err)
		plan, err := scan.Plan()
		check(t, err)
		covered := map[string]int64{}
		var bytes int64
		for _, p := range plan.Partitions {
			bytes += p.Bytes
			for task := range p.Tasks() {
				size := task.Size
				if task.Range != nil {
					size = task.Range.End - task.Range.Start
				}
				covered[task.Key.Path] += size
			}
		}
		for task := range scan.Tasks() {
			if covered[task.Key.Path] != task.Size {
				t.Errorf("%+v: want %d bytes of %s, got %d", d, task.Size, task.Key.Path, covered[task.Key.Path])
			}
		}
		if plan.Files != len(covered) || plan.Bytes != bytes || len(plan.Partitions) > d.TargetPartitions {
			t.Errorf("%+v: want %d files and %d bytes in at most %d partitions, got %+v", d, len(covered), bytes, d.TargetPartitions, plan)
		}
	}
	if store.opened() != 0 {
		t.Errorf("planning opened %d files", store.opened())
	}
}

// What is to be read is counted without what a resumed scan leaves out.
func TestAResumedScanCountsTheFilesThatAreLeft(t *testing.T) {
	table, _ := openTable(t, manyRowGroups(), nil)
	scan, err := table.Scan(t.Context(), deltacore.ScanOptions{})
	check(t, err)
	files, bytes := scan.Files(), scan.Bytes()
	for task := range scan.Tasks() {
		rest := scan.From(task.Key, 7, nil)
		planned, err := rest.Plan()
		check(t, err)
		if rest.Files() != files || rest.Bytes() != bytes || planned.Files != files || planned.Bytes != bytes {
			t.Errorf("from %s on: want %d files of %d bytes, got %d of %d, and %d of %d", task.File, files, bytes,
				rest.Files(), rest.Bytes(), planned.Files, planned.Bytes)
		}
		files, bytes = files-1, bytes-task.Size
	}
}

// The footer of a file is charged for as long as the file is read, however small the budget is.
func TestFootersAreChargedWhileTheirFilesAreRead(t *testing.T) {
	defer goleak.VerifyNone(t)
	budget := exec.NewBudget(500)
	table, _ := openTable(t, manyRowGroups(), budget)
	for _, d := range divisions() {
		d.BatchRows = 2
		scan, err := table.Scan(t.Context(), d)
		check(t, err)
		for b, err := range scan.Batches(t.Context()) {
			check(t, err)
			b.Record.Release()
			if held := budget.InUse(); !b.Last && held < 1<<10 {
				t.Errorf("%+v: want the footer charged, got %d bytes", d, held)
			}
		}
		if held := budget.InUse(); held != 0 {
			t.Errorf("%+v: %d bytes are still charged", d, held)
		}
	}
}
