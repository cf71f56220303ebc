package main

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"

	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

const (
	kafkaRows    = 100_000
	kafkaCommits = 5
)

func TestKafkaExampleDeliversEveryRowWithItsKey(t *testing.T) {
	table := numberedRows(t, kafkaRows)
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(4, "rows"))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	brokers := strings.Join(cluster.ListenAddrs(), ",")

	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, "benthos-delta", "run", filepath.Join(moduleRoot(t), "examples", "pipelines", "kafka.yaml"))
	cmd.Env = append(os.Environ(), "TABLE="+table, "BROKERS="+brokers, "TOPIC=rows", "KEY=id")
	if out, err := cmd.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	checkTopic(t, ctx, brokers)
}

// numberedRows writes a table of n rows in kafkaCommits commits and returns its directory.
func numberedRows(t *testing.T, n int) string {
	t.Helper()
	columns := deltatest.Columns("id long", "name string", "amount decimal(10,2)")
	table := deltatest.New(columns, deltatest.Options{})
	for c := range kafkaCommits {
		rows := make([]string, n/kafkaCommits)
		for i := range rows {
			rows[i] = numberedRow(c*len(rows) + i)
		}
		table.Append(deltatest.Rows(columns, rows...))
	}
	dir := t.TempDir()
	if err := table.WriteDir(dir); err != nil {
		t.Fatal(err)
	}
	return dir
}

func numberedRow(id int) string {
	return fmt.Sprintf(`{"id":%d,"name":"row %d","amount":"%d.%02d"}`, id, id, id/100, id%100)
}

// checkTopic reads the topic to its end and expects each row once, under its key.
func checkTopic(t *testing.T, ctx context.Context, brokers string) {
	t.Helper()
	client, err := kgo.NewClient(kgo.SeedBrokers(strings.Split(brokers, ",")...), kgo.ConsumeTopics("rows"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	defer client.Close()
	left := make(map[string]string, kafkaRows)
	for id := range kafkaRows {
		left[fmt.Sprint(id)] = numberedRow(id)
	}
	for len(left) > 0 {
		fetches := client.PollFetches(ctx)
		if err := fetches.Err0(); err != nil {
			t.Fatalf("%d rows did not arrive: %v", len(left), err)
		}
		fetches.EachRecord(func(r *kgo.Record) {
			want, ok := left[string(r.Key)]
			if !ok || want != string(r.Value) || header(r, "operation") != "read" || header(r, "delta_version") != "4" {
				t.Fatalf("key %q: want row %s once, as read from version 4, got %s with headers %v", r.Key, want, r.Value, r.Headers)
			}
			delete(left, string(r.Key))
		})
	}
}

func header(r *kgo.Record, key string) string {
	for _, h := range r.Headers {
		if h.Key == key {
			return string(h.Value)
		}
	}
	return ""
}
