package deltalog

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

// historyOf lists commits, one text each.
func listHistory(l *testLog, from int64, to *int64) (list []string, err error) {
	for c, err := range l.History(context.Background(), from, to) {
		if err != nil {
			return list, err
		}
		rows := "?"
		if c.RowsAdded != nil {
			rows = fmt.Sprint(*c.RowsAdded)
		}
		text := fmt.Sprintf("%d %s %s +%d -%d ~%d rows=%s bytes=%d", c.Version, c.Timestamp.Format("15:04"), c.Operation,
			c.Adds, c.Removes, c.Changes, rows, c.BytesAdded)
		for word, is := range map[string]bool{" data": c.DataChange, " protocol": c.Protocol && !c.Metadata, " table": c.Protocol && c.Metadata} {
			if is {
				text += word
			}
		}
		list = append(list, text)
	}
	return list, nil
}

func withRows(path string, stats string) action.Add {
	a := file(path)
	a.Stats, a.Size = stats, 100
	return a
}

func historyTable() *deltatest.Table {
	table := newTable()
	table.Commit()
	table.Commit(deltatest.Add(withRows("a", `{"numRecords":3}`)), deltatest.Add(withRows("b", `{"minValues":{},"numRecords":4}`)))
	vectored := withRows("a", `{"numRecords":3}`)
	vectored.DeletionVector = &action.DeletionVector{StorageType: "u", PathOrInlineDv: "v", SizeInBytes: 4, Cardinality: 2}
	table.Commit(remove("a"), deltatest.Add(vectored), deltatest.CDC(action.CDC{Path: "_change_data/c", Size: 9}))
	quiet := withRows("all", `{"numRecords":5}`)
	quiet.DataChange = false
	gone := file("b")
	gone.DataChange = false
	table.Commit(deltatest.CommitInfo(map[string]any{"operation": "OPTIMIZE"}), deltatest.Remove(gone), deltatest.Add(quiet))
	table.Commit(deltatest.Add(withRows("c", "")), deltatest.Add(withRows("d", `{"numRecords":1}`)))
	table.Commit(deltatest.Protocol(action.Protocol{MinReaderVersion: 1, MinWriterVersion: 3}))
	table.CommitBytes(nil)
	return table
}

func TestHistoryDescribesCommitsNewestFirst(t *testing.T) {
	want := []string{
		"6 08:06  +0 -0 ~0 rows=0 bytes=0",
		"5 08:05 CREATE TABLE +0 -0 ~0 rows=0 bytes=0 protocol",
		"4 08:04 WRITE +2 -0 ~0 rows=? bytes=200 data",
		"3 08:03 OPTIMIZE +1 -1 ~0 rows=5 bytes=100",
		"2 08:02 UPDATE +1 -1 ~1 rows=1 bytes=100 data",
		"1 08:01 WRITE +2 -0 ~0 rows=7 bytes=200 data",
		"0 08:00 CREATE TABLE +0 -0 ~0 rows=0 bytes=0 table",
	}
	l := logOf(historyTable())
	if got, err := listHistory(l, 0, nil); err != nil || !slices.Equal(want, got) {
		t.Errorf("want\n%s\ngot\n%s\n%v", strings.Join(want, "\n"), strings.Join(got, "\n"), err)
	}
	to := int64(4)
	if got, err := listHistory(l, 2, &to); err != nil || !slices.Equal(want[2:5], got) {
		t.Errorf("versions 2 to 4: got\n%s\n%v", strings.Join(got, "\n"), err)
	}
	if got, err := listHistory(l, 7, nil); err != nil || len(got) > 0 {
		t.Errorf("above the latest: got %q, %v", got, err)
	}
	to = 7
	_, err := listHistory(l, 0, &to)
	wantError(t, err, "table file:///lake/orders", "version 7 does not exist: the latest version is 6")
	_, err = listHistory(newLog(nil), 0, nil)
	wantError(t, err, "not a Delta table")
}

// TestHistoryOfACleanedLogBeginsWhereTheLogDoes: what is gone is left out, and the rest needs no checkpoint.
func TestHistoryOfACleanedLogBeginsWhereTheLogDoes(t *testing.T) {
	l := logOf(historyTable())
	for version := range int64(3) {
		l.memory.Delete(commitPath(version))
	}
	got, err := listHistory(l, 0, nil)
	if err != nil || len(got) != 4 || !strings.HasPrefix(got[3], "3 08:03 OPTIMIZE") {
		t.Errorf("got %q, %v", got, err)
	}
}

// TestHistoryHasInCommitTimestamps covers T3 and T4.
func TestHistoryHasInCommitTimestamps(t *testing.T) {
	for _, since := range []int{0, 3} {
		l := timed(6, since)
		version := 5
		for c, err := range l.History(context.Background(), 0, nil) {
			if err != nil || !c.Timestamp.Equal(after(version)) {
				t.Errorf("version %d: want %v, got %v, %v", version, after(version), c.Timestamp, err)
			}
			version--
		}
		l.memory.PutAt(commitPath(4), []byte(addLine("a")), start)
		got, err := listHistory(l, 0, nil)
		wantError(t, err, "version 4, file _delta_log/00000000000000000004.json", "the first action is no commitInfo")
		if len(got) != 1 || deltaerr.KindOf(err) != deltaerr.Corrupt {
			t.Errorf("want version 5 before the error, got %q, %v", got, err)
		}
	}
}

func TestHistoryStopsWhenTheConsumerStops(t *testing.T) {
	table := newTable()
	for range 200 {
		table.Commit()
	}
	l := logOf(table)
	for c, err := range l.History(context.Background(), 0, nil) {
		if err != nil || c.Version != 199 {
			t.Fatalf("got %+v, %v", c, err)
		}
		break
	}
	if got := l.store.count("get"); got > 1+2*defaultWorkers {
		t.Errorf("want no more than what was read ahead, got %d reads", got)
	}
}

func TestHistoryNamesABrokenCommit(t *testing.T) {
	table := historyTable()
	table.Truncate(commitPath(4), -10)
	got, err := listHistory(logOf(table), 0, nil)
	wantError(t, err, "_delta_log/00000000000000000004.json", "reading the commit", "is cut")
	if len(got) != 2 {
		t.Errorf("want the versions above it, got %q", got)
	}
}
