package deltalog

import (
	"context"
	"slices"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

// TestNewestProtocolAndMetadataWin covers R1.
func TestNewestProtocolAndMetadataWin(t *testing.T) {
	table := newTable()
	table.Commit(add("a"))
	table.Checkpoint()
	m := table.Metadata()
	m.Name, m.Configuration["k"] = "renamed", "v"
	table.Commit(deltatest.Metadata(m))
	table.Commit(deltatest.Protocol(action.Protocol{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: []string{"x"}}))
	table.Commit(add("b"))
	for _, files := range []map[string][]byte{table.Files(), without(table.Files(), deltatest.CheckpointPath(0))} {
		s, err := newLog(files).load(latest)
		if err != nil {
			t.Fatal(err)
		}
		if s.Version != 3 || s.Metadata.Name != "renamed" || s.Metadata.Configuration["k"] != "v" || s.Protocol.MinReaderVersion != 3 {
			t.Errorf("got version %d, %+v, %+v", s.Version, s.Metadata, s.Protocol)
		}
		older, err := newLog(files).load(1)
		if err != nil || older.Protocol.MinReaderVersion != 1 || older.Metadata.Name != "renamed" {
			t.Errorf("version 1: got %+v, %v", older, err)
		}
	}
}

// TestMetadataOfACheckpointEqualsThatOfItsCommit covers C1.
func TestMetadataOfACheckpointEqualsThatOfItsCommit(t *testing.T) {
	table := deltatest.New(deltatest.Columns("id long", "p string"), deltatest.Options{
		Name: "orders", PartitionColumns: []string{"p"}, Configuration: map[string]string{"delta.appendOnly": "true", "": ""},
		Protocol: action.Protocol{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: []string{"a", "b"}, WriterFeatures: []string{"c"}},
	})
	table.Commit()
	table.Checkpoint()
	files := table.Files()
	fromCheckpoint, err := newLog(without(files, commitPath(0))).load(latest)
	if err != nil {
		t.Fatal(err)
	}
	fromCommit, err := newLog(without(files, deltatest.CheckpointPath(0))).load(latest)
	if err != nil {
		t.Fatal(err)
	}
	a, b := fromCheckpoint.Metadata, fromCommit.Metadata
	if a.ID != b.ID || a.Name != b.Name || a.SchemaString != b.SchemaString || a.CreatedTime != b.CreatedTime ||
		!slices.Equal(a.PartitionColumns, b.PartitionColumns) || a.Format.Provider != b.Format.Provider ||
		len(a.Configuration) != 2 || a.Configuration["delta.appendOnly"] != "true" {
		t.Errorf("want %+v, got %+v", b, a)
	}
	p := fromCheckpoint.Protocol
	if p.MinReaderVersion != 3 || p.MinWriterVersion != 7 || !slices.Equal(p.ReaderFeatures, []string{"a", "b"}) ||
		!slices.Equal(p.WriterFeatures, []string{"c"}) {
		t.Errorf("got %+v", p)
	}
	if s, err := fromCheckpoint.Schema(); err != nil || len(s.Fields) != 2 {
		t.Errorf("got %v, %v", s, err)
	}
}

// TestSegmentWithoutProtocolOrMetadataIsCorrupt covers R1: what lies behind the checkpoint is not looked at.
func TestSegmentWithoutProtocolOrMetadataIsCorrupt(t *testing.T) {
	for _, c := range []struct{ have, want string }{
		{metadataLine, "no protocol action found in "},
		{protocolLine, "no metadata action found in "},
	} {
		table := newTable()
		table.CommitBytes([]byte(c.have))
		table.CommitBytes(nil)
		_, err := newLog(table.Files()).load(latest)
		wantError(t, err, "table file:///lake/orders, version 1: ", c.want+"_delta_log/00000000000000000000.json to 00000000000000000001.json")

		complete := newTable()
		complete.Commit(add("a"))
		complete.Commit(add("b"))
		complete.Put(deltatest.CheckpointPath(1), manifest(c.have))
		complete.Commit(add("c"))
		_, err = newLog(complete.Files()).load(latest)
		wantError(t, err, "version 2: ", c.want+"the checkpoint of version 1 (_delta_log/00000000000000000001.checkpoint.parquet)"+
			" and _delta_log/00000000000000000002.json")
		if deltaerr.KindOf(err) != deltaerr.Corrupt {
			t.Errorf("want Corrupt, got %v", err)
		}
	}
}

func TestMissingLogIsNotATable(t *testing.T) {
	for _, files := range []map[string][]byte{{}, {"a.parquet": {1}}, {"_delta_log/" + v(0) + ".crc": []byte("x")}} {
		_, err := newLog(files).load(latest)
		wantError(t, err, "table file:///lake/orders: not a Delta table")
		if deltaerr.KindOf(err) != deltaerr.NotFound {
			t.Errorf("want NotFound, got %v", err)
		}
	}
	_, err := newLog(nil).load(-2)
	wantError(t, err, "version -2 does not exist")
}

// TestHintOnlySaysWhereToBegin covers LC2, LC3 and LC6.
func TestHintOnlySaysWhereToBegin(t *testing.T) {
	table := newTable()
	table.Commit(add("a"))
	table.Commit(add("b"))
	table.Checkpoint()
	table.Commit(add("c"))
	table.Checkpoint()
	table.Commit(add("d"))
	for _, c := range []struct {
		hint  string
		lists int // at the latest version
		warns int
	}{
		{`{"version":2,"size":3}`, 1, 0},
		{`{"version":1}`, 1, 0},              // an older checkpoint: a newer one is found
		{`{"version":3}`, 2, 0},              // no checkpoint there
		{`{"version":9}`, 2, 0},              // nothing there
		{`{"version":0}`, 1, 0},              // the beginning
		{`{"version":2,"size":"many"`, 1, 1}, // torn
		{``, 1, 1},
		{`{"version":"2"}`, 1, 1},
	} {
		table.Hint(c.hint)
		l := newLog(table.Files())
		wantFiles(t, l, latest, "a", "b", "c", "d")
		if got := l.store.count("list"); got != c.lists || len(l.warnings) != c.warns {
			t.Errorf("hint %s: want %d listings, %d warnings, got %d, %q", c.hint, c.lists, c.warns, got, l.warnings)
		}
		wantFiles(t, l, 0, "a")
		wantFiles(t, l, 1, "a", "b")
		wantFiles(t, l, 2, "a", "b", "c")
		_, err := l.files(4)
		wantError(t, err, "version 4 does not exist: the latest version is 3 (versions that can be read: 0 to 3)")
	}
}

func TestWithoutHintNothingIsSaid(t *testing.T) {
	table := newTable()
	table.Commit(add("a"))
	l := newLog(table.Files())
	wantFiles(t, l, latest, "a")
	if len(l.warnings) > 0 {
		t.Errorf("got %q", l.warnings)
	}
}

// TestOpeningCostsFewRequests: the hint, a listing, the checkpoint, and the commits after it. Listing the files costs
// nothing more where all of that is small.
func TestOpeningCostsFewRequests(t *testing.T) {
	table := newTable()
	for range 20 {
		table.Commit()
	}
	table.Checkpoint()
	table.Commit(add("a"))
	table.Commit(add("b"))
	l := newLog(table.Files())
	wantFiles(t, l, latest, "a", "b")
	want := []string{
		"get " + v(19) + ".checkpoint.parquet", "get " + v(20) + ".json", "get " + v(21) + ".json",
		"get _last_checkpoint", "list " + v(19),
	}
	if slices.Sort(l.store.requests); !slices.Equal(want, l.store.requests) {
		t.Errorf("want %q, got %q", want, l.store.requests)
	}
}

// TestLongLogIsReadOnce: without a checkpoint every commit is read, once.
func TestLongLogIsReadOnce(t *testing.T) {
	table := newTable()
	table.Commit()
	var want []string
	for i := range 300 {
		path := "f" + v(int64(i))
		want = append(want, path)
		table.Commit(add(path))
	}
	l := newLog(table.Files())
	wantFiles(t, l, latest, want...)
	if got := l.store.count("get"); got != 302 {
		t.Errorf("want the hint and 301 commits, got %d reads", got)
	}
}

func TestVanishedCommitIsNamed(t *testing.T) {
	table := newTable()
	table.Commit(add("a"))
	table.Commit(add("b"))
	whole := newLog(table.Files())
	seg, err := whole.FindSegment(context.Background(), nil)
	if err != nil {
		t.Fatal(err)
	}
	cleaned := newLog(without(table.Files(), commitPath(0)))
	_, err = cleaned.Load(context.Background(), seg)
	wantError(t, err, "_delta_log/00000000000000000000.json", "reading the commit", "try again")
	if deltaerr.KindOf(err) != deltaerr.NotFound {
		t.Errorf("want NotFound, got %v", err)
	}
}
