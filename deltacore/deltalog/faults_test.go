package deltalog

import (
	"context"
	"errors"
	"io/fs"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/deltacore/storage/faulty"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// TestAnyFailingCallEndsInTheRightFilesOrAClassifiedError makes each storage call fail in turn, in each way.
func TestAnyFailingCallEndsInTheRightFilesOrAClassifiedError(t *testing.T) {
	table := newTable()
	table.Commit(manyAdds(30)...)
	table.Checkpoint()
	table.Commit(remove("f1"))
	table.CheckpointParts(2)
	table.Commit(remove("f2"))
	table.Commit(add("g"))
	spared := longTail()
	spared.Put(checksumPath(99), checksumOf(spared, "the last", 0))
	spared.Put(compactionPath(3, 70), compacted(spared.Files(), 3, 70))
	for name, failure := range map[string]error{
		"busy":     deltaerr.New(deltaerr.Transient, "busy"),
		"refused":  fs.ErrPermission,
		"vanished": fs.ErrNotExist,
	} {
		failEachCall(t, name, table, failure)
		failEachCall(t, name+" with checksum and compaction", spared, failure)
	}
}

func failEachCall(t *testing.T, name string, table *deltatest.Table, failure error) {
	t.Helper()
	want, err := newLog(table.Files()).files(latest)
	if err != nil {
		t.Fatal(err)
	}
	for n := 1; ; n++ {
		l := newLog(table.Files())
		store := faulty.New(l.store, faulty.FailCall(n, failure))
		l.Store = store
		got, err := l.files(latest)
		if err == nil && !slices.Equal(want, got) {
			t.Errorf("%s at call %d: want %v, got %v", name, n, want, got)
		}
		if err != nil && deltaerr.KindOf(err) != deltaerr.KindOf(failure) {
			t.Errorf("%s at call %d: want %v, got %v", name, n, deltaerr.KindOf(failure), err)
		}
		if len(store.Calls()) < n {
			return
		}
	}
}

// TestCancelledReadLeavesNothingRunning cancels while files are streamed.
func TestCancelledReadLeavesNothingRunning(t *testing.T) {
	table := newTable()
	table.Commit(manyAdds(2000)...)
	table.Checkpoint()
	for range 50 {
		table.Commit(deltatest.Add(file("x")))
	}
	s, err := newLog(table.Files()).load(latest)
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	n := 0
	var last error
	for _, err := range s.Adds(ctx) {
		if n++; n == 100 {
			cancel()
		}
		last = err
	}
	if !errors.Is(last, context.Canceled) {
		t.Errorf("want the context's end, got %v after %d files", last, n)
	}
}

// TestCommitsAreFetchedInParallel: 400 commits at 10 ms each take the time of 25 rounds of 16, by a clock that does not
// depend on the host.
func TestCommitsAreFetchedInParallel(t *testing.T) {
	table := newTable()
	for range 400 {
		table.Commit(add("x"))
	}
	synctest.Test(t, func(t *testing.T) {
		l := newLog(table.Files())
		l.Store = faulty.New(l.store, faulty.Rule{Op: storage.OpGet, Path: "*.json", Fault: faulty.Fault{Delay: 10 * time.Millisecond}})
		began := time.Now()
		wantFiles(t, l, latest, "x")
		if took, most := time.Since(began), 10*time.Millisecond*400/defaultWorkers+50*time.Millisecond; took > most {
			t.Errorf("want at most %v, took %v", most, took)
		}
	})
}
