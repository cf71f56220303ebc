package input

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/ipc"
	_ "github.com/benthosdev/benthos/v4/public/components/prometheus"
	"github.com/benthosdev/benthos/v4/public/service"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/benthos-delta/benthos-delta/deltacore/deltatest/orders"
	"github.com/benthos-delta/benthos-delta/deltacore/exec"
	"github.com/benthos-delta/benthos-delta/testdata/tables"
)

// sample writes the sample table and returns its directory and the JSON of its rows in ascending order.
func sample(t *testing.T) (dir string, rows []string) {
	t.Helper()
	dir = t.TempDir()
	check(t, os.CopyFS(dir, tables.Orders()))
	for _, o := range orders.Sample().Rows() {
		rows = append(rows, string(o.AppendJSON(nil)))
	}
	slices.Sort(rows)
	return dir, rows
}

// stream runs delta_lake over a real table into a sink, with metrics behind the handler that is returned.
func stream(t *testing.T, config string, out *sink) http.Handler {
	t.Helper()
	env := service.NewEnvironment()
	check(t, env.RegisterBatchInput("delta_lake", Spec(),
		func(conf *service.ParsedConfig, res *service.Resources) (service.BatchInput, error) {
			return New(conf, res, Deps{Budget: exec.NewBudget(1 << 20), Failed: func(err error) { t.Error(err) }})
		}))
	check(t, env.RegisterBatchOutput("sink", service.NewConfigSpec(),
		func(*service.ParsedConfig, *service.Resources) (service.BatchOutput, service.BatchPolicy, int, error) {
			return out, service.BatchPolicy{}, 1, nil
		}))
	b := env.NewStreamBuilder()
	mux := http.NewServeMux()
	b.SetHTTPMux(mux)
	check(t, b.SetLoggerYAML("level: none"))
	check(t, b.SetMetricsYAML("prometheus: {}"))
	check(t, b.AddCacheYAML("label: positions\nmemory: {}"))
	check(t, b.AddInputYAML("delta_lake:\n"+indent(config)))
	check(t, b.AddOutputYAML("sink: {}"))
	s, err := b.Build()
	check(t, err)
	check(t, s.Run(context.Background()))
	return mux
}

func TestSampleTableInEveryFormat(t *testing.T) {
	dir, want := sample(t)
	formats := map[string]func(m *service.Message) []string{
		"json":       func(m *service.Message) []string { return []string{string(bytesOf(t, m))} },
		"json_lines": func(m *service.Message) []string { return strings.Split(string(bytesOf(t, m)), "\n") },
		"structured": func(m *service.Message) []string { return []string{canonical(t, bytesOf(t, m))} },
		"arrow_ipc":  nil,
	}
	for format, rows := range formats {
		t.Run(format, func(t *testing.T) {
			var got []string
			count := 0
			out := &sink{write: func(_ context.Context, batch service.MessageBatch) error {
				for _, m := range batch {
					if rows == nil {
						count += arrowRows(t, bytesOf(t, m))
						continue
					}
					got = append(got, rows(m)...)
				}
				return nil
			}}
			stream(t, "uri: "+dir+"\nbatch_rows: 300\nformat: "+format, out)
			if rows == nil {
				if count != len(want) {
					t.Fatalf("want %d rows, got %d", len(want), count)
				}
				return
			}
			wanted := slices.Clone(want)
			if format == "structured" {
				for i, row := range wanted {
					wanted[i] = canonical(t, []byte(row))
				}
			}
			slices.Sort(wanted)
			slices.Sort(got)
			if len(wanted) != len(got) {
				t.Fatalf("want %d rows, got %d", len(wanted), len(got))
			}
			for i := range wanted {
				if wanted[i] != got[i] {
					t.Fatalf("want\n%s\ngot\n%s", wanted[i], got[i])
				}
			}
		})
	}
}

func bytesOf(t *testing.T, m *service.Message) []byte {
	t.Helper()
	content, err := m.AsBytes()
	check(t, err)
	return content
}

// canonical sorts the keys of a JSON text: the engine sorts those of structured messages.
func canonical(t *testing.T, text []byte) string {
	t.Helper()
	var v map[string]jsontext.Value
	check(t, json.Unmarshal(text, &v))
	out, err := json.Marshal(v, json.Deterministic(true))
	check(t, err)
	value := jsontext.Value(out)
	check(t, value.Canonicalize())
	return string(value)
}

func arrowRows(t *testing.T, content []byte) (n int) {
	t.Helper()
	r, err := ipc.NewReader(bytes.NewReader(content))
	check(t, err)
	defer r.Release()
	for r.Next() {
		n += int(r.RecordBatch().NumRows())
	}
	check(t, r.Err())
	return n
}

func TestMetricsOfARun(t *testing.T) {
	dir, rows := sample(t)
	calls := 0
	out := &sink{write: func(_ context.Context, batch service.MessageBatch) error {
		if calls++; calls == 1 {
			return batch.WalkWithBatchedErrors(func(i int, _ *service.Message) error {
				if i < 3 {
					return context.DeadlineExceeded
				}
				return nil
			})
		}
		return nil
	}}
	handler := stream(t, "uri: "+dir+"\ncheckpoint_cache: positions\ntarget_partitions: 3", out)
	response := httptest.NewRecorder()
	handler.ServeHTTP(response, httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/metrics", nil))
	got := values(t, response.Body.String())
	for name, want := range map[string]int{
		"delta_lake_rows_total": len(rows), "delta_lake_nacked_total": 3, "delta_lake_in_flight_rows": 0,
		"delta_lake_version": orders.SampleVersion, "delta_lake_latest_version": orders.SampleVersion,
		"delta_lake_checkpoint_version": orders.SampleVersion, "delta_lake_partitions": 3,
	} {
		if v, ok := got[name]; !ok || v != float64(want) {
			t.Errorf("want %s %d, got %g (%t)", name, want, v, ok)
		}
	}
	for _, name := range []string{"delta_lake_files_total", "delta_lake_bytes_read_total", "delta_lake_requests_total"} {
		if got[name] <= 0 {
			t.Errorf("want %s above zero", name)
		}
	}
	if took := got["delta_lake_planning_seconds"]; took <= 0 || took > 60 {
		t.Errorf("want delta_lake_planning_seconds in seconds, got %g", took)
	}
	if _, ok := got["delta_lake_buffered_bytes"]; !ok {
		t.Error("want delta_lake_buffered_bytes")
	}
	if !strings.Contains(response.Body.String(), `table="file://`+dir+`"`) {
		t.Error("want the label table")
	}
}

// values reads the samples of delta_lake, without labels: several with one name are added up.
func values(t *testing.T, exposition string) map[string]float64 {
	t.Helper()
	out := map[string]float64{}
	for line := range strings.Lines(exposition) {
		name, rest, labelled := strings.Cut(line, "{")
		if !labelled || !strings.HasPrefix(name, "delta_lake_") {
			continue
		}
		v, err := strconv.ParseFloat(strings.TrimSpace(rest[strings.LastIndexByte(rest, ' '):]), 64)
		check(t, err)
		out[name] += v
	}
	return out
}
