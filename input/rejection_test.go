package input

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/benthosdev/benthos/v4/public/service"
)

func TestWholeRejectionIsSentAgain(t *testing.T) {
	var calls int
	out := &sink{write: func(context.Context, service.MessageBatch) error {
		if calls++; calls%2 == 1 {
			return errors.New("not now")
		}
		return nil
	}}
	p := newPipeline(t, newFakeTable().rows(9, true).done(), out, pipelineOptions{config: "batch_rows: 3\ncheckpoint_limit: 3"})
	p.run()
	if want, got := lines(0, 9), strings.Join(out.accepted, "\n"); want != got {
		t.Fatalf("want every row once, in order\n%s\ngot\n%s", want, got)
	}
	p.wantDone()
}

func TestPartialRejectionSendsOnlyTheRejectedRowsAgain(t *testing.T) {
	refused := map[string]bool{}
	out := &sink{write: func(_ context.Context, batch service.MessageBatch) error {
		return batch.WalkWithBatchedErrors(func(_ int, m *service.Message) error {
			text, _ := m.AsBytes()
			if strings.Contains(string(text), "3") && !refused[string(text)] {
				refused[string(text)] = true
				return errors.New("no")
			}
			return nil
		})
	}}
	p := newPipeline(t, newFakeTable().rows(40, true).done(), out, pipelineOptions{config: "batch_rows: 20"})
	p.run()
	if len(out.accepted) != 40 {
		t.Fatalf("want 40 acceptances, each row once, got %d", len(out.accepted))
	}
	p.wantRows(lines(0, 40))
	p.wantDone()
}

// TestPartialRejectionAfterProcessorsThatReorder filters and reverses: the rejected index is not the row's own.
func TestPartialRejectionAfterProcessorsThatReorder(t *testing.T) {
	refused := false
	out := &sink{write: func(_ context.Context, batch service.MessageBatch) error {
		return batch.WalkWithBatchedErrors(func(_ int, m *service.Message) error {
			text, _ := m.AsBytes()
			if strings.HasPrefix(string(text), `{"id":7,`) && !refused {
				refused = true
				return errors.New("no")
			}
			return nil
		})
	}}
	p := newPipeline(t, newFakeTable().rows(10, true).done(), out, pipelineOptions{
		processors: "mapping: root = if this.id == 0 || this.id == 8 { deleted() } else { this }",
	})
	p.run()
	want := strings.Split(lines(1, 10), "\n")
	want = slices.Delete(want, 7, 8)
	p.wantRows(strings.Join(want, "\n"))
	if len(out.accepted) != 8 {
		t.Fatalf("want each of 8 rows accepted once, got %d acceptances", len(out.accepted))
	}
	p.wantDone()
}

// TestRejectionOfMergedMessagesLosesNothing archives rows into one message, which carries the context of one row only.
func TestRejectionOfMergedMessagesLosesNothing(t *testing.T) {
	calls := 0
	out := &sink{write: func(_ context.Context, batch service.MessageBatch) error {
		if calls++; calls == 1 {
			return service.NewBatchError(batch, errors.New("no")).Failed(0, errors.New("no"))
		}
		return nil
	}}
	p := newPipeline(t, newFakeTable().rows(5, true).done(), out, pipelineOptions{processors: "archive: { format: lines }"})
	p.run()
	p.wantRows(lines(0, 5))
	p.wantDone()
}

// TestRefusalOfAMessageFromNowhereSendsTheBatchAgain: a processor made it of some row, and does not say which.
func TestRefusalOfAMessageFromNowhereSendsTheBatchAgain(t *testing.T) {
	refused, derived := 0, 0
	out := &sink{write: func(_ context.Context, batch service.MessageBatch) error {
		batch = append(batch.Copy(), service.NewMessage([]byte("derived")))
		return batch.WalkWithBatchedErrors(func(_ int, m *service.Message) error {
			switch {
			case string(bytesOf(t, m)) != "derived":
			case refused == 0:
				refused++
				return errors.New("no")
			default:
				derived++
			}
			return nil
		})
	}}
	p := newPipeline(t, newFakeTable().rows(3, true).done(), out, pipelineOptions{})
	p.run()
	if refused != 1 || derived != 1 {
		t.Errorf("want what was refused sent again, got %d refusals and %d deliveries", refused, derived)
	}
	p.wantRows(lines(0, 3))
	p.wantDone()
}

// TestRefusalOfARowOfAnotherBatchIsNoneOfThisOne where outputs join batches.
func TestRefusalOfARowOfAnotherBatchIsNoneOfThisOne(t *testing.T) {
	deliveryOf := func() *delivery { return &delivery{Payload: &batch{body: chunk{content: []byte("x"), rows: 1}}} }
	ours, other, no := deliveryOf(), deliveryOf(), errors.New("no")
	message := func(d *delivery) *service.Message {
		return service.NewMessage(nil).WithContext(&origin{context.Background(), d, 0})
	}
	nowhere := service.NewMessage(nil)
	for name, tt := range map[string]struct {
		batch  service.MessageBatch // the last one is refused
		failed []int
		all    bool
	}{
		"of another batch": {service.MessageBatch{message(ours), message(other)}, nil, false},
		"of this one":      {service.MessageBatch{message(other), message(ours)}, []int{0}, false},
		"from nowhere":     {service.MessageBatch{message(ours), nowhere}, nil, true},
	} {
		failed, all := failedMessages(ours, service.NewBatchError(tt.batch, no).Failed(len(tt.batch)-1, no))
		if !slices.Equal(tt.failed, failed) || tt.all != all {
			t.Errorf("%s: want %v, %v, got %v, %v", name, tt.failed, tt.all, failed, all)
		}
	}
	partly := service.NewBatchError(service.MessageBatch{nowhere, message(ours)}, no).Failed(1, no)
	if failed, all := failedMessages(ours, partly); len(failed) != 1 || all {
		t.Errorf("want a message from nowhere that is delivered to say nothing, got %v, %v", failed, all)
	}
}

func TestDroppedRowsArePassed(t *testing.T) {
	out := &sink{write: func(context.Context, service.MessageBatch) error { return errors.New("never") }}
	p := newPipeline(t, newFakeTable().rows(5, true).done(), out, pipelineOptions{config: "auto_replay_nacks: false"})
	p.run()
	if out.attempts != 1 {
		t.Fatalf("want one attempt, got %d", out.attempts)
	}
	p.wantDone()
}
