package input

import (
	"context"
	"fmt"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/benthosdev/benthos/v4/public/service"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/deltacore/storage/faulty"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

// checked opens real tables over a store that can fail and an allocator that counts.
type checked struct {
	table *deltatest.Table
	store *faulty.Store
	files []string // in canonical order
	mem   *memory.CheckedAllocator
}

// newChecked makes a table of eight files of 20 rows. A last file, if odd is set, has a value that has no JSON number.
func newChecked(odd bool) *checked {
	columns := deltatest.Columns("id long", "name string", "x double")
	table := deltatest.New(columns, deltatest.Options{})
	for file := range 8 {
		var rows []string
		for i := range 20 {
			rows = append(rows, fmt.Sprintf(`{"id":%d,"name":"n%d","x":%d.5}`, file*20+i, i, i))
		}
		table.Append(deltatest.Rows(columns, rows...))
	}
	if odd {
		table.Append(deltatest.Rows(columns, `{"id":160,"name":"","x":"NaN"}`))
	}
	var files []string
	for _, f := range table.Active() {
		files = append(files, f.Path)
	}
	m := storage.NewMemory()
	for name, content := range table.Files() {
		m.Put(name, content)
	}
	return &checked{table, faulty.New(m), files, memory.NewCheckedAllocator(memory.DefaultAllocator)}
}

func (c *checked) open(ctx context.Context, conf feed.Config) (feed.Source, error) {
	conf.Open.Store = c.store
	return feed.Open(ctx, conf)
}

const smallBatches = "batch_rows: 7\ncheckpoint_limit: 30"

func TestNothingIsLeftOfARun(t *testing.T) {
	for _, config := range []string{"", smallBatches, "format: arrow_ipc", "format: structured", "format: json_lines\nbatch_bytes: 50"} {
		c, out := newChecked(false), &sink{}
		p := newChild(t, c, out, config)
		p.run()
		if pos, _ := p.input.Position(); !pos.Done || len(out.accepted) == 0 {
			t.Fatalf("%s: want the end, got %v", config, pos)
		}
		c.mem.AssertSize(t, 0)
	}
}

func newChild(t *testing.T, c *checked, out *sink, config string) *pipeline {
	t.Helper()
	return buildPipeline(t, nil, out, pipelineOptions{config: config, open: c.open, allocator: c.mem})
}

func TestNothingIsLeftOfAStoppedRun(t *testing.T) {
	for n := range 12 {
		c, ready, calls := newChecked(false), make(chan struct{}), 0
		out := &sink{write: func(context.Context, service.MessageBatch) error {
			if calls++; calls == n+1 {
				close(ready)
			}
			return nil
		}}
		newChild(t, c, out, smallBatches).stopped(ready)
		c.mem.AssertSize(t, 0)
	}
}

func TestNothingIsLeftAfterAValueThatCannotBeEncoded(t *testing.T) {
	c, out := newChecked(true), &sink{}
	p := newChild(t, c, out, "values: { non_finite: fail }\nbatch_rows: 20")
	p.run()
	if len(p.failed) != 1 || len(out.rows()) != 160 {
		t.Fatalf("want 160 rows and one failure, got %d and %v", len(out.rows()), p.failed)
	}
	c.mem.AssertSize(t, 0)
}

// TestFailureAtEveryCallEndsInAllRowsOrAnError lets each call fail in turn, for good.
func TestFailureAtEveryCallEndsInAllRowsOrAnError(t *testing.T) {
	denied := deltaerr.New(deltaerr.Denied, "no access (injected)")
	for n := 1; ; n++ {
		c, out := newChecked(false), &sink{}
		c.store.Add(faulty.FailCall(n, denied))
		p := newChild(t, c, out, smallBatches)
		p.run()
		c.mem.AssertSize(t, 0)
		rows := out.rows()
		if len(out.accepted) != len(rows) {
			t.Fatalf("call %d: %d rows came twice", n, len(out.accepted)-len(rows))
		}
		switch pos, _ := p.input.Position(); {
		case len(p.failed) == 0 && (len(rows) != 160 || !pos.Done):
			t.Fatalf("call %d: want all rows or an error, got %d rows", n, len(rows))
		case len(p.failed) > 1 || len(p.failed) == 1 && (deltaerr.KindOf(p.failed[0]) != deltaerr.Denied || pos.Done):
			t.Fatalf("call %d: want the one error, got %v", n, p.failed)
		}
		if len(c.store.Calls()) < n {
			return
		}
	}
}
