package input

import (
	"context"
	"fmt"
	"sync/atomic"

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
	release   func()                              // gives the key free; nil: it was not claimed
	forgotten atomic.Bool                         // what is stored does not count any more
	tracker   atomic.Pointer[ack.Tracker[*batch]] // of the connection; nil: there was none
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
	p.writer = ack.NewWriter(ack.NewStore(cache, key, p.warn), ack.WriterOptions{
		Interval: config.Checkpoint.Interval,
		Saved:    p.saved,
		Failed:   p.failed,
	})
	return p, nil
}

func (p *positions) warn(msg string) { p.log.Warn(msg) }

func (p *positions) saved(at feed.Position) {
	p.metrics.checkpoint.Set(at.Version, p.metrics.table)
	if t := p.tracker.Load(); t != nil {
		t.Stored(at)
	}
}

func (p *positions) failed(err error) {
	p.warn(err.Error())
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
	stored, found, err := p.writer.Load(ctx)
	switch {
	case err != nil && p.resets(err, nil):
		return nil, nil
	case err != nil || !found:
		return nil, err
	}
	p.saved(stored)
	switch {
	case stored.Phase == feed.PhaseSnapshot && stored.Done && !p.config.Follows():
		p.log.Infof("The last run finished version %d: reading anew", stored.Version)
		return nil, nil
	case p.config.Limit != nil: // how many of the rows are left cannot be known
		p.log.Infof("%s.limit is set: reading anew", configspec.Component)
		return nil, nil
	}
	p.log.Infof("Resuming behind %s", stored)
	return &stored, nil
}

func (p *positions) claim() (err error) {
	if p.release == nil {
		p.release, err = claimKey(p.config.Checkpoint.Cache, p.key)
	}
	return err
}

// unresumable tells what an error of going on behind a stored position means.
func (p *positions) unresumable(err error, stored feed.Position) error {
	switch deltaerr.KindOf(err) {
	case deltaerr.NotFound:
		err = deltaerr.New(deltaerr.Unresumable, "what is behind the stored position is not there any more",
			deltaerr.Phase("resuming from %s", stored), deltaerr.Cause(err))
	case deltaerr.Unresumable, deltaerr.Replaced:
	default:
		return err
	}
	return deltaerr.Annotate(err, deltaerr.Hint("begin anew with %s.on_unresumable_position: reset", configspec.Component))
}

// resets says whether the run begins anew after an error, and logs what is lost with that. stored is the position that
// cannot be continued from; nil: it could not be read.
func (p *positions) resets(err error, stored *feed.Position) bool {
	kind := deltaerr.KindOf(err)
	if p == nil || p.config.Checkpoint.OnUnresumable != "reset" || kind != deltaerr.Unresumable && kind != deltaerr.Replaced {
		return false
	}
	lost := "which rows are lost or come again is not known"
	if stored != nil {
		lost = fmt.Sprintf("lost is what version %d of table %s has behind that position and the version read next has not",
			stored.Version, stored.TableID)
	}
	p.log.Warnf("Beginning anew: %v; %s", err, lost)
	return true
}

// forget makes the next load begin anew.
func (p *positions) forget() { p.forgotten.Store(true) }

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
	if p.release != nil {
		p.release()
	}
	return err
}
