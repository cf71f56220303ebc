package scanplan

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/benthos-delta/benthos-delta/deltacore/deltalog"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// BenchmarkPlan plans the tables of a million files that DELTA_BENCH_TABLES names the folder of: without a predicate, with
// one of a partition, and with one that the statistics decide.
func BenchmarkPlan(b *testing.B) {
	dir := os.Getenv("DELTA_BENCH_TABLES")
	if dir == "" {
		b.Skip("DELTA_BENCH_TABLES is not set")
	}
	for _, table := range []string{"plan_json", "plan_parsed"} {
		var want struct {
			Files     int    `json:"files"`
			ProbeDate string `json:"probe_date"`
			DateFiles int    `json:"date_files"`
			IDLow     int64  `json:"id_lo"`
			IDHigh    int64  `json:"id_hi"`
			IDFiles   int    `json:"id_files"`
		}
		text, err := os.ReadFile(filepath.Join(dir, table+".expected.json"))
		if err == nil {
			err = json.Unmarshal(text, &want)
		}
		if err != nil {
			b.Fatal(err)
		}
		s := openBench(b, filepath.Join(dir, table))
		b.Run(table+"/all", func(b *testing.B) { plan(b, s, "", want.Files) })
		b.Run(table+"/date", func(b *testing.B) { plan(b, s, fmt.Sprintf("date = DATE '%s'", want.ProbeDate), want.DateFiles) })
		b.Run(table+"/id", func(b *testing.B) {
			plan(b, s, fmt.Sprintf("id BETWEEN %d AND %d", want.IDLow, want.IDHigh), want.IDFiles)
		})
	}
}

func openBench(b *testing.B, dir string) *deltalog.Snapshot {
	root, err := storage.ParseURI(dir)
	if err != nil {
		b.Fatal(err)
	}
	store, err := storage.NewLocal(root)
	if err != nil {
		b.Fatal(err)
	}
	s, err := deltalog.Log{Store: store, Root: root}.Open(context.Background(), deltalog.Which{})
	if err != nil {
		b.Fatal(err)
	}
	return s
}

func plan(b *testing.B, s *deltalog.Snapshot, where string, want int) {
	ctx := context.Background()
	for b.Loop() {
		files := s.AddsWithoutStats(ctx)
		if where != "" {
			files = s.AddsFor(ctx, benchPruner(b, s, where).Selection(nil))
		}
		got, err := deltalog.Collect(ctx, files)
		if err != nil || got.Len() != want {
			b.Fatalf("want %d files, got %v, %v", want, got, err)
		}
	}
}

func benchPruner(b *testing.B, s *deltalog.Snapshot, where string) *Pruner {
	columns, err := s.Schema()
	if err != nil {
		b.Fatal(err)
	}
	predicate, err := pruning.Parse(where)
	if err != nil {
		b.Fatal(err)
	}
	bound, err := predicate.Bind(schema.Resolver(columns))
	if err != nil {
		b.Fatal(err)
	}
	p, err := NewPruner(bound, Columns{Schema: columns, Partition: s.Metadata.PartitionColumns})
	if err != nil {
		b.Fatal(err)
	}
	return p
}
