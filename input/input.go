// Package input is the Benthos adapter of delta_lake. It answers what the engine asks of an input (Connect, ReadBatch, Close,
// what became of a batch) and leaves following the table to feed, encoding to encode and what is in flight to ack. It uses
// only what all engines of the Benthos family share.
package input

import (
	"context"
	"errors"
	"io"
	"iter"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"github.com/benthosdev/benthos/v4/public/service"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/exec"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/input/ack"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

// Deps is what the program around an input gives to it. The zero value works.
type Deps struct {
	// Open opens the source; nil: feed.OpenSnapshot, in this process.
	Open func(ctx context.Context, c feed.Config) (feed.Source, error)
	// Failed receives the permanent error that ended a bounded run: the engine has no fatal error, it sees the end of the
	// input. nil: nobody.
	Failed func(error)
	// Budget bounds the bytes decoded or encoded but not yet handed out; nil: the one that all inputs of the process share.
	Budget *exec.Budget
}

// Input is one delta_lake input. The engine calls Connect, ReadBatch and Close from one goroutine, acknowledgements come on
// any.
type Input struct {
	config  configspec.Config
	deps    Deps
	log     *service.Logger
	metrics *metrics
	tracker *ack.Tracker[*batch]
	open    feed.Config
	convert *converter
	connect *patience // of Connect

	mu      sync.Mutex // of the two below: Close may come while a Connect is given up
	source  feed.Source
	pump    *pump
	closing atomic.Bool
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
	if deps.Open == nil {
		deps.Open = feed.OpenSnapshot
	}
	if deps.Budget == nil {
		deps.Budget = sharedBudget(config.Scan.MemoryLimit)
	}
	in := &Input{config: config, deps: deps, log: res.Logger()}
	in.metrics = newMetrics(res.Metrics(), uri.String(), deps.Budget)
	in.convert = &converter{config: config, table: uri.String()}
	in.connect = newPatience(config.RetryMaxElapsed, nil)
	in.tracker = ack.New[*batch](ack.Options{
		Rows: config.CheckpointLimit, Bytes: config.CheckpointLimitBytes, DropRejected: !config.AutoReplayNacks,
	})
	in.open = feed.Config{
		URI:  config.URI,
		Open: deltacore.Options{Version: config.Version, Budget: deps.Budget, Warn: in.warn},
		Scan: deltacore.ScanOptions{Columns: config.Columns, Limit: config.Limit, BatchRows: decodedRows(config)},
	}
	return in, nil
}

// decodedRows is the size of the records that are asked for: small batches are cut of larger records, since decoding few
// rows at a time is slow.
func decodedRows(c configspec.Config) int64 {
	const least, most = 8192, 65536
	return min(max(rowLimit(c), least), most)
}

// shared is the budget of all inputs in this process that were given none. The first input's limit holds.
var shared struct {
	sync.Mutex
	budget *exec.Budget
}

func sharedBudget(limit int64) *exec.Budget {
	shared.Lock()
	defer shared.Unlock()
	if shared.budget == nil {
		shared.budget = exec.NewBudget(limit)
	}
	return shared.budget
}

func (in *Input) warn(msg string) { in.log.Warn(msg) }

// Connect opens the table and begins to read ahead. Its error is one that may pass; any other ends the input.
func (in *Input) Connect(ctx context.Context) error {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.pump != nil {
		return nil
	}
	source, err := in.deps.Open(ctx, in.open)
	switch {
	case ctx.Err() != nil:
		return errors.Join(ctx.Err(), closeSource(source))
	case err != nil:
		return in.connectFailed(err)
	}
	in.connect.reset()
	in.source = source
	in.pump = startPump(ctx, in.read, in.failed)
	return nil
}

func closeSource(source feed.Source) error {
	if source == nil {
		return nil
	}
	return source.Close()
}

func (in *Input) connectFailed(err error) error {
	if wait, more := in.connect.next(err); more { // the engine logs it
		in.metrics.retried()
		return service.NewErrBackOff(err, wait)
	}
	in.failed(in.connect.exhausted(err))
	return service.ErrEndOfInput
}

// failed reports, once and in full, the error that ends the run.
func (in *Input) failed(err error) {
	in.log.Error(err.Error())
	if in.deps.Failed != nil {
		in.deps.Failed(err)
	}
}

// read yields the batches of the source, encoded in parallel and in order.
func (in *Input) read(ctx context.Context) iter.Seq2[*batch, error] {
	o := exec.Options[*batch]{
		Workers: runtime.GOMAXPROCS(0),
		Budget:  in.deps.Budget,
		Size: func(b *batch) int64 {
			_, bytes := b.Tail(0)
			return bytes
		},
	}
	return exec.Scoped(ctx, func(ctx context.Context) iter.Seq2[*batch, error] {
		grouper := in.convert.grouper(in.source)
		grouper.told = in.told
		grouper.patience = newPatience(in.config.RetryMaxElapsed, in.retrying)
		return exec.Ordered(ctx, grouper.groups(ctx), o, in.convert.convert)
	})
}

// told receives the events that are no rows, ahead of the rows that are being encoded. What is wrong with the columns is
// found here, even where no row comes.
func (in *Input) told(event feed.Event) error {
	in.metrics.told(event)
	e, ok := event.(feed.Planned)
	if !ok {
		return nil
	}
	in.log.Infof("Reading version %d of %s: %d files", e.Position.Version, in.convert.table, e.Files)
	in.tracker.Start(e.Position)
	_, err := in.convert.formOf(e.Columns)
	return deltaerr.Annotate(err, deltaerr.Table(in.convert.table), deltaerr.Version(e.Position.Version))
}

func (in *Input) retrying(err error, wait time.Duration) {
	in.metrics.retried()
	in.log.Warnf("%v; trying again in %s", err, wait.Round(time.Millisecond))
}

// ReadBatch returns rejected rows that are due, else the next batch. It returns ErrEndOfInput when everything is resolved.
func (in *Input) ReadBatch(ctx context.Context) (service.MessageBatch, service.AckFunc, error) {
	in.mu.Lock()
	p, source := in.pump, in.source
	in.mu.Unlock()
	if p == nil {
		return nil, nil, service.ErrNotConnected
	}
	for {
		d, err := in.tracker.Next(ctx, p.items)
		in.metrics.usage(source)
		if errors.Is(err, io.EOF) {
			return nil, nil, service.ErrEndOfInput
		}
		if err != nil {
			return nil, nil, err
		}
		in.metrics.handedOver(d, in.inFlight())
		if d.Payload.Messages() > 0 {
			return messagesOf(d), in.ackFunc(ctx, d), nil //nolint:contextcheck // messages outlive the read
		}
	}
}

func (in *Input) inFlight() int64 {
	rows, _ := in.tracker.InFlight()
	return rows
}

// ackFunc answers a delivery. Once the engine has begun to stop, which it tells by the end of the read's context, a
// rejection is no verdict on the rows.
func (in *Input) ackFunc(read context.Context, d *delivery) service.AckFunc {
	return func(_ context.Context, err error) error {
		var o ack.Outcome
		failed, all := []int(nil), err != nil
		if err != nil {
			failed, all = failedMessages(d, err)
		}
		switch {
		case len(failed) == 0 && !all:
			d.Ack()
		case read.Err() != nil || in.closing.Load():
			d.Return(failed)
		default:
			o = d.Nack(failed)
			in.rejected(d, o, err)
		}
		in.metrics.answered(o, in.inFlight())
		return nil
	}
}

// rejected makes visible what is rejected again and again. The engine logs each single rejection.
func (in *Input) rejected(d *delivery, o ack.Outcome, err error) {
	switch {
	case o.Dropped > 0:
		in.log.Errorf("Dropped %d rejected rows at or before %s: %v", o.Dropped, d.Payload.position, err)
	case d.Attempt >= 4 && d.Attempt&(d.Attempt-1) == 0: // 4, 8, 16, …
		in.log.Warnf("%d rows at or before %s were rejected %d times: %v", o.Rejected, d.Payload.position, d.Attempt, err)
	}
}

// Close stops reading and waits until nothing is left running. Acknowledgements may still come; they move the position.
func (in *Input) Close(ctx context.Context) error {
	in.closing.Store(true)
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.pump == nil {
		return nil
	}
	if err := in.pump.close(ctx); err != nil {
		return err
	}
	return in.source.Close()
}

// Position returns the highest position behind which every row is resolved; false before there is one.
func (in *Input) Position() (feed.Position, bool) { return in.tracker.Position() }
