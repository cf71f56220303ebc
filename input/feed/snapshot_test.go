package feed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"go.uber.org/goleak"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/deltacore/storage/faulty"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const uri = "/tables/feed"

// table has two versions: files of 3, 0 and 5 rows, then one of 4 rows. Ids ascend from 0 in canonical order.
func table(t *testing.T) *deltatest.Table {
	t.Helper()
	columns := deltatest.Columns("id long")
	table := deltatest.New(columns, deltatest.Options{})
	next := 0
	for version, files := range [][]int{{3, 0, 5}, {4}} {
		for _, n := range files {
			var rows []string
			for range n {
				rows = append(rows, fmt.Sprintf(`{"id": %d}`, next))
				next++
			}
			table.Append(deltatest.Rows(columns, rows...))
		}
		_ = version
	}
	return table
}

func store(t *testing.T, table *deltatest.Table) *storage.Memory {
	t.Helper()
	m := storage.NewMemory()
	for name, content := range table.Files() {
		m.PutAt(name, content, time.UnixMilli(1_700_000_000_000))
	}
	return m
}

type opened struct {
	Source
	t   *testing.T
	mem *memory.CheckedAllocator
}

func open(t *testing.T, c Config) *opened {
	t.Helper()
	mem := memory.NewCheckedAllocator(deltatest.Overwriting{Allocator: memory.DefaultAllocator})
	c.URI, c.Open.Allocator = uri, mem
	if c.Open.Store == nil {
		c.Open.Store = store(t, table(t))
	}
	s, err := Open(t.Context(), c)
	check(t, err)
	t.Cleanup(func() {
		check(t, s.Close())
		mem.AssertSize(t, 0)
	})
	return &opened{s, t, mem}
}

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// tell describes an event and releases it.
func tell(e Event) string {
	switch e := e.(type) {
	case Planned:
		return fmt.Sprintf("planned %d files behind row %d", e.Files, e.Position.Row)
	case Rows:
		defer e.Record.Release()
		ids := e.Record.Column(0).(*array.Int64)
		return fmt.Sprintf("rows %d-%d, %s", ids.Value(0), ids.Value(ids.Len()-1), at(e.Position))
	case Progress:
		return "progress, " + at(e.Position)
	case CaughtUp:
		return fmt.Sprintf("caught up with %d of %d", e.Version, e.Latest)
	default:
		return fmt.Sprintf("%T", e)
	}
}

func at(p Position) string {
	switch {
	case p.Done:
		return "version done"
	case p.FileDone:
		return fmt.Sprintf("file done at row %d", p.Row)
	default:
		return fmt.Sprintf("at row %d", p.Row)
	}
}

func (o *opened) all() []string {
	o.t.Helper()
	var out []string
	for {
		e, err := o.Next(o.t.Context())
		if errors.Is(err, io.EOF) {
			return out
		}
		check(o.t, err)
		out = append(out, tell(e))
	}
}

func want(t *testing.T, want, got []string) {
	t.Helper()
	if !slices.Equal(want, got) {
		t.Fatalf("want\n%s\ngot\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
}

var whole = []string{
	"planned 4 files behind row -1",
	"rows 0-2, file done at row 2",
	"progress, file done at row -1",
	"rows 3-7, file done at row 4",
	"rows 8-11, file done at row 3",
	"progress, version done",
	"caught up with 3 of 3",
}

func TestSnapshotYieldsEveryFileThenTheEnd(t *testing.T) {
	s := open(t, Config{})
	want(t, whole, s.all())
	if _, err := s.Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Fatalf("want io.EOF again, got %v", err)
	}
}

func TestSnapshotOfAnOlderVersionDoesNotKnowTheLatest(t *testing.T) {
	version := int64(0)
	s := open(t, Config{Open: deltacore.Options{Version: &version}})
	want(t, []string{
		"planned 1 files behind row -1", "rows 0-2, file done at row 2", "progress, version done", "caught up with 0 of -1",
	}, s.all())
}

func TestSmallBatchesHavePositionsInsideTheirFile(t *testing.T) {
	s := open(t, Config{Scan: deltacore.ScanOptions{BatchRows: 2}})
	want(t, []string{
		"planned 4 files behind row -1", "rows 0-1, at row 1", "rows 2-2, file done at row 2", "progress, file done at row -1",
		"rows 3-4, at row 1", "rows 5-6, at row 3", "rows 7-7, file done at row 4",
		"rows 8-9, at row 1", "rows 10-11, file done at row 3", "progress, version done", "caught up with 3 of 3",
	}, s.all())
}

func TestLimitEndsTheVersion(t *testing.T) {
	limit := int64(4)
	s := open(t, Config{Scan: deltacore.ScanOptions{Limit: &limit}})
	want(t, []string{
		"planned 4 files behind row -1", "rows 0-2, file done at row 2", "progress, file done at row -1", "rows 3-3, at row 0",
		"progress, version done", "caught up with 3 of 3",
	}, s.all())
}

// TestResumeFromEveryPositionGoesOnBehindIt resumes from the position of each event and expects exactly the other rows.
func TestResumeFromEveryPositionGoesOnBehindIt(t *testing.T) {
	for _, batchRows := range []int64{1, 2, 8192} {
		s := open(t, Config{Scan: deltacore.ScanOptions{BatchRows: batchRows}})
		seen := int64(0)
		var last Position
		for {
			e, err := s.Next(t.Context())
			if errors.Is(err, io.EOF) {
				break
			}
			check(t, err)
			p, moved := positionOf(e)
			if r, ok := e.(Rows); ok {
				seen += r.Record.NumRows()
				r.Record.Release()
			}
			if !moved {
				continue
			}
			if p.Compare(last) <= 0 && last.TableID != "" {
				t.Fatalf("position %v does not come behind %v", p, last)
			}
			last = p
			resumed, first := rest(t, p)
			if resumed != 12-seen || (resumed > 0 && first != seen) {
				t.Fatalf("want rows %d to 11 behind %v, got %d rows from %d on", seen, p, resumed, first)
			}
		}
	}
}

func positionOf(e Event) (Position, bool) {
	switch e := e.(type) {
	case Rows:
		return e.Position, true
	case Progress:
		return e.Position, true
	}
	return Position{}, false
}

// rest counts the rows behind a position and returns the first id.
func rest(t *testing.T, p Position) (n, first int64) {
	t.Helper()
	s := open(t, Config{Resume: &p})
	for {
		e, err := s.Next(t.Context())
		if errors.Is(err, io.EOF) {
			return n, first
		}
		check(t, err)
		if r, ok := e.(Rows); ok {
			if n == 0 {
				first = r.Record.Column(0).(*array.Int64).Value(0)
			}
			n += r.Record.NumRows()
			r.Record.Release()
		}
	}
}

func TestResumeReadsNoFinishedFile(t *testing.T) {
	f := faulty.New(store(t, table(t)))
	s := open(t, Config{Open: deltacore.Options{Store: f}})
	var behind Position
	for range 4 { // planned, three files
		e, err := s.Next(t.Context())
		check(t, err)
		if p, ok := positionOf(e); ok {
			behind = p
		}
		tell(e)
	}
	again := faulty.New(store(t, table(t)))
	resumed := open(t, Config{Open: deltacore.Options{Store: again}, Resume: &behind})
	want(t, []string{"planned 1 files behind row 4", "rows 8-11, file done at row 3", "progress, version done", "caught up with 3 of -1"},
		withoutCount(resumed.all()))
	files := map[string]bool{}
	for _, c := range again.Calls() {
		if path.Ext(c.Path) == ".parquet" {
			files[c.Path] = true
		}
	}
	if len(files) != 1 {
		t.Fatalf("want one data file read, got %v", files)
	}
}

// withoutCount replaces the number of files, which says how many the version has.
func withoutCount(events []string) []string {
	events[0] = strings.Replace(events[0], "planned 4", "planned 1", 1)
	return events
}

func TestResumeRefusesAPositionOfAnotherTableOrVersion(t *testing.T) {
	s := open(t, Config{})
	e, err := s.Next(t.Context())
	check(t, err)
	good := e.(Planned).Position
	for name, tt := range map[string]struct {
		change func(*Position)
		want   deltaerr.Kind
	}{
		"another table": {func(p *Position) { p.TableID = "other" }, deltaerr.Replaced},
		"the tail":      {func(p *Position) { p.Phase = PhaseTail }, deltaerr.Unresumable},
		"not there":     {func(p *Position) { p.Version = 9 }, deltaerr.Unresumable},
		"rewritten":     {func(p *Position) { p.Commit = "0123456789abcdef" }, deltaerr.Unresumable},
	} {
		p := good
		tt.change(&p)
		_, err := Open(t.Context(), Config{URI: uri, Open: deltacore.Options{Store: store(t, table(t))}, Resume: &p})
		if err == nil || deltaerr.KindOf(err) != tt.want {
			t.Errorf("%s: want %s, got %v", name, tt.want, err)
		}
	}
}

// TestTransientFailureAtEveryCallLosesNothing goes on after a failure of each call in turn.
func TestTransientFailureAtEveryCallLosesNothing(t *testing.T) {
	for n := 1; ; n++ {
		f := faulty.New(store(t, table(t)))
		s := open(t, Config{Open: deltacore.Options{Store: f}, Scan: deltacore.ScanOptions{BatchRows: 2, TargetPartitions: 1}})
		opening := len(f.Calls())
		f.Add(faulty.FailCall(n, faulty.Broken))
		ids, failures := s.persist()
		if want := []int64{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}; !slices.Equal(want, ids) {
			t.Fatalf("call %d: want every id once, got %v", n, ids)
		}
		if failures == 0 {
			if len(f.Calls())-opening >= n {
				t.Fatalf("call %d of %d did not fail", n, len(f.Calls())-opening)
			}
			return
		}
	}
}

// persist reads all ids, calling again after each retryable error.
func (o *opened) persist() (ids []int64, failures int) {
	o.t.Helper()
	for {
		e, err := o.Next(o.t.Context())
		switch {
		case errors.Is(err, io.EOF):
			return ids, failures
		case deltaerr.Retryable(err):
			failures++
			continue
		}
		check(o.t, err)
		if r, ok := e.(Rows); ok {
			ids = append(ids, r.Record.Column(0).(*array.Int64).Int64Values()...)
		}
		tell(e)
	}
}

func TestPermanentFailureStays(t *testing.T) {
	f := faulty.New(store(t, table(t)))
	s := open(t, Config{Open: deltacore.Options{Store: f}})
	f.Add(faulty.Rule{Path: "*.parquet", Fault: faulty.Vanished()})
	_, err := s.Next(t.Context())
	check(t, err)
	_, first := s.Next(t.Context())
	_, second := s.Next(t.Context())
	if deltaerr.KindOf(first) != deltaerr.NotFound || !errors.Is(second, first) {
		t.Fatalf("want the same error twice, got %v and %v", first, second)
	}
}

func TestEndOfAContextInterruptsNextWhichCanGoOn(t *testing.T) {
	f := faulty.New(store(t, table(t)))
	s := open(t, Config{Open: deltacore.Options{Store: f}, Scan: deltacore.ScanOptions{TargetPartitions: 1}})
	f.Add(faulty.Rule{Path: "*.parquet", Calls: 1, Fault: faulty.Fault{Delay: time.Hour}})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	var events []string
	for {
		e, err := s.Next(ctx)
		if err != nil {
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Fatalf("want the end of the context, got %v", err)
			}
			break
		}
		events = append(events, tell(e))
	}
	want(t, whole, append(events, s.all()...))
}

func TestCloseInterruptsNext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := faulty.New(store(t, table(t)))
		s := open(t, Config{Open: deltacore.Options{Store: f}})
		f.Add(faulty.Rule{Path: "*.parquet", Fault: faulty.Fault{Delay: time.Hour}})
		_, err := s.Next(t.Context())
		check(t, err)
		began := time.Now()
		failed := make(chan error)
		go func() {
			_, err := s.Next(context.Background())
			failed <- err
		}()
		synctest.Wait() // Next is waiting for the store
		check(t, s.Close())
		if err := <-failed; err == nil || !strings.Contains(err.Error(), "the source was closed") {
			t.Fatalf("want to be told of the close, got %v", err)
		}
		if took := time.Since(began); took > 0 {
			t.Fatalf("want no wait for the store, got %s", took)
		}
	})
}

// TestNothingIsPlannedAgainAfterAFailure lets each call fail in turn: only data files are read after the source was opened.
func TestNothingIsPlannedAgainAfterAFailure(t *testing.T) {
	for n := 1; ; n++ {
		f := faulty.New(store(t, table(t)))
		s := open(t, Config{Open: deltacore.Options{Store: f}, Scan: deltacore.ScanOptions{BatchRows: 2, TargetPartitions: 1}})
		opening := len(f.Calls())
		f.Add(faulty.FailCall(n, faulty.Broken))
		_, failures := s.persist()
		for _, c := range f.Calls()[opening:] {
			if strings.Contains(c.Path, "_delta_log") {
				t.Fatalf("call %d: want the log left alone, got %v", n, c)
			}
		}
		if failures == 0 {
			return
		}
	}
}

func TestLimitCountsOverInterruptions(t *testing.T) {
	limit := int64(7)
	for n := 1; ; n++ {
		f := faulty.New(store(t, table(t)))
		s := open(t, Config{Open: deltacore.Options{Store: f}, Scan: deltacore.ScanOptions{BatchRows: 2, TargetPartitions: 1, Limit: &limit}})
		f.Add(faulty.FailCall(n, faulty.Broken))
		ids, failures := s.persist()
		if want := []int64{0, 1, 2, 3, 4, 5, 6}; !slices.Equal(want, ids) {
			t.Fatalf("call %d: want %v, got %v", n, want, ids)
		}
		if failures == 0 {
			return
		}
	}
}

func TestUnknownColumnIsFoundWhenOpened(t *testing.T) {
	_, err := Open(t.Context(), Config{
		URI: uri, Open: deltacore.Options{Store: store(t, table(t))}, Scan: deltacore.ScanOptions{Columns: []string{"idd"}},
	})
	if deltaerr.KindOf(err) != deltaerr.Config || !strings.Contains(err.Error(), "idd") {
		t.Fatalf("want a config error that names the column, got %v", err)
	}
}
