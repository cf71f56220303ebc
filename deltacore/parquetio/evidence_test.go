package parquetio

import (
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// openContent opens a file with an allocator that is checked.
func openContent(t testing.TB, content []byte, footerRead int64) *File {
	t.Helper()
	mem := memory.NewCheckedAllocator(deltatest.Overwriting{Allocator: memory.NewGoAllocator()})
	store := storage.NewMemory()
	store.Put("f", content)
	f, err := Open(t.Context(), store, "f", int64(len(content)), Options{Allocator: mem, FooterReadSize: footerRead})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		f.Close()
		mem.AssertSize(t, 0)
	})
	return f
}

// manyForms has a column for each form of statistics.
func manyForms(t testing.TB, form deltatest.Parquet) *File {
	t.Helper()
	columns := deltatest.Columns("id long not null", "i integer", "d double", "s string", "b binary", "o boolean", "day date", "at timestamp",
		"small decimal(9,2)", "big decimal(30,2)", "st struct<x:long>", "l array<long>")
	var lines []string
	for i := range 200 {
		if i%10 == 3 {
			lines = append(lines, fmt.Sprintf(`{"id": %d}`, i))
			continue
		}
		lines = append(lines, fmt.Sprintf(`{"id": %d, "i": %d, "d": %d.5, "s": "s%03d", "b": "AAEC", "o": true, "day": "2024-01-%02d",
			"at": "2024-01-01T00:00:00.%06dZ", "small": "%d.25", "big": "-%d.25", "st": {"x": %d}, "l": [%d]}`, i, i-5, i, i, i%28+1, i, i, i, i, i))
	}
	form.PageBytes, form.BatchRows, form.NoDictionary = 1, 20, true
	return openContent(t, form.File(deltatest.Rows(columns, lines...)), 1<<20)
}

// boundsText shows bounds of one piece.
func boundsText(b Bounds) string {
	text := fmt.Sprintf("rows %d nulls %d nans %d", b.Rows[0], b.Nulls[0], b.NaNs[0])
	if b.Min != nil {
		text += " " + b.Min.ValueStr(0) + " to " + b.Max.ValueStr(0)
	}
	return text
}

func TestTheFooterSaysWhatValuesThereAre(t *testing.T) {
	f := manyForms(t, deltatest.Parquet{})
	wants := []string{
		"rows 200 nulls 0 nans -1 0 to 199", "rows 200 nulls 20 nans -1 -5 to 194", "rows 200 nulls 20 nans -1 0.5 to 199.5",
		"rows 200 nulls 20 nans -1 s000 to s199", "rows 200 nulls 20 nans -1 AAEC to AAEC", "rows 200 nulls 20 nans -1 true to true",
		"rows 200 nulls 20 nans -1 2024-01-01 to 2024-01-28", "rows 200 nulls 20 nans -1 2024-01-01T00:00:00Z to 2024-01-01T00:00:00.000199Z",
		"rows 200 nulls 20 nans -1 0.25 to 199.25", "rows 200 nulls 20 nans -1 -199.25 to -0.25", "rows 200 nulls 20 nans -1 0 to 199",
		"rows 200 nulls -1 nans -1",
	}
	for leaf, want := range wants {
		b, err := f.ChunkBounds(0, leaf)
		if got := boundsText(b); err != nil || got != want {
			t.Errorf("leaf %d: want %s, got %s, %v", leaf, want, got, err)
		}
		b.Release()
	}
}

func TestStatisticsThatCannotBeTrustedAreLeftOut(t *testing.T) {
	const id, i, d, s, small = 0, 1, 2, 3, 8
	bytes := func(b ...byte) []byte { return b }
	count := func(n int64) *int64 { return &n }
	tests := map[string]struct {
		leaf     int
		change   func(f *File)
		want     string
		unusable bool
	}{
		"no statistics": {i, func(f *File) { f.meta.RowGroups[0].Columns[i].MetaData.Statistics = nil }, "rows 200 nulls -1 nans -1", false},
		"of a column that is required": {
			id, func(f *File) { f.meta.RowGroups[0].Columns[id].MetaData.Statistics = nil }, "rows 200 nulls 0 nans -1", false,
		},
		"deprecated bounds": {i, func(f *File) {
			st := f.meta.RowGroups[0].Columns[i].MetaData.Statistics
			st.Min, st.Max, st.MinValue, st.MaxValue = st.MinValue, st.MaxValue, nil, nil
		}, "rows 200 nulls 20 nans -1 (null) to (null)", false},
		"one bound":         {i, func(f *File) { f.meta.RowGroups[0].Columns[i].MetaData.Statistics.MaxValue = nil }, "rows 200 nulls 20 nans -1 -5 to (null)", false},
		"no order declared": {i, func(f *File) { f.meta.ColumnOrders = nil }, "rows 200 nulls 20 nans -1", false},
		"another order":     {i, func(f *File) { f.meta.ColumnOrders[i].TYPE_ORDER = nil }, "rows 200 nulls 20 nans -1", false},
		"unsigned":          {i, func(f *File) { f.leaf(i).field.Logical = "INT(8,false)" }, "rows 200 nulls 20 nans -1", false},
		"a wide decimal": {small, func(f *File) {
			f.leaf(small).field.Type = &arrow.FixedSizeBinaryType{ByteWidth: 4}
		}, "rows 200 nulls 20 nans -1", false},
		"too short":       {i, func(f *File) { f.meta.RowGroups[0].Columns[i].MetaData.Statistics.MinValue = bytes(1, 2) }, "rows 200 nulls 20 nans -1", true},
		"too long":        {d, func(f *File) { f.meta.RowGroups[0].Columns[d].MetaData.Statistics.MaxValue = make([]byte, 9) }, "rows 200 nulls 20 nans -1", true},
		"a truth of 2":    {5, func(f *File) { f.meta.RowGroups[0].Columns[5].MetaData.Statistics.MaxValue = bytes(2) }, "rows 200 nulls 20 nans -1", true},
		"empty number":    {small, func(f *File) { f.meta.RowGroups[0].Columns[small].MetaData.Statistics.MinValue = []byte{} }, "rows 200 nulls 20 nans -1", true},
		"nulls below 0":   {s, func(f *File) { f.meta.RowGroups[0].Columns[s].MetaData.Statistics.NullCount = count(-1) }, "rows 200 nulls -1 nans -1", true},
		"too many nulls":  {s, func(f *File) { f.meta.RowGroups[0].Columns[s].MetaData.Statistics.NullCount = count(201) }, "rows 200 nulls -1 nans -1", true},
		"required nulls":  {id, func(f *File) { f.meta.RowGroups[0].Columns[id].MetaData.Statistics.NullCount = count(1) }, "rows 200 nulls 0 nans -1", true},
		"other values":    {s, func(f *File) { f.meta.RowGroups[0].Columns[s].MetaData.NumValues = 300 }, "rows 200 nulls -1 nans -1", true},
		"NaNs":            {d, func(f *File) { f.meta.RowGroups[0].Columns[d].MetaData.Statistics.NanCount = count(180) }, "rows 200 nulls 20 nans 180 0.5 to 199.5", false},
		"no NaNs":         {d, func(f *File) { f.meta.RowGroups[0].Columns[d].MetaData.Statistics.NanCount = count(0) }, "rows 200 nulls 20 nans 0 0.5 to 199.5", false},
		"NaNs below 0":    {d, func(f *File) { f.meta.RowGroups[0].Columns[d].MetaData.Statistics.NanCount = count(-1) }, "rows 200 nulls 20 nans -1 0.5 to 199.5", true},
		"too many NaNs":   {d, func(f *File) { f.meta.RowGroups[0].Columns[d].MetaData.Statistics.NanCount = count(181) }, "rows 200 nulls 20 nans -1 0.5 to 199.5", true},
		"NaNs of strings": {s, func(f *File) { f.meta.RowGroups[0].Columns[s].MetaData.Statistics.NanCount = count(3) }, "rows 200 nulls 20 nans -1 s000 to s199", false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			f := manyForms(t, deltatest.Parquet{})
			test.change(f)
			b, err := f.ChunkBounds(0, test.leaf)
			if got := boundsText(b); got != test.want || (err != nil) != test.unusable {
				t.Errorf("want %s, unusable %t, got %s, %v", test.want, test.unusable, got, err)
			}
			b.Release()
		})
	}
}

func TestINT96HasNoBounds(t *testing.T) {
	content := deltatest.Parquet{INT96: true}.File(deltatest.Rows(deltatest.Columns("at timestamp"), `{"at": "2024-01-01T00:00:00Z"}`))
	f := openContent(t, content, 1<<20)
	b, err := f.ChunkBounds(0, 0)
	defer b.Release()
	if err != nil || b.Min != nil || b.Max != nil {
		t.Errorf("want no bounds, got %s, %v", boundsText(b), err)
	}
}

func pageBounds(t testing.TB, f *File, leaf int) (x *RowGroupIndex, b Bounds, first []int64, wrong error) {
	t.Helper()
	x, err := f.ReadIndex(t.Context(), IndexRequest{Leaves: []int{leaf}, Bounds: true})
	if err != nil {
		t.Fatal(err)
	}
	b, first, wrong = f.PageBounds(x, leaf)
	return x, b, first, wrong
}

func TestTheColumnIndexSaysWhatPagesHold(t *testing.T) {
	f := manyForms(t, deltatest.Parquet{PageIndex: true})
	_, b, first, err := pageBounds(t, f, 1)
	defer b.Release()
	if err != nil || len(first) != 10 || first[3] != 60 || b.Rows[3] != 20 || b.Nulls[3] != 2 || b.Min.ValueStr(3) != "55" || b.Max.ValueStr(3) != "74" {
		t.Errorf("got pages at %v, %v rows, %v nulls, %v to %v, %v", first, b.Rows, b.Nulls, b.Min, b.Max, err)
	}
	if _, b, first, err := pageBounds(t, f, 11); first != nil || err != nil {
		t.Errorf("of a list: want nothing, got %v, %v, %v", b, first, err)
	}
}

func TestAnIndexThatCannotBeTrustedIsLeftOut(t *testing.T) {
	tests := map[string]func(offsets *offsetIndex, columns *columnIndex){
		"another number of pages":   func(_ *offsetIndex, c *columnIndex) { c.empty = c.empty[1:] },
		"fewer bounds":              func(_ *offsetIndex, c *columnIndex) { c.min = c.min[1:] },
		"fewer null counts":         func(_ *offsetIndex, c *columnIndex) { c.nulls = c.nulls[:1] },
		"more nulls than rows":      func(_ *offsetIndex, c *columnIndex) { c.nulls[2] = 21 },
		"nulls below 0":             func(_ *offsetIndex, c *columnIndex) { c.nulls[2] = -1 },
		"empty with values":         func(_ *offsetIndex, c *columnIndex) { c.empty[2] = true },
		"only nulls, but not empty": func(_ *offsetIndex, c *columnIndex) { c.nulls[2] = 20 },
		"a bound of another size":   func(_ *offsetIndex, c *columnIndex) { c.max[2] = []byte{1} },
		"an empty bound":            func(_ *offsetIndex, c *columnIndex) { c.max[2] = nil },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			f := manyForms(t, deltatest.Parquet{PageIndex: true})
			x, b, _, _ := pageBounds(t, f, 1)
			b.Release()
			change(x.leaves[1].offsets, x.leaves[1].columns)
			b, _, err := f.PageBounds(x, 1)
			b.Release()
			if err == nil || b.Min != nil {
				t.Errorf("want it refused, got %v, %v", b, err)
			}
		})
	}
}

func TestPlacesOfPagesThatCannotBeAreLeftOut(t *testing.T) {
	tests := map[string]func(x *offsetIndex){
		"none":                     func(x *offsetIndex) { x.pages = nil },
		"before the chunk":         func(x *offsetIndex) { x.pages[0].offset = 4 - 1 },
		"behind the chunk":         func(x *offsetIndex) { x.pages[9].offset += 1 << 40 },
		"of no bytes":              func(x *offsetIndex) { x.pages[4].size = 0 },
		"of less than no bytes":    func(x *offsetIndex) { x.pages[4].size = -5 },
		"with a gap":               func(x *offsetIndex) { x.pages[4].size-- },
		"overlapping":              func(x *offsetIndex) { x.pages[4].size++ },
		"not to the end":           func(x *offsetIndex) { x.pages = x.pages[:9] },
		"of rows that do not grow": func(x *offsetIndex) { x.pages[4].first = x.pages[3].first },
		"of rows that are not":     func(x *offsetIndex) { x.pages[9].first = 200 },
		"not from the first row":   func(x *offsetIndex) { x.pages[0].first = 1 },
		"in another order":         func(x *offsetIndex) { x.pages[3], x.pages[4] = x.pages[4], x.pages[3] },
	}
	for name, change := range tests {
		t.Run(name, func(t *testing.T) {
			f := manyForms(t, deltatest.Parquet{PageIndex: true})
			x, b, _, _ := pageBounds(t, f, 1)
			b.Release()
			c, err := f.chunk(0, 1)
			if err != nil {
				t.Fatal(err)
			}
			offsets := x.leaves[1].offsets
			if err := offsets.check(c); err != nil {
				t.Fatal(err)
			}
			if change(offsets); offsets.check(c) == nil {
				t.Errorf("want it refused: %v", offsets.pages)
			}
		})
	}
}

// TestPagesThatAreNotWhereTheIndexSaysAreReadWithoutIt: an index that is right in itself, but not about these pages.
func TestPagesThatAreNotWhereTheIndexSaysAreReadWithoutIt(t *testing.T) {
	for _, leaf := range []int{0, 1, 11} {
		for name, change := range map[string]func(x *offsetIndex){
			"rows":  func(x *offsetIndex) { x.pages[5].first++ },
			"bytes": func(x *offsetIndex) { x.pages[5].offset++; x.pages[4].size++; x.pages[5].size-- },
		} {
			t.Run(fmt.Sprintf("%s of leaf %d", name, leaf), func(t *testing.T) {
				f := manyForms(t, deltatest.Parquet{PageIndex: true})
				x, b, _, _ := pageBounds(t, f, leaf)
				b.Release()
				change(x.leaves[leaf].offsets)
				rows := Ranges{{3, 5}, {105, 106}, {190, 200}}
				var got []string
				for batch, err := range f.ReadRows(t.Context(), Selection{Leaves: []int{leaf}, Rows: rows, Index: x}) {
					if err != nil {
						t.Fatal(err)
					}
					for i := range int(batch.Record.NumRows()) {
						got = append(got, strings.Trim(batch.Record.Column(0).ValueStr(i), "[]"))
					}
					batch.Record.Release()
				}
				shift := map[int]int{0: 0, 1: 5, 11: 0}[leaf]
				var want []string
				for _, row := range rows.each() {
					if leaf != 0 && row%10 == 3 {
						want = append(want, "(null)")
						continue
					}
					want = append(want, fmt.Sprint(int(row)-shift))
				}
				if !x.Failed() || !slices.Equal(want, got) {
					t.Errorf("want %v without the index, got %v, failed %t", want, got, x.Failed())
				}
			})
		}
	}
}

// TestIndexesOutsideTheFileAreNotRead also covers what they claim to be as large as.
func TestIndexesOutsideTheFileAreNotRead(t *testing.T) {
	for _, place := range []struct {
		off  int64
		size int32
	}{{-1, 10}, {0, 10}, {1 << 60, 10}, {100, 0}, {100, -1}, {100, 1<<31 - 1}, {100, 50}} {
		f := manyForms(t, deltatest.Parquet{PageIndex: true})
		c := f.meta.RowGroups[0].Columns[1]
		c.OffsetIndexOffset, c.OffsetIndexLength = &place.off, &place.size
		x, b, first, _ := pageBounds(t, f, 1)
		b.Release()
		if first != nil || x.Unusable != 1 {
			t.Errorf("%v: want one that is not used, got %v and %d", place, first, x.Unusable)
		}
	}
}

func TestBloomFiltersHoldTheValues(t *testing.T) {
	for _, footerRead := range []int64{8, 1 << 20} {
		f := openContent(t, bloomFile(), footerRead)
		b, wrong, err := f.Bloom(t.Context(), 0, 0)
		if err != nil || wrong != nil || b == nil {
			t.Fatalf("want a filter, got %v, %v, %v", b, wrong, err)
		}
		others := 0
		for i := range 4000 {
			may, err := b.MayHold(t.Context(), fmt.Appendf(nil, "value %d", i))
			if err != nil || !may && i < 2000 {
				t.Fatalf("want value %d there, got %v", i, err)
			}
			if may && i >= 2000 {
				others++
			}
		}
		if others > 200 {
			t.Errorf("want few others, got %d of 2000", others)
		}
	}
}

func bloomFile() []byte {
	lines := make([]string, 2000)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"s": "value %d"}`, i)
	}
	return deltatest.Parquet{Bloom: true}.File(deltatest.Rows(deltatest.Columns("s string"), lines...))
}

func TestBloomFiltersThatCannotBeAreLeftOut(t *testing.T) {
	f := openContent(t, bloomFile(), 1<<20)
	meta := f.meta.RowGroups[0].Columns[0].MetaData
	off := *meta.BloomFilterOffset
	for name, change := range map[string]func(){
		"behind the end": func() { at := f.size; meta.BloomFilterOffset = &at },
		"at the trailer": func() { at := f.size - 8; meta.BloomFilterOffset = &at },
		"before 0":       func() { at := int64(-3); meta.BloomFilterOffset = &at },
		"in the pages":   func() { at := int64(4); meta.BloomFilterOffset = &at },
		"in the middle":  func() { at := off + 100; meta.BloomFilterOffset = &at },
		"too short":      func() { n := int32(40); meta.BloomFilterOffset, meta.BloomFilterLength = &off, &n },
	} {
		change()
		if b, wrong, err := f.Bloom(t.Context(), 0, 0); b != nil || wrong == nil || err != nil {
			t.Errorf("%s: want it refused, got %v, %v, %v", name, b, wrong, err)
		}
	}
}

func TestBloomHeadersSayWhatIsKnown(t *testing.T) {
	good := []byte{0x15, 0x80, 0x01, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0}
	if size, rest, err := parseBloomHeader(append(good, 9)); size != 64 || len(rest) != 1 || err != nil {
		t.Fatalf("want 64 bytes, got %d, %v, %v", size, rest, err)
	}
	for name, change := range map[string]struct {
		at  int
		put byte
	}{
		"another algorithm": {4, 0x2c}, "another hash": {8, 0x2c}, "compressed": {12, 0x2c}, "of 32 bytes and a half": {1, 0xa1}, "no size": {0, 0x16},
	} {
		b := slices.Clone(good)
		b[change.at] = change.put
		if size, _, err := parseBloomHeader(b); err == nil {
			t.Errorf("%s: want it refused, got %d bytes", name, size)
		}
	}
}

func TestADictionaryListsTheValues(t *testing.T) {
	lines := make([]string, 3000)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"s": "%d", "st": {"x": "%d.5"}}`, i%7, i%3)
		if i%5 == 0 {
			lines[i] = `{}`
		}
	}
	columns := deltatest.Columns("s string", "st struct<x:decimal(9,1)>")
	f := openContent(t, deltatest.Parquet{}.File(deltatest.Rows(columns, lines...)), 1<<20)
	for leaf, n := range []int{7, 3} {
		a, wrong, err := f.Dictionary(t.Context(), 0, leaf)
		if err != nil || wrong != nil || a == nil || a.Len() != n || !arrow.TypeEqual(a.DataType(), f.leaf(leaf).field.Type) {
			t.Fatalf("leaf %d: want %d values, got %v, %v, %v", leaf, n, a, wrong, err)
		}
		a.Release()
	}
	meta := f.meta.RowGroups[0].Columns[0].MetaData
	stats := meta.EncodingStats
	for name, change := range map[string]func(){
		"another encoding": func() { stats[len(stats)-1].Encoding = 0 },
		"not said":         func() { meta.EncodingStats = nil },
		"no dictionary":    func() { meta.EncodingStats, meta.DictionaryPageOffset = stats, nil },
	} {
		change()
		if a, _, _ := f.Dictionary(t.Context(), 0, 0); a != nil {
			t.Errorf("%s: want none, got %v", name, a)
		}
	}
}

func TestADictionaryOfSomeValuesIsNone(t *testing.T) {
	lines := make([]string, 3000)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"s": "value %d"}`, i)
	}
	content := deltatest.Parquet{DictBytes: 300, BatchRows: 100}.File(deltatest.Rows(deltatest.Columns("s string"), lines...))
	f := openContent(t, content, 1<<20)
	if a, wrong, err := f.Dictionary(t.Context(), 0, 0); a != nil || wrong != nil || err != nil {
		t.Errorf("want none, got %v, %v, %v", a, wrong, err)
	}
}

// FuzzPageIndex parses bytes as indexes of the second column of a good file, and reads by them.
func FuzzPageIndex(f *testing.F) {
	good := manyForms(f, deltatest.Parquet{PageIndex: true})
	c := good.meta.RowGroups[0].Columns[1]
	f.Add(good.tail[*c.OffsetIndexOffset:][:*c.OffsetIndexLength], good.tail[*c.ColumnIndexOffset:][:*c.ColumnIndexLength])
	f.Add([]byte{0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07}, []byte{0x19, 0xf1, 0xff, 0xff, 0xff, 0xff, 0x07})
	f.Fuzz(func(t *testing.T, offsets, columns []byte) {
		if len(offsets)+len(columns) > 1<<20 {
			return
		}
		x := &RowGroupIndex{leaves: map[int]leafIndex{}}
		x.take(good, 0, span{leaf: 1, bytes: offsets})
		x.take(good, 0, span{leaf: 1, bounds: true, bytes: columns})
		b, first, _ := good.PageBounds(x, 1)
		b.Release()
		if len(first) > 200 {
			t.Errorf("%d pages of 200 rows", len(first))
		}
		var rows int64
		for batch, err := range good.ReadRows(t.Context(), Selection{Leaves: []int{0, 1}, Rows: Ranges{{50, 60}, {150, 151}}, Index: x}) {
			if err != nil {
				t.Fatal(err) // the pages are good
			}
			rows += batch.Record.NumRows()
			batch.Record.Release()
		}
		if rows != 11 {
			t.Errorf("want 11 rows, got %d", rows)
		}
	})
}

// FuzzBloom reads a filter of any bytes.
func FuzzBloom(f *testing.F) {
	good := openContent(f, bloomFile(), 1<<20)
	off := *good.meta.RowGroups[0].Columns[0].MetaData.BloomFilterOffset
	f.Add(slices.Clone(good.tail[off : off+200]))
	f.Add([]byte{0x15, 0xfe, 0xff, 0xff, 0xff, 0x0f, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0x1c, 0x1c, 0, 0, 0})
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) == 0 || len(b) > 1<<20 {
			return
		}
		content := append([]byte("PAR1"), b...)
		content = binary.LittleEndian.AppendUint64(content, 0)
		store := storage.NewMemory()
		store.Put("f", content)
		object, _ := storage.OpenObject(t.Context(), store, "f")
		at := int64(4)
		other := *good
		other.object, other.size, other.tail = object, int64(len(content)), nil
		good.meta.RowGroups[0].Columns[0].MetaData.BloomFilterOffset = &at
		filter, _, err := other.Bloom(t.Context(), 0, 0)
		if err != nil {
			t.Fatal(err)
		}
		if filter == nil {
			return
		}
		if _, err := filter.MayHold(t.Context(), []byte("x")); err != nil {
			t.Errorf("the filter ends behind the file: %v", err)
		}
	})
}
