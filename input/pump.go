package input

import (
	"context"
	"fmt"
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
	if p == nil {
		return nil
	}
	p.cancel()
	return joined(ctx, p.done, "a read of the table")
}

// joined waits, as long as ctx allows, until something has ended. Its error says what has not.
func joined(ctx context.Context, done <-chan struct{}, what string) error {
	select {
	case <-done: // asked first: where nothing is left the end of ctx does not matter
		return nil
	default:
	}
	select {
	case <-done:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("%s does not come to an end: %w", what, ctx.Err())
	}
}
