package input

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/benthosdev/benthos/v4/public/service"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

func parse(t *testing.T, yaml string) *service.ParsedConfig {
	t.Helper()
	conf, err := Spec().ParseYAML(yaml, nil)
	check(t, err)
	return conf
}

func TestDecodedConfigurationEqualsThatOfTheTable(t *testing.T) {
	want, err := configspec.Decode(map[string]any{"uri": "/t"})
	check(t, err)
	got, err := decode(parse(t, "uri: /t"))
	check(t, err)
	if want.BatchRows != got.BatchRows || want.BatchBytes != got.BatchBytes || want.Values != got.Values ||
		want.RetryMaxElapsed != got.RetryMaxElapsed || got.Version != nil || got.Limit != nil || !got.AutoReplayNacks {
		t.Fatalf("want %+v, got %+v", want, got)
	}
}

func TestEveryFieldReachesTheConfiguration(t *testing.T) {
	got, err := decode(parse(t, strings.Join([]string{
		"uri: /t", "version: 4", "columns: [a, b]", "limit: 5", "batch_rows: 6", "batch_bytes: 7KiB", "format: structured",
		"values: { decimal: number }", "include_metadata: [row]", "key_columns: [b]", "checkpoint_limit: 8",
		"checkpoint_limit_bytes: 9", "auto_replay_nacks: false", "retry_max_elapsed: 10s", "scan: { memory_limit: 11MiB }",
	}, "\n")))
	check(t, err)
	if *got.Version != 4 || *got.Limit != 5 || got.BatchRows != 6 || got.BatchBytes != 7<<10 || got.Format != "structured" ||
		got.Values.Decimal != "number" || got.IncludeMetadata[0] != "row" || got.KeyColumns[0] != "b" || got.CheckpointLimit != 8 ||
		got.CheckpointLimitBytes != 9 || got.AutoReplayNacks || got.RetryMaxElapsed.Seconds() != 10 || got.Scan.MemoryLimit != 11<<20 {
		t.Fatalf("got %+v", got)
	}
}

// The child input reaches the configuration as the engine's own value: that it is there is all that the table knows of it.
func TestChildInputOfATriggerIsSeen(t *testing.T) {
	conf := parse(t, "uri: /t")
	if _, err := decode(conf); err != nil || conf.Contains("trigger", "input") {
		t.Fatalf("want no trigger input, got %v", err)
	}
	conf = parse(t, "uri: /t\ntrigger: { input: { stdin: {} } }")
	got, err := decode(conf)
	if !got.Trigger.Input || got.Trigger.Interval.String() != "30s" || !conf.Contains("trigger", "input") {
		t.Fatalf("want a trigger input beside the default interval, got %+v", got.Trigger)
	}
	if err == nil || !strings.Contains(err.Error(), "delta_lake.trigger: is for modes that follow the table") {
		t.Fatalf("want it refused in snapshot mode, got %v", err)
	}
}

// The engine's create command writes every optional field as null.
func TestFieldsThatAreNullAreLeftOut(t *testing.T) {
	got, err := decode(parse(t, strings.Join([]string{
		"uri: /t", "version: null", "timestamp: null", "limit: null", "trigger: { interval: 30s, input: null }",
		"checkpoint_cache: null", "checkpoint_cache_key: null",
	}, "\n")))
	check(t, err)
	if got.Version != nil || got.Timestamp != nil || got.Limit != nil || got.Trigger.Input || got.Checkpoint.Cache != "" {
		t.Fatalf("want none of them, got %+v", got)
	}
}

func TestNewRefusesWhatCanBeKnown(t *testing.T) {
	for yaml, want := range map[string]string{
		"uri: /t\nbatch_rows: 0":                        "delta_lake.batch_rows: must be at least 1, got 0",
		"uri: /t\nformat: json_lines\nkey_columns: [a]": "delta_lake.key_columns: needs one message a row",
		"uri: ftp://host/t":                             "ftp",
		"uri: /t\nformat: csv":                          "delta_lake.format: must be one of",
		"uri: /t\nvalues: { binary: base32 }":           "delta_lake.values.binary: must be one of",
	} {
		_, err := New(parse(t, yaml), service.MockResources(), Deps{})
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q for %q, got %v", want, yaml, err)
		}
	}
}

func TestReadBeforeConnectAndCloseTwice(t *testing.T) {
	source := newFakeTable().rows(1, true).done()
	in, err := New(parse(t, "uri: /t"), service.MockResources(), Deps{
		Open: func(context.Context, feed.Config) (feed.Source, error) { return source, nil },
	})
	check(t, err)
	if _, _, err := in.ReadBatch(t.Context()); !errors.Is(err, service.ErrNotConnected) {
		t.Fatalf("want ErrNotConnected, got %v", err)
	}
	check(t, in.Connect(t.Context()))
	check(t, in.Connect(t.Context()))
	_, ack, err := in.ReadBatch(t.Context())
	check(t, err)
	check(t, in.Close(t.Context()))
	check(t, in.Close(t.Context()))
	check(t, ack(t.Context(), nil)) // acknowledgements may come after Close began
	if pos, ok := in.(*Input).Position(); !ok || pos.TableID != "t" {
		t.Fatalf("want the position of the batch, got %v", pos)
	}
}

func TestTimeAndExternalPathsReachTheTable(t *testing.T) {
	const yaml = "uri: /t\ntimestamp: 2024-05-01 12:00:00\nallowed_external_paths: [ /other ]"
	in, err := New(parse(t, yaml), service.MockResources(), Deps{})
	check(t, err)
	got := in.(*Input).open.Open
	want := time.Date(2024, 5, 1, 12, 0, 0, 0, time.UTC)
	if got.Timestamp == nil || !got.Timestamp.Equal(want) || len(got.AllowedExternalPaths) != 1 {
		t.Fatalf("want %v and a path, got %v and %q", want, got.Timestamp, got.AllowedExternalPaths)
	}
}

func TestCloseWhileTheTableIsBeingOpened(t *testing.T) {
	for name, ends := range map[string]bool{"an open that ends with its context": true, "one that does not": false} {
		opening, give := make(chan struct{}), make(chan struct{})
		in, err := New(parse(t, "uri: /t"), service.MockResources(), Deps{
			Open: func(ctx context.Context, _ feed.Config) (feed.Source, error) {
				close(opening)
				if ends {
					<-ctx.Done()
					return nil, ctx.Err()
				}
				<-give
				return newFakeTable().done(), nil
			},
		})
		check(t, err)
		connected := make(chan error)
		go func() { connected <- in.Connect(context.Background()) }()
		<-opening
		ctx, cancel := context.WithCancel(t.Context())
		if !ends {
			cancel()
		}
		if err := in.Close(ctx); (err == nil) != ends {
			t.Errorf("%s: want Close to honour its context, got %v", name, err)
		}
		cancel()
		close(give)
		if err := <-connected; !errors.Is(err, context.Canceled) {
			t.Errorf("%s: want Connect interrupted, got %v", name, err)
		}
		check(t, in.Close(t.Context()))
	}
}
