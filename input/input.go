// Package input is the Benthos adapter of delta_lake. It answers what the engine asks of an input (Connect, ReadBatch, Close,
// what became of a batch) and leaves following the table to feed, encoding to encode and what is in flight to ack. It uses
// only what all engines of the Benthos family share.
package input

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/benthosdev/benthos/v4/public/service"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/exec"
	"github.com/benthos-delta/benthos-delta/deltacore/recycle"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/input/feed"
	"github.com/benthos-delta/benthos-delta/limits"
)

// Deps is what the program around an input gives to it. The zero value works.
type Deps struct {
	// Open opens the source; nil: feed.Open, in this process.
	Open func(ctx context.Context, c feed.Config) (feed.Source, error)
	// Failed receives the permanent error that ended a bounded run: the engine has no fatal error, it sees the end of the
	// input. nil: nobody.
	Failed func(error)
	// Unfinished receives the table of an input that ends by itself, and the rows it had delivered, when it was closed before
	// its end without a failure. nil: nobody.
	Unfinished func(table string, rows int64)
	// Budget bounds the bytes decoded or encoded but not yet handed out; nil: the one that all inputs of the process share.
	Budget *exec.Budget
	// Allocator gives Arrow memory; nil: the one that all inputs of the process share.
	Allocator memory.Allocator
}

// Input is one delta_lake input. The engine calls Connect and ReadBatch from one goroutine; Close and acknowledgements may
// come on any.
type Input struct {
	config    configspec.Config
	deps      Deps
	log       *service.Logger
	metrics   *metrics
	losses    *losses
	open      feed.Config
	target    limits.Decision // how many partitions, and why
	convert   *converter
	connect   *patience           // of Connect
	child     *service.OwnedInput // whose messages cause looks; nil: none
	rest      rest
	positions *positions

	stopping context.Context //nolint:containedctx // ends when Close begins
	stop     context.CancelFunc
	busy     chan struct{} // holds a token while Connect or Close is at work
	over     atomic.Bool   // its end, its failure or that it has none was told

	mu   sync.Mutex
	conn *connection // nil: not connected
}

// New checks everything about a configuration that can be known without the table.
func New(conf *service.ParsedConfig, res *service.Resources, deps Deps) (service.BatchInput, error) {
	config, err := decode(conf)
	if err != nil {
		return nil, err
	}
	uri, err := storage.ParseURI(config.URI)
	if err != nil {
		return nil, err
	}
	in := &Input{config: config, log: res.Logger(), busy: make(chan struct{}, 1)}
	in.stopping, in.stop = context.WithCancel(context.Background())
	in.deps = in.complete(deps)
	in.metrics = newMetrics(res.Metrics(), uri.String(), in.deps.Budget)
	in.losses = &losses{table: uri.String(), log: in.log, metrics: in.metrics}
	in.convert = &converter{config: config, table: uri.String(), allocator: in.deps.Allocator}
	in.connect = newPatience(retryFor(config), nil)
	if config.Trigger.Input {
		if in.child, err = conf.FieldInput("trigger", "input"); err != nil {
			return nil, err
		}
	}
	in.open = feed.Config{
		URI: config.URI, Follow: followOf(config), OnMissingFile: feed.Policy(config.OnMissingFile),
		Open: deltacore.Options{
			Version: config.Version, Timestamp: config.Timestamp, AllowedExternalPaths: config.AllowedExternalPaths,
			FooterReadSize: config.Scan.FooterReadSize, Budget: in.deps.Budget, Allocator: in.deps.Allocator, Warn: in.warn,
		},
	}
	in.open.Scan, in.target = ScanOptions(config)
	in.open.Scan.BatchRows, in.open.Scan.RowIDs = decodedRows(config), wantsRowIDs(config)
	in.open.Scan.Skipped = new(scanplan.Skipped)
	in.positions, err = newPositions(config, res, in.metrics)
	return in, err
}

func (in *Input) complete(d Deps) Deps {
	if d.Open == nil {
		d.Open = feed.Open
	}
	if d.Failed == nil {
		d.Failed = func(error) {}
	}
	if d.Unfinished == nil {
		d.Unfinished = func(string, int64) {}
	}
	if d.Allocator == nil {
		d.Allocator = &recycled
	}
	if d.Budget == nil {
		var limit int64
		if d.Budget, limit = sharedBudget(in.config.Scan.MemoryLimit); limit != in.config.Scan.MemoryLimit {
			in.log.Warnf("%s.scan.memory_limit is ignored: the inputs of this process share the %d bytes of the first one",
				configspec.Component, limit)
		}
	}
	return d
}

// retryFor is how long a failure that may pass is tried again.
func retryFor(c configspec.Config) time.Duration {
	if !c.Bounded() {
		return math.MaxInt64
	}
	return c.RetryMaxElapsed
}

func followOf(c configspec.Config) feed.Follow {
	if !c.Follows() {
		return feed.Follow{}
	}
	f := c.Follow
	return feed.Follow{
		Mode: feed.Mode(c.Mode), SkipSnapshot: !f.StreamSnapshot, StartVersion: f.StartVersion, StartTimestamp: f.StartTimestamp,
		EndVersion: f.EndVersion, UntilCaughtUp: f.Until == "caught_up", OnRewrite: feed.Policy(f.OnRewrite),
		OnDelete: feed.Policy(f.OnDelete), OnSchemaChange: feed.Policy(f.OnSchemaChange),
	}
}

// decodedRows is the size of the records that are asked for. Larger ones than this are not faster.
func decodedRows(c configspec.Config) int64 { return min(rowLimit(c), 65536) }

// recycled is the memory of all inputs in this process that were given none: nothing that leaves an input points into it.
var recycled recycle.Allocator

// shared is the budget of all inputs in this process that were given none. The first input's limit holds.
var shared struct {
	sync.Mutex
	budget *exec.Budget
	limit  int64
}

// sharedBudget returns the budget of the process and its limit, which is the given one for the first input.
func sharedBudget(limit int64) (*exec.Budget, int64) {
	shared.Lock()
	defer shared.Unlock()
	if shared.budget == nil {
		shared.budget, shared.limit = exec.NewBudget(limit), limit
	}
	return shared.budget, shared.limit
}

func (in *Input) warn(msg string) { in.log.Warn(msg) }

// enter takes the right to connect or to close, unless ctx ends before.
func (in *Input) enter(ctx context.Context) error {
	select {
	case in.busy <- struct{}{}: // asked first: where nobody is in the way the end of ctx does not matter
		return nil
	default:
	}
	select {
	case in.busy <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (in *Input) leave() { <-in.busy }

// Connect opens the table and begins to read ahead. Its error is one that may pass; any other ends the input.
func (in *Input) Connect(ctx context.Context) error {
	if err := in.enter(ctx); err != nil {
		return err
	}
	defer in.leave()
	if in.connection() != nil {
		return nil
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	defer context.AfterFunc(in.stopping, cancel)() //nolint:contextcheck // Close interrupts Connect
	for {
		if err := in.rest.wait(ctx); err != nil {
			return err
		}
		c, err := in.begin(ctx)
		if in.stopping.Err() != nil { // the other goroutine may not have come to it
			cancel()
		}
		switch {
		case ctx.Err() != nil:
			return errors.Join(ctx.Err(), in.abandoned(c)) //nolint:contextcheck // which has ended
		case err == nil:
			in.connect.reset()
			in.connected(c)
			return nil
		}
		if err := in.connectFailed(err); err != nil {
			return err
		}
	}
}

// abandoned closes a connection that nobody will use.
func (in *Input) abandoned(c *connection) error {
	ctx, cancel := context.WithTimeout(context.Background(), longestClose)
	defer cancel()
	return c.close(ctx)
}

// connectFailed returns what the engine is to be told; nil: nothing, it is tried again after a rest.
func (in *Input) connectFailed(err error) error {
	if wait, more := in.connect.next(err); more { // the engine logs it
		in.metrics.retried()
		return service.NewErrBackOff(err, wait)
	}
	if in.hopeless(in.connect.exhausted(err)) {
		return service.ErrEndOfInput
	}
	return nil
}

// failed reports, once and in full, the error that ends the run.
func (in *Input) failed(err error) {
	in.over.Store(true)
	in.log.Error(err.Error())
	in.deps.Failed(err)
}

func (in *Input) connection() *connection {
	in.mu.Lock()
	defer in.mu.Unlock()
	return in.conn
}

func (in *Input) connected(c *connection) {
	in.mu.Lock()
	defer in.mu.Unlock()
	in.conn = c
}

// ReadBatch returns rejected rows that are due, else the next batch. It returns ErrEndOfInput when everything is resolved.
func (in *Input) ReadBatch(ctx context.Context) (service.MessageBatch, service.AckFunc, error) {
	c := in.connection()
	if c == nil {
		return nil, nil, service.ErrNotConnected
	}
	for {
		d, err := c.tracker.Next(ctx, c.pump.items)
		in.metrics.usage(c.source)
		in.metrics.pruned(in.open.Scan.Skipped.Snapshot())
		if errors.Is(err, io.EOF) {
			return nil, nil, in.ended(ctx, c)
		}
		if err != nil {
			return nil, nil, err
		}
		in.recovered()
		in.metrics.handedOver(d, c.inFlight())
		if d.Attempt <= 1 {
			in.progressed(c, c.handover.handed(d.Payload.position))
		}
		if d.Payload.Messages() > 0 {
			return messagesOf(d), in.ackFunc(ctx, c, d), nil //nolint:contextcheck // messages outlive the read
		}
	}
}

// ended says what follows a connection of which everything is resolved.
func (in *Input) ended(ctx context.Context, c *connection) error {
	if !c.again.Load() {
		in.over.Store(true)
		return service.ErrEndOfInput
	}
	if err := c.close(ctx); err != nil {
		return err
	}
	in.rest.behind = nil
	if at, reached := c.tracker.Position(); reached && !c.anew.Load() {
		in.rest.behind = &at
	}
	in.connected(nil)
	return service.ErrNotConnected
}

// longestClose is how long Close waits for what is left running. The engine sets no limit itself.
const longestClose = 10 * time.Second

// Close stops reading, stores the position and waits until nothing is left running, for 10 s at most: its error says what is.
// The engine calls it when no acknowledgement is outstanding any more, unless it was made to stop at once.
func (in *Input) Close(ctx context.Context) error {
	in.stop()
	in.connection().stop()
	if unstored := in.positions.close(ctx); unstored != nil { // first: a read that hangs must not hold it up
		in.log.Warnf("Rows behind the stored position will be delivered again: %v", unstored)
	}
	ctx, cancel := context.WithTimeout(ctx, longestClose)
	defer cancel()
	err := in.letGo(ctx)
	if err != nil {
		in.log.Warnf("Closed while something is left running: %s", strings.ReplaceAll(err.Error(), "\n", "; "))
	}
	return err
}

// letGo ends what runs and waits for it, as long as ctx allows.
func (in *Input) letGo(ctx context.Context) error {
	return errors.Join(in.disconnect(ctx), in.closeChild(ctx))
}

// disconnect ends the connection, after Connect where that is at work.
func (in *Input) disconnect(ctx context.Context) error {
	if in.enter(ctx) != nil {
		in.closed(nil)
		return fmt.Errorf("the opening of the table does not come to an end: %w", ctx.Err())
	}
	defer in.leave()
	in.closed(in.connection())
	return in.connection().close(ctx)
}

func (in *Input) closeChild(ctx context.Context) error {
	if in.child == nil {
		return nil
	}
	if err := in.child.Close(ctx); err != nil {
		return fmt.Errorf("trigger.input does not come to an end: %w", err)
	}
	return nil
}

// closed tells once if the end was not reached. Where everything is resolved the engine need not have come back for it.
func (in *Input) closed(c *connection) {
	if in.over.Swap(true) || !in.config.Bounded() {
		return
	}
	var rows int64
	if c != nil && c.tracker != nil {
		if at, reached := c.tracker.Position(); reached && at.Done && !c.again.Load() {
			return
		}
		rows = c.tracker.Delivered()
	}
	in.deps.Unfinished(in.convert.table, rows)
}

// Position returns the highest position behind which every row is resolved; false before there is one.
func (in *Input) Position() (feed.Position, bool) {
	c := in.connection()
	if c == nil {
		return feed.Position{}, false
	}
	return c.tracker.Position()
}
