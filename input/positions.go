package input

import (
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/benthosdev/benthos/v4/public/service"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/input/ack"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

// positions decides where a run begins and keeps how far it came. Without a checkpoint cache, and as nil, it stores nothing.
type positions struct {
	config    configspec.Config
	key       string
	log       *service.Logger
	metrics   *metrics
	writer    *ack.Writer
	forgotten atomic.Bool                         // what is stored does not count any more
	tracker   atomic.Pointer[ack.Tracker[*batch]] // of the connection; nil: there was none
	trouble   complaint                           // about the cache

	otherColumns bool // the position that was loaded is one of other columns; for the engine's goroutine

	mu      sync.Mutex
	release func() // gives the key free; nil: it was not claimed
	closed  bool
}

// newPositions returns nil where the configuration names no cache.
func newPositions(config configspec.Config, res *service.Resources, m *metrics) (*positions, error) {
	if config.Checkpoint.Cache == "" {
		return nil, nil
	}
	cache, err := NewCheckpointCache(res, config.Checkpoint.Cache)
	if err != nil {
		return nil, err
	}
	key, err := CheckpointKey(config, res.Label())
	if err != nil {
		return nil, err
	}
	p := &positions{config: config, key: key, log: res.Logger(), metrics: m}
	store := ack.NewStore(cache, key, p.warn)
	store.Reads(readingOf(config))
	p.writer = ack.NewWriter(store, ack.WriterOptions{
		Interval: config.Checkpoint.Interval,
		Saved:    p.saved,
		Failed:   p.failed,
	})
	return p, nil
}

func (p *positions) warn(msg string) { p.log.Warn(msg) }

func (p *positions) saved(at feed.Position) {
	p.trouble.over()
	p.metrics.checkpoint.Set(at.Version, p.metrics.table)
	if t := p.tracker.Load(); t != nil {
		t.Stored(at)
	}
}

func (p *positions) failed(err error) {
	if p.trouble.say(err.Error(), time.Now()) {
		p.warn(err.Error())
	}
	if t := p.tracker.Load(); t != nil {
		t.Failing()
	}
}

// each says whether each position is stored as soon as it is reached.
func (p *positions) each() bool { return p != nil && p.config.Checkpoint.Interval == 0 }

// follow tells the tracker of a new connection what is stored.
func (p *positions) follow(t *ack.Tracker[*batch]) {
	if p != nil {
		p.tracker.Store(t)
	}
}

// load returns the position behind which the run goes on; nil: it begins anew. The key is claimed until close.
func (p *positions) load(ctx context.Context) (*feed.Position, error) {
	if p == nil || p.forgotten.Load() {
		return nil, nil
	}
	if err := p.claim(); err != nil {
		return nil, err
	}
	record, found, err := p.writer.Load(ctx)
	switch {
	case err != nil && resets(p.config, p.log, err, nil):
		return nil, nil
	case err != nil || !found:
		return nil, err
	}
	stored := record.Position
	p.saved(stored)
	switch {
	case stored.Phase == feed.PhaseSnapshot && stored.Done && !p.config.Follows():
		p.log.Infof("The last run finished version %d: reading anew", stored.Version)
		return nil, nil
	case p.config.Limit != nil: // how many of the rows are left cannot be known
		p.log.Infof("%s.limit is set: reading anew", configspec.Component)
		return nil, nil
	}
	p.log.Infof("Resuming behind %s", inWords(stored))
	p.noticeReading(record.Reading)
	p.noticeStart(stored)
	return &stored, nil
}

// noticeStart tells which fields do not count because a position is stored.
func (p *positions) noticeStart(stored feed.Position) {
	var ignored []string
	c, waits := p.config.Follow, stored.Phase == feed.PhaseTail && stored.SchemaHash == "" // no commit was read
	if c.StartVersion != nil {
		ignored = append(ignored, configspec.Component+".start_version")
	}
	if c.StartTimestamp != nil && !waits {
		ignored = append(ignored, configspec.Component+".start_timestamp")
	}
	if p.config.Follows() && !c.StreamSnapshot {
		ignored = append(ignored, configspec.Component+".stream_snapshot")
	}
	if len(ignored) > 0 {
		p.log.Infof("Ignored, because a position is stored under the key %s: %s", p.key, strings.Join(ignored, ", "))
	}
}

// claim takes the key, until close.
func (p *positions) claim() (err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return context.Canceled
	case p.release == nil:
		p.release, err = claimKey(p.config.Checkpoint.Cache, p.key)
	}
	return err
}

// forget makes the next load begin anew.
func (p *positions) forget() {
	if p != nil {
		p.forgotten.Store(true)
	}
}

// begin stores where a run begins, before its first row. It tries as long as a transient failure may take.
func (p *positions) begin(ctx context.Context, at feed.Position) error {
	if p == nil {
		return nil
	}
	limited, cancel := context.WithTimeout(ctx, p.config.RetryMaxElapsed)
	defer cancel()
	err := p.writer.Begin(limited, at)
	if err != nil && ctx.Err() != nil {
		return ctx.Err()
	}
	return deltaerr.Annotate(err, deltaerr.Hint("given up after %s.retry_max_elapsed", configspec.Component))
}

// moved tells the highest position. It does not block.
func (p *positions) moved(at feed.Position) {
	if p != nil {
		p.writer.Moved(at)
	}
}

// close stores the newest position and gives the key free. Its error says that the position could not be stored.
func (p *positions) close(ctx context.Context) error {
	if p == nil {
		return nil
	}
	err := p.writer.Close(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	if p.release != nil {
		p.release()
	}
	return err
}
