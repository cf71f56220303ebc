package main

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/twmb/franz-go/pkg/kfake"

	"github.com/benthos-delta/benthos-delta/input/ack"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

// killsVariable is the environment variable with the number of kills; task test:kill sets it.
const killsVariable = "DELTA_LAKE_TEST_KILLS"

const (
	killedVersions = 200
	firstVersions  = 30 // exist when the pipeline is started first
	killedBatch    = 7
	killedInFlight = 35
)

// killedPipeline follows a growing table into Kafka. Each row says in which life of the process it was sent.
const killedPipeline = `
http: { enabled: false }
logger: { level: ERROR }
input:
  delta_lake:
    uri: "${TABLE}"
    mode: append
    trigger: { interval: 20ms }
    on_rewrite: ${ON_REWRITE}
    on_delete: skip
    batch_rows: ${BATCH}
    checkpoint_limit: ${IN_FLIGHT}
    checkpoint_interval: 0s
    checkpoint_cache: positions
    checkpoint_cache_key: position
pipeline:
  processors: [ { mutation: 'meta life = env("LIFE")' } ]
output:
  kafka_franz:
    seed_brokers: [ "${BROKERS}" ]
    topic: rows
    max_in_flight: 4
    metadata: { include_patterns: [ "^delta_version$", "^operation$", "^life$" ] }
cache_resources:
  - label: positions
    file: { directory: "${STATE}" }
`

// TestKilledPipelineLosesNoRow kills a process that follows a table into Kafka, with SIGKILL, at random moments while the
// table grows to 200 versions with updates, deletes by file and by vector, OPTIMIZE and checkpoints. At the end every row is
// there; what comes again is bounded by what was in flight; and no life opens a file that the stored position is behind.
func TestKilledPipelineLosesNoRow(t *testing.T) {
	t.Parallel()
	kills := 5
	if text := os.Getenv(killsVariable); text != "" {
		var err error
		if kills, err = strconv.Atoi(text); err != nil {
			t.Fatalf("%s: %v", killsVariable, err)
		}
	}
	t.Run("emit", func(t *testing.T) { t.Parallel(); killAgainAndAgain(t, "emit", kills-kills/2) })
	t.Run("skip", func(t *testing.T) { t.Parallel(); killAgainAndAgain(t, "skip", kills/2) })
}

func killAgainAndAgain(t *testing.T, onRewrite string, kills int) {
	t.Helper()
	cluster, err := kfake.NewCluster(kfake.NumBrokers(1), kfake.SeedTopics(1, "rows"))
	if err != nil {
		t.Fatal(err)
	}
	defer cluster.Close()
	v := newVictim(t, onRewrite, cluster.ListenAddrs())
	writer := v.history.writeTo(killedVersions, kills+1)
	defer writer.join()
	for life := range kills {
		writer.share(life)
		v.runAndKill(life)
	}
	writer.share(kills)
	v.runToTheEnd(kills, writer)
	v.report(kills)
}

// victim is what is killed, and what is known of its lives.
type victim struct {
	t         *testing.T
	dir       string
	onRewrite string
	brokers   []string
	pipeline  string
	history   *history
	topic     *topic
	reread    int // files that a life opened and that it did not have to
	opened    int
}

func newVictim(t *testing.T, onRewrite string, brokers []string) *victim {
	t.Helper()
	v := &victim{t: t, dir: t.TempDir(), onRewrite: onRewrite, brokers: brokers}
	v.pipeline = filepath.Join(v.dir, "pipeline.yaml")
	err := errors.Join(os.WriteFile(v.pipeline, []byte(killedPipeline), 0o600), os.Mkdir(filepath.Join(v.dir, "state"), 0o700))
	if err != nil {
		t.Fatal(err)
	}
	v.history = newHistory(t, filepath.Join(v.dir, "table"))
	v.history.grow(firstVersions)
	v.topic = consume(t, brokers)
	return v
}

// start starts one life, which notes what it opens.
func (v *victim) start(life int) *exec.Cmd {
	v.t.Helper()
	cmd := exec.Command("benthos-delta-recording", "run", v.pipeline)
	cmd.Env = append(os.Environ(), "TABLE="+v.history.dir, "STATE="+filepath.Join(v.dir, "state"),
		"BROKERS="+strings.Join(v.brokers, ","), "ON_REWRITE="+v.onRewrite, "LIFE="+strconv.Itoa(life),
		"BATCH="+strconv.Itoa(killedBatch), "IN_FLIGHT="+strconv.Itoa(killedInFlight), openedVariable+"="+v.openedFile(life))
	log, err := os.OpenFile(filepath.Join(v.dir, "log"), os.O_CREATE|os.O_APPEND|os.O_WRONLY, 0o600)
	if err != nil {
		v.t.Fatal(err)
	}
	defer log.Close()
	cmd.Stdout, cmd.Stderr = log, log
	if err := cmd.Start(); err != nil {
		v.t.Fatal(err)
	}
	return cmd
}

func (v *victim) openedFile(life int) string {
	return filepath.Join(v.dir, "opened"+strconv.Itoa(life))
}

// runAndKill kills a life at a moment drawn by time or by the number of rows that it has sent.
func (v *victim) runAndKill(life int) {
	v.t.Helper()
	behind := v.stored()
	cmd := v.start(life)
	rows, within := rand.IntN(60), 1500*time.Millisecond
	if rand.IntN(3) == 0 {
		rows, within = 1<<30, time.Duration(rand.Int64N(int64(time.Second)))
	}
	v.topic.await(v.topic.len()+rows, within)
	if err := cmd.Process.Kill(); err != nil {
		v.t.Fatal(err)
	}
	var exit *exec.ExitError
	if err := cmd.Wait(); !errors.As(err, &exit) || signalOf(exit) != syscall.SIGKILL {
		v.t.Fatalf("life %d ended before it was killed: %v\n%s", life, err, v.log())
	}
	v.checkOpened(life, behind)
}

// runToTheEnd lets the last life come to the end of the table and stops it.
func (v *victim) runToTheEnd(life int, w *writer) {
	v.t.Helper()
	behind := v.stored()
	cmd := v.start(life)
	w.join()
	want := map[sent]bool{}
	for until := time.Now().Add(30 * time.Second); len(want) == 0 && time.Now().Before(until); time.Sleep(10 * time.Millisecond) {
		want = v.expected()
	}
	if !v.topic.awaitAll(want, 60*time.Second) {
		v.t.Errorf("rows are lost: %v\n%s", v.topic.missing(want), v.log())
	}
	if err := cmd.Process.Signal(syscall.SIGTERM); err != nil {
		v.t.Fatal(err)
	}
	if err := cmd.Wait(); err != nil {
		v.t.Errorf("want a clean end, got %v\n%s", err, v.log())
	}
	v.checkOpened(life, behind)
	if p := v.stored(); p == nil || !p.Done || p.Version != v.history.table.Version() {
		v.t.Errorf("want the end of version %d stored, got %v", v.history.table.Version(), p)
	}
	if extra := v.topic.beyond(want); len(extra) > 0 {
		v.t.Errorf("rows came that are none of the table: %v", extra)
	}
}

// expected is what has to come, once it is known at which version reading began; nil before.
func (v *victim) expected() map[sent]bool {
	begun, ok := v.topic.snapshotVersion()
	if !ok {
		return nil
	}
	return v.history.expected(begun, v.onRewrite == "emit")
}

// report checks what came more than once. Each life repeats at most what was in flight when the last one was killed, and one
// batch that was acknowledged and not stored.
func (v *victim) report(kills int) {
	v.t.Helper()
	repeats := v.topic.repeats()
	most, total := 0, 0
	for _, n := range repeats {
		most, total = max(most, n), total+n
	}
	begun, _ := v.topic.snapshotVersion()
	v.t.Logf("on_rewrite %s: %d kills, %d rows sent, %d of them again, at most %d after one kill; %d data files opened for %d to read, "+
		"%d of them needlessly", v.onRewrite, kills, v.topic.len(), total, most, v.opened, v.history.files(begun, v.onRewrite == "emit"), v.reread)
	if most > killedInFlight+killedBatch {
		v.t.Errorf("want at most %d rows again after one kill, got %v", killedInFlight+killedBatch, repeats)
	}
}

// checkOpened checks that a life opened no data file that was finished when it began.
func (v *victim) checkOpened(life int, behind *feed.Position) {
	v.t.Helper()
	text, err := os.ReadFile(v.openedFile(life))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		v.t.Fatal(err)
	}
	opened := map[string]bool{}
	for _, name := range strings.Fields(string(text)) {
		if v.history.isData(name) {
			opened[name] = true
		}
	}
	v.opened += len(opened)
	if behind == nil {
		return
	}
	for _, name := range slices.Sorted(maps.Keys(opened)) {
		if !v.history.wanted(name, *behind, v.onRewrite == "emit") {
			v.reread++
			v.t.Errorf("life %d opened %s, which %s is behind", life, name, behind)
		}
	}
}

// stored is the position in the cache; nil: there is none.
func (v *victim) stored() *feed.Position {
	v.t.Helper()
	store := ack.NewStore(directory(filepath.Join(v.dir, "state")), "position", nil)
	r, found, err := store.Load(context.Background())
	if err != nil {
		v.t.Fatal(err)
	}
	if !found {
		return nil
	}
	return &r.Position
}

func (v *victim) log() string {
	text, err := os.ReadFile(filepath.Join(v.dir, "log"))
	if err != nil {
		return err.Error()
	}
	return string(text)
}

// directory is the file cache of the engine, read only.
type directory string

func (d directory) Get(_ context.Context, key string) ([]byte, error) {
	value, err := os.ReadFile(filepath.Join(string(d), key))
	if errors.Is(err, os.ErrNotExist) {
		return nil, ack.ErrAbsent
	}
	return value, err
}

func (d directory) Set(context.Context, string, []byte) error {
	return fmt.Errorf("%s is read only", d)
}

// writer lets a history grow beside the lives of a process, an equal share for each.
type writer struct {
	shares chan struct{}
	done   sync.WaitGroup
	once   sync.Once
}

func (h *history) writeTo(versions int64, shares int) *writer {
	w := &writer{shares: make(chan struct{}, shares)}
	from := h.table.Version() + 1
	w.done.Go(func() {
		given := int64(0)
		for range w.shares {
			given++
			for h.table.Version()+1 < from+(versions-from)*given/int64(shares) {
				h.grow(1)
				time.Sleep(time.Duration(rand.Int64N(int64(8 * time.Millisecond))))
			}
		}
		for h.table.Version()+1 < versions {
			h.grow(1)
		}
	})
	return w
}

func (w *writer) share(int) { w.shares <- struct{}{} }

// join waits until everything is written.
func (w *writer) join() {
	w.once.Do(func() { close(w.shares) })
	w.done.Wait()
}
