package feed

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/deltacore/storage/faulty"
)

// asked counts what a store was asked for.
type asked struct {
	lists, hints, checkpoints, commits, others int
	again                                      int   // reads of commits that had been read
	versions                                   []int // of the commits, ascending
}

// ledger is a store that counts. Opening an object is no request.
type ledger struct {
	*faulty.Store
	from int
	read map[string]bool
}

func newLedger(g *grower) *ledger {
	return &ledger{Store: faulty.New(g.store), read: map[string]bool{}}
}

// since returns what was asked for since the last time.
func (l *ledger) since() (a asked) {
	calls := l.Calls()
	for _, c := range calls[l.from:] {
		a.take(c, l.read)
	}
	l.from = len(calls)
	slices.Sort(a.versions)
	return a
}

func (a *asked) take(c faulty.Call, read map[string]bool) {
	version := 0
	switch n, _ := fmt.Sscanf(c.Path, "_delta_log/%d.json", &version); {
	case c.Op == storage.OpOpen:
	case c.Op == storage.OpList:
		a.lists++
	case c.Path == deltatest.HintPath:
		a.hints++
	case strings.Contains(c.Path, ".checkpoint."):
		a.checkpoints++
	case n == 1 && strings.HasSuffix(c.Path, ".json"):
		a.commits++
		a.versions = append(a.versions, version)
		if read[c.Path] {
			a.again++
		}
		read[c.Path] = true
	default:
		a.others++
	}
}

// describeAtLength changes nothing but a property, in a commit of at least so many bytes.
func (g *grower) describeAtLength(bytes int) {
	m := g.Metadata()
	m.Configuration["comment"] = fmt.Sprint(g.Version()) + strings.Repeat("x", bytes)
	g.Commit(deltatest.Metadata(m))
}

// rearrange commits all files once more under other names, as OPTIMIZE does. They cannot be read.
func (g *grower) rearrange() {
	var actions []deltatest.Action
	for _, a := range g.Active() {
		a.DataChange = false
		actions = append(actions, deltatest.Remove(a))
		a.Path = fmt.Sprintf("again-%d.parquet", g.Version())
		actions = append(actions, deltatest.Add(a))
	}
	g.Commit(actions...)
}

// TestBackfillCostsOneRequestACommit and one checkpoint at most, however large the commits are and wherever checkpoints are.
// What is new after it costs a listing and one request a commit, and nothing new costs the listing.
func TestBackfillCostsOneRequestACommit(t *testing.T) {
	versions := int64(2000)
	if testing.Short() {
		versions = 400
	}
	for name, tt := range map[string]struct {
		every int64 // versions from one checkpoint to the next; 0: none
		bytes int
		start int64
	}{
		"no checkpoint":          {0, 0, 0},
		"no checkpoint, large":   {0, 6000, 0},
		"checkpoints":            {10, 0, 0},
		"few checkpoints, large": {versions / 4, 6000, 0},
		"from the middle":        {10, 0, versions / 2},
		"from the middle, large": {300, 6000, versions / 2},
		"from the first but one": {100, 0, 1},
		"from the last":          {100, 0, versions},
	} {
		t.Run(name, func(t *testing.T) {
			g := newGrower()
			for g.Version() < versions {
				g.describeAtLength(tt.bytes)
				if tt.every > 0 && g.Version()%tt.every == 0 {
					g.Checkpoint()
				}
			}
			g.publish()
			l := newLedger(g)
			s := follow(t, g, Config{Follow: Follow{StartVersion: &tt.start}, Open: deltacore.Options{Store: l.Store}})
			s.upToNow()
			a := l.since()
			below := tt.start // commits that say which columns the first one has
			if tt.every > 0 {
				below = tt.start % tt.every
			}
			if most := versions - tt.start + 1 + below; a.again > 0 || int64(a.commits) > most || a.checkpoints > 1 || a.lists > 2 || a.hints > 1 {
				t.Errorf("want each of %d commits read once, got %d, of them again: %d; %d checkpoints, %d listings, %d hints",
					most, a.commits, a.again, a.checkpoints, a.lists, a.hints)
			}
			check(t, s.Refresh(t.Context()))
			if got := l.since(); got.lists != 1 || got.commits+got.checkpoints+got.hints+got.others > 0 {
				t.Errorf("want one listing where nothing is new, got %+v", got)
			}
			g.describeAtLength(0)
			g.describeAtLength(0)
			g.publish()
			s.refreshed()
			if got := l.since(); got.lists != 1 || got.commits != 2 || got.checkpoints+got.hints+got.others > 0 {
				t.Errorf("want one listing and two commits, got %+v", got)
			}
		})
	}
}

// TestBackfillFromATimeReadsOneCheckpoint, that of its first commit, and the beginning of the newest commit more than one from a
// version.
func TestBackfillFromATimeReadsOneCheckpoint(t *testing.T) {
	const versions, every = 60, 10
	g := newGrower()
	for g.Version() < versions {
		if g.describeAtLength(0); g.Version()%every == 0 {
			g.Checkpoint()
		}
	}
	g.publish()
	for start, checkpoints := range map[int64]int{0: 0, 5: 0, 35: 1, 40: 1, versions: 1, versions + 1: 1} {
		at := g.CommitTime(start)
		l := newLedger(g)
		s := follow(t, g, Config{Follow: Follow{StartTimestamp: &at}, Open: deltacore.Options{Store: l.Store}})
		got := s.upToNow()
		want(t, []string{fmt.Sprintf("planned 0 files of tail %d", start), "caught up with 60 of 60"}, []string{got[0], got[len(got)-1]})
		a := l.since()
		if most := versions - int(start) + 1 + int(start%every); a.commits > most+1 || a.again > 1 || a.checkpoints > checkpoints || a.lists > 2 {
			t.Errorf("from version %d: want %d commits and %d checkpoints, got %+v", start, most, checkpoints, a)
		}
	}
}

// TestNothingNewCostsOneRequest however long the log is.
func TestNothingNewCostsOneRequest(t *testing.T) {
	for _, mode := range []Mode{Append, Reload} {
		for _, versions := range []int64{1, 20, 300} {
			g := newGrower()
			for g.Version() < versions {
				g.append(1)
			}
			l := newLedger(g)
			s := follow(t, g, Config{Follow: Follow{Mode: mode}, Open: deltacore.Options{Store: l.Store}})
			s.upToNow()
			l.since()
			for range 3 {
				check(t, s.Refresh(t.Context()))
				if a := l.since(); a.lists != 1 || a.commits+a.checkpoints+a.hints+a.others > 0 {
					t.Errorf("%s, version %d: want one listing, got %+v", mode, versions, a)
				}
			}
		}
	}
}

// TestCommitsWithoutRowsAreNotReadAgain: a thousand commits of all kinds without rows to hand out move the position, so that
// a restart costs the checkpoint and the commits behind that, and no data file.
func TestCommitsWithoutRowsAreNotReadAgain(t *testing.T) {
	const quiet, every = 1000, 10
	g := newGrower()
	for g.Version() < quiet {
		switch g.Version() % 4 {
		case 0:
			g.rearrange()
		case 1, 3:
			g.describeAtLength(0)
		default:
			g.rewrite(1)
		}
		if g.Version()%every == 0 {
			g.Checkpoint()
		}
	}
	g.describeAtLength(0)
	g.publish()
	l := newLedger(g)
	start := int64(0)
	c := Config{Follow: Follow{OnRewrite: Skip, StartVersion: &start}, Open: deltacore.Options{Store: l.Store}}
	s := follow(t, g, c)
	skipped := 0
	for {
		e, err := s.Next(t.Context())
		check(t, err)
		if p, moved := positionOf(e); moved {
			c.Resume = &p
		}
		if e, ok := e.(Skipped); ok {
			skipped += int(e.Files)
		}
		retell(e)
		if _, end := e.(CaughtUp); end {
			break
		}
		if c.Resume != nil && c.Resume.Done && c.Resume.Version%200 == 55 {
			again := newLedger(g)
			resumed := c
			resumed.Open.Store = again.Store
			follow(t, g, resumed)
			if a := again.since(); len(a.versions) > every || a.versions[0] < int(c.Resume.Version)-every || a.others > 0 {
				t.Errorf("behind version %d: want the commits since the checkpoint alone, got %+v", c.Resume.Version, a)
			}
		}
	}
	if a := l.since(); a.again > 0 || skipped < quiet/4 {
		t.Errorf("want each commit read once and %d rewrites skipped, got %d again and %d skipped", quiet/4, a.again, skipped)
	}
	again := newLedger(g)
	c.Open.Store = again.Store
	resumed := follow(t, g, c)
	want(t, []string{"planned 0 files of tail 1001", "caught up with 1001 of 1001"}, resumed.upToNow())
	if a := again.since(); a.lists != 1 || a.checkpoints != 1 || !slices.Equal([]int{1001}, a.versions) || a.others > 0 {
		t.Errorf("want a listing, a checkpoint and the one commit behind it, got %+v", a)
	}
}
