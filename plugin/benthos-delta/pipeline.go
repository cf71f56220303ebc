package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/benthosdev/benthos/v4/public/service"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/input"
	"github.com/benthos-delta/benthos-delta/input/ack"
)

// pipeline is a pipeline file, read as the engine reads it: linted, with its environment variables and further resources.
type pipeline struct {
	environment *service.Environment
	builder     *service.StreamBuilder
}

// tableInput is one delta_lake input of a pipeline.
type tableInput struct {
	label  string // "": none
	config configspec.Config
}

// readPipeline reads a pipeline file and files of resources. Nothing of it is started.
func readPipeline(file string, resources []string) (*pipeline, error) {
	environment := service.NewEnvironment()
	p := &pipeline{environment: environment, builder: environment.NewStreamBuilder()}
	if err := readInto(p.builder.SetYAML, file); err != nil {
		return nil, err
	}
	for _, r := range resources {
		if err := readInto(p.builder.AddResourcesYAML, r); err != nil {
			return nil, err
		}
	}
	return p, nil
}

func readInto(add func(string) error, file string) error {
	text, err := os.ReadFile(file)
	if err != nil {
		return err
	}
	if err := add(string(text)); err != nil {
		return fmt.Errorf("reading %s: %w", file, err)
	}
	return nil
}

// inputs lists the delta_lake inputs, wherever they stand.
func (p *pipeline) inputs() ([]tableInput, error) {
	spec := service.NewConfigSpec().Field(service.NewAnyField(configspec.Component))
	var found []tableInput
	err := p.builder.WalkComponents(func(w *service.WalkedComponent) error {
		if w.ComponentType != "input" || w.Name != configspec.Component {
			return nil
		}
		parsed, err := spec.ParseYAML(w.ConfigYAML(), nil)
		if err != nil {
			return err
		}
		raw, err := parsed.FieldAny(configspec.Component)
		if err != nil {
			return err
		}
		fields, _ := raw.(map[string]any) // the engine has seen to that
		config, err := configspec.Decode(fields)
		found = append(found, tableInput{label: w.Label, config: config})
		return err
	})
	return found, err
}

// pick returns the input with a label, or the only one. Inputs that store no position do not count.
func pick(inputs []tableInput, label string) (tableInput, error) {
	if len(inputs) == 0 {
		return tableInput{}, fmt.Errorf("the pipeline has no %s input", configspec.Component)
	}
	inputs = slices.DeleteFunc(slices.Clone(inputs), func(i tableInput) bool { return i.config.Checkpoint.Cache == "" })
	var labels []string
	for _, i := range inputs {
		labels = append(labels, fmt.Sprintf("%q", i.label))
	}
	all := strings.Join(labels, ", ")
	if label != "" {
		inputs = slices.DeleteFunc(inputs, func(i tableInput) bool { return i.label != label })
	}
	switch {
	case len(labels) == 0:
		return tableInput{}, fmt.Errorf("the pipeline stores no position: its %s inputs have no checkpoint_cache", configspec.Component)
	case len(inputs) == 0:
		return tableInput{}, usagef("no %s input that stores its position has the label %q; there are %s", configspec.Component, label, all)
	case len(inputs) > 1:
		return tableInput{}, usagef("several %s inputs store their position, with the labels %s: choose one with --label", configspec.Component, all)
	}
	return inputs[0], nil
}

// visitorName is the input that stands in for all others while a cache is in use.
const visitorName = "delta_lake_position"

// withCache calls use with one of the pipeline's cache resources. Of the pipeline only its caches and rate limits are made.
// It may be called once.
func (p *pipeline) withCache(ctx context.Context, label string, use func(context.Context, ack.Cache) error) error {
	visit := &visitor{use: use}
	err := p.environment.RegisterBatchInput(visitorName, service.NewConfigSpec(),
		func(_ *service.ParsedConfig, resources *service.Resources) (service.BatchInput, error) {
			cache, err := input.NewCheckpointCache(resources, label)
			visit.cache, visit.err = cache, err
			return visit, nil
		})
	if err != nil {
		return err
	}
	stream, err := p.onlyResources()
	if err != nil {
		return err
	}
	return errors.Join(stream.Run(ctx), visit.err)
}

// onlyResources builds the stream with the visitor as its input and without all that could have an effect.
func (p *pipeline) onlyResources() (*service.Stream, error) {
	nothing, none := map[string]any{"none": map[string]any{}}, []any{}
	err := p.builder.SetFields(
		"input", map[string]any{visitorName: map[string]any{}}, "output", map[string]any{"drop": map[string]any{}},
		"pipeline.processors", none, "buffer", nothing, "metrics", nothing, "tracer", nothing,
		"input_resources", none, "output_resources", none, "processor_resources", none,
		"http.enabled", false, "logger.level", "OFF",
	)
	if err != nil {
		return nil, err
	}
	return p.builder.Build()
}

// visitor is an input that uses a cache when it connects, and ends.
type visitor struct {
	cache ack.Cache
	use   func(context.Context, ack.Cache) error
	err   error // of the use
}

// Connect does what there is to do.
func (v *visitor) Connect(ctx context.Context) error {
	if v.err == nil {
		v.err = v.use(ctx, v.cache)
	}
	return service.ErrEndOfInput
}

// ReadBatch is never reached.
func (v *visitor) ReadBatch(context.Context) (service.MessageBatch, service.AckFunc, error) {
	return nil, nil, service.ErrEndOfInput
}

// Close has nothing to close.
func (v *visitor) Close(context.Context) error { return nil }
