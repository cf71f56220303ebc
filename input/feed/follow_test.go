package feed

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

var idColumn = deltatest.Columns("id long")

// grower is a table that grows while it is followed. Its ids ascend.
type grower struct {
	*deltatest.Table
	store *storage.Memory
	next  int
}

// newGrower returns a table with version 0 of the rows 0, 1 and 2.
func newGrower() *grower {
	g := &grower{Table: deltatest.New(idColumn, deltatest.Options{}), store: storage.NewMemory()}
	g.append(3)
	return g
}

func (g *grower) rows(n int) []string {
	var out []string
	for range n {
		out = append(out, fmt.Sprintf(`{"id": %d}`, g.next))
		g.next++
	}
	return out
}

// append commits one file for each number, of so many rows.
func (g *grower) append(files ...int) (adds []action.Add) {
	for _, n := range files {
		adds = append(adds, g.WriteFiles(deltatest.Rows(idColumn, g.rows(n)...))...)
	}
	var actions []deltatest.Action
	for _, a := range adds {
		actions = append(actions, deltatest.Add(a))
	}
	g.Commit(actions...)
	g.publish()
	return adds
}

// optimize commits all files once more, as one of the same rows.
func (g *grower) optimize() {
	var actions []deltatest.Action
	for _, a := range g.Active() {
		a.DataChange = false
		actions = append(actions, deltatest.Remove(a))
		a.Path = "again-" + a.Path
		actions = append(actions, deltatest.Add(a))
	}
	for name, content := range g.Files() {
		if strings.HasSuffix(name, ".parquet") {
			g.Put("again-"+name, content)
		}
	}
	g.Commit(actions...)
	g.publish()
}

func (g *grower) overwrite(n int) {
	g.rewrite(n)
	g.publish()
}

// rewrite commits rows in place of all files.
func (g *grower) rewrite(n int) {
	old := g.Active()
	for i := range old {
		old[i].DataChange = true // also where OPTIMIZE wrote it
	}
	g.Replace(old, deltatest.Rows(idColumn, g.rows(n)...))
}

func (g *grower) deleteFirst() {
	a := g.Active()[0]
	a.DataChange = true // also where OPTIMIZE wrote it
	g.Delete(a)
	g.publish()
}

// describe changes nothing but a property.
func (g *grower) describe() {
	m := g.Metadata()
	m.Configuration["comment"] = fmt.Sprint(g.Version())
	g.Commit(deltatest.Metadata(m))
	g.publish()
}

func (g *grower) setColumns(fields ...string) {
	m := g.Metadata()
	m.SchemaString = deltatest.SchemaString(deltatest.Columns(fields...))
	g.Commit(deltatest.Metadata(m))
	g.publish()
}

func (g *grower) publish() { g.CopyTo(g.store.PutAt) }

// followed is a source in a test.
type followed struct {
	Source
	t *testing.T
}

func follow(t *testing.T, g *grower, c Config) *followed {
	t.Helper()
	s, err := tryFollow(t, g, c)
	check(t, err)
	return s
}

func tryFollow(t *testing.T, g *grower, c Config) (*followed, error) {
	t.Helper()
	mem := memory.NewCheckedAllocator(deltatest.Overwriting{Allocator: memory.DefaultAllocator})
	c.URI, c.Open.Allocator = uri, mem
	if c.Open.Store == nil {
		c.Open.Store = g.store
	}
	if c.Follow.Mode == "" {
		c.Follow.Mode = Append
	}
	s, err := Open(t.Context(), c)
	if err != nil {
		return nil, err
	}
	t.Cleanup(func() {
		check(t, s.Close())
		mem.AssertSize(t, 0)
	})
	return &followed{s, t}, nil
}

// upToNow describes all events up to the one that says that the source caught up, or the error that ends it.
func (f *followed) upToNow() []string {
	f.t.Helper()
	var out []string
	for {
		e, err := f.Next(f.t.Context())
		if err != nil {
			return append(out, err.Error())
		}
		out = append(out, retell(e))
		if _, end := e.(CaughtUp); end {
			return out
		}
	}
}

func (f *followed) refreshed() []string {
	f.t.Helper()
	check(f.t, f.Refresh(f.t.Context()))
	return f.upToNow()
}

// retell describes an event with the version and phase it is in, and releases it.
func retell(e Event) string {
	switch e := e.(type) {
	case Planned:
		return fmt.Sprintf("planned %d files of %s %d", e.Files, e.Position.Phase, e.Position.Version)
	case Rows:
		defer e.Record.Release()
		ids := e.Record.Column(0).(*array.Int64)
		text := fmt.Sprintf("%s %d-%d of %s %d", e.Operation, ids.Value(0), ids.Value(ids.Len()-1), e.Position.Phase, e.Version)
		if e.First || e.Last {
			text += fmt.Sprintf(" first=%v last=%v", e.First, e.Last)
		}
		return text
	case Progress:
		return fmt.Sprintf("%s of %s %d", at(e.Position), e.Position.Phase, e.Position.Version)
	case Skipped:
		rows := int64(-1)
		if e.Rows != nil {
			rows = *e.Rows
		}
		return fmt.Sprintf("skipped %s %s of %d: %d files, %d rows", e.Reason, e.Operation, e.Version, e.Files, rows)
	case SchemaChanged:
		return fmt.Sprintf("schema of %d: %s", e.Version, e.Changes)
	case CaughtUp:
		return fmt.Sprintf("caught up with %d of %d", e.Version, e.Latest)
	default:
		return fmt.Sprintf("%T", e)
	}
}

func TestAppendReadsTheSnapshotThenEachCommit(t *testing.T) {
	g := newGrower()
	g.append(3)
	s := follow(t, g, Config{})
	want(t, []string{
		"planned 2 files of snapshot 1", "read 0-2 of snapshot 1", "read 3-5 of snapshot 1",
		"version done of snapshot 1", "caught up with 1 of 1",
	}, s.upToNow())
	g.append(1)
	g.optimize()
	g.describe()
	g.append(2)
	want(t, []string{
		"insert 6-6 of tail 2", "version done of tail 2", "version done of tail 3", "version done of tail 4",
		"insert 7-8 of tail 5", "version done of tail 5", "caught up with 5 of 5",
	}, s.refreshed())
}

// TestStartIsWhatTheConfigurationSays covers SS1 to SS3 and the ends.
func TestStartIsWhatTheConfigurationSays(t *testing.T) {
	g := newGrower()
	g.append(1)
	g.append(1)
	version := func(v int64) *int64 { return &v }
	time1 := g.CommitTime(1)
	later := g.CommitTime(1).Add(time.Second)
	past := g.CommitTime(9)
	for name, tt := range map[string]struct {
		follow Follow
		want   []string
	}{
		"no snapshot":             {Follow{SkipSnapshot: true, UntilCaughtUp: true}, []string{"planned 0 files of tail 2", "caught up with 2 of 2", "EOF"}},
		"from a commit":           {Follow{StartVersion: version(2), UntilCaughtUp: true}, []string{"planned 0 files of tail 2", "insert 4-4 of tail 2", "version done of tail 2", "caught up with 2 of 2", "EOF"}},
		"from the first commit":   {Follow{StartVersion: version(0), EndVersion: version(0)}, []string{"planned 0 files of tail 0", "insert 0-2 of tail 0", "version done of tail 0", "caught up with 0 of 2", "EOF"}},
		"from a later commit":     {Follow{StartVersion: version(3), UntilCaughtUp: true}, []string{"planned 0 files of tail 3", "caught up with 2 of 2", "EOF"}},
		"at a time":               {Follow{StartTimestamp: &time1, EndVersion: version(1)}, []string{"planned 0 files of tail 1", "insert 3-3 of tail 1", "version done of tail 1", "caught up with 1 of 2", "EOF"}},
		"between times":           {Follow{StartTimestamp: &later, UntilCaughtUp: true}, []string{"planned 0 files of tail 2", "insert 4-4 of tail 2", "version done of tail 2", "caught up with 2 of 2", "EOF"}},
		"after all times":         {Follow{StartTimestamp: &past, UntilCaughtUp: true}, []string{"planned 0 files of tail 3", "caught up with 2 of 2", "EOF"}},
		"a snapshot that is last": {Follow{EndVersion: version(0)}, []string{"planned 1 files of snapshot 0", "read 0-2 of snapshot 0", "version done of snapshot 0", "caught up with 0 of 2", "EOF"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := follow(t, g, Config{Follow: tt.follow})
			got := append(s.upToNow(), s.upToNow()...)
			want(t, tt.want, got)
		})
	}
}

// TestTimeAfterTheLastCommitPassesOverTheCommitsBeforeIt, also after a restart.
func TestTimeAfterTheLastCommitPassesOverTheCommitsBeforeIt(t *testing.T) {
	g := newGrower()
	begin := g.CommitTime(3)
	c := Config{Follow: Follow{StartTimestamp: &begin}}
	s := follow(t, g, c)
	want(t, []string{"planned 0 files of tail 1", "caught up with 0 of 0"}, s.upToNow())
	g.append(1)
	check(t, s.Refresh(t.Context()))
	e, err := s.Next(t.Context())
	check(t, err)
	passed := e.(Progress)
	want(t, []string{"version done of tail 1"}, []string{retell(passed)})
	g.append(1)
	g.append(1)
	c.Resume = &passed.Position
	for _, s := range []*followed{s, follow(t, g, c)} {
		check(t, s.Refresh(t.Context()))
		got := s.upToNow()
		want(t, []string{"insert 5-5 of tail 3", "version done of tail 3", "caught up with 3 of 3"}, got[len(got)-3:])
	}
}

func TestEndVersionIsWaitedFor(t *testing.T) {
	g := newGrower()
	end := int64(2)
	s := follow(t, g, Config{Follow: Follow{EndVersion: &end}})
	want(t, []string{
		"planned 1 files of snapshot 0", "read 0-2 of snapshot 0", "version done of snapshot 0", "caught up with 0 of 0",
	}, s.upToNow())
	for range 3 {
		g.append(1)
	}
	want(t, []string{
		"insert 3-3 of tail 1", "version done of tail 1", "insert 4-4 of tail 2", "version done of tail 2", "caught up with 2 of 3",
	}, s.refreshed())
	if _, err := s.Next(t.Context()); !errors.Is(err, io.EOF) {
		t.Errorf("want the end, got %v", err)
	}
}

func TestCommitsThatRemoveRowsFollowThePolicy(t *testing.T) {
	g := newGrower()
	g.append(1)
	g.overwrite(2)
	g.append(1)
	g.deleteFirst()
	start := int64(1)
	for name, tt := range map[string]struct {
		rewrite, remove Policy
		want            []string
	}{
		"fail": {Fail, Fail, []string{
			"planned 0 files of tail 1", "insert 3-3 of tail 1", "version done of tail 1",
			"table file:///tables/feed, version 2: following the appended rows: the commit (UPDATE) changes or replaces rows: " +
				"it removed 2 files and added 1 file with 2 rows (set on_rewrite to skip, which leaves out the whole commit, or to " +
				"emit, which hands out the rows of its new files, those that were there before once more)",
		}},
		"skip": {Skip, Skip, []string{
			"planned 0 files of tail 1", "insert 3-3 of tail 1", "version done of tail 1",
			"skipped rewrite UPDATE of 2: 1 files, 2 rows", "version done of tail 2", "insert 6-6 of tail 3",
			"version done of tail 3", "skipped delete DELETE of 4: 1 files, -1 rows", "version done of tail 4", "caught up with 4 of 4",
		}},
		"emit, and fail on deletes": {Emit, Fail, []string{
			"planned 0 files of tail 1", "insert 3-3 of tail 1", "version done of tail 1", "insert 4-5 of tail 2",
			"version done of tail 2", "insert 6-6 of tail 3", "version done of tail 3",
			"table file:///tables/feed, version 4: following the appended rows: the commit (DELETE) deletes rows: it removed 1 file and " +
				"added 0 files with 0 rows (set on_delete to skip, which leaves them where they were sent to)",
		}},
	} {
		t.Run(name, func(t *testing.T) {
			s := follow(t, g, Config{Follow: Follow{StartVersion: &start, OnRewrite: tt.rewrite, OnDelete: tt.remove}})
			want(t, tt.want, s.upToNow())
		})
	}
}

func TestReloadReadsTheNewestVersionWholeAtEachLook(t *testing.T) {
	g := newGrower()
	s := follow(t, g, Config{Follow: Follow{Mode: Reload}, Scan: deltacore.ScanOptions{BatchRows: 2}})
	want(t, []string{
		"planned 1 files of snapshot 0", "read 0-1 of snapshot 0 first=true last=false", "read 2-2 of snapshot 0 first=false last=true",
		"version done of snapshot 0", "caught up with 0 of 0",
	}, s.upToNow())
	g.append(1)
	g.overwrite(1)
	want(t, []string{
		"planned 1 files of snapshot 2", "read 4-4 of snapshot 2 first=true last=true", "version done of snapshot 2", "caught up with 2 of 2",
	}, s.refreshed())
	g.optimize()
	g.describe()
	want(t, []string{"version done of snapshot 4", "caught up with 4 of 4"}, s.refreshed())
	g.deleteFirst()
	want(t, []string{"planned 0 files of snapshot 5", "version done of snapshot 5", "caught up with 5 of 5"}, s.refreshed())
}

func TestNextWaitsForNews(t *testing.T) {
	g := newGrower()
	s := follow(t, g, Config{})
	s.upToNow()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if _, err := s.Next(ctx); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("want Next to wait, got %v", err)
	}
	got := make(chan string)
	go func() {
		e, err := s.Next(context.Background())
		if err != nil {
			got <- err.Error()
			return
		}
		got <- retell(e)
	}()
	check(t, s.Refresh(t.Context())) // nothing new
	select {
	case e := <-got:
		t.Fatalf("want Next to wait, got %s", e)
	case <-time.After(10 * time.Millisecond):
	}
	g.append(1)
	check(t, s.Refresh(t.Context()))
	if e := <-got; e != "insert 3-3 of tail 1" {
		t.Errorf("want the new row, got %s", e)
	}
}

func TestSchemaChangesFollowThePolicy(t *testing.T) {
	g := newGrower()
	g.setColumns("id long", "added string")
	g.setColumns("added string")
	for name, tt := range map[string]struct {
		policy  Policy
		columns []string
		want    []string
	}{
		"fail": {Fail, nil, []string{"table file:///tables/feed, version 1: the columns have changed: added is new " +
			"(set on_schema_change to additive or any, or name the columns that are to be read)"}},
		"additive": {Additive, nil, []string{
			"schema of 1: added is new", "version done of tail 1", "table file:///tables/feed, version 2: the columns have changed: id is gone " +
				"(set on_schema_change to any, or name the columns that are to be read)",
		}},
		"any": {Any, nil, []string{
			"schema of 1: added is new", "version done of tail 1", "schema of 2: id is gone", "version done of tail 2", "caught up with 2 of 2",
		}},
		"another column": {Fail, []string{"id"}, []string{"version done of tail 1", "table file:///tables/feed, version 2: the table has no column \"id\""}},
	} {
		t.Run(name, func(t *testing.T) {
			start := Position{TableID: g.Metadata().ID, Phase: PhaseSnapshot, Part: PartAdd, Row: -1, Done: true, FileDone: true, SchemaHash: "x"}
			s := follow(t, g, Config{Resume: &start, Scan: deltacore.ScanOptions{Columns: tt.columns}, Follow: Follow{OnSchemaChange: tt.policy}})
			got := s.upToNow()[1:]
			last := len(tt.want) - 1
			if len(got) != len(tt.want) || !slices.Equal(tt.want[:last], got[:last]) || !strings.HasPrefix(got[last], tt.want[last]) {
				t.Fatalf("want\n%s\ngot\n%s", strings.Join(tt.want, "\n"), strings.Join(got, "\n"))
			}
			if tt.policy != Fail {
				return
			}
			if _, err := s.Next(t.Context()); deltaerr.KindOf(err) != deltaerr.Config {
				t.Errorf("want the error again, got %v", err)
			}
		})
	}
}

// TestLagKnowsWhatIsLeftBeforeItIsRead, also behind a position inside a version.
func TestLagKnowsWhatIsLeftBeforeItIsRead(t *testing.T) {
	g := newGrower()
	g.append(2, 2, 2)
	bytes := int64(0)
	for _, a := range g.Active() {
		bytes += a.Size
	}
	s := follow(t, g, Config{})
	if l := s.Source.(Behind).Lag(); l.Files != 4 || l.Bytes != bytes || l.Version != 0 || l.Latest != 1 {
		t.Errorf("want 4 files of %d bytes left before version 1 is read, got %+v", bytes, l)
	}
	var behind Position
	for range 3 { // planned, two files
		e, err := s.Next(t.Context())
		check(t, err)
		if p, moved := positionOf(e); moved {
			behind = p
		}
		retell(e)
	}
	resumed := follow(t, g, Config{Resume: &behind})
	want, got := s.Source.(Behind).Lag(), resumed.Source.(Behind).Lag()
	if got.Files != 2 || want != got {
		t.Errorf("want two files left as before the restart, %+v, got %+v", want, got)
	}
}
