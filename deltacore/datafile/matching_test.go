package datafile_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/datafile"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// matching is a read of the rows for which a predicate is true. The returned counts are those of the read.
func (r reading) matching(t testing.TB, predicate string) (reading, *scanplan.Skipped) {
	t.Helper()
	parsed, err := pruning.Parse(predicate)
	if err != nil {
		t.Fatal(err)
	}
	table := r.columns
	if r.table != nil {
		table = r.table
	}
	if r.where, err = parsed.Bind(schema.Resolver(table)); err != nil {
		t.Fatal(err)
	}
	r.skipped = new(scanplan.Skipped)
	return r, r.skipped
}

// wantRows reads the physical rows.
func (r reading) wantRows(t testing.TB, want ...int64) {
	t.Helper()
	rows, err := r.outRows(t, nil)
	if err != nil {
		t.Fatal(err)
	}
	got := make([]int64, len(rows))
	for i, row := range rows {
		got[i] = row.physical
	}
	if !slices.Equal(want, got) {
		t.Errorf("%s: want rows %v, got %v", r.where.Text, want, got)
	}
}

func wantSkipped(t testing.TB, s *scanplan.Skipped, want map[scanplan.Reason]scanplan.SkipCount) {
	t.Helper()
	got := s.Snapshot()
	if fmt.Sprint(want) != fmt.Sprint(got.By) || len(got.Unusable) > 0 {
		t.Errorf("want %v skipped, got %v, unusable %v", want, got.By, got.Unusable)
	}
}

// ascending has 4 row groups of 100 rows, in pages of 10.
func ascending(form deltatest.Parquet) reading {
	lines := make([]string, 400)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"id": %d, "s": "%03d", "few": "f%d", "d": %d.5, "l": [%d]}`, i, i*7%400, i/100*2+i%2, i, i)
	}
	columns := deltatest.Columns("id long", "s string", "few string", "d double", "l array<long>")
	form.RowGroupRows, form.PageBytes, form.BatchRows = 100, 1, 10
	return reading{content: form.File(deltatest.Rows(columns, lines...)), columns: columns}
}

func TestRowGroupsWithoutAMatchAreNotRead(t *testing.T) {
	r, skipped := ascending(deltatest.Parquet{}).matching(t, "id >= 150 AND id < 152")
	r.wantRows(t, 150, 151)
	wantSkipped(t, skipped, map[scanplan.Reason]scanplan.SkipCount{scanplan.ByRowGroup: {RowGroups: 3}})
}

func TestPagesWithoutAMatchAreNotRead(t *testing.T) {
	r, skipped := ascending(deltatest.Parquet{PageIndex: true}).matching(t, "id IN (151, 178)")
	r.wantRows(t, 151, 178)
	wantSkipped(t, skipped, map[scanplan.Reason]scanplan.SkipCount{scanplan.ByRowGroup: {RowGroups: 3}, scanplan.ByPage: {Pages: 8}})
}

func TestARowGroupOfWhichNoPageMatchesIsNotRead(t *testing.T) {
	r := ascending(deltatest.Parquet{PageIndex: true})
	r.without = datafile.RowGroupStatistics
	r, skipped := r.matching(t, "id = 1000")
	r.wantRows(t)
	wantSkipped(t, skipped, map[scanplan.Reason]scanplan.SkipCount{scanplan.ByPage: {RowGroups: 4}})
}

func TestBloomFiltersKeepRowGroupsFromBeingRead(t *testing.T) {
	for predicate, want := range map[string][]int64{
		"s = '007'":                {1},
		"s IN ('007', '390')":      {1, 170},
		"s = '0070'":               nil,
		"s = '007' AND few = 'f1'": {1},
	} {
		r, skipped := ascending(deltatest.Parquet{Bloom: true, NoDictionary: true}).matching(t, predicate)
		r.wantRows(t, want...)
		if got := skipped.Snapshot().By[scanplan.ByBloom].RowGroups + skipped.Snapshot().By[scanplan.ByRowGroup].RowGroups; got != 4-int64(len(want)) {
			t.Errorf("%s: want %d row groups skipped, got %v", predicate, 4-len(want), skipped.Snapshot())
		}
	}
}

func TestDictionariesKeepRowGroupsFromBeingRead(t *testing.T) {
	r := ascending(deltatest.Parquet{})
	r.without = datafile.RowGroupStatistics
	r, skipped := r.matching(t, "few = 'f3' AND id < 104")
	r.wantRows(t, 101, 103)
	wantSkipped(t, skipped, map[scanplan.Reason]scanplan.SkipCount{scanplan.ByDictionary: {RowGroups: 3}})
}

// TestSkippedRowGroupsAreExplained by each level that skips row groups.
func TestSkippedRowGroupsAreExplained(t *testing.T) {
	first := make([]int64, 100)
	for i := range first {
		first[i] = int64(i)
	}
	all := deltatest.InlineVector(deltatest.Bitmap{}, first...)
	for _, c := range []struct {
		form      deltatest.Parquet
		without   datafile.Levels
		vector    *action.DeletionVector
		where     string
		rowGroup  int
		reason    scanplan.Reason
		statement string
	}{
		{deltatest.Parquet{}, 0, nil, "few IS NOT NULL AND id > 99", 0, scanplan.ByRowGroup, "id > 99"},
		{deltatest.Parquet{}, 0, &all, "id >= 0", 0, scanplan.ByVector, ""},
		{deltatest.Parquet{Bloom: true, NoDictionary: true}, datafile.RowGroupStatistics, nil, "id >= 0 AND few = 'f7'", 1, scanplan.ByBloom, "few = 'f7'"},
		{deltatest.Parquet{}, datafile.RowGroupStatistics, nil, "id >= 0 AND few = 'f7'", 1, scanplan.ByDictionary, "few = 'f7'"},
		{deltatest.Parquet{PageIndex: true}, datafile.RowGroupStatistics, nil, "id > 399 AND few > ''", 3, scanplan.ByPage, "id > 399 AND few > ''"},
	} {
		r := ascending(c.form)
		r.without, r.vector = c.without, c.vector
		r, _ = r.matching(t, c.where)
		var got []scanplan.Explanation
		r.explain = func(e scanplan.Explanation) { got = append(got, e) }
		if _, err := r.outRows(t, nil); err != nil {
			t.Fatal(err)
		}
		if want := (scanplan.Explanation{File: path, RowGroup: c.rowGroup, Reason: c.reason, Because: c.statement}); !slices.Contains(got, want) {
			t.Errorf("%s: want %v, got %v", c.where, want, got)
		}
	}
}

func TestNeitherIsAskedWhereItCannotDecide(t *testing.T) {
	r := ascending(deltatest.Parquet{Bloom: true})
	for _, predicate := range []string{"few = 'f3' OR id >= 0", "few != 'f3'", "few > 'f3'"} {
		r, skipped := r.matching(t, predicate)
		if _, err := r.outRows(t, nil); err != nil {
			t.Fatal(err)
		}
		if by := skipped.Snapshot().By; by[scanplan.ByBloom].RowGroups+by[scanplan.ByDictionary].RowGroups > 0 {
			t.Errorf("%s: got %v", predicate, by)
		}
	}
}

// TestBoundsOfNumbersThatMayBeNaN: bounds leave NaN out, and NaN is above all numbers.
func TestBoundsOfNumbersThatMayBeNaN(t *testing.T) {
	columns := deltatest.Columns("d double")
	content := deltatest.Parquet{RowGroupRows: 2}.File(deltatest.Rows(columns, `{"d": 1.5}`, `{"d": "NaN"}`, `{"d": 7.5}`, `{"d": 8.5}`))
	for predicate, want := range map[string][]int64{
		"d > 100": {1}, "d >= 8": {1, 3}, "d < 2": {0}, "d != 1.5": {1, 2, 3}, "d = 8.5": {3}, "d <= 1.5": {0},
	} {
		r, skipped := reading{content: content, columns: columns}.matching(t, predicate)
		r.wantRows(t, want...)
		if by := skipped.Snapshot().By; (len(by) > 0) != (predicate == "d = 8.5") {
			t.Errorf("%s: got %v", predicate, by)
		}
	}
	none := deltatest.WithoutNaNs(deltatest.Parquet{RowGroupRows: 2}.File(
		deltatest.Rows(columns, `{"d": 1.5}`, `{"d": 2.5}`, `{"d": 7.5}`, `{"d": 8.5}`)))
	for predicate, groups := range map[string]int64{"d > 100": 2, "d >= 8": 1, "d < 2": 1, "d = 1.5": 1} {
		r, skipped := reading{content: none, columns: columns}.matching(t, predicate)
		if _, err := r.outRows(t, nil); err != nil {
			t.Fatal(err)
		}
		if got := skipped.Snapshot().By[scanplan.ByRowGroup].RowGroups; got != groups {
			t.Errorf("%s: want %d row groups skipped, got %d", predicate, groups, got)
		}
	}
}

// TestBoundsOfTheOldCalendarSayNothing: they are not in the order of today's dates.
func TestBoundsOfTheOldCalendarSayNothing(t *testing.T) {
	for column, literals := range map[string][2]string{
		"d":    {"DATE '1582-10-04'", "DATE '2020-01-01'"},
		"ts":   {"TIMESTAMP '1582-10-04 00:00:00.000005Z'", "TIMESTAMP '2020-01-01 00:00:00Z'"},
		"bare": {"TIMESTAMP '1582-10-04 00:00:00.000005Z'", "TIMESTAMP '2020-01-01 00:00:00Z'"},
		"i96":  {"TIMESTAMP '1582-10-04 00:00:00.000005Z'", "TIMESTAMP '2020-01-01 00:00:00Z'"},
	} {
		r := reading{content: oldFile(writtenBy("2.4.0")), columns: oldColumns}
		r, _ = r.matching(t, column+" = "+literals[0])
		r.wantRows(t, 0)
		r, skipped := r.matching(t, column+" > "+literals[1])
		r.wantRows(t)
		wantSkipped(t, skipped, map[scanplan.Reason]scanplan.SkipCount{})
	}
}

// TestOnlyWhatMatchesIsJudged: nulls that the table does not allow, in a row that is not wanted.
func TestOnlyWhatMatchesIsJudged(t *testing.T) {
	written := deltatest.Columns("id long", "n long")
	content := deltatest.Parquet{}.File(deltatest.Rows(written, `{"id": 1, "n": 5}`, `{"id": 2}`))
	columns := deltatest.Columns("id long", "n long not null")
	r, _ := reading{content: content, columns: columns}.matching(t, "id = 1")
	r.wantRows(t, 0)
	r, _ = r.matching(t, "id = 2")
	r.wantError(t, "never null")
}

// TestEvidenceAgainstTheSchemaSkipsNothing: where a column that is never null is missing or has nulls, reading it says so,
// however little may match (S5).
func TestEvidenceAgainstTheSchemaSkipsNothing(t *testing.T) {
	written := deltatest.Columns("id long", "n long", "st struct<m:long>")
	content := deltatest.Parquet{PageIndex: true}.File(deltatest.Rows(written, `{"id": 1, "st": {}}`, `{"id": 2, "st": {}}`))
	for _, c := range []struct {
		columns, where string
		wrong          bool
	}{
		{"gone long not null", "gone = 5", true},
		{"gone long", "gone = 5", false},
		{"n long not null", "n = 5", true},
		{"n long", "n = 5", false},
		{"st struct<m:long not null> not null", "st.m = 5", true},
		{"st struct<gone:long not null> not null", "st.gone = 5", true},
		{"st struct<m:long>", "st.m = 5", false},
	} {
		for _, without := range []datafile.Levels{0, datafile.RowGroupStatistics, datafile.AllLevels} {
			r, _ := reading{content: content, columns: deltatest.Columns("id long", c.columns), without: without}.matching(t, c.where)
			if rows, err := r.outRows(t, nil); (err != nil) != c.wrong || len(rows) > 0 {
				t.Errorf("%s of %s without %b: want no rows and an error %t, got %v, %v", c.where, c.columns, without, c.wrong, rows, err)
			}
			r, _ = r.matching(t, c.where+" AND id = 7") // what need not be read is not judged
			if rows, err := r.outRows(t, nil); without == 0 && err != nil || len(rows) > 0 {
				t.Errorf("%s of %s: want no rows, got %v, %v", r.where.Text, c.columns, rows, err)
			}
		}
	}
}

// TestThePageIndexIsReadOnce, however many rows of the row group are looked at one after the other.
func TestThePageIndexIsReadOnce(t *testing.T) {
	columns := deltatest.Columns("id long", "few long")
	b := array.NewRecordBuilder(memory.NewGoAllocator(), deltatest.ArrowSchema(columns))
	for i := range 400_000 {
		b.Field(0).(*array.Int64Builder).Append(int64(i))
		b.Field(1).(*array.Int64Builder).Append(int64(i % 1000))
	}
	r := reading{content: deltatest.Parquet{PageIndex: true, PageBytes: 16 << 10, NoDictionary: true}.File(b.NewRecordBatch()), columns: columns}
	r, _ = r.matching(t, "few = 5")
	content := storage.NewMemory()
	content.Put(path, r.content)
	store := &seenStore{Store: content, reads: map[int64]int{}}
	reader, err := datafile.NewReader(store, datafile.Layout{Columns: columns, Where: r.where}, parquetio.Options{FooterReadSize: 8})
	if err != nil {
		t.Fatal(err)
	}
	rows := int64(0)
	for batch, err := range reader.Read(t.Context(), r.task()) {
		if err != nil {
			t.Fatal(err)
		}
		rows += batch.Record.NumRows()
		batch.Record.Release()
	}
	if rows != 400 {
		t.Errorf("want 400 rows, got %d", rows)
	}
	f, err := parquetio.Open(t.Context(), store, path, 0, parquetio.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for at, n := range store.reads {
		if behindPages := 4 + f.RowGroups()[0].Bytes; n > 1 && at >= behindPages && at < int64(len(r.content))-8 {
			t.Errorf("what is at byte %d of %d was read %d times", at, len(r.content), n)
		}
	}
}

// seenStore counts reads by where they begin.
type seenStore struct {
	storage.Store
	reads map[int64]int
}

func (s *seenStore) ReadAt(ctx context.Context, path string, buf []byte, off int64) (int, error) {
	s.reads[off]++
	return s.Store.ReadAt(ctx, path, buf, off)
}

func TestRowIDsAreThoseOfTheirRows(t *testing.T) {
	columns := deltatest.Columns("a long", "_id-1 long")
	lines := make([]string, 300)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"a": %d}`, i)
		if i == 250 {
			lines[i] = `{"a": 250, "_id-1": 7}`
		}
	}
	content := deltatest.Parquet{PageIndex: true, PageBytes: 1, BatchRows: 20}.File(deltatest.Rows(columns, lines...))
	r, _ := trackedReading(content).matching(t, "a IN (3, 250, 299)")
	r.wantNumbers(t, `{"a":3} 103 3`, `{"a":250} 7 3`, `{"a":299} 399 3`)
}

// TestScatteredMatchesComeTogether: few batches, whose rows say where they are.
func TestScatteredMatchesComeTogether(t *testing.T) {
	lines := make([]string, 100_000)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"id": %d, "few": %d}`, i, i%97)
	}
	columns := deltatest.Columns("id long", "few integer")
	content := deltatest.Parquet{}.File(deltatest.Rows(columns, lines...))
	for _, projected := range []int{1, 2} {
		r := reading{content: content, columns: columns}
		r, _ = r.matching(t, "few = 5")
		r.table, r.columns = columns, &schema.Struct{Fields: columns.Fields[:projected]}
		batches, rows := 0, int64(0)
		for batch, err := range r.reader(t).Read(t.Context(), r.task()) {
			if err != nil {
				t.Fatal(err)
			}
			batches++
			rows += batch.Record.NumRows()
			for i, row := range batch.Index {
				if row%97 != 5 || i > 0 && row <= batch.Index[i-1] {
					t.Fatalf("row %d came out", row)
				}
			}
			batch.Record.Release()
		}
		if rows != 1031 || batches > 3 {
			t.Errorf("want 1031 rows in a batch or two, got %d in %d", rows, batches)
		}
	}
}

// TestAPageIndexOfOtherPagesIsDoneWithout: its row numbers have chosen rows, so all are looked at again.
func TestAPageIndexOfOtherPagesIsDoneWithout(t *testing.T) {
	for _, leaf := range []int{0, 1, 3} {
		r := ascending(deltatest.Parquet{PageIndex: true, NoDictionary: true})
		r.content = deltatest.WithPageIndexOf(r.content, leaf, (leaf+1)%4)
		r, skipped := r.matching(t, "id = 57 OR s = '300' OR d = 99.5")
		r.wantRows(t, 57, 99, 100)
		if n := skipped.Snapshot().Unusable[scanplan.ByPage]; n == 0 {
			t.Errorf("leaf %d: want it counted", leaf)
		}
	}
}

// TestFewBytesAreReadForFewRows: of the other columns only the pages with matches.
func TestFewBytesAreReadForFewRows(t *testing.T) {
	lines := make([]string, 20_000)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"id": %d, "text": "%s %d"}`, i, strings.Repeat("x", 60), i*7919%20000)
	}
	columns := deltatest.Columns("id long", "text string")
	content := deltatest.Parquet{PageIndex: true, PageBytes: 4 << 10, BatchRows: 50, NoDictionary: true, Codec: "UNCOMPRESSED"}.File(
		deltatest.Rows(columns, lines...))
	memory := storage.NewMemory()
	memory.Put(path, content)
	store := storage.NewMetered(memory)
	r, _ := reading{content: content, columns: columns}.matching(t, "id BETWEEN 12000 AND 12010")
	reader, err := datafile.NewReader(store, datafile.Layout{Columns: columns, Where: r.where}, parquetio.Options{FooterReadSize: 1 << 10})
	if err != nil {
		t.Fatal(err)
	}
	rows := int64(0)
	for batch, err := range reader.Read(context.Background(), r.task()) {
		if err != nil {
			t.Fatal(err)
		}
		rows += batch.Record.NumRows()
		batch.Record.Release()
	}
	if used := store.Usage().Read; rows != 11 || used.Bytes > int64(len(content))/20 {
		t.Errorf("want 11 rows of few of %d bytes, got %d of %d in %d requests", len(content), rows, used.Bytes, used.Requests)
	}
}
