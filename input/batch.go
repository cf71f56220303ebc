package input

import (
	"context"
	"errors"

	"github.com/benthosdev/benthos/v4/public/service"

	"github.com/benthos-delta/benthos-delta/input/ack"
	"github.com/benthos-delta/benthos-delta/input/encode"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

// batch is what is delivered together and kept until it is resolved. Without a body it only moves the position.
type batch struct {
	body     body
	template *service.Message // metadata that all messages share; never changed once made
	position feed.Position    // behind its last row
	files    int64            // files that are finished with it

	rowNumber func(i int) int64 // of message i; nil: not wanted
	rowID     func(i int) (id, commitVersion int64)
	keys      *encode.Keys // one a message; nil: not wanted
}

// Messages is the number of messages.
func (b *batch) Messages() int {
	if b.body == nil {
		return 0
	}
	return b.body.messages()
}

// Tail returns the rows and bytes of message i and those after it.
func (b *batch) Tail(i int) (rows, bytes int64) {
	if b.body == nil {
		return 0, 0
	}
	return b.body.tail(i)
}

type delivery = ack.Delivery[*batch]

// origin travels in the context of a message, so that a rejection of some messages can be traced to what was delivered:
// processors and outputs filter, reorder and regroup messages, but keep their contexts.
type origin struct {
	context.Context //nolint:containedctx // it is a context
	delivery        *delivery
	message         int
}

type originKey struct{}

// Value returns the origin itself for its key.
func (o *origin) Value(key any) any {
	if _, ok := key.(originKey); ok {
		return o
	}
	return o.Context.Value(key)
}

// messagesOf makes the messages of a delivery, for which nothing ends with the read that handed them out. Each one copies the
// template, whose metadata they share until one is changed.
func messagesOf(d *delivery) service.MessageBatch {
	numbers := numbersOf(d)
	origins := make([]origin, len(numbers))
	out := make(service.MessageBatch, len(numbers))
	for at, i := range numbers {
		origins[at] = origin{context.Background(), d, i}
		out[at] = d.Payload.message(&origins[at], i)
	}
	return out
}

// numbersOf lists the messages of a delivery.
func numbersOf(d *delivery) []int {
	if d.Messages != nil {
		return d.Messages
	}
	all := make([]int, d.Payload.Messages())
	for i := range all {
		all[i] = i
	}
	return all
}

func (b *batch) message(ctx context.Context, i int) *service.Message {
	m := b.template.Copy().WithContext(ctx)
	b.body.fill(m, i)
	if b.rowNumber != nil {
		m.MetaSetMut("delta_row", b.rowNumber(i))
	}
	if b.rowID != nil {
		id, version := b.rowID(i)
		m.MetaSetMut("delta_row_id", id)
		m.MetaSetMut("delta_row_commit_version", version)
	}
	if b.keys != nil {
		if key, ok := b.keys.Key(i); ok {
			m.MetaSetMut("delta_key", key)
		}
	}
	return m
}

// failedMessages says which messages of a delivery an error rejects; none may be left. all is true when it does not say. A
// message counts as delivered only if the error reports on it and calls it delivered: one that it does not mention may have
// been filtered, but also merged into a message that failed. A failed message that says not where it comes from, as one that
// a processor has made, may come from any.
func failedMessages(d *delivery, err error) (failed []int, all bool) {
	var partial *service.BatchError
	if !errors.As(err, &partial) || partial.IndexedErrors() == 0 {
		return nil, true
	}
	delivered := make([]bool, d.Payload.Messages())
	refused := make([]bool, len(delivered))
	//lint:ignore SA1019 the index is what is unreliable about it, and is not used: the context says which message it is
	partial.WalkMessages(func(_ int, m *service.Message, err error) bool {
		o, ok := m.Context().Value(originKey{}).(*origin)
		switch {
		case !ok:
			all = all || err != nil
		case o.delivery == d:
			delivered[o.message] = true
			refused[o.message] = refused[o.message] || err != nil
		}
		return true
	})
	if all {
		return nil, true
	}
	for _, i := range numbersOf(d) {
		if !delivered[i] || refused[i] {
			failed = append(failed, i)
		}
	}
	return failed, false
}
