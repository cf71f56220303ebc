package deltalog

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

var (
	start    = time.Date(2024, 5, 1, 8, 0, 0, 0, time.UTC) // of version 0 in deltatest, then a minute each
	withTime = action.Protocol{MinReaderVersion: 1, MinWriterVersion: 7, WriterFeatures: []string{inCommitFeature}}
)

func after(minutes int) time.Time { return start.Add(time.Duration(minutes) * time.Minute) }

// timed is a table of n versions whose commits carry timestamps from the version since on, while all files are of one day
// years later.
func timed(n, since int) *testLog {
	table := deltatest.New(deltatest.Columns("id long"), deltatest.Options{})
	for version := range n {
		switch {
		case version == since && since == 0:
			m := table.Metadata()
			m.Configuration[inCommitEnabled] = "true"
			table.Commit(commitInfoAt(version), deltatest.Protocol(withTime), deltatest.Metadata(m))
		case version == since:
			m := table.Metadata()
			m.Configuration[inCommitEnabled] = "true"
			m.Configuration[inCommitSinceVersion] = fmt.Sprint(version)
			m.Configuration[inCommitSinceTime] = fmt.Sprint(after(version).UnixMilli())
			table.Commit(commitInfoAt(version), deltatest.Protocol(withTime), deltatest.Metadata(m))
		case version == 0:
			table.Commit()
		default:
			table.Commit(add(fmt.Sprint("f", version)))
		}
	}
	memory := storage.NewMemory()
	table.CopyTo(func(path string, content []byte, at time.Time) {
		if since == 0 || at.After(after(since-1)) {
			at = at.AddDate(0, 0, 3000)
		}
		memory.PutAt(path, content, at)
	})
	return logOver(memory)
}

func commitInfoAt(version int) deltatest.Action {
	return deltatest.CommitInfo(map[string]any{"operation": "SET", "inCommitTimestamp": after(version).UnixMilli()})
}

func versionAsOf(l *testLog, at time.Time) (int64, error) {
	return l.VersionAsOf(context.Background(), at)
}

func wantAsOf(t *testing.T, l *testLog, at time.Time, want int64) {
	t.Helper()
	if got, err := versionAsOf(l, at); err != nil || got != want {
		t.Errorf("as of %v: want version %d, got %d, %v", at, want, got, err)
	}
}

// TestVersionAsOfATime covers T2 to T5: by the times of files, by in-commit timestamps, and by both.
func TestVersionAsOfATime(t *testing.T) {
	const n = 7
	for name, l := range map[string]*testLog{
		"by files": timed(n, n), "from the start": timed(n, 0), "midway": timed(n, 3), "last": timed(n, n-1),
	} {
		for version := range n {
			wantAsOf(t, l, after(version), int64(version))
			if version < n-1 {
				wantAsOf(t, l, after(version).Add(time.Nanosecond), int64(version))
				wantAsOf(t, l, after(version+1).Add(-time.Nanosecond), int64(version))
			}
		}
		_, err := versionAsOf(l, after(0).Add(-time.Nanosecond))
		wantError(t, err, "table file:///lake/orders", "2024-05-01T07:59:59.999Z is before the first commit that the log holds",
			"(the log holds version 0 of 2024-05-01T08:00:00.000Z to version 6 of 2024-05-01T08:06:00.000Z)")
		if deltaerr.KindOf(err) != deltaerr.NotFound {
			t.Errorf("%s: want NotFound, got %v", name, err)
		}
		_, err = versionAsOf(l, after(n-1).Add(time.Nanosecond))
		wantError(t, err, "2024-05-01T08:06:00.000Z is after the last commit", "version 0 of ", "version 6 of 2024-05-01T08:06:00.000Z")
	}
}

// TestVersionFromATime covers T6.
func TestVersionFromATime(t *testing.T) {
	const n = 7
	for name, l := range map[string]*testLog{"by files": timed(n, n), "from the start": timed(n, 0), "midway": timed(n, 3)} {
		for version := range n {
			for _, at := range []time.Time{after(version), after(version).Add(-time.Nanosecond), after(version - 1).Add(time.Nanosecond)} {
				got, found, err := l.VersionFrom(context.Background(), at)
				if err != nil || !found || got != int64(version) {
					t.Errorf("%s: from %v: want version %d, got %d, %v, %v", name, at, version, got, found, err)
				}
			}
		}
		got, found, err := l.VersionFrom(context.Background(), after(n-1).Add(time.Nanosecond))
		if err != nil || found || got != n {
			t.Errorf("%s: after the last commit: want %d to come, got %d, %v, %v", name, n, got, found, err)
		}
	}
}

// TestTimesOfFilesAreMadeToAscend covers T2 against the rule applied word by word.
func TestTimesOfFilesAreMadeToAscend(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var commits []File
		var want []int64
		for i, ms := range rapid.SliceOfN(rapid.Int64Range(0, 8), 1, 12).Draw(t, "ms") {
			commits = append(commits, File{Version: int64(i), ModTime: time.UnixMilli(ms).Add(time.Microsecond)})
			want = append(want, ms)
			if i > 0 && want[i-1] >= want[i] {
				want[i] = want[i-1] + 1
			}
		}
		if got := ascending(commits); !slices.Equal(want, got) {
			t.Fatalf("want %v, got %v", want, got)
		}
	})
	table := newTable()
	table.Commit()
	table.Commit()
	table.Commit()
	memory := storage.NewMemory()
	table.CopyTo(func(path string, content []byte, _ time.Time) { memory.PutAt(path, content, start) })
	l := logOver(memory)
	for version := range int64(3) {
		wantAsOf(t, l, start.Add(time.Duration(version)*time.Millisecond), version)
	}
}

// TestTimeBelongsToOneSideOfTheEnablement covers T4: a file that was copied later than the commits with timestamps is not
// looked at for a time among them, nor they for a time before.
func TestTimeBelongsToOneSideOfTheEnablement(t *testing.T) {
	l := timed(6, 3)
	for version := range int64(3) { // copied years later
		text := readAll(t, l, commitPath(version))
		l.memory.PutAt(commitPath(version), text, after(1_000_000+int(version)))
	}
	wantAsOf(t, l, after(3), 3)
	wantAsOf(t, l, after(5), 5)
	_, err := versionAsOf(l, after(2))
	wantError(t, err, "is before the first commit that the log holds", "version 0 of 2026-")
	if got, found, err := l.VersionFrom(context.Background(), after(3)); err != nil || !found || got != 3 {
		t.Errorf("from the enablement: want 3, got %d, %v, %v", got, found, err)
	}
}

func readAll(t *testing.T, l *testLog, path string) []byte {
	t.Helper()
	e, err := l.memory.Stat(context.Background(), path)
	if err != nil {
		t.Fatal(err)
	}
	text := make([]byte, e.Size)
	if _, err := l.memory.ReadAt(context.Background(), path, text, 0); err != nil {
		t.Fatal(err)
	}
	return text
}

// TestCommitWithoutItsTimestampIsNamed covers T3: a missing commitInfo, one without the field, and one that is not first.
func TestCommitWithoutItsTimestampIsNamed(t *testing.T) {
	for text, want := range map[string]string{
		addLine("a"): "the first action is no commitInfo",
		"":           "the first action is no commitInfo",
		`{"commitInfo":{"operation":"WRITE","inCommitTimestamp":"soon"}}`:          "the commitInfo has no inCommitTimestamp",
		addLine("a") + "\n" + `{"commitInfo":{"inCommitTimestamp":1714550400000}}`: "the first action is no commitInfo",
	} {
		for _, since := range []int{0, 2} {
			l := timed(6, since)
			l.memory.PutAt(commitPath(3), []byte(text), after(3))
			_, err := versionAsOf(l, after(3))
			wantError(t, err, "version 3, file _delta_log/00000000000000000003.json", "in-commit timestamps are enabled, but "+want)
			s, err := l.load(3)
			if err != nil {
				t.Fatal(err)
			}
			err = s.CheckTimestamp()
			wantError(t, err, "version 3, file _delta_log/00000000000000000003.json", want)
			if deltaerr.KindOf(err) != deltaerr.Corrupt {
				t.Errorf("want Corrupt, got %v", err)
			}
		}
	}
}

// TestSnapshotHasTheTimeOfItsCommit covers T2 to T4 and R7: enabled is what the version itself says.
func TestSnapshotHasTheTimeOfItsCommit(t *testing.T) {
	l := timed(6, 3)
	for version := range int64(6) {
		s, err := l.load(version)
		if err != nil || !s.Timestamp.Equal(after(int(version))) || s.CheckTimestamp() != nil {
			t.Errorf("version %d: got %v, %v", version, s, err)
		}
	}
	table := newTable()
	m := table.Metadata()
	m.Configuration[inCommitEnabled] = "true" // without the feature it means nothing
	table.Commit(deltatest.Metadata(m), deltatest.CommitInfo(map[string]any{"inCommitTimestamp": 5}))
	l = logOf(table)
	if s, err := l.load(latest); err != nil || !s.Timestamp.Equal(start) {
		t.Errorf("want the file's time, got %v, %v", s, err)
	}
	wantAsOf(t, l, start, 0)
}

func TestEnablementThatDoesNotParseIsCorrupt(t *testing.T) {
	for _, c := range []map[string]string{
		{inCommitSinceVersion: "three", inCommitSinceTime: "1"},
		{inCommitSinceVersion: "3"},
		{inCommitSinceTime: "3"},
		{inCommitSinceVersion: "-1", inCommitSinceTime: "1"},
	} {
		_, err := enablementOf(action.Metadata{Configuration: c})
		wantError(t, err, inCommitSinceVersion)
		if deltaerr.KindOf(err) != deltaerr.Corrupt {
			t.Errorf("want Corrupt, got %v", err)
		}
	}
}

// TestTimeOfAGoneCommitIsInItsChecksum covers RV3.
func TestTimeOfAGoneCommitIsInItsChecksum(t *testing.T) {
	table := deltatest.New(deltatest.Columns("id long"), deltatest.Options{
		Protocol: withTime, Configuration: map[string]string{inCommitEnabled: "true"},
	})
	table.Commit(add("a"))
	table.Commit(add("b"))
	table.Checkpoint()
	if s, err := logOf(table).load(latest); err != nil || !s.Timestamp.Equal(after(1)) { // the commit is not in the tail
		t.Errorf("want %v, got %v, %v", after(1), s, err)
	}
	table.Drop(commitPath(0))
	table.Drop(commitPath(1))
	s, err := logOf(table).load(latest)
	if err != nil {
		t.Fatal(err)
	}
	wantError(t, s.CheckTimestamp(), "version 1, file _delta_log/00000000000000000001.json",
		"the commit is gone and no .crc file tells its time")
	table.Put(checksumPath(1), checksumOf(table, "", after(1).UnixMilli()))
	if s, err = logOf(table).load(latest); err != nil || s.CheckTimestamp() != nil || !s.Timestamp.Equal(after(1)) {
		t.Errorf("want %v, got %v, %v", after(1), s, err)
	}
	other := deltatest.New(deltatest.Columns("id long"), deltatest.Options{ID: "another", Protocol: withTime})
	table.Put(checksumPath(1), checksumOf(other, "", after(1).UnixMilli()))
	if s, err = logOf(table).load(latest); err != nil || s.CheckTimestamp() == nil {
		t.Errorf("another table's checksum: got %v, %v", s, err)
	}
}

// TestVersionAsOfNamesWhatIsGone covers T1, RV1 and L5: a time is never answered by another version.
func TestVersionAsOfNamesWhatIsGone(t *testing.T) {
	table := newTable()
	for range 8 {
		table.Commit()
		if table.Version() == 4 {
			table.Checkpoint()
		}
	}
	cleaned := logOf(table)
	cleaned.memory.Delete(commitPath(0))
	cleaned.memory.Delete(commitPath(1))
	wantAsOf(t, cleaned, after(5), 5)
	wantAsOf(t, cleaned, after(4), 4)
	_, err := versionAsOf(cleaned, after(3))
	wantError(t, err, "finding the version as of 2024-05-01T08:03:00.000Z", "version 3 can no longer be rebuilt",
		"the earliest version that can is 4", "delta.logRetentionDuration")
	_, err = versionAsOf(cleaned, after(1))
	wantError(t, err, "before the first commit that the log holds", "version 2 of 2024-05-01T08:02:00.000Z")

	gap := logOf(table)
	gap.memory.Delete(commitPath(2))
	wantAsOf(t, gap, after(6), 6)
	wantAsOf(t, gap, after(0), 0)
	_, err = versionAsOf(gap, after(2))
	wantError(t, err, "2024-05-01T08:02:00.000Z is between the commits of the versions 1 and 3: those between them are missing")

	bare := logOf(table)
	for version := range int64(8) {
		bare.memory.Delete(commitPath(version))
	}
	_, err = versionAsOf(bare, after(4))
	wantError(t, err, "the log holds checkpoints but no commits", "versions that can be read: 4")
	_, err = versionAsOf(newLog(nil), after(4))
	wantError(t, err, "not a Delta table")
}

func TestOpenFindsAVersionByItsTime(t *testing.T) {
	at := after(2)
	for _, since := range []int{0, 3, 6} {
		l := timed(6, since)
		s, err := l.Open(context.Background(), Which{Timestamp: &at})
		if err != nil || s.Version != 2 || !s.Timestamp.Equal(at) {
			t.Errorf("want version 2, got %+v, %v", s, err)
		}
		if got := l.store.count("list"); got != 1 {
			t.Errorf("want one listing, got %d", got)
		}
	}
}

// TestFindingAVersionByItsTimeReadsFewCommits: of 100,000 none but the newest when files tell the time, and 17 by halving
// when commits do.
func TestFindingAVersionByItsTimeReadsFewCommits(t *testing.T) {
	const n = 100_000
	for _, inside := range []bool{false, true} {
		memory := storage.NewMemory()
		for version := range n {
			line := `{"commitInfo":{"operation":"WRITE"}}`
			at := after(version)
			if inside {
				line = fmt.Sprintf(`{"commitInfo":{"operation":"WRITE","inCommitTimestamp":%d}}`, at.UnixMilli())
				at = start
			}
			memory.PutAt(commitPath(int64(version)), []byte(line), at)
		}
		memory.PutAt(uuidPath(n-10, "json"), fmt.Appendf(nil,
			`{"protocol":{"minReaderVersion":1,"minWriterVersion":7,"writerFeatures":["inCommitTimestamp"]}}
			{"metaData":{"id":"t","schemaString":"{}","configuration":{"delta.enableInCommitTimestamps":"%v"}}}`, inside), start)
		l := logOver(memory)
		metered := storage.NewMetered(l.store)
		l.Store = metered
		wantAsOf(t, l, after(12_345), 12_345)
		usage, most := metered.Usage(), int64(1)
		if inside {
			most = 1 + 1 + 9 + 17 // the newest, the checkpoint and the commits after it, the halving
		}
		if usage.List.Requests != 1 || usage.Get.Requests > most || usage.Total().Requests > most+1 {
			t.Errorf("in-commit %v: want one listing and at most %d reads, got %+v", inside, most, usage)
		}
	}
}
