package input

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

// describe runs a grouper and describes each group by rows of its records, files finished, and last row.
func describe(t *testing.T, g *grouper) []string {
	t.Helper()
	g.patience = newPatience(time.Minute, func(error, time.Duration) {})
	g.told = func(context.Context, feed.Event) error { return nil }
	var out []string
	for group, err := range g.groups(t.Context()) {
		check(t, err)
		var rows []string
		for _, r := range group.rows {
			rows = append(rows, strconv.FormatInt(r.Record.NumRows(), 10))
		}
		end := fmt.Sprintf("row %d", group.position.Row)
		switch {
		case group.position.Done:
			end = "end"
		case group.position.FileDone:
			end = "end of " + group.position.File.Path
		}
		out = append(out, fmt.Sprintf("[%s] %d files, %s", strings.Join(rows, " "), group.files, end))
		group.release()
	}
	return out
}

func TestGrouping(t *testing.T) {
	transient := deltaerr.New(deltaerr.Transient, "busy")
	tests := []struct {
		name   string
		source *script
		change func(*grouper)
		want   []string
	}{
		{
			"small files are combined", newFakeTable().rows(3, true).rows(3, true).rows(3, true).done(), nil,
			[]string{"[3 3 3] 3 files, end"},
		},
		{
			"up to the rows of a batch", newFakeTable().rows(4, true).rows(4, true).rows(4, true).done(), nil,
			[]string{"[4 4] 2 files, end of f001", "[4] 1 files, end"},
		},
		{
			"a full group is not held", newFakeTable().rows(5, true).rows(5, true).done(), nil,
			[]string{"[5 5] 2 files, end of f001", "[] 0 files, end"},
		},
		{
			"a larger record goes alone", newFakeTable().rows(1, true).rows(50, true).done(), nil,
			[]string{"[1] 1 files, end of f000", "[50] 1 files, end of f001", "[] 0 files, end"},
		},
		{
			"bytes are a limit too", newFakeTable().rows(2, true).rows(2, true).done(), func(g *grouper) { g.bytes = 10 },
			[]string{"[2] 1 files, end of f000", "[2] 1 files, end of f001", "[] 0 files, end"},
		},
		{
			"files are kept apart", newFakeTable().rows(1, false).rows(1, true).rows(1, true).done(), func(g *grouper) { g.singleFile = true },
			[]string{"[1 1] 1 files, end of f000", "[1] 1 files, end"},
		},
		{
			"records are kept apart", newFakeTable().rows(1, false).rows(1, true).done(), func(g *grouper) { g.single = true },
			[]string{"[1] 0 files, row 0", "[1] 1 files, end of f000", "[] 0 files, end"},
		},
		{
			"files without rows move the position", newFakeTable().emptyFile().rows(1, true).emptyFile().done(), nil,
			[]string{"[] 1 files, end of f000", "[1] 2 files, end"},
		},
		{
			"nothing waits while an error is waited out", newFakeTable().rows(1, false).fails(transient).rows(1, true).done(), nil,
			[]string{"[1] 0 files, row 0", "[1] 1 files, end"},
		},
		{"a table without rows", newFakeTable().done(), nil, []string{"[] 0 files, end"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			g := &grouper{source: tt.source, rows: 10, bytes: 1 << 20}
			if tt.change != nil {
				tt.change(g)
			}
			if got := describe(t, g); !slices.Equal(tt.want, got) {
				t.Fatalf("want\n%s\ngot\n%s", strings.Join(tt.want, "\n"), strings.Join(got, "\n"))
			}
		})
	}
}

func TestGroupsEndWithTheirContext(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	g := &grouper{source: newFakeTable().rows(1, false).blocks().source(), rows: 10, bytes: 1 << 20}
	g.patience = newPatience(time.Minute, nil)
	for _, err := range g.groups(ctx) {
		if err == nil || ctx.Err() == nil {
			t.Fatalf("want only the end of the context, got %v", err)
		}
	}
}

func TestPositionInsideAGroup(t *testing.T) {
	table := newFakeTable().rows(3, false).rows(2, true).rows(4, true)
	var g group
	for _, s := range table.steps {
		g.rows = append(g.rows, s.event.(feed.Rows))
	}
	g.rows[2].Index = []int64{1, 5, 6, 9}
	g.position = g.rows[2].Position
	for n, want := range map[int64]string{
		1: "f000 0 false", 3: "f000 2 false", 4: "f000 3 false", 5: "f000 4 true",
		6: "f001 1 false", 8: "f001 6 false", 9: "f001 3 true",
	} {
		p := g.positionAfter(n)
		if got := fmt.Sprintf("%s %d %t", p.File.Path, p.Row, p.FileDone); got != want {
			t.Errorf("want %s behind row %d, got %s", want, n, got)
		}
	}
	for row, want := range map[int]string{0: "f000 0", 2: "f000 2", 4: "f000 4", 5: "f001 1", 7: "f001 6"} {
		file, physical := g.place(row)
		if got := fmt.Sprintf("%s %d", file, physical); got != want {
			t.Errorf("want row %d to be %s, got %s", row, want, got)
		}
	}
}
