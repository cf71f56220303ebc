package deltacore_test

import (
	"context"
	"fmt"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

func TestOpenFilesAreBounded(t *testing.T) {
	source := deltatest.New(idColumn, deltatest.Options{})
	content := deltatest.Parquet{RowGroupRows: 2}.File(deltatest.Rows(idColumn, numbers(0, 4)...))
	var adds []deltatest.Action
	for i := range 2000 {
		path := fmt.Sprintf("part-%04d.parquet", i)
		source.Put(path, content)
		adds = append(adds, deltatest.Add(action.Add{Path: path, Size: int64(len(content)), DataChange: true}))
	}
	source.Commit(adds...)
	for _, c := range []struct{ target, reads, ahead, most int }{{1, 3, 0, 1}, {1, 3, 2, 3}, {2, 3, 2, 6}, {2, 2, 9, 4}, {7, 3, 2, 21}} {
		table, store := openTable(t, source, nil)
		scan, err := table.Scan(t.Context(), deltacore.ScanOptions{
			TargetPartitions: c.target, FileReadsPerPartition: c.reads, PrefetchFilesPerPartition: &c.ahead, Repartitioning: scanplan.Always,
		})
		check(t, err)
		if rows := len(everythingOf(t.Context(), scan).rows); rows != 8000 {
			t.Errorf("%+v: want 8000 rows, got %d", c, rows)
		}
		if store.most() > c.most || store.open() != 0 {
			t.Errorf("%+v: want at most %d files open, then none, got %d, then %d", c, c.most, store.most(), store.open())
		}
	}
}

// The largest numbers make neither more readers nor more room for files than there is work.
func TestLargestDivisionIsRead(t *testing.T) {
	table, store := openTable(t, manyRowGroups(), nil)
	most, anySize := math.MaxInt, int64(0)
	scan, err := table.Scan(t.Context(), deltacore.ScanOptions{
		TargetPartitions: scanplan.MostPartitions, FileReadsPerPartition: most, PrefetchFilesPerPartition: &most,
		Repartitioning: scanplan.Always, RepartitionMinSize: &anySize,
	})
	check(t, err)
	if rows := len(everythingOf(t.Context(), scan).rows); rows == 0 || store.most() > scan.Files() {
		t.Errorf("want rows of at most %d files at once, got %d of %d", scan.Files(), rows, store.most())
	}
	if s, err := scan.Survey(t.Context()); err != nil || s.RowGroups == 0 {
		t.Errorf("want row groups, got %+v, %v", s, err)
	}
}

// Files are opened while the rows of those before them are still in the hands of the consumer.
func TestFilesAreOpenedAhead(t *testing.T) {
	table, store := openTable(t, manyRowGroups(), nil)
	scan, err := table.Scan(t.Context(), deltacore.ScanOptions{TargetPartitions: 1})
	check(t, err)
	for b, err := range scan.Batches(t.Context()) {
		check(t, err)
		b.Record.Release()
		waitFor(t, func() bool { return store.opened() >= 3 })
		break
	}
}

// A small limit opens no file that is not needed, a predicate or none.
func TestLimitOpensNoFurtherFile(t *testing.T) {
	table, store := openTable(t, manyRowGroups(), nil)
	limit := int64(150)
	scan, err := table.Scan(t.Context(), deltacore.ScanOptions{Limit: &limit, TargetPartitions: 7})
	check(t, err)
	if rows := len(everythingOf(t.Context(), scan).rows); rows != 150 || store.opened() != 1 {
		t.Errorf("want 150 rows of 1 file, got %d of %d", rows, store.opened())
	}
}

func TestFileOfTenThousandRowGroups(t *testing.T) {
	const groups = 10_000
	table := deltatest.New(idColumn, deltatest.Options{Parquet: deltatest.Parquet{RowGroupRows: 1, NoDictionary: true, NoStatistics: true}})
	table.Append(deltatest.Rows(idColumn, numbers(0, groups)...))
	opened, store := openTable(t, table, nil)
	anySize := int64(0)
	scan, err := opened.Scan(t.Context(), deltacore.ScanOptions{TargetPartitions: 7, RepartitionMinSize: &anySize})
	check(t, err)
	began := time.Now()
	rows := everythingOf(t.Context(), scan).rows
	if len(rows) != groups || rows[groups-1].row != groups-1 || store.opened() != 1 {
		t.Errorf("want %d rows of one opening, got %d of %d", groups, len(rows), store.opened())
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}

func TestHundredThousandFilesAreOpenedOnlyAsNeeded(t *testing.T) {
	const files = 100_000
	table := deltatest.New(idColumn, deltatest.Options{})
	content := deltatest.Parquet{}.File(deltatest.Rows(idColumn, numbers(0, 4)...))
	lines := make([]deltatest.Action, files)
	for i := range lines {
		lines[i] = deltatest.Raw(fmt.Sprintf(`{"add":{"path":"%05d","partitionValues":{},"size":%d,"modificationTime":0,"dataChange":true}}`, i, len(content)))
	}
	for i := range 10 {
		table.Put(fmt.Sprintf("%05d", i), content)
	}
	table.Commit(lines...)
	opened, store := openTable(t, table, nil)
	began := time.Now()
	scan, err := opened.Scan(t.Context(), deltacore.ScanOptions{TargetPartitions: 2})
	check(t, err)
	plan, err := scan.Plan()
	check(t, err)
	if len(plan.Partitions) != 2 || plan.Files != files {
		t.Errorf("want %d files in 2 partitions, got %d in %d", files, plan.Files, len(plan.Partitions))
	}
	for b, err := range scan.Batches(t.Context()) {
		check(t, err)
		b.Record.Release()
		break
	}
	if store.opened() > 9 {
		t.Errorf("want no more than 9 files opened, got %d", store.opened())
	}
	if took := time.Since(began); took > 20*time.Second {
		t.Errorf("it took %s", took)
	}
}

func waitFor(t *testing.T, done func() bool) {
	t.Helper()
	for deadline := time.Now().Add(10 * time.Second); !done(); time.Sleep(time.Millisecond) {
		if time.Now().After(deadline) {
			t.Fatal("it did not happen")
		}
	}
}

// openCounter counts the data files that are open.
type openCounter struct {
	storage.Store

	mu                          sync.Mutex
	now, highest, total, readAt int64
}

func (c *openCounter) Open(ctx context.Context, path string) (storage.Object, error) {
	o, err := storage.OpenObject(ctx, c.Store, path)
	if err != nil || strings.HasPrefix(path, "_delta_log") {
		return o, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.total++
	c.now++
	c.highest = max(c.highest, c.now)
	return &countedObject{o, c}, nil
}

type countedObject struct {
	storage.Object
	counter *openCounter
}

func (o *countedObject) ReadAt(ctx context.Context, buf []byte, off int64) (int, error) {
	o.counter.mu.Lock()
	o.counter.readAt++
	o.counter.mu.Unlock()
	return o.Object.ReadAt(ctx, buf, off)
}

func (o *countedObject) Close() error {
	o.counter.mu.Lock()
	defer o.counter.mu.Unlock()
	o.counter.now--
	return o.Object.Close()
}

func (c *openCounter) get(n *int64) int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return *n
}

func (c *openCounter) open() int64   { return c.get(&c.now) }
func (c *openCounter) most() int     { return int(c.get(&c.highest)) }
func (c *openCounter) opened() int64 { return c.get(&c.total) }
func (c *openCounter) reads() int64  { return c.get(&c.readAt) }
