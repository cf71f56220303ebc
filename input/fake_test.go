package input

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

var twoColumns = deltatest.Columns("id long", "name string")

// step is what a fake source does next: an event, an error, or waiting until its context ends.
type step struct {
	event  feed.Event
	err    error
	blocks bool
}

// script is a source that follows steps and then ends.
type script struct {
	steps  []step
	at     int
	closed atomic.Bool
}

func (s *script) Next(ctx context.Context) (feed.Event, error) {
	if err := ctx.Err(); err != nil {
		return nil, err
	}
	if s.at == len(s.steps) {
		return nil, io.EOF
	}
	next := s.steps[s.at]
	s.at++
	if next.blocks {
		<-ctx.Done()
		return nil, ctx.Err()
	}
	return next.event, next.err
}

func (s *script) Refresh(context.Context) error { return nil }

func (s *script) Close() error {
	s.closed.Store(true)
	return nil
}

// fakeTable makes the events of a version: files of rows with ascending ids from 0.
type fakeTable struct {
	columns *schema.Struct
	next    int64
	steps   []step
	files   int
	row     int64
	mem     memory.Allocator
}

func newFakeTable() *fakeTable { return &fakeTable{columns: twoColumns, mem: memory.DefaultAllocator} }

func (f *fakeTable) position() feed.Position {
	return feed.Position{
		TableID: "t", Version: 3, Phase: feed.PhaseSnapshot, Part: feed.PartAdd, Row: f.row - 1,
		File: scanplan.Key{ModificationTime: 1, Path: fmt.Sprintf("f%03d", f.files)},
	}
}

// rows adds a record of n rows; it is the last of its file if done is set.
func (f *fakeTable) rows(n int, done bool) *fakeTable {
	first := f.row
	f.row += int64(n)
	p := f.position()
	p.FileDone = done
	f.steps = append(f.steps, step{event: feed.Rows{
		Record: f.record(n), Columns: f.columns, Position: p, Operation: feed.Read, Version: 3,
		CommitTimestamp: time.UnixMilli(1700000000123), File: p.File.Path, FirstRow: first,
	}})
	if done {
		f.files++
		f.row = 0
	}
	return f
}

func (f *fakeTable) record(n int) arrow.RecordBatch {
	lines := make([]string, n)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"id": %d, "name": "n%d"}`, f.next, f.next)
		f.next++
	}
	return deltatest.Rows(f.columns, lines...)
}

// emptyFile adds a file without rows.
func (f *fakeTable) emptyFile() *fakeTable {
	p := f.position()
	p.FileDone = true
	f.files++
	f.steps = append(f.steps, step{event: feed.Progress{Position: p}})
	return f
}

func (f *fakeTable) fails(err error) *fakeTable {
	f.steps = append(f.steps, step{err: err})
	return f
}

func (f *fakeTable) blocks() *fakeTable {
	f.steps = append(f.steps, step{blocks: true})
	return f
}

// done ends the version.
func (f *fakeTable) done() *script {
	p := f.position()
	p.Done, p.FileDone = true, true
	f.steps = append(f.steps, step{event: feed.Progress{Position: p}}, step{event: feed.CaughtUp{Version: 3, Latest: 3}})
	return f.source()
}

func (f *fakeTable) source() *script { return &script{steps: f.steps} }

// lines is the JSON of rows first up to end.
func lines(first, end int) string {
	var out []string
	for i := first; i < end; i++ {
		out = append(out, fmt.Sprintf(`{"id":%d,"name":"n%d"}`, i, i))
	}
	return strings.Join(out, "\n")
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
