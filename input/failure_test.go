package input

import (
	"errors"
	"strings"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

func TestPermanentErrorEndsTheRunAfterTheRowsBeforeIt(t *testing.T) {
	broken := deltaerr.New(deltaerr.Corrupt, "the footer is damaged", deltaerr.File("f001"))
	source := newFakeTable().rows(5, true).fails(broken).rows(5, true).done()
	p := newPipeline(t, source, &sink{}, pipelineOptions{})
	p.run()
	p.wantRows(lines(0, 5))
	if len(p.failed) != 1 || p.failed[0].Error() != broken.Error() {
		t.Fatalf("want the error reported once, got %v", p.failed)
	}
	if pos, _ := p.input.Position(); pos.Done {
		t.Fatalf("want the position before the failure, got %v", pos)
	}
}

func TestPermanentErrorOfConnectEndsTheRun(t *testing.T) {
	missing := deltaerr.New(deltaerr.NotFound, "there is no table")
	p := newPipeline(t, nil, &sink{}, pipelineOptions{open: refuses(missing)})
	p.run()
	if len(p.failed) != 1 || !errors.Is(p.failed[0], missing) {
		t.Fatalf("want the error reported once, got %v", p.failed)
	}
}

func TestTransientErrorOfConnectIsGivenUpInTime(t *testing.T) {
	busy := deltaerr.New(deltaerr.Transient, "the store is busy")
	p := newPipeline(t, nil, &sink{}, pipelineOptions{open: refuses(busy), config: "retry_max_elapsed: 300ms"})
	p.run()
	if len(p.failed) != 1 || deltaerr.KindOf(p.failed[0]) != deltaerr.Transient {
		t.Fatalf("want one transient error, got %v", p.failed)
	}
}

func TestTransientErrorIsRetriedWithoutLoss(t *testing.T) {
	busy := deltaerr.New(deltaerr.Transient, "the store is busy")
	p := newPipeline(t, newFakeTable().rows(3, false).fails(busy).rows(3, true).done(), &sink{}, pipelineOptions{})
	p.run()
	p.wantRows(lines(0, 6))
	if len(p.failed) > 0 {
		t.Fatalf("want no failure, got %v", p.failed)
	}
	p.wantDone()
}

func TestTransientErrorThatStaysEndsTheRun(t *testing.T) {
	busy := deltaerr.New(deltaerr.Transient, "the store is busy")
	table := newFakeTable().rows(3, false)
	for range 50 {
		table.fails(busy)
	}
	p := newPipeline(t, table.done(), &sink{}, pipelineOptions{config: "retry_max_elapsed: 300ms"})
	p.run()
	p.wantRows(lines(0, 3))
	if len(p.failed) != 1 || !strings.Contains(p.failed[0].Error(), "given up after") {
		t.Fatalf("want one failure that says how long it was tried, got %v", p.failed)
	}
}

func TestUnknownKeyColumnEndsTheRunBeforeTheFirstRow(t *testing.T) {
	c, out := newChecked(false), &sink{}
	t.Parallel()
	p := newChild(t, c, out, "key_columns: [nmae]")
	p.run()
	if len(p.failed) != 1 || !strings.Contains(p.failed[0].Error(), "column nmae: key_columns names a column that is not read") {
		t.Fatalf("want an error that names the column, got %v", p.failed)
	}
	if len(out.accepted) > 0 {
		t.Fatalf("want no row, got %d", len(out.accepted))
	}
}
