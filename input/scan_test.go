package input

import (
	"context"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/benthosdev/benthos/v4/public/service"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/limits"
)

func decoded(t *testing.T, raw map[string]any) configspec.Config {
	t.Helper()
	raw["uri"] = "table"
	c, err := configspec.Decode(raw)
	check(t, err)
	return c
}

func TestScanOptionsAreThoseOfTheConfiguration(t *testing.T) {
	c := decoded(t, map[string]any{
		"where": "id > 1", "columns": []any{"id"}, "limit": 5, "target_partitions": 7, "intra_file_repartitioning": "always",
		"repartition_file_min_size": "1MiB",
		"scan":                      map[string]any{"file_reads_per_partition": 4, "prefetch_files_per_partition": 0},
	})
	o, decision := ScanOptions(c)
	if o.Where != c.Where || o.Where == nil || len(o.Columns) != 1 || *o.Limit != 5 {
		t.Errorf("want the rows and columns of the configuration, got %+v", o)
	}
	if o.TargetPartitions != 7 || o.Repartitioning != scanplan.Always || *o.RepartitionMinSize != 1<<20 ||
		o.FileReadsPerPartition != 4 || *o.PrefetchFilesPerPartition != 0 {
		t.Errorf("want the division of the configuration, got %+v", o)
	}
	if decision.Target != 7 || len(decision.Signals) != 0 {
		t.Errorf("want a target that nothing was looked up for, got %s", decision)
	}
}

func TestTheTargetIsThatOfTheHostWhereNoneIsSet(t *testing.T) {
	want, err := limits.Decide(limits.ThisHost(), limits.Overrides{})
	check(t, err)
	o, decision := ScanOptions(decoded(t, map[string]any{}))
	if o.TargetPartitions != want.Target || len(decision.Signals) == 0 {
		t.Errorf("want %d partitions, got %s", want.Target, decision)
	}
	scarce, _ := ScanOptions(decoded(t, map[string]any{"file_descriptors_per_partition": 1 << 30, "memory_per_partition": "1024TiB"}))
	if scarce.TargetPartitions != 1 {
		t.Errorf("want 1 partition where each is reckoned to need everything, got %d", scarce.TargetPartitions)
	}
}

func TestMetricsCountWhatAConditionLeavesOut(t *testing.T) {
	dir, _ := sample(t)
	out := &sink{write: func(context.Context, service.MessageBatch) error { return nil }}
	handler := stream(t, "uri: "+dir+"\nwhere: country = 'NL'", out)
	response := httptest.NewRecorder()
	handler.ServeHTTP(response, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	if got := values(t, response.Body.String())["delta_lake_files_skipped_total"]; got < 1 {
		t.Errorf("want files that were left out, got %g", got)
	}
	if !strings.Contains(response.Body.String(), `reason="partition"`) {
		t.Error("want the reason partition")
	}
}
