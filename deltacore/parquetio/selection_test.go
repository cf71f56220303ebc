package parquetio_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// readSome reads rows of the first row group and checks that batches say which they have.
func readSome(ctx context.Context, f *parquetio.File, s parquetio.Selection) (lines []string, rows parquetio.Ranges, err error) {
	for batch, err := range f.ReadRows(ctx, s) {
		if err != nil {
			return lines, rows, err
		}
		if batch.Rows.Rows() != batch.Record.NumRows() {
			return lines, rows, fmt.Errorf("a batch of %d rows says that they are %v", batch.Record.NumRows(), batch.Rows)
		}
		for _, r := range batch.Rows {
			rows = rows.Append(r.From, r.To, 0)
		}
		for _, c := range batch.Record.Columns() {
			checkData(c.Data())
		}
		lines = append(lines, jsonRows(batch.Record)...)
		batch.Record.Release()
	}
	return lines, rows, nil
}

func drawRanges(t *rapid.T, rows int64) parquetio.Ranges {
	r := parquetio.Ranges{} // nil would be all
	step := rapid.Int64Range(1, 20).Draw(t, "step")
	for at := int64(0); at < rows; {
		from := at + rapid.Int64Range(0, step).Draw(t, "gap")
		at = from + rapid.Int64Range(1, step).Draw(t, "run")
		r = r.Append(from, min(at, rows), 0)
	}
	return r
}

// TestSomeRowsAreThoseOfAll reads random rows of nested columns, with and without the knowledge of where pages are. arrow-go's
// writer cuts rows of lists when its pages are that small, and says of such pages that they begin with a row.
func TestSomeRowsAreThoseOfAll(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		var rows []string
		for i := range rapid.IntRange(1, 80).Draw(rt, "rows") {
			rows = append(rows, fmt.Sprintf(`{"id": %d, "s": %s, "m": %s, "ll": %s, "sl": %s}`, i,
				orNull(rt, structOf("f", structOf("g", number), "l", listOf(structOf("x", number, "y", text, "z", listOf(number))))),
				orNull(rt, mapOf(structOf("p", number, "q", listOf(listOf(text))))),
				orNull(rt, listOf(listOf(number))), orNull(rt, listOf(structOf("b", truth)))))
		}
		record := deltatest.Rows(nestedColumns, rows...)
		form := deltatest.Parquet{
			PageBytes: rapid.SampledFrom([]int64{1, 60, 1 << 20}).Draw(rt, "page"), BatchRows: rapid.Int64Range(1, 7).Draw(rt, "write"),
			PageVersion: rapid.IntRange(1, 2).Draw(rt, "version"), NoDictionary: rapid.Bool().Draw(rt, "plain"),
			PageIndex: rapid.IntRange(0, 3).Draw(rt, "index") > 0, Codec: rapid.SampledFrom([]string{"SNAPPY", "UNCOMPRESSED"}).Draw(rt, "codec"),
		}
		content := form.File(record)
		f := open(t, content, parquetio.Options{
			Allocator: checked(t), BatchRows: rapid.Int64Range(1, 40).Draw(rt, "batch"),
			FooterReadSize: rapid.SampledFrom([]int64{8, 1 << 20}).Draw(rt, "footer"),
		})
		s := parquetio.Selection{Leaves: allLeaves(f), Rows: drawRanges(rt, record.NumRows())}
		if rapid.Bool().Draw(rt, "use index") {
			var err error
			if s.Index, err = f.ReadIndex(t.Context(), parquetio.IndexRequest{Leaves: s.Leaves}); err != nil || s.Index.Unusable != 0 {
				rt.Fatalf("%d of the indexes are not to be used, %v", s.Index.Unusable, err)
			}
		}
		all, want := jsonRows(record), []string{}
		for _, r := range s.Rows {
			want = append(want, all[r.From:r.To]...)
		}
		got, of, err := readSome(t.Context(), f, s)
		if err != nil || fmt.Sprint(want) != fmt.Sprint(got) || !slices.Equal(s.Rows, of) {
			rt.Fatalf("%v %v\nwant rows %v %s\ngot  rows %v %s", form, err, s.Rows, strings.Join(want, "\n"), of, strings.Join(got, "\n"))
		}
	})
}

// pagedFile has a row group of 5000 rows in pages of 100, about.
func pagedFile(form deltatest.Parquet) []byte {
	lines := make([]string, 5000)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"id": %d, "name": "%0120d", "l": ["%0120d", null]}`, i, i*7919%5000, i)
	}
	form.PageBytes, form.BatchRows = 4000, 20
	return form.File(deltatest.Rows(deltatest.Columns("id long", "name string", "l array<string>"), lines...))
}

func TestOnlyPagesWithWantedRowsAreRead(t *testing.T) {
	for name, form := range map[string]deltatest.Parquet{
		"plain": {PageIndex: true, NoDictionary: true, Codec: "UNCOMPRESSED"}, "v2": {PageIndex: true, PageVersion: 2, NoDictionary: true, Codec: "UNCOMPRESSED"},
		"dictionary": {PageIndex: true, Codec: "UNCOMPRESSED"},
	} {
		t.Run(name, func(t *testing.T) {
			content := pagedFile(form)
			store := storage.NewMetered(storeWith(content))
			f, err := parquetio.Open(t.Context(), store, path, int64(len(content)), parquetio.Options{Allocator: checked(t), FooterReadSize: 8})
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			leaves := allLeaves(f)
			index, err := f.ReadIndex(t.Context(), parquetio.IndexRequest{Leaves: leaves})
			if err != nil {
				t.Fatal(err)
			}
			before := store.Usage().Read
			rows := parquetio.Ranges{{From: 2010, To: 2020}, {From: 4100, To: 4101}}
			lines, _, err := readSome(t.Context(), f, parquetio.Selection{Leaves: leaves, Rows: rows, Index: index})
			if err != nil || len(lines) != 11 {
				t.Fatalf("want 11 rows, got %d, %v", len(lines), err)
			}
			after := store.Usage().Read
			bytes, requests := after.Bytes-before.Bytes, after.Requests-before.Requests
			chunks := f.ChunkBytes(0, leaves)
			limit := chunks / 10
			if name == "dictionary" {
				limit = chunks - 1
			}
			if bytes > limit || requests > 9 {
				t.Errorf("want at most %d of %d bytes in 9 requests, got %d in %d", limit, chunks, bytes, requests)
			}
		})
	}
}

func TestPagesThatLieTogetherAreReadTogether(t *testing.T) {
	content := pagedFile(deltatest.Parquet{PageIndex: true, NoDictionary: true, Codec: "UNCOMPRESSED"})
	store := storage.NewMetered(storeWith(content))
	f, err := parquetio.Open(t.Context(), store, path, int64(len(content)), parquetio.Options{FooterReadSize: 8})
	if err != nil {
		t.Fatal(err)
	}
	index, err := f.ReadIndex(t.Context(), parquetio.IndexRequest{Leaves: []int{0}})
	if err != nil {
		t.Fatal(err)
	}
	before := store.Usage().Read.Requests
	rows := parquetio.Ranges{{From: 1000, To: 2000}, {From: 2300, To: 2400}}
	if _, _, err := readSome(t.Context(), f, parquetio.Selection{Leaves: []int{0}, Rows: rows, Index: index}); err != nil {
		t.Fatal(err)
	}
	if requests := store.Usage().Read.Requests - before; requests != 1 {
		t.Errorf("want 1 request, got %d", requests)
	}
}

func TestRowsOfNoColumnsAreCounted(t *testing.T) {
	f := open(t, pagedFile(deltatest.Parquet{}), parquetio.Options{BatchRows: 7})
	want := parquetio.Ranges{{From: 3, To: 20}, {From: 30, To: 31}}
	_, got, err := readSome(t.Context(), f, parquetio.Selection{Rows: want})
	if err != nil || !slices.Equal(want, got) {
		t.Errorf("want rows %v, got %v, %v", want, got, err)
	}
}
