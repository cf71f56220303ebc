package deltalog

import (
	"context"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

func openFrom(t *testing.T, l *testLog, at time.Time) Start {
	t.Helper()
	l.store.requests = nil
	s, err := l.OpenFrom(context.Background(), at)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestVersionIsOpenedFromATime covers T6: what is opened is what its number opens, and knows what comes after it.
func TestVersionIsOpenedFromATime(t *testing.T) {
	const n = 7
	for name, l := range map[string]*testLog{"by files": timed(n, n), "from the start": timed(n, 0), "midway": timed(n, 3)} {
		for version := range int64(n + 1) {
			s, top := openFrom(t, l, after(int(version))), min(version, n-1)
			want, err := l.load(top)
			if err != nil {
				t.Fatal(err)
			}
			files, err := filesOf(s.Snapshot)
			same, _ := filesOf(want)
			if err != nil || s.Version != version || s.Found != (version < n) || s.Snapshot.Version != top || s.Snapshot.Latest() != n-1 ||
				!s.Snapshot.Timestamp.Equal(want.Timestamp) || s.Snapshot.Metadata.ID != want.Metadata.ID || !slices.Equal(same, files) {
				t.Errorf("%s: from the time of version %d: got version %d, %v, %+v", name, version, s.Version, s.Found, s.Snapshot)
			}
		}
	}
}

// TestOpeningFromATimeReadsNoCheckpointTwice, and one alone where files tell the time.
func TestOpeningFromATimeReadsNoCheckpointTwice(t *testing.T) {
	for name, most := range map[string]int{"files": 1, "commits": 2} {
		configuration := map[string]string{}
		if name == "commits" {
			configuration[inCommitEnabled] = "true"
		}
		table := deltatest.New(deltatest.Columns("id long"), deltatest.Options{Protocol: withTime, Configuration: configuration})
		for range 30 {
			if table.Commit(add("f" + itoa(table.Version()+1))); table.Version()%10 == 9 {
				table.Checkpoint()
			}
		}
		table.Commit(add("last"))
		l := logOf(table)
		for version, checkpoints := range map[int]int{3: most - 1, 15: most, 29: 1, 30: 1} {
			s := openFrom(t, l, after(version))
			got := 0
			for _, r := range l.store.requests {
				if strings.HasPrefix(r, "get") && strings.HasSuffix(r, ".checkpoint.parquet") {
					got++
				}
			}
			if s.Version != int64(version) || got != checkpoints {
				t.Errorf("%s: from version %d: want %d checkpoints read, got %d: %q", name, version, checkpoints, got, l.store.requests)
			}
		}
	}
}

// TestStartThatCannotBeRebuiltIsReadFromTheLatest: its commit is there.
func TestStartThatCannotBeRebuiltIsReadFromTheLatest(t *testing.T) {
	table := newTable()
	for range 6 {
		table.Commit()
	}
	table.Checkpoint()
	table.Commit()
	l := logOf(table)
	l.memory.Delete(commitPath(0))
	if s := openFrom(t, l, after(3)); s.Version != 3 || !s.Found || s.Snapshot.Version != 6 {
		t.Errorf("want version 3 and the latest opened, got %+v", s)
	}
	_, err := newLog(nil).OpenFrom(context.Background(), after(3))
	if wantError(t, err, "not a Delta table", "table file:///lake/orders"); deltaerr.KindOf(err) != deltaerr.NotFound {
		t.Errorf("want NotFound, got %v", err)
	}
}
