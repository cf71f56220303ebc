package deltacore_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// following is a table that grows while it is read.
type following struct {
	table *deltatest.Table
	store *storage.Memory
}

func newFollowing(t *testing.T) (*following, *deltacore.Table) {
	t.Helper()
	f := &following{deltatest.New(idColumn, deltatest.Options{}), storage.NewMemory()}
	f.append(0, 3)
	f.publish()
	mem := memory.NewCheckedAllocator(deltatest.Overwriting{Allocator: memory.NewGoAllocator()})
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	table, err := deltacore.Open(t.Context(), at, deltacore.Options{Store: f.store, Allocator: mem})
	if err != nil {
		t.Fatal(err)
	}
	return f, table
}

func (f *following) append(first, n int) []action.Add {
	return f.table.Append(deltatest.Rows(idColumn, numbers(first, n)...))
}

func (f *following) publish() { f.table.CopyTo(f.store.PutAt) }

func rowsOfScan(t *testing.T, scan *deltacore.Scan, err error) []string {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	rows, err := encodeRows(t.Context(), scan)
	if err != nil {
		t.Fatal(err)
	}
	return rows
}

// TestRefreshedTableReadsTheNewestVersion, and the old one still reads its own.
func TestRefreshedTableReadsTheNewestVersion(t *testing.T) {
	f, old := newFollowing(t)
	before := old.Usage().Total().Requests
	if same, err := old.Refresh(t.Context()); err != nil || same != old {
		t.Fatalf("want the same table, got %v, %v", same, err)
	}
	if n := old.Usage().Total().Requests - before; n != 1 {
		t.Errorf("want one request, got %d", n)
	}
	f.append(3, 2)
	f.publish()
	table, err := old.Refresh(t.Context())
	if err != nil || table.Version() != 1 || old.Version() != 0 {
		t.Fatalf("want version 1 beside 0, got %v, %v", table, err)
	}
	for from, want := range map[*deltacore.Table][]string{old: numbers(0, 3), table: numbers(0, 5)} {
		scan, err := from.Scan(t.Context(), deltacore.ScanOptions{})
		if got := rowsOfScan(t, scan, err); !slices.Equal(want, got) {
			t.Errorf("want %v, got %v", want, got)
		}
	}
	if again, err := table.At(t.Context(), 0); err != nil || again.Version() != 0 {
		t.Errorf("want version 0, got %v, %v", again, err)
	}
	if again, err := table.At(t.Context(), 1); err != nil || again != table {
		t.Errorf("want the same table, got %v, %v", again, err)
	}
}

// TestFollowingReadsEachCommitWithItsSchema covers SS1, SS5 and T8 as a follower goes about it: a look, the commits it has
// found, the rows of each, and on from there.
func TestFollowingReadsEachCommitWithItsSchema(t *testing.T) {
	f, table := newFollowing(t)
	f.append(3, 2)
	m := f.table.Metadata()
	wider := deltatest.Columns("id long", "added string")
	m.SchemaString = deltatest.SchemaString(wider)
	f.table.Commit(deltatest.Metadata(m))
	adds := f.table.WriteFiles(deltatest.Rows(wider, `{"id":9,"added":"x"}`))
	f.table.Commit(deltatest.Add(adds[0]))
	f.publish()
	table, err := table.Look(t.Context())
	if err != nil || table.Version() != 0 || table.Latest() != 3 || len(table.Ahead()) != 3 {
		t.Fatalf("want version 0 of 3, got %v, %v", table, err)
	}
	before := table.Usage()
	var got []string
	for c, err := range table.Commits(t.Context(), 1, 3) {
		if err != nil {
			t.Fatal(err)
		}
		scan, err := table.ScanCommit(t.Context(), c, deltacore.ScanOptions{})
		for _, row := range rowsOfScan(t, scan, err) {
			got = append(got, fmt.Sprintf("%d %s", c.Version, row))
		}
		table = table.AtCommit(c)
	}
	want := []string{`1 {"id":3}`, `1 {"id":4}`, `3 {"id":9,"added":"x"}`}
	if !slices.Equal(want, got) {
		t.Errorf("want\n%s\ngot\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
	}
	if u := table.Usage(); u.List != before.List || u.Get.Requests-before.Get.Requests != 3 {
		t.Errorf("want one request a commit, got %+v after %+v", u, before)
	}
	if same, err := table.Look(t.Context()); err != nil || same != table || table.Version() != 3 {
		t.Errorf("want nothing new after version 3, got %v, %v", same, err)
	}
	scan, err := table.Scan(t.Context(), deltacore.ScanOptions{})
	if rows := rowsOfScan(t, scan, err); len(rows) != 6 {
		t.Errorf("want all rows of version 3, got %v", rows)
	}
}

// TestCommitIsResumedAtTheExactRow: at every row of two files.
func TestCommitIsResumedAtTheExactRow(t *testing.T) {
	f, table := newFollowing(t)
	adds := slices.Concat(
		f.table.WriteFiles(deltatest.Rows(idColumn, numbers(10, 3)...)),
		f.table.WriteFiles(deltatest.Rows(idColumn, numbers(20, 3)...)))
	f.table.Commit(deltatest.Add(adds[0]), deltatest.Add(adds[1]))
	f.publish()
	for c, err := range table.Commits(t.Context(), 1, 1) {
		if err != nil {
			t.Fatal(err)
		}
		whole, err := table.ScanCommit(t.Context(), c, deltacore.ScanOptions{})
		want := rowsOfScan(t, whole, err)
		if len(want) != 6 || whole.Files() != 2 {
			t.Fatalf("want 6 rows of 2 files, got %v", want)
		}
		i := 0
		for task := range whole.Tasks() {
			for row := range int64(3) {
				scan, err := table.ScanCommit(t.Context(), c, deltacore.ScanOptions{From: &task.Key, FromRow: row})
				if got := rowsOfScan(t, scan, err); !slices.Equal(want[i:], got) {
					t.Errorf("from row %d of %s: want %v, got %v", row, task.File, want[i:], got)
				}
				i++
			}
		}
	}
}

// TestCommitThatCannotBeReadNamesItsVersion: its protocol is its own, and it is judged before a file is opened.
func TestCommitThatCannotBeReadNamesItsVersion(t *testing.T) {
	f, table := newFollowing(t)
	f.table.Commit(deltatest.Protocol(deltatest.Features("quantumPages")))
	f.append(3, 1)
	f.publish()
	for c, err := range table.Commits(t.Context(), 2, 2) {
		if err != nil {
			t.Fatal(err)
		}
		_, err = table.ScanCommit(t.Context(), c, deltacore.ScanOptions{})
		if deltaerr.KindOf(err) != deltaerr.Unsupported || !strings.Contains(err.Error(), "version 2") || !strings.Contains(err.Error(), "quantumPages") {
			t.Errorf("want version and feature named, got %v", err)
		}
	}
}

func TestTableIsOpenedFromATime(t *testing.T) {
	f, _ := newFollowing(t)
	f.append(3, 1)
	f.append(4, 1)
	f.publish()
	o := deltacore.Options{Store: f.store}
	for _, c := range []struct {
		at             time.Time
		version, table int64
		found          bool
	}{
		{f.table.CommitTime(0).AddDate(-1, 0, 0), 0, 0, true},
		{f.table.CommitTime(1), 1, 1, true},
		{f.table.CommitTime(1).Add(1), 2, 2, true},
		{f.table.CommitTime(2).Add(1), 3, 2, false},
	} {
		s, err := deltacore.OpenFrom(t.Context(), at, c.at, o)
		if err != nil || s.Found != c.found || s.Version != c.version || s.Table.Version() != c.table || s.Table.Latest() != 2 {
			t.Errorf("from %v: want %+v, got %+v, %v", c.at, c, s, err)
		}
	}
	o.Store = storage.NewMemory()
	if s, err := deltacore.OpenFrom(t.Context(), at, time.Now(), o); err == nil || s.Table != nil || !strings.Contains(err.Error(), "table ") {
		t.Errorf("want an error that names the table, got %+v, %v", s, err)
	}
}
