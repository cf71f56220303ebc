package feed

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/array"
	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/deltacore/storage/faulty"
)

// behindVersion is the position behind a version of the tail.
func behindVersion(g *grower, version int64) Position {
	return Position{
		TableID: g.Metadata().ID, Version: version, Phase: PhaseTail, Part: PartAdd, Row: -1, Done: true, FileDone: true,
		SchemaHash: idColumn.Hash(),
	}
}

func TestResumeWhereThePositionCannotBeFound(t *testing.T) {
	g := newGrower()
	for range 5 {
		g.append(1)
	}
	cleaned := func(versions int64) *storage.Memory { // with a checkpoint of version 4
		c := newGrower()
		for c.Version() < 4 {
			c.append(1)
		}
		c.Checkpoint()
		c.append(1)
		for v := range versions {
			c.Drop(deltatest.CommitPath(v))
		}
		m := storage.NewMemory()
		c.CopyTo(m.PutAt)
		return m
	}
	inside := behindVersion(g, 1)
	inside.Phase, inside.Done = PhaseSnapshot, false
	other := behindVersion(g, 1)
	other.TableID = "other"
	for name, tt := range map[string]struct {
		store  storage.Store
		behind Position
		want   deltaerr.Kind
		text   string
	}{
		"another table":              {g.store, other, deltaerr.Replaced, "the table has another id now"},
		"the table went back":        {g.store, behindVersion(g, 8), deltaerr.Unresumable, "the versions 6 to 8 are not those that were read"},
		"commits are gone":           {cleaned(4), behindVersion(g, 1), deltaerr.Unresumable, "the commits of the versions 2 to 3 are no longer in the log"},
		"a snapshot cannot be built": {cleaned(4), inside, deltaerr.Unresumable, "to rebuild version 1"},
	} {
		t.Run(name, func(t *testing.T) {
			s, err := tryFollow(t, g, Config{Resume: &tt.behind, Open: deltacore.Options{Store: tt.store}})
			for err == nil {
				_, err = s.Next(t.Context())
			}
			if deltaerr.KindOf(err) != tt.want || !strings.Contains(err.Error(), tt.text) {
				t.Errorf("want %s and %q, got %v", tt.want, tt.text, err)
			}
		})
	}
	t.Run("the version is gone but what follows is there", func(t *testing.T) {
		behind := behindVersion(g, 3)
		s := follow(t, g, Config{Resume: &behind, Open: deltacore.Options{Store: cleaned(4)}})
		got := s.upToNow()
		want(t, []string{"insert 6-6 of tail 4", "version done of tail 4", "insert 7-7 of tail 5", "version done of tail 5", "caught up with 5 of 5"}, got[1:])
	})
	t.Run("a start that the log does not hold", func(t *testing.T) {
		start := int64(2)
		s := follow(t, g, Config{Follow: Follow{StartVersion: &start}, Open: deltacore.Options{Store: cleaned(4)}})
		got := s.upToNow()
		if last := got[len(got)-1]; !strings.Contains(last, "begin with version 4 or later") {
			t.Errorf("want to be told where to begin, got %s", last)
		}
	})
}

func TestReplacedTableEndsFollowing(t *testing.T) {
	g := newGrower()
	s := follow(t, g, Config{})
	s.upToNow()
	m := g.Metadata()
	m.ID = "another"
	g.Commit(deltatest.Metadata(m))
	g.publish()
	check(t, s.Refresh(t.Context()))
	if _, err := s.Next(t.Context()); deltaerr.KindOf(err) != deltaerr.Replaced {
		t.Errorf("want replaced, got %v", err)
	}
}

func TestMissingFileFollowsThePolicy(t *testing.T) {
	for _, policy := range []Policy{Fail, Skip} {
		g := newGrower()
		first := g.Active()[0].Path
		g.append(1)
		second := g.append(2)[0].Path
		g.append(1)
		f := faulty.New(g.store, faulty.Rule{Path: first, Fault: faulty.Vanished()}, faulty.Rule{Path: second, Fault: faulty.Vanished()})
		end := int64(1)
		s := follow(t, g, Config{OnMissingFile: policy, Follow: Follow{EndVersion: &end}, Open: deltacore.Options{Store: f}})
		got := s.upToNow()
		if policy == Fail {
			if last := got[len(got)-1]; !strings.Contains(last, first) {
				t.Errorf("want an error that names the file, got %s", last)
			}
			continue
		}
		want(t, []string{
			"planned 2 files of snapshot 1", "skipped missing_file  of 0: 0 files, -1 rows", "file done at row -1 of snapshot 1",
			"read 3-3 of snapshot 1", "version done of snapshot 1", "caught up with 1 of 3",
		}, replaceVersion(got))
		start := int64(2)
		tail := follow(t, g, Config{OnMissingFile: policy, Follow: Follow{StartVersion: &start}, Open: deltacore.Options{Store: f}})
		want(t, []string{
			"skipped missing_file  of 2: 0 files, -1 rows", "file done at row -1 of tail 2", "version done of tail 2", "insert 6-6 of tail 3",
			"version done of tail 3", "caught up with 3 of 3",
		}, tail.upToNow()[1:])
	}
}

// replaceVersion: the version of a file that is missing is that of the snapshot.
func replaceVersion(events []string) []string {
	for i := range events {
		events[i] = strings.Replace(events[i], "missing_file  of 1", "missing_file  of 0", 1)
	}
	return events
}

// TestTransientFailureAtEveryCallOfFollowingLosesNothing goes on after a failure of each call in turn.
func TestTransientFailureAtEveryCallOfFollowingLosesNothing(t *testing.T) {
	for _, mode := range []Mode{Append, Reload} {
		for n := 1; ; n++ {
			g := newGrower()
			f := faulty.New(g.store)
			s := follow(t, g, Config{
				Open: deltacore.Options{Store: f}, Scan: deltacore.ScanOptions{BatchRows: 2, TargetPartitions: 1}, Follow: Follow{Mode: mode},
			})
			opening := len(f.Calls())
			f.Add(faulty.FailCall(n, faulty.Broken))
			ids := s.persistent()
			g.append(2)
			g.append(3)
			ids = append(ids, s.persistent()...)
			want := []int64{0, 1, 2, 3, 4, 5, 6, 7}
			if mode == Reload {
				want = append([]int64{0, 1, 2}, want...)
			}
			if !slices.Equal(want, ids) {
				t.Fatalf("%s, call %d: want %v, got %v", mode, n, want, ids)
			}
			if len(f.Calls())-opening < n {
				break
			}
		}
	}
}

// persistent refreshes and reads all ids up to now, again after each retryable error.
func (f *followed) persistent() (ids []int64) {
	f.t.Helper()
	for deltaerr.Retryable(f.Refresh(f.t.Context())) {
	}
	for {
		e, err := f.Next(f.t.Context())
		if deltaerr.Retryable(err) {
			continue
		}
		check(f.t, err)
		if r, ok := e.(Rows); ok {
			ids = append(ids, r.Record.Column(0).(*array.Int64).Int64Values()...)
		}
		tell(e)
		if _, end := e.(CaughtUp); end {
			return ids
		}
	}
}

// TestAnyHistoryIsFollowedAsTheOracleSays makes random commits while a table is followed, with restarts at random, and
// compares what comes with what each commit added.
func TestAnyHistoryIsFollowedAsTheOracleSays(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		g := newGrower()
		c := Config{Scan: deltacore.ScanOptions{BatchRows: 2}, Follow: Follow{OnRewrite: Skip, OnDelete: Skip}}
		if rapid.Bool().Draw(r, "emit") {
			c.Follow.OnRewrite = Emit
		}
		wanted := []int64{0, 1, 2}
		var got []int64
		s := follow(t, g, c)
		_, c.Resume, _ = s.one() // where a run begins is stored before its first row
		for range rapid.IntRange(1, 8).Draw(r, "commits") {
			first := g.next
			emits := true
			switch rapid.SampledFrom([]string{"append", "append", "overwrite", "optimize", "delete", "describe"}).Draw(r, "commit") {
			case "append":
				g.append(rapid.IntRange(1, 5).Draw(r, "rows"))
			case "overwrite":
				emits = c.Follow.OnRewrite == Emit || len(g.Active()) == 0 // nothing is removed
				g.overwrite(rapid.IntRange(1, 5).Draw(r, "rows"))
			case "optimize":
				g.optimize()
			case "delete":
				if len(g.Active()) == 0 {
					g.append(0)
				}
				g.deleteFirst()
			case "describe":
				g.describe()
			}
			for id := first; emits && id < g.next; id++ {
				wanted = append(wanted, int64(id))
			}
			if !rapid.Bool().Draw(r, "look") {
				continue
			}
			check(t, s.Refresh(t.Context()))
			for range rapid.IntRange(0, 12).Draw(r, "events") {
				ids, position, end := s.one()
				got = append(got, ids...)
				if position != nil {
					c.Resume = position
				}
				if end {
					break
				}
			}
			if rapid.Bool().Draw(r, "restart") {
				check(t, s.Close())
				s = follow(t, g, c)
			}
		}
		check(t, s.Close())
		c.Follow.UntilCaughtUp = true
		s = follow(t, g, c)
		for {
			ids, _, end := s.one()
			got = append(got, ids...)
			if end {
				break
			}
		}
		check(t, s.Close())
		if fmt.Sprint(wanted) != fmt.Sprint(got) {
			r.Fatalf("want %v, got %v", wanted, got)
		}
	})
}

// one reads one event; end is true where nothing comes before another look.
func (f *followed) one() (ids []int64, position *Position, end bool) {
	f.t.Helper()
	e, err := f.Next(f.t.Context())
	if errors.Is(err, io.EOF) {
		return nil, nil, true
	}
	check(f.t, err)
	switch e := e.(type) {
	case Rows:
		defer e.Record.Release()
		return slices.Clone(e.Record.Column(0).(*array.Int64).Int64Values()), &e.Position, false
	case Planned:
		return nil, &e.Position, false
	case Progress:
		return nil, &e.Position, false
	case CaughtUp:
		return nil, nil, true
	}
	return nil, nil, false
}
