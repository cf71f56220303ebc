package deltalog

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/deltacore/storage/faulty"
)

// growing is a table whose log is read while it grows.
type growing struct {
	*testLog
	table *deltatest.Table
	gone  []string // log files that were removed
}

func newGrowing(o deltatest.Options, commits int) *growing {
	g := &growing{table: deltatest.New(deltatest.Columns("id long"), o)}
	for i := range commits {
		g.table.Commit(add(fmt.Sprintf("f%d", i)))
	}
	g.testLog = logOf(g.table)
	return g
}

// publish makes what was committed visible.
func (g *growing) publish() {
	g.table.CopyTo(g.memory.PutAt)
	for _, path := range g.gone {
		g.memory.Delete(path)
	}
	g.store.requests = nil
}

// clean removes the commits below a version, as a checkpoint there allows.
func (g *growing) clean(version int64) {
	for v := range version {
		g.gone = append(g.gone, commitPath(v), compactionPath(0, v))
	}
	g.publish()
}

func (g *growing) open(t interface{ Fatal(...any) }, at int64) *Snapshot {
	s, err := g.load(at)
	if err != nil {
		t.Fatal(err)
	}
	g.store.requests = nil
	return s
}

func (g *growing) wantRequests(t *testing.T, want ...string) {
	t.Helper()
	if got := g.store.requests; !slices.Equal(want, got) {
		t.Errorf("want the requests %q, got %q", want, got)
	}
	g.store.requests = nil
}

func name(version int64) string { return fmt.Sprintf("%020d", version) }

func refreshed(t *testing.T, s *Snapshot) *Snapshot {
	t.Helper()
	next, err := s.Refresh(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	return next
}

// TestNothingNewCostsOneListing covers L11: from the version on, however long the log is.
func TestNothingNewCostsOneListing(t *testing.T) {
	g := newGrowing(deltatest.Options{}, 300)
	s := g.open(t, latest)
	for range 2 {
		if next := refreshed(t, s); next != s {
			t.Errorf("want the same snapshot, got version %d", next.Version)
		}
		g.wantRequests(t, "list "+name(299))
		if seen, err := s.Look(context.Background()); err != nil || seen != s {
			t.Errorf("want the same snapshot, got %v, %v", seen, err)
		}
		g.wantRequests(t, "list "+name(299))
	}
}

func TestNewCommitsCostOneRequestEach(t *testing.T) {
	g := newGrowing(deltatest.Options{}, 5)
	s := g.open(t, latest)
	g.table.Commit(add("x"))
	g.table.Commit(remove("f1"), add("y"))
	g.table.Checkpoint()
	g.table.Commit(add("z"))
	g.publish()
	seen, err := s.Look(context.Background())
	if err != nil || seen.Version != 4 || seen.Latest() != 7 || s.Latest() != 4 {
		t.Fatalf("want version 4 of 7, got %v, %v", seen, err)
	}
	var times []time.Time
	for _, f := range seen.Ahead() {
		times = append(times, f.ModTime)
	}
	if want := []time.Time{g.table.CommitTime(5), g.table.CommitTime(6), g.table.CommitTime(7)}; !slices.EqualFunc(want, times, time.Time.Equal) {
		t.Errorf("want the times %v, got %v", want, times)
	}
	g.wantRequests(t, "list "+name(4))
	next := refreshed(t, s)
	if gets := g.store.count("get"); len(g.store.requests) != 4 || gets != 3 {
		t.Errorf("want a listing and three commits read, got %q", g.store.requests)
	}
	g.store.requests = nil
	got, err := filesOf(next)
	if want := []string{"f0", "f2", "f3", "f4", "x", "y", "z"}; err != nil || !slices.Equal(want, got) {
		t.Errorf("want %v, got %v, %v", want, got, err)
	}
	g.wantRequests(t, "get "+name(6)+".checkpoint.parquet") // the new one; no commit is read again
}

// hiding lists without some names, as a store does that is behind.
type hiding struct {
	storage.Store
	lists int
	hide  func(name string, lists int) bool
}

func (h *hiding) List(ctx context.Context, dir, startAfter string) iter.Seq2[storage.Entry, error] {
	h.lists++
	return func(yield func(storage.Entry, error) bool) {
		for e, err := range h.Store.List(ctx, dir, startAfter) {
			if !h.hide(strings.TrimPrefix(e.Path, logDir+"/"), h.lists) && !yield(e, err) {
				return
			}
		}
	}
}

// TestListingThatIsBehindIsHarmless: it never takes a version back.
func TestListingThatIsBehindIsHarmless(t *testing.T) {
	for _, behind := range []int64{0, 3, 4} { // the first version that is not listed
		g := newGrowing(deltatest.Options{}, 5)
		s := g.open(t, latest)
		s.Log.Store = &hiding{Store: g.store, hide: func(n string, _ int) bool { return n >= name(behind) }}
		if next, err := s.Refresh(context.Background()); err != nil || next != s {
			t.Errorf("behind %d: want the same snapshot, got %v, %v", behind, next, err)
		}
		g.wantRequests(t, "list "+name(4), "stat "+name(4)+".json")
	}
}

// TestListingMadeWhileCommitsWereWrittenIsMadeAgain: a directory that is read while files come may show the later of two.
func TestListingMadeWhileCommitsWereWrittenIsMadeAgain(t *testing.T) {
	g := newGrowing(deltatest.Options{}, 5)
	s := g.open(t, 2)
	s.Log.Store = &hiding{Store: g.store, hide: func(n string, lists int) bool { return n == name(3)+".json" && lists == 1 }}
	if next, err := s.Refresh(context.Background()); err != nil || next.Version != 4 {
		t.Errorf("want version 4, got %v, %v", next, err)
	}
}

// TestLogThatWasCleanedIsReadAnew covers L11 where the version's own commit is gone.
func TestLogThatWasCleanedIsReadAnew(t *testing.T) {
	g := newGrowing(deltatest.Options{}, 4)
	s := g.open(t, latest)
	for range 4 {
		g.table.Commit()
	}
	g.table.Checkpoint()
	g.table.Commit(add("x"))
	g.clean(6)
	next := refreshed(t, s)
	if got, err := filesOf(next); err != nil || next.Version != 8 || !slices.Equal([]string{"f0", "f1", "f2", "f3", "x"}, got) {
		t.Errorf("want version 8, got %d: %v, %v", next.Version, got, err)
	}
	seen, err := s.Look(context.Background())
	if err != nil || seen.Version != 3 || seen.Latest() != 8 || seen.Ahead()[0].Version != 6 {
		t.Errorf("want version 3 and what is left after it, got %v, %v", seen, err)
	}
}

// TestVersionOfWhichOnlyTheCheckpointIsLeftIsRecognised: its commit is gone before and after.
func TestVersionOfWhichOnlyTheCheckpointIsLeftIsRecognised(t *testing.T) {
	g := newGrowing(deltatest.Options{}, 4)
	s := g.open(t, latest)
	g.table.Checkpoint()
	g.clean(4)
	next := refreshed(t, s)
	if next.Version != 3 || next.Segment.Checkpoint == nil {
		t.Fatalf("want version 3 from its checkpoint, got %v", next.Segment.describe())
	}
	g.store.requests = nil
	if again := refreshed(t, next); again != next {
		t.Errorf("want the same snapshot, got %v", again)
	}
	g.wantRequests(t, "list "+name(3))
}

func TestTableThatIsNoLongerTheSameIsRefused(t *testing.T) {
	other := deltatest.Options{ID: "other"}
	same := deltatest.Options{}
	later := deltatest.Options{Start: time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC)}
	for _, c := range []struct {
		why    string
		now    deltatest.Options
		commit []int // files of each commit
		kind   deltaerr.Kind
		text   string
	}{
		{"replaced by a shorter one", other, []int{1}, deltaerr.Replaced, `its id was "5d7a5c3e-0000-4000-8000-00000000d01a" and is now "other"`},
		{"replaced by one as long", other, []int{1, 1, 2}, deltaerr.Replaced, `is now "other"`},
		{"replaced by a longer one", other, []int{1, 1, 3, 1, 1}, deltaerr.Replaced, `is now "other"`},
		{"gone back", same, []int{1, 1}, deltaerr.Unresumable, "the table went back: version 2 was read, but the latest is now 1, as after restoring an old copy of it: version 2 is not the one that was read"},
		{"gone back and on", same, []int{1, 1, 3, 1}, deltaerr.Unresumable, "another commit stands at version 2 now"},
		{"gone back and on, by as many bytes", later, []int{1, 1, 1}, deltaerr.Unresumable, "another commit stands at version 2 now"},
		{"deleted", same, nil, deltaerr.NotFound, "not a Delta table"},
	} {
		g := newGrowing(same, 3)
		s := g.open(t, latest)
		now := deltatest.New(deltatest.Columns("id long"), c.now)
		for i, n := range c.commit {
			var adds []deltatest.Action
			for j := range n {
				adds = append(adds, add(fmt.Sprintf("g%d", i+j)))
			}
			now.Commit(adds...)
		}
		for path := range g.table.Files() {
			g.memory.Delete(path)
		}
		now.CopyTo(g.memory.PutAt)
		_, lookErr := s.Look(context.Background())
		_, err := s.Refresh(context.Background())
		for _, err := range []error{lookErr, err} {
			wantError(t, err, c.text, "table file:///lake/orders")
			if deltaerr.KindOf(err) != c.kind {
				t.Errorf("%s: want %v, got %v", c.why, c.kind, err)
			}
		}
	}
}

// TestTableThatWasCopiedGoesOn: all files have new times, with and without the commit at hand.
func TestTableThatWasCopiedGoesOn(t *testing.T) {
	for _, kept := range []bool{true, false} {
		g := newGrowing(deltatest.Options{}, 3)
		s := g.open(t, latest)
		if !kept {
			s.kept = nil
		}
		g.table.Commit(add("x"))
		for path, content := range g.table.Files() {
			g.memory.PutAt(path, content, time.Date(2025, 1, 1, 0, 0, 0, 0, time.UTC))
		}
		seen, err := s.Look(context.Background())
		if err != nil || seen.Version != 2 || seen.Latest() != 3 {
			t.Fatalf("want version 2 of 3, got %v, %v", seen, err)
		}
		g.store.requests = nil
		if next := refreshed(t, seen); next.Version != 3 {
			t.Errorf("want version 3, got %d", next.Version)
		}
		g.wantRequests(t, "list "+name(2), "get "+name(3)+".json")
	}
}

// TestTableIDThatChangesInTheLogIsRefused: the new commits say so themselves.
func TestTableIDThatChangesInTheLogIsRefused(t *testing.T) {
	g := newGrowing(deltatest.Options{ID: "one"}, 3)
	s := g.open(t, latest)
	m := g.table.Metadata()
	m.ID = "two"
	g.table.Commit(deltatest.Metadata(m))
	g.publish()
	_, err := s.Refresh(context.Background())
	wantError(t, err, `its id was "one" and is now "two"`, "version 3")
	if deltaerr.KindOf(err) != deltaerr.Replaced {
		t.Errorf("want Replaced, got %v", err)
	}
	for _, err = range s.Commits(context.Background(), 3, 3) {
	}
	wantError(t, err, `its id was "one" and is now "two"`, "version 3")
}

// TestCheckpointThatCannotBeReadIsPassedOverAfterARefresh covers L10: it was not opened when it was chosen.
func TestCheckpointThatCannotBeReadIsPassedOverAfterARefresh(t *testing.T) {
	g := newGrowing(deltatest.Options{}, 3)
	s := g.open(t, latest)
	g.table.Commit(remove("f0"))
	g.table.Checkpoint()
	g.table.Truncate(deltatest.CheckpointPath(3), 20)
	g.table.Commit(add("x"))
	g.publish()
	next := refreshed(t, s)
	for range 2 {
		if got, err := filesOf(next); err != nil || !slices.Equal([]string{"f1", "f2", "x"}, got) {
			t.Errorf("want f1, f2 and x, got %v, %v", got, err)
		}
	}
}

// TestRefreshFailsWhole: whichever request fails, the error is the store's, and the old snapshot goes on.
func TestRefreshFailsWhole(t *testing.T) {
	for n, failed := 1, true; failed; n++ {
		g := newGrowing(deltatest.Options{}, 3)
		s := g.open(t, latest)
		g.table.Commit(add("x"))
		g.table.Commit(add("y"))
		g.publish()
		store := faulty.New(g.store, faulty.FailCall(n, deltaerr.New(deltaerr.Transient, "the store is busy")))
		s.Log.Store = store
		next, err := s.Refresh(context.Background())
		if failed = len(store.Calls()) >= n; !failed {
			break
		}
		if next != nil || !deltaerr.Retryable(err) {
			t.Errorf("call %d: want a transient error alone, got %v, %v", n, next, err)
		}
		if next, err = s.Refresh(context.Background()); err != nil || next.Version != 4 {
			t.Errorf("after call %d: want version 4, got %v, %v", n, next, err)
		}
	}
}

// saidBy is what can be seen of a snapshot.
func saidBy(t *rapid.T, s *Snapshot) string {
	files, err := filesOf(s)
	if err != nil {
		t.Fatalf("version %d: %v", s.Version, err)
	}
	return fmt.Sprintf("%d %v\n%+v\n%+v\n%q", s.Version, s.Timestamp.UTC(), s.Protocol, s.Metadata, files)
}

// TestRefreshEqualsOpening covers L11: from any version, over checkpoints, compactions, and logs that were cleaned.
func TestRefreshEqualsOpening(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newGrowing(deltatest.Options{}, 1)
		live := map[string]action.Add{"f0": file("f0")}
		held := []*Snapshot{g.open(t, latest)}
		for range rapid.IntRange(1, 12).Draw(t, "steps") {
			g.step(t, live)
			want := saidBy(t, g.open(t, latest))
			i := rapid.IntRange(0, len(held)-1).Draw(t, "from")
			next, err := held[i].Refresh(context.Background())
			if err != nil {
				t.Fatalf("from version %d: %v", held[i].Version, err)
			}
			if got := saidBy(t, next); want != got {
				t.Fatalf("from version %d: want %s\ngot %s", held[i].Version, want, got)
			}
			held = append(held, next)
		}
	})
}

// step does what writers do between two looks.
func (g *growing) step(t *rapid.T, live map[string]action.Add) {
	for range rapid.IntRange(0, 3).Draw(t, "commits") {
		lines := drawCommit(t, live)
		if rapid.IntRange(0, 4).Draw(t, "metadata") == 0 {
			m := g.table.Metadata()
			m.Name = fmt.Sprint("since ", g.table.Version()+1)
			lines = append(lines, deltatest.Metadata(m))
		}
		g.table.Commit(lines...)
		if rapid.IntRange(0, 5).Draw(t, "protocol") == 0 {
			g.table.Commit(deltatest.Protocol(action.Protocol{MinReaderVersion: 1, MinWriterVersion: int(g.table.Version()) + 3}))
		}
		if rapid.IntRange(0, 3).Draw(t, "checkpoint") == 0 {
			g.table.Checkpoint()
			if rapid.Bool().Draw(t, "clean") {
				g.clean(rapid.Int64Range(0, g.table.Version()+1).Draw(t, "below"))
			}
		}
	}
	if v := g.table.Version(); v >= 3 && rapid.Bool().Draw(t, "compaction") {
		first := rapid.Int64Range(0, v-2).Draw(t, "first")
		g.table.Put(compactionPath(first, v), compacted(g.table.Files(), first, v))
	}
	g.publish()
}
