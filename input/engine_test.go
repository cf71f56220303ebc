package input

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/benthosdev/benthos/v4/public/service"
)

func TestRowsReachTheOutputInOrder(t *testing.T) {
	table := newFakeTable().rows(10, false).rows(5, true).emptyFile().rows(7, true)
	p := newPipeline(t, table.done(), &sink{}, pipelineOptions{config: "batch_rows: 4"})
	p.run()
	if want, got := lines(0, 22), strings.Join(p.sink.accepted, "\n"); want != got {
		t.Fatalf("want\n%s\ngot\n%s", want, got)
	}
	p.wantDone()
}

func TestLinesFormatSendsOneMessageABatch(t *testing.T) {
	p := newPipeline(t, newFakeTable().rows(3, true).rows(2, true).rows(2, true).done(), &sink{},
		pipelineOptions{config: "format: json_lines\nbatch_rows: 5"})
	p.run()
	if want := []string{lines(0, 5), lines(5, 7)}; !slices.Equal(want, p.sink.accepted) {
		t.Fatalf("want %q, got %q", want, p.sink.accepted)
	}
	p.wantDone()
}

func TestMetadataOfAMessage(t *testing.T) {
	var got []string
	out := &sink{write: func(_ context.Context, batch service.MessageBatch) error {
		for _, m := range batch {
			var keys []string
			check(t, m.MetaWalkMut(func(k string, v any) error {
				keys = append(keys, fmt.Sprintf("%s=%v", k, v))
				return nil
			}))
			slices.Sort(keys)
			got = append(got, strings.Join(keys, " "))
		}
		return nil
	}}
	p := newPipeline(t, newFakeTable().rows(1, true).rows(2, true).done(), out,
		pipelineOptions{config: "include_metadata: [file, row]\nkey_columns: [ID]"})
	p.run()
	common := "delta_table=file:///tables/fake delta_version=3 operation=read"
	want := []string{
		"delta_commit_timestamp=1700000000123 delta_file=f000 delta_key=0 delta_row=0 " + common,
		"delta_commit_timestamp=1700000000123 delta_file=f001 delta_key=1 delta_row=0 " + common,
		"delta_commit_timestamp=1700000000123 delta_file=f001 delta_key=2 delta_row=1 " + common,
	}
	if !slices.Equal(want, got) {
		t.Fatalf("want\n%s\ngot\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
}

func TestManyInFlightLoseNothing(t *testing.T) {
	var calls sync.Map
	out := &sink{write: func(_ context.Context, batch service.MessageBatch) error {
		return batch.WalkWithBatchedErrors(func(i int, m *service.Message) error {
			text, _ := m.AsBytes()
			if _, seen := calls.LoadOrStore(string(text), true); !seen && i%7 == 0 {
				return errors.New("first time")
			}
			return nil
		})
	}}
	table := newFakeTable()
	for range 20 {
		table.rows(50, true)
	}
	p := newPipeline(t, table.done(), out, pipelineOptions{config: "batch_rows: 30\ncheckpoint_limit: 200", inFlight: 8})
	p.run()
	p.wantRows(lines(0, 1000))
	p.wantDone()
}

func TestLimitsSmallerThanARowStillDeliver(t *testing.T) {
	out := &sink{}
	p := newPipeline(t, newFakeTable().rows(20, true).rows(5, true).done(), out, pipelineOptions{
		config: "checkpoint_limit_bytes: 1\nbatch_bytes: 1",
	})
	p.run()
	if out.attempts != 25 {
		t.Fatalf("want each row alone, got %d batches", out.attempts)
	}
	p.wantRows(lines(0, 25))
	p.wantDone()
}
