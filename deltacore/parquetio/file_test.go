package parquetio_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

const path = "part-0.parquet"

func storeWith(content []byte) *storage.Memory {
	store := storage.NewMemory()
	store.Put(path, content)
	return store
}

// checked returns an allocator that fails the test when something is left at its end.
func checked(t testing.TB) memory.Allocator {
	t.Helper()
	mem := memory.NewCheckedAllocator(deltatest.Overwriting{Allocator: memory.NewGoAllocator()})
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	return mem
}

func open(t testing.TB, content []byte, o parquetio.Options) *parquetio.File {
	t.Helper()
	f, err := parquetio.Open(context.Background(), storeWith(content), path, int64(len(content)), o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	return f
}

// allLeaves lists the leaves of all columns.
func allLeaves(f *parquetio.File) []int {
	var leaves []int
	for _, field := range f.Fields() {
		leaves = append(leaves, field.Leaves()...)
	}
	return leaves
}

// readJSON reads the leaves of all row groups and returns a JSON object for each row.
func readJSON(f *parquetio.File, leaves []int) ([]string, error) {
	var rows []string
	for g := range f.RowGroups() {
		for batch, err := range f.ReadRowGroup(context.Background(), g, leaves) {
			if err != nil {
				return rows, err
			}
			rows = append(rows, jsonRows(batch)...)
			batch.Release()
		}
	}
	return rows, nil
}

func jsonRows(batch arrow.RecordBatch) []string {
	if batch.NumCols() == 0 {
		return make([]string, batch.NumRows())
	}
	var out bytes.Buffer
	if err := array.RecordToJSON(batch, &out); err != nil {
		panic(err)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func compareRows(t *testing.T, want, got []string) {
	t.Helper()
	for i := range max(len(want), len(got)) {
		if i >= len(want) || i >= len(got) || want[i] != got[i] {
			t.Fatalf("row %d of want %d, got %d:\nwant %s\ngot  %s", i, len(want), len(got), at(want, i), at(got, i))
		}
	}
}

func at(list []string, i int) string {
	if i < len(list) {
		return list[i]
	}
	return "nothing"
}

var orders = deltatest.Columns("id long not null", "name string", "amount decimal(10,2)", "at timestamp", "day date",
	"tags array<string>", "item struct<sku:string,qty:integer>", "attributes map<string,double>", "data binary", "ok boolean")

func ordersRecord(from, rows int) arrow.RecordBatch {
	lines := make([]string, rows)
	for i := range lines {
		n := from + i
		lines[i] = fmt.Sprintf(`{"id": %d, "name": "name %d", "amount": "%d.25", "at": "2024-05-01T10:00:%02d.123456Z",
			"day": "2024-05-%02d", "tags": ["a", null, "t%d"], "item": {"sku": "s%d", "qty": %d},
			"attributes": [{"key": "k%d", "value": 0.5}], "data": "AAEC", "ok": %t}`,
			n, n%50, n, n%60, n%28+1, n%7, n, n, n%3, n%2 == 0)
		if n%5 == 0 {
			lines[i] = fmt.Sprintf(`{"id": %d, "tags": [], "item": {}}`, n)
		}
		if n%11 == 0 {
			lines[i] = fmt.Sprintf(`{"id": %d}`, n)
		}
	}
	return deltatest.Rows(orders, lines...)
}

func TestReadGivesTheRowsThatWereWritten(t *testing.T) {
	record := ordersRecord(0, 1000)
	want := jsonRows(record)
	for _, form := range []deltatest.Parquet{
		{},
		{PageVersion: 2, Codec: "ZSTD", PageBytes: 500, BatchRows: 50},
		{RowGroupRows: 300, Codec: "GZIP", PageBytes: 100, BatchRows: 10},
		{Codec: "UNCOMPRESSED", NoDictionary: true, WideDecimals: true, NoStatistics: true},
		{Codec: "BROTLI", PageVersion: 2, NoDictionary: true, PageIndex: true},
		{Codec: "LZ4_RAW", ArrowSchema: true},
	} {
		for _, batchRows := range []int64{0, 7, 300} {
			t.Run(fmt.Sprintf("%+v/%d", form, batchRows), func(t *testing.T) {
				f := open(t, form.File(record), parquetio.Options{Allocator: checked(t), BatchRows: batchRows})
				got, err := readJSON(f, allLeaves(f))
				if err != nil {
					t.Fatal(err)
				}
				compareRows(t, want, got)
			})
		}
	}
}

func TestOpenReadsTheFooterAtOnceAndFallsBackWhenTheSizeIsWrong(t *testing.T) {
	content := deltatest.Parquet{}.File(ordersRecord(0, 10))
	n := int64(len(content))
	tests := map[string]struct {
		size, first  int64
		reads, stats int
	}{
		"size known":            {size: n, reads: 1},
		"footer larger":         {size: n, first: 100, reads: 2},
		"tiny first read":       {size: n, first: 1, reads: 2},
		"size unknown":          {reads: 1, stats: 1},
		"size too small":        {size: n - 3, reads: 2, stats: 1},
		"size too large":        {size: n + 3, reads: 2, stats: 1},
		"size smaller than any": {size: 5, reads: 1, stats: 1},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			store := &countingStore{Store: storeWith(content)}
			f, err := parquetio.Open(context.Background(), store, path, test.size, parquetio.Options{FooterReadSize: test.first})
			if err != nil {
				t.Fatal(err)
			}
			if f.Size() != n || f.NumRows() != 10 {
				t.Errorf("want size %d and 10 rows, got %d and %d", n, f.Size(), f.NumRows())
			}
			if store.reads != test.reads || store.stats != test.stats {
				t.Errorf("want %d reads and %d stats, got %d and %d", test.reads, test.stats, store.reads, store.stats)
			}
		})
	}
}

// countingStore counts requests. It is no storage.Opener, so sizes are not known for free.
type countingStore struct {
	storage.Store
	reads, stats int
	failAt       int // the read that fails, from 1
	failWith     error
}

func (s *countingStore) ReadAt(ctx context.Context, path string, buf []byte, off int64) (int, error) {
	if s.reads++; s.reads == s.failAt {
		return 0, s.failWith
	}
	return s.Store.ReadAt(ctx, path, buf, off)
}

func (s *countingStore) Stat(ctx context.Context, path string) (storage.Entry, error) {
	s.stats++
	return s.Store.Stat(ctx, path)
}

func TestOpenSaysWhatIsWrongWithAFile(t *testing.T) {
	good := deltatest.Parquet{}.File(ordersRecord(0, 10))
	tests := map[string]struct {
		content []byte
		kind    deltaerr.Kind
		text    string
	}{
		"empty":     {nil, deltaerr.Corrupt, "a Parquet file has at least 12 bytes, this one has 0"},
		"short":     {[]byte("PAR1PAR1"), deltaerr.Corrupt, "a Parquet file has at least 12 bytes, this one has 8"},
		"other":     {[]byte(`{"no": "Parquet file"}`), deltaerr.Corrupt, `not a Parquet file, or cut short: it ends with "le\"}"`},
		"cut":       {good[:len(good)-4], deltaerr.Corrupt, "not a Parquet file, or cut short: it ends with"},
		"encrypted": {append(good[:len(good)-4:len(good)-4], "PARE"...), deltaerr.Unsupported, "the file is encrypted"},
		"length":    {[]byte("PAR1\x00\x00\xff\xff\xff\x7fPAR1"), deltaerr.Corrupt, "the footer claims 2147483647 bytes, the file has 14"},
		"no footer": {[]byte("PAR1\x00\x00\x00\x00PAR1"), deltaerr.Corrupt, "the footer cannot be parsed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			_, err := parquetio.Open(context.Background(), storeWith(test.content), path, int64(len(test.content)), parquetio.Options{})
			wantError(t, err, test.kind, "file part-0.parquet: reading the footer: "+test.text)
		})
	}
}

func wantError(t *testing.T, err error, kind deltaerr.Kind, text string) {
	t.Helper()
	if err == nil || deltaerr.KindOf(err) != kind || !strings.Contains(err.Error(), text) {
		t.Fatalf("want a %s error with %q, got %v (%s)", kind, text, err, deltaerr.KindOf(err))
	}
}

func TestOpenOfAMissingFileIsNotFound(t *testing.T) {
	_, err := parquetio.Open(context.Background(), storage.NewMemory(), path, 100, parquetio.Options{})
	if !errors.Is(err, fs.ErrNotExist) || deltaerr.KindOf(err) != deltaerr.NotFound {
		t.Errorf("want not found, got %v", err)
	}
}

// checkedNow returns an allocator to be asked by the test.
func checkedNow() *memory.CheckedAllocator {
	return memory.NewCheckedAllocator(deltatest.Overwriting{Allocator: memory.NewGoAllocator()})
}
