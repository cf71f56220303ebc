package main

import (
	"context"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/benthosdev/benthos/v4/public/service"

	"github.com/benthos-delta/benthos-delta/input/ack"
)

// labelsOf runs a stream and returns the labels that the engine tells to its inputs called delta_lake.
func labelsOf(t *testing.T, config string) []string {
	t.Helper()
	var mu sync.Mutex
	var labels []string
	environment := service.NewEnvironment()
	err := environment.RegisterBatchInput("delta_lake", service.NewConfigSpec().Field(service.NewAnyField("uri")),
		func(_ *service.ParsedConfig, r *service.Resources) (service.BatchInput, error) {
			mu.Lock()
			defer mu.Unlock()
			labels = append(labels, r.Label())
			return &visitor{use: func(context.Context, ack.Cache) error { return nil }}, nil
		})
	if err != nil {
		t.Fatal(err)
	}
	b := environment.NewStreamBuilder()
	if err := b.SetYAML(config); err != nil {
		t.Fatal(err)
	}
	stream, err := b.Build()
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	if err := stream.Run(ctx); err != nil {
		t.Fatal(err)
	}
	return labels
}

func TestInputsHaveTheLabelsThatTheEngineTellsThem(t *testing.T) {
	const config = `
input:
  label: all
  broker:
    inputs:
      - label: own
        delta_lake: { uri: a }
      - delta_lake: { uri: b }
      - label: some
        sequence: { inputs: [ { delta_lake: { uri: c } } ] }
      - resource: shared
output: { drop: {} }
input_resources:
  - label: shared
    delta_lake: { uri: d }
logger: { level: "OFF" }
`
	want := labelsOf(t, config)
	file := filepath.Join(t.TempDir(), "pipeline.yaml")
	if err := os.WriteFile(file, []byte(config), 0o600); err != nil {
		t.Fatal(err)
	}
	p, err := readPipeline(file, nil)
	if err != nil {
		t.Fatal(err)
	}
	inputs, err := p.inputs()
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, i := range inputs {
		got = append(got, i.label)
	}
	slices.Sort(want)
	slices.Sort(got)
	if len(want) != 4 || !slices.Equal(want, got) {
		t.Errorf("want %q, got %q", want, got)
	}
}
