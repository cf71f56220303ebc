package input

import (
	"testing"

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

func TestTailCountsFromAMessageOn(t *testing.T) {
	rows := jsonRows{arena([]string{"a", "bbb", "cc"})}
	for i, want := range [][2]int64{{3, 6}, {2, 5}, {1, 2}, {0, 0}} {
		if n, size := rows.tail(i); n != want[0] || size != want[1] {
			t.Errorf("want %v from message %d on, got %d and %d", want, i, n, size)
		}
	}
	objects := structuredRows{encode.StructuredRows{Rows: make([]map[string]any, 3), Ends: []int{1, 4, 6}}}
	for i, want := range [][2]int64{{3, 6}, {2, 5}, {1, 2}, {0, 0}} {
		if n, size := objects.tail(i); n != want[0] || size != want[1] {
			t.Errorf("want %v from structured message %d on, got %d and %d", want, i, n, size)
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
