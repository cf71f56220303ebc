package deltalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

// textOfCommit is all that a commit says, its place in the log aside.
func textOfCommit(c Commit) string {
	rows := "?"
	if c.Rows != nil {
		rows = fmt.Sprint(*c.Rows)
	}
	text := fmt.Sprintf("%d %s %s %s +%d -%d ~%d rows=%s bytes=%d", c.Version, c.Timestamp.UTC().Format("15:04"), c.Kind, c.Operation,
		c.Adds, c.Removes, c.Changes, rows, c.Bytes)
	for f := range c.Files.All() {
		text += " " + strings.TrimSpace(f.Location.Key()+" "+f.Add.DeletionVector.UniqueID())
	}
	return text
}

func commitsOf(s *Snapshot, from, to int64) (list []string, err error) {
	for c, err := range s.Commits(context.Background(), from, to) {
		if err != nil {
			return list, err
		}
		list = append(list, textOfCommit(c))
	}
	return list, nil
}

func TestCommitsComeAscendingWithWhatTheyDid(t *testing.T) {
	l := logOf(historyTable())
	s, err := l.load(latest)
	if err != nil {
		t.Fatal(err)
	}
	want := []string{
		"0 08:00 metadata CREATE TABLE +0 -0 ~0 rows=0 bytes=0",
		"1 08:01 append WRITE +2 -0 ~0 rows=7 bytes=200 a b",
		"2 08:02 rewrite UPDATE +1 -1 ~1 rows=1 bytes=100 a uv",
		"3 08:03 optimize OPTIMIZE +1 -1 ~0 rows=0 bytes=0",
		"4 08:04 append WRITE +2 -0 ~0 rows=? bytes=200 c d",
		"5 08:05 metadata CREATE TABLE +0 -0 ~0 rows=0 bytes=0",
		"6 08:06 metadata  +0 -0 ~0 rows=0 bytes=0",
	}
	for _, r := range [][2]int64{{0, 6}, {2, 4}, {6, 6}, {4, 3}} {
		var wanted []string
		if r[0] <= r[1] {
			wanted = want[r[0] : r[1]+1]
		}
		if got, err := commitsOf(s, r[0], r[1]); err != nil || !slices.Equal(wanted, got) {
			t.Errorf("want\n%s\ngot\n%s\n%v", strings.Join(wanted, "\n"), strings.Join(got, "\n"), err)
		}
	}
}

// TestKindOfACommitGoesByDataChange: what only arranges rows anew does not count.
func TestKindOfACommitGoesByDataChange(t *testing.T) {
	quiet := func(a action.Add) action.Add { a.DataChange = false; return a }
	for _, c := range []struct {
		want  CommitKind
		lines []deltatest.Action
	}{
		{KindAppend, []deltatest.Action{add("a"), deltatest.Remove(quiet(file("b")))}},
		{KindDelete, []deltatest.Action{deltatest.Add(quiet(file("a"))), remove("b")}},
		{KindRewrite, []deltatest.Action{remove("b"), add("a")}},
		{KindOptimize, []deltatest.Action{deltatest.Remove(quiet(file("b")))}},
		{KindMetadata, []deltatest.Action{deltatest.Txn(action.Txn{AppID: "app"})}},
	} {
		table := newTable()
		table.Commit(c.lines...)
		for got, err := range logOf(table).mustLoad(t).Commits(context.Background(), 0, 0) {
			if err != nil || got.Kind != c.want {
				t.Errorf("want %s, got %s, %v", c.want, got.Kind, err)
			}
		}
	}
}

func (l *testLog) mustLoad(t *testing.T) *Snapshot {
	t.Helper()
	s, err := l.load(latest)
	if err != nil {
		t.Fatal(err)
	}
	l.store.requests = nil
	return s
}

// TestCommitsCostOneRequestEach: what a look has found is not listed again, and what is kept is not read again.
func TestCommitsCostOneRequestEach(t *testing.T) {
	g := newGrowing(deltatest.Options{}, 3)
	s := g.open(t, latest)
	for range 50 {
		g.table.Commit(add(fmt.Sprint("x", g.table.Version())))
	}
	g.publish()
	seen, err := s.Look(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if list, err := commitsOf(seen, 3, seen.Latest()); err != nil || len(list) != 50 {
		t.Errorf("want 50 commits, got %d, %v", len(list), err)
	}
	if got := len(g.store.requests); got != 51 || g.store.count("list") != 1 {
		t.Errorf("want one listing and 50 reads, got %q", g.store.requests)
	}
	g.store.requests = nil
	if list, err := commitsOf(refreshed(t, s), 0, 52); err != nil || len(list) != 53 {
		t.Errorf("want 53 commits, got %d, %v", len(list), err)
	}
	if got := g.store.count("get"); got != 50 || g.store.count("list") != 2 {
		t.Errorf("want each commit read once, got %d in %q", got, g.store.requests)
	}
}

func TestCommitsStopWhenTheConsumerStops(t *testing.T) {
	g := newGrowing(deltatest.Options{}, 200)
	s := g.open(t, 0)
	for c, err := range s.Commits(context.Background(), 1, 199) {
		if err != nil || c.Version != 1 {
			t.Fatalf("got %+v, %v", c, err)
		}
		break
	}
	if got := g.store.count("get"); got > 1+2*defaultWorkers {
		t.Errorf("want no more than what is read ahead, got %d reads", got)
	}
}

// TestCommitOfManyFilesIsPutTogether: it is read in parts.
func TestCommitOfManyFilesIsPutTogether(t *testing.T) {
	table := newTable()
	table.Commit()
	table.Commit(manyAdds(5000)...)
	s := logOf(table).mustLoad(t)
	for c, err := range s.Commits(context.Background(), 1, 1) {
		if err != nil || c.Adds != 5000 || c.Files.Len() != 5000 {
			t.Fatalf("want 5000 files, got %d, %v", c.Adds, err)
		}
		for i := range 4999 {
			if a, b := c.Files.At(i).Add.Path, c.Files.At(i+1).Add.Path; a >= b {
				t.Fatalf("want canonical order, got %s before %s", a, b)
			}
		}
	}
}

// TestCommitThatSaysOneThingTwiceIsRefused covers A5.
func TestCommitThatSaysOneThingTwiceIsRefused(t *testing.T) {
	quiet := file("a")
	quiet.DataChange = false
	for text, lines := range map[string][]deltatest.Action{
		"the commit says twice that a is added":   {add("a"), deltatest.Add(quiet)},
		"the commit says twice that a is removed": {remove("a"), deltatest.Remove(fileWith("a", "v"))},
	} {
		g := newGrowing(deltatest.Options{}, 1)
		g.table.Commit(add("b"))
		g.table.Commit(lines...)
		g.publish()
		list, err := commitsOf(g.open(t, latest), 1, 2)
		wantError(t, err, text, "version 2", commitPath(2))
		if deltaerr.KindOf(err) != deltaerr.Corrupt || len(list) != 1 {
			t.Errorf("want version 1 and a Corrupt error, got %q, %v", list, err)
		}
	}
}

// TestLostCommitsAreNamed covers RV4: what is there before them comes first.
func TestLostCommitsAreNamed(t *testing.T) {
	for _, c := range []struct {
		why              string
		gone             []int64
		from             int64
		before           int
		first, last, nxt int64
		text             string
	}{
		{"cleaned", []int64{0, 1, 2, 3}, 2, 0, 2, 3, 4, "the commits of the versions 2 to 3 are no longer in the log (delta.logRetentionDuration): " +
			"the earliest after it is that of version 4 (versions that can be read: 4 to 8)"},
		{"but for one that was left behind", []int64{1, 2, 3}, 2, 0, 2, 3, 4, "versions 2 to 3"},
		{"one", []int64{0, 1, 2}, 2, 0, 2, 2, 3, "the commit of version 2 is no longer in the log"},
		{"all that are asked for", []int64{0, 1, 2, 3, 4, 5, 6}, 0, 0, 0, 5, 7, "versions 0 to 5"},
	} {
		g := newGrowing(deltatest.Options{}, 5)
		g.table.Checkpoint()
		g.table.Commit()
		g.table.Commit()
		g.table.Checkpoint()
		g.table.Commit()
		g.table.Commit()
		for _, v := range c.gone {
			g.gone = append(g.gone, commitPath(v))
		}
		g.publish()
		list, err := commitsOf(g.open(t, latest), c.from, 5)
		wantError(t, err, c.text, "table file:///lake/orders, version "+itoa(c.first))
		var lost *LostCommits
		if !errors.As(err, &lost) || *lost != (LostCommits{First: c.first, Last: c.last, Next: c.nxt}) || deltaerr.KindOf(err) != deltaerr.Unresumable {
			t.Errorf("%s: want %d to %d lost, got %+v, %v", c.why, c.first, c.last, lost, err)
		}
		if len(list) != c.before {
			t.Errorf("%s: want %d commits before, got %q", c.why, c.before, list)
		}
	}
}

// TestCommitThatIsMissingBehindTheOneBeforeItIsWaitedFor: a listing may show the later of two first.
func TestCommitThatIsMissingBehindTheOneBeforeItIsWaitedFor(t *testing.T) {
	g := newGrowing(deltatest.Options{}, 6)
	g.gone = []string{commitPath(3)}
	g.publish()
	s := g.open(t, 1)
	list, err := commitsOf(s, 2, 5)
	var lost *LostCommits
	if wantError(t, err, "the commit of version 3 cannot be seen"); !deltaerr.Retryable(err) || errors.As(err, &lost) || len(list) != 1 {
		t.Errorf("want version 2 and an error that may pass, got %q, %v", list, err)
	}
	g.gone = nil
	g.publish()
	if list, err = commitsOf(s, 2, 5); err != nil || len(list) != 4 {
		t.Errorf("want what was missing, got %q, %v", list, err)
	}
	for path := range g.table.Files() {
		g.memory.Delete(path)
	}
	_, err = commitsOf(s, 2, 5)
	if wantError(t, err, "not a Delta table"); errors.As(err, &lost) {
		t.Errorf("want nothing lost where nothing is seen, got %v", err)
	}
}

// TestCommitsThatAreCleanedAwayWhileTheyAreReadAreNamed: they were listed.
func TestCommitsThatAreCleanedAwayWhileTheyAreReadAreNamed(t *testing.T) {
	g := newGrowing(deltatest.Options{}, 5)
	s := g.open(t, 0)
	g.table.Checkpoint()
	g.clean(3)
	_, err := commitsOf(s, 1, 4)
	wantError(t, err, "the commits of the versions 1 to 2 are no longer in the log", "that of version 3")
}

func TestRangeOutsideTheLogIsRefused(t *testing.T) {
	s := newGrowing(deltatest.Options{}, 3).open(t, latest)
	_, err := commitsOf(s, 1, 7)
	wantError(t, err, "version 7 does not exist: the latest version is 2")
	if deltaerr.KindOf(err) != deltaerr.NotFound {
		t.Errorf("want NotFound, got %v", err)
	}
	_, err = commitsOf(s, 5, 7)
	wantError(t, err, "version 7 does not exist: the latest version is 2")
	_, err = commitsOf(s, -1, 2)
	wantError(t, err, "version -1 does not exist")
}

// named is a table whose name tells the version that set it: 0, 2, 5.
func named() *growing {
	g := newGrowing(deltatest.Options{Name: "0"}, 2)
	rename := func() {
		m := g.table.Metadata()
		m.Name = itoa(g.table.Version() + 1)
		g.table.Commit(deltatest.Metadata(m), deltatest.Protocol(action.Protocol{MinReaderVersion: 1, MinWriterVersion: int(g.table.Version()) + 3}))
	}
	rename()
	g.table.Commit()
	g.table.Commit()
	rename()
	g.table.Commit()
	g.table.Checkpoint()
	g.table.Commit()
	g.publish()
	return g
}

// TestCommitsHaveTheSchemaOfTheirVersion covers T8, and where it comes from when the log was cleaned: the first version
// that can be rebuilt, until a commit brings another one.
func TestCommitsHaveTheSchemaOfTheirVersion(t *testing.T) {
	for _, c := range []struct {
		why    string
		opened int64
		below  int64 // what was cleaned
		from   int64
		want   string
	}{
		{"from the beginning", latest, 0, 0, "0* 0 2* 2 2 5* 5 5"},
		{"after the version", 2, 0, 3, "2 2 5* 5 5"},
		{"the version itself", 2, 0, 2, "2* 2 2 5* 5 5"},
		{"of older versions", latest, 0, 1, "0 2* 2 2 5* 5 5"},
		{"of versions between", 0, 0, 4, "2 5* 5 5"},
		{"that can no longer be rebuilt", latest, 1, 1, "5 2* 2 2 5* 5 5"},
		{"that can no longer be rebuilt, nor carry theirs", latest, 3, 3, "5 5 5* 5 5"},
		{"of the checkpoint", latest, 6, 6, "5 5"},
	} {
		g := named()
		s := g.open(t, c.opened)
		g.clean(c.below)
		var got []string
		for c, err := range s.Commits(context.Background(), c.from, 7) {
			if err != nil {
				t.Fatal(err)
			}
			text := c.Metadata.Name
			if c.MetadataChanged {
				text += "*"
			}
			got = append(got, text)
			if at := s.At(c); at.Metadata.Name != c.Metadata.Name || at.Protocol.MinWriterVersion != c.Protocol.MinWriterVersion {
				t.Errorf("%s: the snapshot of version %d has another schema than its commit", c.Metadata.Name, c.Version)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: want %s, got %s", c.why, c.want, strings.Join(got, " "))
		}
	}
}

// TestCommitsHaveInCommitTimestamps covers T3 and T4.
func TestCommitsHaveInCommitTimestamps(t *testing.T) {
	for _, since := range []int{0, 3} {
		l := timed(6, since)
		version := 0
		for c, err := range l.mustLoad(t).Commits(context.Background(), 0, 5) {
			if err != nil || !c.Timestamp.Equal(after(version)) {
				t.Errorf("version %d: want %v, got %v, %v", version, after(version), c.Timestamp, err)
			}
			version++
		}
		l.memory.PutAt(commitPath(4), []byte(addLine("a")), start)
		list, err := commitsOf(l.mustLoad(t), 2, 5)
		wantError(t, err, "version 4, file _delta_log/00000000000000000004.json", "the first action is no commitInfo")
		if len(list) != 2 {
			t.Errorf("want the versions before it, got %q", list)
		}
	}
}

func TestCommitsNameABrokenOne(t *testing.T) {
	table := historyTable()
	table.Truncate(commitPath(4), -10)
	l := logOf(table)
	s, err := l.load(3)
	if err != nil {
		t.Fatal(err)
	}
	list, err := commitsOf(s, 0, 6)
	wantError(t, err, "_delta_log/00000000000000000004.json", "reading the commit", "is cut")
	if len(list) != 4 {
		t.Errorf("want the versions before it, got %q", list)
	}
}

// TestCommitsAreTheSameFromAnywhere: whichever version is open and wherever they begin; and each leads to the version that
// opening it gives.
func TestCommitsAreTheSameFromAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		g := newGrowing(deltatest.Options{}, 1)
		live := map[string]action.Add{"f0": file("f0")}
		for range rapid.IntRange(1, 5).Draw(t, "steps") {
			g.step(t, live)
		}
		top := g.open(t, latest)
		first := int64(0)
		for _, err := top.Log.Store.Stat(context.Background(), commitPath(first)); err != nil && first <= top.Version; first++ {
			_, err = top.Log.Store.Stat(context.Background(), commitPath(first+1))
		}
		if first > top.Version {
			return
		}
		want, err := commitsOf(top, first, top.Version)
		if err != nil || int64(len(want)) != top.Version-first+1 {
			t.Fatalf("from version %d to %d: got %q, %v", first, top.Version, want, err)
		}
		from := rapid.Int64Range(first, top.Version).Draw(t, "from")
		opened, err := g.load(rapid.Int64Range(0, top.Version).Draw(t, "opened"))
		if err != nil {
			opened = top
		}
		i := from - first
		for c, err := range opened.Commits(context.Background(), from, top.Version) {
			if err != nil || textOfCommit(c) != want[i] {
				t.Fatalf("want %s, got %s, %v", want[i], textOfCommit(c), err)
			}
			i++
			if alone, err := g.load(c.Version); err == nil && saidBy(t, alone) != saidBy(t, opened.At(c)) {
				t.Fatalf("want %s\ngot %s", saidBy(t, alone), saidBy(t, opened.At(c)))
			}
		}
		if i != int64(len(want)) {
			t.Fatalf("want all %d commits, got %d", len(want), i)
		}
	})
}
