package deltacore_test

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/datafile"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// tracked is a store that knows which bytes of its data files were read.
type tracked struct {
	*storage.Memory

	mu    sync.Mutex
	reads map[string][]span // by path; of a file that was opened only: none
}

type span struct{ from, to int64 }

func (s *tracked) Open(ctx context.Context, path string) (storage.Object, error) {
	o, err := storage.OpenObject(ctx, s.Memory, path)
	if err != nil || strings.HasPrefix(path, "_delta_log") {
		return o, err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reads[path] = append(s.reads[path], span{})
	return &trackedObject{o, s, path}, nil
}

type trackedObject struct {
	storage.Object
	store *tracked
	path  string
}

func (o *trackedObject) ReadAt(ctx context.Context, buf []byte, off int64) (int, error) {
	n, err := o.Object.ReadAt(ctx, buf, off)
	o.store.mu.Lock()
	defer o.store.mu.Unlock()
	o.store.reads[o.path] = append(o.store.reads[o.path], span{off, off + int64(n)})
	return n, err
}

// bytes is how much was read of all data files.
func (s *tracked) bytes() (n int64) {
	for _, spans := range s.reads {
		for _, r := range spans {
			n += r.to - r.from
		}
	}
	return n
}

// trackedScan reads the rows of a table for which a predicate is true.
func trackedScan(t *testing.T, source *deltatest.Table, o deltacore.ScanOptions, where string) (*tracked, *deltacore.Scan, int) {
	t.Helper()
	memoryStore := storage.NewMemory()
	source.CopyTo(memoryStore.PutAt)
	store := &tracked{Memory: memoryStore, reads: map[string][]span{}}
	table, err := deltacore.Open(t.Context(), at, deltacore.Options{Store: store, FooterReadSize: 4096})
	check(t, err)
	if where != "" {
		o.Where = parsed(t, where)
	}
	scan, err := table.Scan(t.Context(), o)
	check(t, err)
	rows, err := countRows(t.Context(), scan)
	check(t, err)
	return store, scan, rows
}

func parsed(t testing.TB, where string) *pruning.Predicate {
	t.Helper()
	p, err := pruning.Parse(where)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func countRows(ctx context.Context, scan *deltacore.Scan) (rows int, err error) {
	for b, err := range scan.Batches(ctx) {
		if err != nil {
			return rows, err
		}
		rows += int(b.Record.NumRows())
		b.Record.Release()
	}
	return rows, nil
}

func TestPredicateOfAPartitionOpensItsFilesOnly(t *testing.T) {
	columns := deltatest.Columns("id long", "day date", "country string")
	table := deltatest.New(columns, deltatest.Options{PartitionColumns: []string{"day", "country"}})
	for i := range 3 {
		for _, day := range []string{`"2024-05-01"`, `"2024-05-02"`, "null"} {
			table.Append(deltatest.Rows(columns, fmt.Sprintf(`{"id": %d, "day": %s, "country": "NL"}`, i, day), fmt.Sprintf(`{"id": %d, "day": %s}`, i, day)))
		}
	}
	for where, want := range map[string]int{
		"day = DATE '2024-05-02'":                                      6,
		"day = DATE '2024-05-02' AND country IS NULL":                  3,
		"day > DATE '2024-05-01' AND country = 'NL' AND id < 1":        1,
		"day IS NULL OR country = 'NL' AND day = '2024-05-01'":         9,
		"NOT (day <= DATE '2024-05-01') AND id IN (1, 2, 17)":          4,
		"day IN (DATE '2023-01-01', NULL)":                             0,
		"day BETWEEN '2024-05-01' AND '2024-05-01' AND country = 'DE'": 0,
	} {
		for _, target := range []int{1, 3} {
			store, scan, rows := trackedScan(t, table, deltacore.ScanOptions{TargetPartitions: target}, where)
			if rows != want || len(store.reads) != want || scan.Files() != want {
				t.Errorf("%s: want %d rows of as many files, got %d of %d, planned %d", where, want, rows, len(store.reads), scan.Files())
			}
			if skipped := scan.Skipped(); skipped.Files() != int64(18-want) {
				t.Errorf("%s: want %d files skipped, got %+v", where, 18-want, skipped)
			}
		}
	}
}

// manyNumbers is a table of columns id, which ascends over its files, shuffled and payload, of the size of a table that is worth it.
func manyNumbers(files, rows int, form deltatest.Parquet) *deltatest.Table {
	columns := deltatest.Columns("id long", "shuffled long", "payload long")
	table := deltatest.New(columns, deltatest.Options{Parquet: form, Protocol: deltatest.Features("deletionVectors")})
	random := rand.New(rand.NewPCG(1, 2))
	b := array.NewRecordBuilder(memory.NewGoAllocator(), deltatest.ArrowSchema(columns))
	for file := range files {
		for row, shuffled := range random.Perm(rows) {
			b.Field(0).(*array.Int64Builder).Append(int64(file*rows + row))
			b.Field(1).(*array.Int64Builder).Append(int64(shuffled*files + file))
			b.Field(2).(*array.Int64Builder).Append(random.Int64())
		}
		table.Append(b.NewRecordBatch())
	}
	return table
}

var largePages = deltatest.Parquet{NoDictionary: true, RowGroupRows: 50_000, PageBytes: 32 << 10, PageIndex: true}

func TestEarlyLimitReadsLittle(t *testing.T) {
	table := manyNumbers(3, 150_000, largePages)
	limit := int64(10)
	store, _, rows := trackedScan(t, table, deltacore.ScanOptions{Limit: &limit, TargetPartitions: 2}, "")
	if n := store.bytes(); rows != 10 || n >= 2<<20 {
		t.Errorf("want 10 rows and less than 2 MiB read, got %d and %d bytes of %d", rows, n, sizeOf(table))
	}
	for _, where := range []string{"id >= 0", "payload IS NOT NULL", fmt.Sprintf("shuffled > %d", 3*150_000-40)} {
		if _, scan, rows := trackedScan(t, table, deltacore.ScanOptions{Limit: &limit}, where); rows != 10 {
			t.Errorf("%s: want 10 rows of %d files, got %d", where, scan.Files(), rows)
		}
	}
}

func sizeOf(table *deltatest.Table) (n int64) {
	for _, add := range table.Active() {
		n += add.Size
	}
	return n
}

func TestLimitOpensNoFileBehindItsRows(t *testing.T) {
	columns := deltatest.Columns("id long", "x long")
	table := deltatest.New(columns, deltatest.Options{})
	for file := range 20 {
		rows := make([]string, 30)
		for i := range rows {
			rows[i] = fmt.Sprintf(`{"id": %d, "x": %d}`, 30*file+i, i)
		}
		table.Append(deltatest.Rows(columns, rows...))
	}
	none := 0
	for _, limit := range []int64{1, 9, 10} {
		store, _, rows := trackedScan(t, table, deltacore.ScanOptions{Limit: &limit, TargetPartitions: 1, PrefetchFilesPerPartition: &none}, "x >= 25")
		if rows != int(limit) || len(store.reads) > 1+int(limit-1)/5+1 {
			t.Errorf("want %d rows and the files that have them, got %d of %d files", limit, rows, len(store.reads))
		}
	}
}

func TestRangeOfIDsReadsThreePercent(t *testing.T) {
	table := manyNumbers(4, 100_000, largePages)
	for _, where := range []string{"id BETWEEN 123456 AND 123956", "id IN (1, 399999)", "id = 250000"} {
		store, _, rows := trackedScan(t, table, deltacore.ScanOptions{}, where)
		if n := store.bytes(); n*100 > 3*sizeOf(table) || rows == 0 || rows > 501 {
			t.Errorf("%s: want at most 3%% of %d bytes read, got %d, for %d rows", where, sizeOf(table), n, rows)
		}
	}
}

// TestColumnsAreReadWhereRowsMatchOnly: the values of the predicate's column have to be read, those of the others do not.
func TestColumnsAreReadWhereRowsMatchOnly(t *testing.T) {
	source := manyNumbers(1, 100_000, largePages)
	store := storage.NewMemory()
	source.CopyTo(store.PutAt)
	table, err := deltacore.Open(t.Context(), at, deltacore.Options{Store: store})
	check(t, err)
	read := func(levels datafile.Levels) int64 {
		o := deltacore.ScanOptions{Where: parsed(t, "shuffled = 5000"), Columns: []string{"id", "payload"}}
		scan, err := table.ScanSkipping(t.Context(), o, deltacore.Skipping{Levels: levels})
		check(t, err)
		before := table.Usage().Total().Bytes
		rows, err := countRows(t.Context(), scan)
		if err != nil || rows != 1 {
			t.Errorf("want one row, got %d, %v", rows, err)
		}
		return table.Usage().Total().Bytes - before
	}
	size, without, with := sizeOf(source), read(0), read(datafile.LateMaterialisation)
	if without < size*2/3 || with > without/2 {
		t.Errorf("of %d bytes: want about all without and about a third with late materialisation, got %d and %d", size, without, with)
	}
}

// TestEqualityReadsNoRowGroupThatCannotMatch: a bloom filter says so, and so does a dictionary.
func TestEqualityReadsNoRowGroupThatCannotMatch(t *testing.T) {
	const groups, size = 20, 500
	columns := deltatest.Columns("name string")
	rows := make([]string, groups*size)
	random := rand.New(rand.NewPCG(3, 4))
	for i := range rows {
		rows[i] = fmt.Sprintf(`{"name": "user-%08x-%d"}`, random.Uint32(), i) // every row group has names from end to end
	}
	few := make([]string, groups*size)
	for i := range few {
		few[i] = fmt.Sprintf(`{"name": "%s-%d"}`, oneStyle(i, "a", "m", "z"), i/size%10)
	}
	for _, c := range []struct {
		form   deltatest.Parquet
		rows   []string
		row    int
		reason scanplan.Reason
		part   float64 // of a chunk that is read for it
		most   int     // row groups that are read
	}{
		{deltatest.Parquet{RowGroupRows: size, NoDictionary: true, Bloom: true}, rows, 7*size + 11, scanplan.ByBloom, 0, 2},
		{deltatest.Parquet{RowGroupRows: size, PageBytes: 1, BatchRows: 10}, few, 7*size + 1, scanplan.ByDictionary, 0.25, 2},
	} {
		table := deltatest.New(columns, deltatest.Options{Parquet: c.form})
		add := table.Append(deltatest.Rows(columns, c.rows...))[0]
		value := strings.TrimSuffix(strings.TrimPrefix(c.rows[c.row], `{"name": "`), `"}`)
		store, scan, found := trackedScan(t, table, deltacore.ScanOptions{}, "name = '"+value+"'")
		read := groupsRead(t, table, add.Path, store.reads[add.Path], c.part)
		skipped := scan.Skipped().By[c.reason].RowGroups + scan.Skipped().By[scanplan.ByRowGroup].RowGroups
		if len(read) > c.most || !slices.Contains(read, c.row/size) || skipped < groups-int64(c.most) || found == 0 {
			t.Errorf("%s: want at most %d row groups read, one of them %d, got %v, %d rows; skipped: %+v", c.reason, c.most, c.row/size, read, found, scan.Skipped())
		}
		if _, _, found = trackedScan(t, table, deltacore.ScanOptions{}, "name = 'user-5'"); found != 0 {
			t.Errorf("want no row, got %d", found)
		}
	}
}

// groupsRead are the row groups of whose chunk more was read than a part: 0, or what a dictionary may take.
func groupsRead(t *testing.T, table *deltatest.Table, path string, spans []span, part float64) (read []int) {
	t.Helper()
	store := storage.NewMemory()
	table.CopyTo(store.PutAt)
	file, err := parquetio.Open(t.Context(), store, path, 0, parquetio.Options{})
	check(t, err)
	defer file.Close()
	for i, group := range file.RowGroups() {
		bytes, of := file.ChunkBytes(i, []int{0}), int64(0)
		for _, s := range spans {
			if s.to < file.Size() { // not the footer
				of += max(0, min(s.to, group.Offset+bytes)-max(s.from, group.Offset))
			}
		}
		if float64(of) > part*float64(bytes) {
			read = append(read, i)
		}
	}
	return read
}

// benchmarkTable is a table of the benchmarks, and what is known of it. DELTA_BENCH_EVENTS names the directory of events; the
// others lie beside it.
func benchmarkTable(t *testing.T, name string) (dir string, known map[string]any) {
	t.Helper()
	events := os.Getenv("DELTA_BENCH_EVENTS")
	if events == "" {
		t.Skip("DELTA_BENCH_EVENTS names no table of the benchmarks")
	}
	dir = filepath.Join(filepath.Dir(filepath.Clean(events)), name)
	check(t, json.Unmarshal([]byte(readFile(t, dir+".expected.json")), &known))
	return dir, known
}

// selection is a read of a benchmark table that is to find rows in a part of its bytes.
type selection struct {
	options deltacore.ScanOptions
	where   string
	rows    float64
	most    func(size int64) int64 // bytes
	files   int                    // 0: any
}

func (s selection) check(t *testing.T, dir string) {
	t.Helper()
	table, err := deltacore.Open(t.Context(), dir, deltacore.Options{})
	check(t, err)
	if s.where != "" {
		s.options.Where = parsed(t, s.where)
	}
	size := int64(0)
	for f, err := range table.Files(t.Context()) {
		check(t, err)
		size += f.Add.Size
	}
	before, start := table.Usage().Total(), time.Now()
	scan, err := table.Scan(t.Context(), s.options)
	check(t, err)
	rows, err := countRows(t.Context(), scan)
	check(t, err)
	used := table.Usage().Total()
	n := used.Bytes - before.Bytes
	t.Logf("%s: %d rows, %d bytes (%.2f%%), %d requests, %v, skipped %+v", s.where, rows, n, 100*float64(n)/float64(size),
		used.Requests-before.Requests, time.Since(start).Round(time.Millisecond), scan.Skipped())
	if float64(rows) != s.rows || n > s.most(size) || s.files > 0 && scan.Files() != s.files {
		t.Errorf("%s: want %v rows, at most %d bytes and %d files, got %d, %d and %d", s.where, s.rows, s.most(size), s.files, rows, n, scan.Files())
	}
}

func TestBenchmarkSelectionsReadAPart(t *testing.T) {
	dir, known := benchmarkTable(t, "events")
	threePercent := func(size int64) int64 { return size * 3 / 100 }
	low, high := known["id_lo"].(float64), known["id_hi"].(float64)
	columns := deltacore.ScanOptions{Columns: []string{"id", "ts", "user"}}
	selection{columns, fmt.Sprintf("id >= %.0f AND id <= %.0f", low, high), high - low + 1, threePercent, 1}.check(t, dir)
	ten := int64(10)
	selection{deltacore.ScanOptions{Limit: &ten}, "", 10, func(int64) int64 { return 2<<20 - 1 }, 0}.check(t, dir)
	user := fmt.Sprintf("user = '%s'", known["probe_user"])
	selection{deltacore.ScanOptions{Columns: []string{"id", "country", "money"}}, user, 1, func(size int64) int64 { return size / 2 }, 0}.check(t, dir)
}

func TestBenchmarkDateOpensItsFilesOnly(t *testing.T) {
	dir, known := benchmarkTable(t, "events_part")
	date := known["probe_date"].(string)
	files := glob(t, filepath.Join(dir, "date="+date, "*.parquet"))
	selection{
		deltacore.ScanOptions{Columns: []string{"id", "ts", "user"}},
		"date = DATE '" + date + "'", known["probe_date_rows"].(float64),
		func(size int64) int64 { return size * 3 / 100 }, len(files),
	}.check(t, dir)
}
