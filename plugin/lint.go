package plugin

import (
	"github.com/benthosdev/benthos/v4/public/bloblang"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
)

// registerLint makes the functions known that the lint rules of the specification call. The engine parses a rule when the
// specification is built and reports one that it cannot parse on every config, so this comes first.
func registerLint() error {
	field := bloblang.NewPluginSpec().Category("delta_lake").
		Description("Checks one field of the delta_lake input, for its lint rules.").
		Param(bloblang.NewStringParam("path")).Param(bloblang.NewAnyParam("value"))
	if err := bloblang.RegisterFunctionV2(configspec.LintFieldFunction, field, lintField); err != nil {
		return err
	}
	config := bloblang.NewPluginSpec().Category("delta_lake").
		Description("Checks the fields of the delta_lake input against each other, for its lint rule.").
		Param(bloblang.NewAnyParam("config"))
	return bloblang.RegisterFunctionV2(configspec.LintConfigFunction, config, lintConfig)
}

func lintField(args *bloblang.ParsedParams) (bloblang.Function, error) {
	path, err := args.GetString("path")
	if err != nil {
		return nil, err
	}
	value, err := args.Get("value")
	if err != nil {
		return nil, err
	}
	return func() (any, error) { return messages(configspec.LintField(path, value)), nil }, nil
}

func lintConfig(args *bloblang.ParsedParams) (bloblang.Function, error) {
	config, err := args.Get("config")
	if err != nil {
		return nil, err
	}
	fields, _ := config.(map[string]any) // the engine reports anything else itself
	return func() (any, error) { return messages(configspec.LintConfig(fields)), nil }, nil
}

// messages converts to the one list type that the engine's rules know.
func messages(texts []string) []any {
	out := make([]any, len(texts))
	for i, s := range texts {
		out[i] = s
	}
	return out
}
