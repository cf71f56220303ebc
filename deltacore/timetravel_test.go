package deltacore_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// TestTableIsOpenedAsOfATime covers T5, and T8: the schema is that of the version.
func TestTableIsOpenedAsOfATime(t *testing.T) {
	table := deltatest.New(deltatest.Columns("id long"), deltatest.Options{})
	table.Commit()
	m := table.Metadata()
	m.SchemaString = deltatest.SchemaString(deltatest.Columns("id long", "added string"))
	table.Commit(deltatest.Metadata(m))
	table.Commit()
	store := storage.NewMemory()
	table.CopyTo(store.PutAt)
	for version, columns := range []int{1, 2, 2} {
		at := table.CommitTime(int64(version))
		opened, err := deltacore.Open(context.Background(), "/lake/orders", deltacore.Options{Timestamp: &at, Store: store})
		if err != nil {
			t.Fatal(err)
		}
		s, err := opened.Schema()
		if err != nil || opened.Version() != int64(version) || !opened.Timestamp().Equal(at) || len(s.Fields) != columns {
			t.Errorf("as of %v: want version %d with %d columns, got %d, %v, %v", at, version, columns, opened.Version(), s, err)
		}
	}
	late := table.CommitTime(2).Add(time.Second)
	_, err := deltacore.Open(context.Background(), "/lake/orders", deltacore.Options{Timestamp: &late, Store: store})
	if err == nil || !strings.Contains(err.Error(), "2024-05-01T08:02:01.000Z is after the last commit") ||
		deltaerr.KindOf(err) != deltaerr.NotFound {
		t.Errorf("want the last commit named, got %v", err)
	}
}

func TestVersionAndTimestampTogetherAreRefused(t *testing.T) {
	version, at := int64(0), time.Now()
	_, err := deltacore.Open(context.Background(), t.TempDir(), deltacore.Options{Version: &version, Timestamp: &at})
	if deltaerr.KindOf(err) != deltaerr.Config || !strings.Contains(err.Error(), "both a version and a timestamp") {
		t.Errorf("want Config, got %v", err)
	}
}

// TestRowsWithoutTheTimeTheirTablePromisesAreRefused covers T3; the table can still be inspected.
func TestRowsWithoutTheTimeTheirTablePromisesAreRefused(t *testing.T) {
	table := deltatest.New(deltatest.Columns("id long"), deltatest.Options{
		Configuration: map[string]string{"delta.enableInCommitTimestamps": "true"},
	})
	p := deltatest.Protocol(action.Protocol{MinReaderVersion: 1, MinWriterVersion: 7, WriterFeatures: []string{"inCommitTimestamp"}})
	table.Commit(p, deltatest.CommitInfo(map[string]any{"operation": "CREATE TABLE"}))
	store := storage.NewMemory()
	table.CopyTo(store.PutAt)
	opened, err := deltacore.Open(context.Background(), "/lake/orders", deltacore.Options{Store: store})
	if err != nil {
		t.Fatal(err)
	}
	_, err = opened.Scan(context.Background(), deltacore.ScanOptions{})
	if err == nil || !strings.Contains(err.Error(), "version 0, file _delta_log/00000000000000000000.json: in-commit timestamps are enabled") {
		t.Errorf("want the commit named, got %v", err)
	}
}
