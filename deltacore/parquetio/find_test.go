package parquetio

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

// TestASearchFindsWhatAReadWould compares the rows found with the values, for texts of a few lengths in pages of all kinds.
func TestASearchFindsWhatAReadWould(t *testing.T) {
	texts := []string{"", "a", "b", "aa", "a longer one", "a longer ond", "b longer one", "a longer one, with more"}
	rapid.Check(t, func(rt *rapid.T) {
		var lines, values []string
		for range rapid.IntRange(1, 200).Draw(rt, "rows") {
			v := rapid.SampledFrom(append(texts, "null", "none")).Draw(rt, "value")
			values = append(values, v)
			switch v {
			case "null":
				lines = append(lines, `{"st": {}}`)
			case "none":
				lines = append(lines, `{}`)
			default:
				lines = append(lines, fmt.Sprintf(`{"st": {"s": %q}}`, v))
			}
		}
		form := deltatest.Parquet{
			PageBytes: rapid.SampledFrom([]int64{1, 100, 1 << 20}).Draw(rt, "page"), BatchRows: rapid.Int64Range(1, 30).Draw(rt, "write"),
			PageVersion: rapid.IntRange(1, 2).Draw(rt, "version"), NoDictionary: rapid.Bool().Draw(rt, "plain"),
			DictBytes: rapid.SampledFrom([]int64{0, 10}).Draw(rt, "dictionary"), PageIndex: rapid.Bool().Draw(rt, "index"),
		}
		f := openContent(t, form.File(deltatest.Rows(deltatest.Columns("st struct<s:string>"), lines...)), 1<<20)
		q := Search{Most: 1000}
		n := int64(len(lines))
		q.Rows = q.Rows.Append(rapid.Int64Range(0, n-1).Draw(rt, "from"), n, 0)
		var err error
		if q.Index, err = f.ReadIndex(t.Context(), IndexRequest{Leaves: []int{0}}); err != nil {
			rt.Fatal(err)
		}
		wanted := rapid.SliceOfNDistinct(rapid.SampledFrom(append(texts, "not there")), 1, 3, rapid.ID).Draw(rt, "wanted")
		for _, v := range wanted {
			q.Values = append(q.Values, []byte(v))
		}
		var want []int64
		for i, v := range values {
			if slices.Contains(wanted, v) && int64(i) >= q.Rows[0].From {
				want = append(want, int64(i))
			}
		}
		got, answered, err := f.Search(t.Context(), q)
		if !f.CanSearch(0, 0) || err != nil || !answered || !slices.Equal(want, got.each()) {
			rt.Fatalf("%v in %v: want %v, got %v, %t, %v", wanted, values, want, got.each(), answered, err)
		}
	})
}

func TestASearchThatFindsTooMuchHasNoAnswer(t *testing.T) {
	lines := make([]string, 100)
	for i := range lines {
		lines[i] = `{"s": "same"}`
	}
	for _, form := range []deltatest.Parquet{{}, {NoDictionary: true}} {
		f := openContent(t, form.File(deltatest.Rows(deltatest.Columns("s string"), lines...)), 1<<20)
		for most, want := range map[int]bool{99: false, 100: true} {
			rows, answered, err := f.Search(t.Context(), Search{Rows: Ranges{{0, 100}}, Values: [][]byte{[]byte("same")}, Most: most})
			if err != nil || answered != want || want && rows.Rows() != 100 {
				t.Errorf("at most %d: want an answer %t, got %v, %t, %v", most, want, rows, answered, err)
			}
		}
	}
}

func TestOtherColumnsAreNotSearched(t *testing.T) {
	columns := deltatest.Columns("id long", "l array<string>", "d string", "n decimal(30,2)")
	content := deltatest.Parquet{Encodings: map[string]string{"d": "DELTA_BYTE_ARRAY"}, WideDecimals: true}.File(
		deltatest.Rows(columns, `{"id": 1, "l": ["a"], "d": "a", "n": "1.00"}`))
	f := openContent(t, content, 1<<20)
	for leaf := range 4 {
		if f.CanSearch(0, leaf) {
			t.Errorf("want leaf %d not searched", leaf)
		}
	}
}

func TestASearchOfADamagedPageFails(t *testing.T) {
	lines := make([]string, 100)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"s": "value %d"}`, i)
	}
	content := deltatest.Parquet{NoDictionary: true, Codec: "UNCOMPRESSED"}.File(deltatest.Rows(deltatest.Columns("s string"), lines...))
	f := openContent(t, content, 8)
	c, err := f.chunk(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	content[c.end-12] = 0xff // a length, of the last value
	f = openContent(t, content, 8)
	_, _, err = f.Search(t.Context(), Search{Rows: Ranges{{0, 100}}, Values: [][]byte{[]byte("value 99")}, Most: 10})
	if deltaerr.KindOf(err) != deltaerr.Corrupt {
		t.Errorf("want corrupt, got %v", err)
	}
}

// TestASearchAnswersOnlyWhatAReadCanSay damages each bit of each page's header. Where a read fails the search has no answer, where
// it does not they agree.
func TestASearchAnswersOnlyWhatAReadCanSay(t *testing.T) {
	lines := make([]string, 60)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"s": "value %d"}`, i/2)
	}
	lines[7] = `{}`
	for _, form := range []deltatest.Parquet{
		{}, {NoDictionary: true}, {PageVersion: 2}, {NoDictionary: true, PageVersion: 2}, {DictBytes: 60}, {PageIndex: true}, {NoDictionary: true, PageIndex: true},
	} {
		form.Codec, form.PageBytes, form.BatchRows = "UNCOMPRESSED", 100, 10
		content := form.File(deltatest.Rows(deltatest.Columns("s string"), lines...))
		for _, at := range headerBytes(t, content) {
			for bit := range 8 {
				content[at] ^= 1 << bit
				if err := searchAgrees(t, content, "value 3", "value 29", "none"); err != nil {
					t.Errorf("%+v: bit %d of byte %d: %v", form, bit, at, err)
				}
				content[at] ^= 1 << bit
			}
		}
	}
}

// headerBytes are the places of the page headers of the first leaf.
func headerBytes(t *testing.T, content []byte) (at []int64) {
	t.Helper()
	f := openContent(t, content, 1<<20)
	c, err := f.chunk(0, 0)
	if err != nil {
		t.Fatal(err)
	}
	for start := c.start; start < c.end; {
		w := &walker{rest: content[start:], budget: freeCost}
		h, err := w.pageHeader()
		if err != nil {
			t.Fatal(err)
		}
		body := int64(len(content) - len(w.rest))
		for ; start < body; start++ {
			at = append(at, start)
		}
		start = body + h.size
	}
	return at
}

// searchAgrees compares searches of the first leaf with a read of it.
func searchAgrees(t *testing.T, content []byte, wanted ...string) error {
	t.Helper()
	f := openContent(t, content, 1<<20)
	var values []string
	var failure error
	for batch, err := range f.ReadRowGroup(t.Context(), 0, []int{0}) {
		if failure = err; err != nil {
			break
		}
		texts := batch.Column(0).(*array.String)
		for i := range texts.Len() {
			values = append(values, strings.Clone(texts.Value(i)))
		}
		batch.Release()
	}
	q := Search{Rows: Ranges{{0, f.NumRows()}}, Most: 100}
	var err error
	if q.Index, err = f.ReadIndex(t.Context(), IndexRequest{Leaves: []int{0}}); err != nil {
		return err
	}
	for _, w := range wanted {
		q.Values = [][]byte{[]byte(w)}
		rows, answered, err := f.Search(t.Context(), q)
		if err != nil || !answered {
			continue
		}
		var want []int64
		for i, v := range values {
			if v == w {
				want = append(want, int64(i))
			}
		}
		if failure != nil || !slices.Equal(want, rows.each()) {
			return fmt.Errorf("a read finds %v (%w), the search for %q answers %v", want, failure, w, rows)
		}
	}
	return nil
}
