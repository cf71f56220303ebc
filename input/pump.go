package input

import (
	"context"
	"iter"

	"github.com/benthos-delta/benthos-delta/input/ack"
)

type item = ack.Item[*batch]

// pump reads ahead of the deliveries on a goroutine of its own, since rejected rows must be delivered while the next ones
// are being waited for. It holds at most one batch. Close joins it.
type pump struct {
	items  chan item // closed behind the last one
	cancel context.CancelFunc
	done   chan struct{}
}

// startPump sends what read yields, until it ends or fails; failed gets the error, unless that is the end of a stop. The end
// of ctx does not matter: close ends the pump.
func startPump(ctx context.Context, read func(context.Context) iter.Seq2[*batch, error], failed func(error)) *pump {
	ctx, cancel := context.WithCancel(context.WithoutCancel(ctx))
	p := &pump{items: make(chan item), cancel: cancel, done: make(chan struct{})}
	go func() {
		defer close(p.done)
		defer close(p.items)
		for b, err := range read(ctx) {
			if err != nil {
				if ctx.Err() == nil {
					failed(err)
				}
				return
			}
			select {
			case p.items <- item{Payload: b, Position: b.position}:
			case <-ctx.Done():
				return
			}
		}
	}()
	return p
}

// close stops reading and waits, as long as ctx allows, until nothing is left running.
func (p *pump) close(ctx context.Context) error {
	p.cancel()
	select {
	case <-p.done:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
