package input

import (
	"bytes"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/input/encode"
)

// arena joins rows as the encoder does.
func arena(rows []string) encode.Rows {
	var out encode.Rows
	for _, r := range rows {
		out.Bytes = append(out.Bytes, r...)
		out.Ends = append(out.Ends, len(out.Bytes))
	}
	return out
}

func TestCutPartsHoldTheSameRowsWithinTheLimit(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfN(rapid.StringMatching(`[a-z]{1,9}`), 1, 30).Draw(t, "rows")
		limit := rapid.Int64Range(1, 40).Draw(t, "limit")
		var got, gotLines []string
		for _, p := range cutRows(arena(rows), limit) {
			if p.Len() > 1 && int64(len(p.Bytes)) > limit {
				t.Fatalf("a part has %d bytes; the limit is %d", len(p.Bytes), limit)
			}
			for i := range p.Len() {
				got = append(got, string(p.Row(i)))
			}
		}
		for _, c := range cutLines([]byte(strings.Join(rows, "\n")), limit) {
			if c.rows > 1 && int64(len(c.content)) > limit {
				t.Fatalf("a chunk has %d bytes; the limit is %d", len(c.content), limit)
			}
			part := strings.Split(string(c.content), "\n")
			if int64(len(part)) != c.rows {
				t.Fatalf("a chunk of %d rows says it has %d", len(part), c.rows)
			}
			gotLines = append(gotLines, part...)
		}
		if !slices.Equal(rows, got) || !slices.Equal(rows, gotLines) {
			t.Fatalf("want %q, got rows %q and lines %q", rows, got, gotLines)
		}
	})
}

func TestTailCountsFromAMessageOn(t *testing.T) {
	rows := jsonRows{arena([]string{"a", "bbb", "cc"})}
	for i, want := range [][2]int64{{3, 6}, {2, 5}, {1, 2}, {0, 0}} {
		if n, size := rows.tail(i); n != want[0] || size != want[1] {
			t.Errorf("want %v from message %d on, got %d and %d", want, i, n, size)
		}
	}
	c := chunk{content: []byte("a\nb"), rows: 2}
	if n, size := c.tail(0); n != 2 || size != 3 {
		t.Errorf("want 2 rows of 3 bytes, got %d of %d", n, size)
	}
	if n, size := c.tail(1); n != 0 || size != 0 {
		t.Errorf("want nothing behind the only message, got %d of %d", n, size)
	}
}

func TestRecordBytesCountsASliceNotItsBuffers(t *testing.T) {
	columns := deltatest.Columns("id long", "name string", "tags array<string>", "s struct<a:integer,b:string>",
		"m map<string,long>", "d decimal(20,2)", "f boolean")
	const row = `{"id":1,"name":"abcdefgh","tags":["x","yy"],"s":{"a":1,"b":"zz"},"m":{"k":1},"d":"1.00","f":true}`
	record := deltatest.Rows(columns, slices.Repeat([]string{row}, 800)...)
	whole := recordBytes(record)
	if whole < 800*50 || whole > 800*200 {
		t.Fatalf("want about 100 bytes a row, got %d in all", whole)
	}
	slice := record.NewSlice(200, 280)
	if got := recordBytes(slice); got < whole/11 || got > whole/9 {
		t.Fatalf("want about a tenth of %d, got %d", whole, got)
	}
	if got := recordBytes(record.NewSlice(5, 5)); got != 0 {
		t.Fatalf("want nothing for no rows, got %d", got)
	}
}

func TestRowsOfAnArenaDoNotReachEachOther(t *testing.T) {
	parts := cutRows(arena([]string{"aa", "bb", "cc"}), 4)
	_ = append(parts[0].Bytes, "XX"...)
	_ = append(parts[0].Row(0), "YY"...)
	if got := string(parts[1].Bytes) + string(parts[0].Row(1)); !bytes.Equal([]byte("ccbb"), []byte(got)) {
		t.Fatalf("want an append to leave the other rows alone, got %q", got)
	}
}
