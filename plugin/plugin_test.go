package plugin

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	_ "github.com/benthosdev/benthos/v4/public/components/pure"
	"github.com/benthosdev/benthos/v4/public/service"
)

// build makes a stream of a config in the global environment, which has the input by importing this package.
func build(config string) (*service.Stream, error) {
	b := service.NewStreamBuilder()
	if err := b.SetYAML(config); err != nil {
		return nil, err
	}
	return b.Build()
}

func TestImportRegistersTheInput(t *testing.T) {
	config, err := os.ReadFile(filepath.Join("..", "testdata", "config", "good.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	if _, err := build(string(config)); err != nil {
		t.Fatal(err)
	}
}

func TestEveryEnvironmentHasTheInput(t *testing.T) {
	found := false
	service.NewEnvironment().WalkInputs(func(name string, _ *service.ConfigView) { found = found || name == "delta_lake" })
	if !found {
		t.Error("want delta_lake among the inputs")
	}
}

func TestLintRulesReportLineAndPath(t *testing.T) {
	_, err := build("input:\n  delta_lake:\n    uri: ./t\n    batch_rows: 0\n    values: { decimal: x }\noutput:\n  drop: {}\n")
	const want = "(4,1) delta_lake.batch_rows: must be at least 1, got 0\n" +
		`(5,1) delta_lake.values.decimal: must be one of string, number, got "x"`
	if err == nil || !strings.HasSuffix(err.Error(), want) {
		t.Errorf("want %s, got %v", want, err)
	}
}

func TestPermanentErrorOfABoundedRunIsKept(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	stream, err := build("input: { delta_lake: { uri: " + t.TempDir() + " } }\noutput: { drop: {} }\nlogger: { level: 'OFF' }\n")
	if err != nil {
		t.Fatal(err)
	}
	if err := stream.Run(ctx); err != nil {
		t.Fatalf("want the end of the input for the engine, got %v", err)
	}
	first := Failure()
	if first == nil || !strings.Contains(first.Error(), "not a Delta table") {
		t.Fatalf("want why the run failed, got %v", first)
	}
	setFailure(errors.New("another input failed later"))
	if got := Failure(); !errors.Is(got, first) {
		t.Errorf("want the first failure, got %v", got)
	}
}
