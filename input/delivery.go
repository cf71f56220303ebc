package input

import (
	"context"

	"github.com/benthosdev/benthos/v4/public/service"

	"github.com/benthos-delta/benthos-delta/input/ack"
)

// ackFunc answers a delivery. Once the engine has begun to stop, which it tells by the end of the read's context, a
// rejection is no verdict on the rows.
func (in *Input) ackFunc(read context.Context, c *connection, d *delivery) service.AckFunc {
	return func(_ context.Context, err error) error {
		var o ack.Outcome
		failed, all := []int(nil), err != nil
		if err != nil {
			failed, all = failedMessages(d, err)
		}
		switch {
		case len(failed) == 0 && !all:
			d.Ack()
		case read.Err() != nil || in.stopping.Err() != nil:
			d.Return(failed)
		default:
			o = d.Nack(failed)
			in.rejected(d, o, err)
		}
		in.metrics.answered(o, c.inFlight())
		return nil
	}
}

// rejected makes visible what is rejected again and again. The engine logs each single rejection.
func (in *Input) rejected(d *delivery, o ack.Outcome, err error) {
	switch {
	case o.Dropped > 0:
		in.log.Errorf("Dropped %d rejected rows at or before %s: %v", o.Dropped, inWords(d.Payload.position), err)
	case d.Attempt >= 4 && d.Attempt&(d.Attempt-1) == 0: // 4, 8, 16, …
		at := inWords(d.Payload.position)
		in.log.Warnf("%d rows at or before %s were rejected %d times: %v", o.Rejected, at, d.Attempt, err)
	}
}
