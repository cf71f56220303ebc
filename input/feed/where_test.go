package feed

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/go-json-experiment/json"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/pruning"
)

func where(t *testing.T, text string) deltacore.ScanOptions {
	t.Helper()
	if text == "" {
		return deltacore.ScanOptions{}
	}
	p, err := pruning.Parse(text)
	check(t, err)
	return deltacore.ScanOptions{Where: p}
}

// appendUnknown commits a file of which the log says nothing but that it is there.
func (g *grower) appendUnknown(rows int) {
	add := g.WriteFiles(deltatest.Rows(idColumn, g.rows(rows)...))[0]
	add.Stats = ""
	g.Commit(deltatest.Add(add))
}

// handedOut is what a source hands out up to now.
type handedOut struct {
	ids       []int64
	places    []Position // where each of them lies
	positions []Position // behind each event
}

func (f *followed) all() (h handedOut) {
	f.t.Helper()
	for {
		e, err := f.Next(f.t.Context())
		check(f.t, err)
		switch e := e.(type) {
		case Rows:
			h.take(e)
			h.positions = append(h.positions, e.Position)
		case Progress:
			h.positions = append(h.positions, e.Position)
		case CaughtUp:
			return h
		}
	}
}

func (h *handedOut) take(e Rows) {
	defer e.Record.Release()
	ids := e.Record.Column(0).(*array.Int64)
	for i := range ids.Len() {
		place := e.Position
		place.Row, place.FileDone, place.Done = e.FirstRow+int64(i), false, false
		if e.Index != nil {
			place.Row = e.Index[i]
		}
		h.ids, h.places = append(h.ids, ids.Value(i)), append(h.places, place)
	}
}

// stored is a position as it comes back from where positions are kept.
func stored(t *testing.T, p Position) *Position {
	t.Helper()
	text, err := json.Marshal(p)
	check(t, err)
	var back Position
	check(t, json.Unmarshal(text, &back))
	return &back
}

// TestCommitsWithoutAMatchAreNotReadAgain after a restart, whether the log shows that nothing matches or every file has to be
// read for it.
func TestCommitsWithoutAMatchAreNotReadAgain(t *testing.T) {
	const commits, checkpointed = 1000, 7 // that are behind the last checkpoint: they say which columns there are
	for name, grow := range map[string]func(*grower){
		"by statistics": func(g *grower) { g.Commit(deltatest.Add(g.WriteFiles(deltatest.Rows(idColumn, g.rows(1)...))[0])) },
		"by reading":    func(g *grower) { g.appendUnknown(1) },
	} {
		t.Run(name, func(t *testing.T) {
			g := newGrower()
			config := Config{Scan: where(t, "id = 1 OR id > 1000000")}
			s := follow(t, g, config)
			first := s.all()
			for range commits {
				if grow(g); g.Version() == commits-checkpointed {
					g.Checkpoint()
				}
			}
			g.publish()
			check(t, s.Refresh(t.Context()))
			tail := s.all()
			last := tail.positions[len(tail.positions)-1]
			if len(tail.ids) > 0 || !slices.Equal(first.ids, []int64{1}) || !last.Done || last.Version != commits {
				t.Fatalf("want id 1 and the position behind version %d, got %v and %s", commits, first.ids, last)
			}
			l := newLedger(g)
			config.Resume, config.Open.Store = stored(t, last), l.Store
			again := follow(t, g, config)
			if h := again.all(); len(h.ids) != 0 {
				t.Errorf("want no rows, got %v", h.ids)
			}
			a := l.since()
			if a.commits > checkpointed || a.checkpoints > 1 || a.others > 0 {
				t.Errorf("want the commits behind the checkpoint read at most, and no file, got %+v", a)
			}
			grow(g)
			g.next = 1_000_001
			grow(g)
			g.publish()
			check(t, again.Refresh(t.Context()))
			if h := again.all(); !slices.Equal(h.ids, []int64{1_000_001}) {
				t.Errorf("want id 1000001, got %v", h.ids)
			}
			if a = l.since(); a.commits != 2 || a.lists != 1 {
				t.Errorf("want two commits and a listing, got %+v", a)
			}
		})
	}
}

// growing is a table that is followed with a predicate, first as it is, then as it has become.
func growing(t *testing.T, predicate string) (*grower, handedOut) {
	t.Helper()
	g := newGrower()
	g.Layout(deltatest.Parquet{RowGroupRows: 4, PageBytes: 1, BatchRows: 2, PageIndex: true, NoDictionary: true})
	g.append(9, 5)
	g.appendUnknown(7)
	g.publish()
	s := follow(t, g, Config{Scan: where(t, predicate)})
	h := s.all()
	g.append(6, 3, 8)
	g.describe()
	g.appendUnknown(10)
	g.append(4)
	check(t, s.Refresh(t.Context()))
	tail := s.all()
	h.ids, h.places, h.positions = append(h.ids, tail.ids...), append(h.places, tail.places...), append(h.positions, tail.positions...)
	return g, h
}

// TestPositionStaysValidWhenThePredicateChanges: what comes after it are the rows behind it for which the new one is true.
func TestPositionStaysValidWhenThePredicateChanges(t *testing.T) {
	predicates := map[string]func(int64) bool{
		"":                             func(int64) bool { return true },
		"id >= 12":                     func(id int64) bool { return id >= 12 },
		"id IN (2, 5, 11, 17, 33, 50)": func(id int64) bool { return slices.Contains([]int64{2, 5, 11, 17, 33, 50}, id) },
		"id < 0":                       func(int64) bool { return false },
		"NOT (id BETWEEN 4 AND 30)":    func(id int64) bool { return id < 4 || id > 30 },
	}
	g, all := growing(t, "")
	checked := 0
	for before := range predicates {
		_, h := growing(t, before)
		for _, p := range h.positions {
			for after, matches := range predicates {
				var ids []int64
				for i, place := range all.places {
					if p.Compare(place) < 0 && matches(all.ids[i]) {
						ids = append(ids, all.ids[i])
					}
				}
				o := where(t, after)
				o.TargetPartitions, o.Repartitioning = 2, scanplan.Always
				if got := follow(t, g, Config{Scan: o, Resume: stored(t, p)}).all(); !slices.Equal(ids, got.ids) {
					t.Errorf("from %s of %q on with %q: want %v, got %v", p, before, after, ids, got.ids)
				}
				checked++
			}
		}
	}
	if checked < 100 {
		t.Errorf("want a hundred positions, got %d", checked)
	}
}

// dataFiles are those that a store was asked for since a call.
func (l *ledger) dataFiles() (paths []string) {
	for _, c := range l.Calls()[l.from:] {
		if strings.HasSuffix(c.Path, ".parquet") && !strings.HasPrefix(c.Path, "_delta_log/") {
			paths = append(paths, c.Path)
		}
	}
	return slices.Compact(paths)
}

// TestCommitsThatStatisticsExcludeOpenNoFile, while their positions go by and the one that may match is read.
func TestCommitsThatStatisticsExcludeOpenNoFile(t *testing.T) {
	const commits = 1000
	g := newGrower()
	l := newLedger(g)
	config := Config{Scan: where(t, "id = 500"), Open: deltacore.Options{Store: l.Store}}
	config.Scan.Skipped = new(scanplan.Skipped)
	s := follow(t, g, config)
	s.all()
	want := ""
	for range commits {
		adds := g.WriteFiles(deltatest.Rows(idColumn, g.rows(1)...))
		adds = append(adds, g.WriteFiles(deltatest.Rows(idColumn, `{"id": -1}`, `{"id": -2}`))...)
		if g.Commit(deltatest.Add(adds[0]), deltatest.Add(adds[1])); g.next == 501 {
			want = adds[0].Path
		}
	}
	g.publish()
	check(t, s.Refresh(t.Context()))
	l.since()
	h := s.all()
	if files := l.dataFiles(); !slices.Equal(files, []string{want}) || !slices.Equal(h.ids, []int64{500}) {
		t.Errorf("want id 500 and nothing but its file %s opened, got %v from %d files", want, h.ids, len(files))
	}
	done := int64(0)
	for _, p := range h.positions {
		if p.Done && p.Version != done+1 {
			t.Fatalf("want each version done in its turn, got %s after %d", p, done)
		} else if p.Done {
			done = p.Version
		}
	}
	counts := config.Scan.Skipped.Snapshot()
	if n := counts.By[scanplan.ByStatistics].Files; done != commits || n != 2*commits {
		t.Errorf("want all %d versions done and all files but that one counted, the first snapshot's too, got %d and %d", commits, done, n)
	}
}

// TestLeftOutCommitsCountNoSkippedFiles: it is not the predicate that leaves them out.
func TestLeftOutCommitsCountNoSkippedFiles(t *testing.T) {
	g := newGrower()
	config := Config{Scan: where(t, "id = 500"), Follow: Follow{OnRewrite: Skip}}
	config.Scan.Skipped = new(scanplan.Skipped)
	s := follow(t, g, config)
	s.all()
	before := config.Scan.Skipped.Snapshot().Files()
	g.overwrite(3)
	check(t, s.Refresh(t.Context()))
	if s.all(); config.Scan.Skipped.Snapshot().Files() != before {
		t.Errorf("want no more than %d files skipped, got %d", before, config.Scan.Skipped.Snapshot().Files())
	}
}

// TestFilesOutsideAreRefusedWhateverThePredicate excludes.
func TestFilesOutsideAreRefusedWhateverThePredicate(t *testing.T) {
	g := newGrower()
	s := follow(t, g, Config{Scan: where(t, "id = 500")})
	s.all()
	add := g.WriteFiles(deltatest.Rows(idColumn, `{"id": 1}`))[0]
	add.Path = "file:///elsewhere/" + add.Path
	g.Commit(deltatest.Add(add))
	g.publish()
	check(t, s.Refresh(t.Context()))
	if _, err := s.Next(t.Context()); err == nil || !strings.Contains(err.Error(), "/elsewhere/") {
		t.Errorf("want the file refused, got %v", err)
	}
}

// reloadable is a table of three files, in two of which nothing is known of the rows.
func reloadable() *grower {
	g := newGrower() // 0 to 2
	g.appendUnknown(3)
	g.append(3)
	g.appendUnknown(3)
	g.publish()
	return g
}

// TestReloadMarksTheRowsThatMatch: the files before and behind them are read and have none.
func TestReloadMarksTheRowsThatMatch(t *testing.T) {
	for predicate, rows := range map[string][]string{
		"id = 7":                {"read 7-7 of snapshot 3 first=true last=true"},
		"id IN (4, 7)":          {"read 4-4 of snapshot 3 first=true last=false", "read 7-7 of snapshot 3 first=false last=true"},
		"id = 3 OR id < 0":      {"read 3-3 of snapshot 3 first=true last=true"},
		"id >= 100":             nil,
		"id BETWEEN 10 AND 900": {"read 10-11 of snapshot 3 first=true last=true"},
	} {
		g := reloadable()
		s := follow(t, g, Config{Scan: where(t, predicate), Follow: Follow{Mode: Reload}})
		got := slices.DeleteFunc(s.upToNow(), func(e string) bool { return !strings.HasPrefix(e, "read") })
		want(t, rows, got)
	}
}

// TestReloadOfAVersionWithoutAMatchIsDone, and one that has them again marks them.
func TestReloadOfAVersionWithoutAMatchIsDone(t *testing.T) {
	g := newGrower()
	s := follow(t, g, Config{Scan: where(t, "id = 1 OR id = 4"), Follow: Follow{Mode: Reload}})
	s.upToNow()
	g.Replace(g.Active(), deltatest.Rows(idColumn, `{"id": 9}`))
	g.publish()
	want(t, []string{"planned 0 files of snapshot 1", "version done of snapshot 1", "caught up with 1 of 1"}, s.refreshed())
	if l := s.Source.(Behind).Lag(); l.Files != 0 || l.Version != 1 {
		t.Errorf("want no file left, got %+v", l)
	}
	g.append(3)
	want(t, []string{
		"planned 1 files of snapshot 2", "read 4-4 of snapshot 2 first=true last=true", "version done of snapshot 2", "caught up with 2 of 2",
	}, s.refreshed())
}

// TestReloadGoesOnWithItsMarks: wherever it is interrupted, the rows before and after have one first and one last mark.
func TestReloadGoesOnWithItsMarks(t *testing.T) {
	g := reloadable()
	for _, predicate := range []string{"", "id IN (4, 7, 9)", "id = 9"} {
		config := Config{Scan: where(t, predicate), Follow: Follow{Mode: Reload}}
		config.Scan.BatchRows = 1
		count := func(e Event, first, last *int) {
			if r, ok := e.(Rows); ok {
				*first, *last = *first+int(number(r.First)), *last+int(number(r.Last))
			}
		}
		for events := 1; ; events++ {
			first, last := 0, 0
			s, over := follow(t, g, config), false
			var behind *Position
			for range events {
				e, err := s.Next(t.Context())
				check(t, err)
				if p, moved := positionOf(e); moved {
					behind = &p
				}
				count(e, &first, &last)
				retell(e)
				_, over = e.(CaughtUp)
			}
			if over {
				break
			}
			resumed := config
			resumed.Resume = behind
			for s := follow(t, g, resumed); ; {
				e, err := s.Next(t.Context())
				check(t, err)
				count(e, &first, &last)
				retell(e)
				if _, end := e.(CaughtUp); end {
					break
				}
			}
			if first != 1 || last != 1 {
				t.Errorf("%q, interrupted after %d events: want one first and one last mark, got %d and %d", predicate, events, first, last)
			}
		}
	}
}

func number(b bool) int64 {
	if b {
		return 1
	}
	return 0
}

// TestLagCountsTheFilesThatAreToBeRead, and comes to 0 where reading finds nothing in them.
func TestLagCountsTheFilesThatAreToBeRead(t *testing.T) {
	g := newGrower()
	s := follow(t, g, Config{Scan: where(t, "id >= 1000")})
	s.upToNow()
	g.append(1, 1, 1) // excluded
	adds := g.WriteFiles(deltatest.Rows(idColumn, g.rows(2)...))
	adds = append(adds, g.WriteFiles(deltatest.Rows(idColumn, g.rows(2)...))...)
	adds[0].Stats, adds[1].Stats = "", ""
	g.Commit(deltatest.Add(adds[0]), deltatest.Add(adds[1]))
	g.publish()
	check(t, s.Refresh(t.Context()))
	var got []string
	for {
		e, err := s.Next(t.Context())
		check(t, err)
		got = append(got, fmt.Sprintf("%s, %d left", retell(e), s.Source.(Behind).Lag().Files))
		if _, end := e.(CaughtUp); end {
			break
		}
	}
	want(t, []string{
		"version done of tail 1, 0 left", "file done at row -1 of tail 2, 1 left", "file done at row -1 of tail 2, 0 left",
		"version done of tail 2, 0 left", "caught up with 2 of 2, 0 left",
	}, got)
}

// TestEmittedRewriteHandsOutTheRowsThatMatch, and a version of which nothing does only moves the position.
func TestEmittedRewriteHandsOutTheRowsThatMatch(t *testing.T) {
	g := newGrower()
	s := follow(t, g, Config{Scan: where(t, "id IN (4, 100)"), Follow: Follow{OnRewrite: Emit}})
	s.upToNow()
	g.overwrite(3)
	g.overwrite(2)
	want(t, []string{"insert 4-4 of tail 1", "version done of tail 1", "version done of tail 2", "caught up with 2 of 2"}, s.refreshed())
}

// TestLimitCountsTheRowsThatMatch, also over interruptions.
func TestLimitCountsTheRowsThatMatch(t *testing.T) {
	g := reloadable()
	o := where(t, "id >= 2 AND id != 5")
	limit := int64(4)
	o.Limit, o.BatchRows = &limit, 1
	config := Config{Scan: o}
	s := open(t, Config{Scan: config.Scan, Open: deltacore.Options{Store: g.store}})
	var h handedOut
	for {
		ended, cancel := context.WithTimeout(t.Context(), 200*time.Microsecond)
		e, err := s.Next(ended)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			continue
		}
		check(t, err)
		if r, ok := e.(Rows); ok {
			h.take(r)
		}
		if _, end := e.(CaughtUp); end {
			break
		}
	}
	if !slices.Equal(h.ids, []int64{2, 3, 4, 6}) {
		t.Errorf("want four rows that match, got %v", h.ids)
	}
}
