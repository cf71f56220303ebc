package input

import (
	"context"
	"errors"
	"testing"

	"github.com/benthosdev/benthos/v4/public/service"

	"github.com/benthos-delta/benthos-delta/input/feed"
)

// BenchmarkReadBatch is the adapter alone: records in memory become acknowledged messages of one row each.
func BenchmarkReadBatch(b *testing.B) {
	const records, size = 20, 8192
	record := newFakeTable().record(size)
	conf, err := Spec().ParseYAML("uri: /t", nil)
	if err != nil {
		b.Fatal(err)
	}
	b.ReportAllocs()
	for b.Loop() {
		table := newFakeTable()
		for range records {
			record.Retain()
			p := table.position()
			p.FileDone = true
			table.files++
			table.steps = append(table.steps, step{event: feed.Rows{
				Record: record, Columns: twoColumns, Position: p, Operation: feed.Read, Version: 3,
			}})
		}
		readAll(b, conf, table.done())
	}
	b.ReportMetric(float64(records*size*b.N)/b.Elapsed().Seconds(), "rows/s")
}

func readAll(b *testing.B, conf *service.ParsedConfig, source *script) {
	b.Helper()
	in, err := New(conf, service.MockResources(), Deps{
		Open: func(context.Context, feed.Config) (feed.Source, error) { return source, nil },
	})
	if err != nil {
		b.Fatal(err)
	}
	if err := in.Connect(b.Context()); err != nil {
		b.Fatal(err)
	}
	for {
		_, ack, err := in.ReadBatch(b.Context())
		if errors.Is(err, service.ErrEndOfInput) {
			break
		}
		if err != nil {
			b.Fatal(err)
		}
		_ = ack(b.Context(), nil)
	}
	_ = in.Close(b.Context())
}
