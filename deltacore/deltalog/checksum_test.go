package deltalog

import (
	"fmt"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

func checksumPath(version int64) string { return fmt.Sprintf("%s/%020d.crc", logDir, version) }

// checksumOf is the .crc file of a table's current version.
func checksumOf(table *deltatest.Table, txn string, ms int64) []byte {
	text, err := json.Marshal(map[string]any{
		"txnId": txn, "tableSizeBytes": 1, "numFiles": 1, "numMetadata": 1, "numProtocol": 1, "inCommitTimestampOpt": ms,
		"metadata": table.Metadata(), "protocol": action.Protocol{MinReaderVersion: 1, MinWriterVersion: 2},
		"allFiles": []any{map[string]any{"path": "never trusted", "size": 1}}, "somethingNew": []int{1},
	})
	if err != nil {
		panic(err)
	}
	return text
}

// longTail is a table of a hundred commits, the last of which names its transaction.
func longTail() *deltatest.Table {
	table := newTable()
	for i := range 99 {
		table.Commit(add(fmt.Sprint("f", i)))
	}
	table.Commit(deltatest.CommitInfo(map[string]any{"operation": "WRITE", "txnId": "the last"}), add("last"))
	return table
}

// TestChecksumSparesReadingTheTail covers K2 and K5.
func TestChecksumSparesReadingTheTail(t *testing.T) {
	table := longTail()
	table.Put(checksumPath(99), checksumOf(table, "the last", 0))
	l := logOf(table)
	s, err := l.load(latest)
	if err != nil || s.Metadata.ID != table.Metadata().ID || s.Protocol.MinWriterVersion != 2 || len(l.warnings) > 0 {
		t.Fatalf("got %+v, %v, %q", s, err, l.warnings)
	}
	if got := l.store.count("get"); got != 3 {
		t.Errorf("want the hint, the last commit and the checksum, got %q", l.store.requests)
	}
	files, err := filesOf(s)
	if err != nil || len(files) != 100 || files[99] != "last" {
		t.Errorf("want the 100 files of the commits, got %q, %v", files, err)
	}
}

// TestChecksumIsIgnored covers K1 and K2: when it is broken, of another version, or of another commit.
func TestChecksumIsIgnored(t *testing.T) {
	table := longTail()
	other := deltatest.New(deltatest.Columns("x string"), deltatest.Options{ID: "another"})
	for name, c := range map[string]struct {
		version int64
		text    []byte
		warning string
	}{
		"empty":               {99, nil, "00000000000000000099.crc: it is not the JSON"},
		"cut":                 {99, checksumOf(table, "the last", 0)[:200], "it is not the JSON of a checksum"},
		"garbage":             {99, []byte("garbage"), "it is not the JSON of a checksum"},
		"a list":              {99, []byte("[]"), "it is not the JSON of a checksum"},
		"without metadata":    {99, []byte(`{"txnId":"the last","protocol":{"minReaderVersion":1,"minWriterVersion":2}}`), "no metadata"},
		"of wrong types":      {99, []byte(`{"txnId":"the last","metadata":"m","protocol":7}`), "it is not the JSON of a checksum"},
		"of another table":    {99, checksumOf(other, "something else", 0), "it is of another transaction than the commit"},
		"without transaction": {99, checksumOf(other, "", 0), "it is of another transaction than the commit"},
		"of an older version": {98, checksumOf(other, "the last", 0), ""},
	} {
		table.Put(checksumPath(c.version), c.text)
		l := logOf(table)
		s, err := l.load(latest)
		if err != nil || s.Metadata.ID != table.Metadata().ID {
			t.Errorf("%s: got %+v, %v", name, s, err)
		}
		warned := strings.Join(l.warnings, " ")
		if !strings.Contains(warned, c.warning) || c.warning == "" && warned != "" {
			t.Errorf("%s: want a warning with %q, got %q", name, c.warning, l.warnings)
		}
		table.Drop(checksumPath(c.version))
	}
}

// TestChecksumNeverOverrulesItsCommit covers R1: what the commit of the version says itself is nearer.
func TestChecksumNeverOverrulesItsCommit(t *testing.T) {
	table := longTail()
	stale := checksumOf(table, "rename", 0)
	m := table.Metadata()
	m.Name = "renamed"
	table.Commit(deltatest.CommitInfo(map[string]any{"txnId": "rename"}), deltatest.Metadata(m))
	table.Put(checksumPath(100), stale)
	if s, err := logOf(table).load(latest); err != nil || s.Metadata.Name != "renamed" || s.Protocol.MinReaderVersion != 1 {
		t.Errorf("got %+v, %v", s, err)
	}
}

func TestChecksumIsNotReadForAShortTail(t *testing.T) {
	table := newTable()
	table.Commit(add("a"))
	table.Put(checksumPath(0), []byte("garbage"))
	l := logOf(table)
	wantFiles(t, l, latest, "a")
	if len(l.warnings) > 0 || l.store.count("get") != 2 {
		t.Errorf("want the hint and the commit, got %q, %q", l.store.requests, l.warnings)
	}
}

func FuzzDecodeChecksum(f *testing.F) {
	table := newTable()
	table.Commit()
	f.Add(checksumOf(table, "txn", 1))
	f.Add([]byte(`{"protocol":{},"metadata":{"id":"x","schemaString":"{}","configuration":{"a":null}}}`))
	f.Add([]byte(`{"protocol":null,"metadata":{}}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		c, err := decodeChecksum(text)
		if (c == nil) != (err != nil) || c != nil && (c.Protocol == nil || c.Metadata == nil) {
			t.Errorf("got %+v, %v", c, err)
		}
	})
}
