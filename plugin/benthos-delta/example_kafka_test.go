package main

import (
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/twmb/franz-go/pkg/kerr"
	"github.com/twmb/franz-go/pkg/kfake"
	"github.com/twmb/franz-go/pkg/kgo"
	"github.com/twmb/franz-go/pkg/kmsg"
)

// consumed is what a topic of a fake broker holds, by partition, in order.
type consumed struct {
	mu      sync.Mutex
	records map[int32][]*kgo.Record
}

const partitions = 3

// newTopic returns a broker with the topic rows, and what arrives there until the test ends.
func newTopic(t *testing.T) (*kfake.Cluster, *consumed) {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(partitions, "rows"))
	if err != nil {
		t.Fatal(err)
	}
	client, err := kgo.NewClient(kgo.SeedBrokers(cluster.ListenAddrs()...), kgo.ConsumeTopics("rows"),
		kgo.ConsumeResetOffset(kgo.NewOffset().AtStart()))
	if err != nil {
		t.Fatal(err)
	}
	c, done := &consumed{records: map[int32][]*kgo.Record{}}, make(chan struct{})
	go func() {
		defer close(done)
		for fetches := client.PollFetches(t.Context()); fetches.Err0() == nil; fetches = client.PollFetches(t.Context()) {
			c.mu.Lock()
			fetches.EachRecord(func(r *kgo.Record) { c.records[r.Partition] = append(c.records[r.Partition], r) })
			c.mu.Unlock()
		}
	}()
	t.Cleanup(func() { <-done; client.Close(); cluster.Close() })
	return cluster, c
}

// all returns the records of all partitions, one partition after the other.
func (c *consumed) all() (all []*kgo.Record) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for p := range int32(partitions) {
		all = append(all, c.records[p]...)
	}
	return all
}

// arrived waits until the topic holds so many records.
func (p *process) arrived(c *consumed, n int) {
	p.t.Helper()
	p.until(fmt.Sprint(n, " records in Kafka"), func() bool { return len(c.all()) >= n })
}

func TestFollowExampleSendsEachRowOnceOverARestart(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	cluster, topic := newTopic(t)
	e := newExample(t, "follow", g.dir, "TOPIC=rows", "BROKERS="+strings.Join(cluster.ListenAddrs(), ","))
	p := e.start()
	p.arrived(topic, g.rows)
	for range 5 {
		g.commit(3, 4)
	}
	p.arrived(topic, g.rows)
	for range 3 {
		g.commit(6) // stopped at an arbitrary moment behind this
	}
	p.stop()
	g.commit(2)
	p = e.start()
	p.arrived(topic, g.rows)
	g.commit(1, 1)
	p.arrived(topic, g.rows)
	p.stop()

	var rows []string
	keys := map[string]bool{}
	for _, r := range topic.all() {
		rows, keys[string(r.Key)] = append(rows, string(r.Value)), true
		version, operation := header(r, "delta_version"), header(r, "operation")
		if !strings.HasPrefix(string(r.Key), version+"/part-") || (operation == "read") != (version == "1") {
			t.Errorf("want version 1 read and others inserted, and the version in the key, got key %s, %v", r.Key, r.Headers)
		}
	}
	wantRows(t, g.all(), rows)
	if len(keys) != g.rows {
		t.Errorf("want a key for each of %d rows, got %d", g.rows, len(keys))
	}
}

// Kafka rejects batches of some partitions now and then. The output sends such a batch again as a whole, before any other.
func TestOrderedExampleKeepsTheOrderOfTheTable(t *testing.T) {
	t.Parallel()
	g := newGrowing(t)
	cluster, topic := newTopic(t)
	reject := func(partition int32, count int) *kfake.FaultHandle {
		return cluster.Fault(kfake.Fault{
			Keys: []kmsg.Key{kmsg.Produce}, Partitions: []int32{partition}, Err: kerr.MessageTooLarge, Count: count,
		})
	}
	rejected := []*kfake.FaultHandle{reject(0, 2), reject(2, 1)}
	e := newExample(t, "ordered", g.dir, "TOPIC=rows", "KEY=id", "BROKERS="+strings.Join(cluster.ListenAddrs(), ","))
	p := e.start("-s", "input.delta_lake.batch_rows=7", "-s", "input.delta_lake.checkpoint_limit=7")
	for range 6 {
		g.commit(9, 8, 7)
	}
	p.arrivedAll(topic, g)
	rejected = append(rejected, reject(1, 1))
	for range 2 {
		g.commit(5, 10)
	}
	p.arrivedAll(topic, g)
	p.kill()
	for i, r := range rejected {
		if r.Hits() == 0 {
			t.Errorf("want rejection %d made", i)
		}
	}
	checkOrder(t, g, topic)
}

// arrivedAll waits until the topic holds every row of the table.
func (p *process) arrivedAll(c *consumed, g *growing) {
	p.t.Helper()
	p.until("all rows in Kafka", func() bool {
		ids := map[string]bool{}
		for _, r := range c.all() {
			ids[string(r.Key)] = true
		}
		return len(ids) == g.rows
	})
}

// checkOrder expects each partition in the order in which delta scan writes the table, but for batches that came again.
func checkOrder(t *testing.T, g *growing, topic *consumed) {
	t.Helper()
	scan, err := exec.CommandContext(t.Context(), "benthos-delta", "delta", "scan", g.dir).Output()
	if err != nil {
		t.Fatal(err)
	}
	place := map[string]int{}
	for row := range strings.Lines(string(scan)) {
		place[strings.TrimSuffix(row, "\n")] = len(place)
	}
	var rows []string
	for p := range int32(partitions) {
		highest := -1
		for _, r := range topic.records[p] {
			at, known := place[string(r.Value)]
			switch {
			case !known || !strings.HasPrefix(string(r.Value), `{"id":`+string(r.Key)+`,`):
				t.Errorf("want a row of the table under its id, got %s: %s", r.Key, r.Value)
			case at > highest:
				highest = at
				rows = append(rows, string(r.Value))
			case highest-at >= 7 || !slices.Contains(rows, string(r.Value)):
				t.Errorf("partition %d: row %d of the table came behind row %d", p, at, highest)
			}
		}
	}
	wantRows(t, g.all(), rows)
}
