package input

import (
	"fmt"

	"github.com/benthosdev/benthos/v4/public/service"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
)

// Spec is the engine's form of the configuration table. Its lint rules call functions by the names that configspec gives
// them: whoever registers the input registers those before.
func Spec() *service.ConfigSpec {
	spec := service.NewConfigSpec().
		Categories("Services").
		Summary("Reads the rows of a Delta Lake table.").
		Description(description).
		LintRule(configspec.ConfigLintRule())
	for _, f := range configspec.Fields() {
		spec = spec.Field(engineField(f, ""))
	}
	return spec
}

const description = `
A table of Delta Lake, on a local disk, becomes messages: one a row, or one a batch (` + "`format`" + `).

### Delivery

Rows are delivered at least once. A batch counts as delivered when the output has acknowledged every row of it; rows that
it rejects are sent again, with growing waits: those that are due go before new ones. Reading waits while
` + "`checkpoint_limit`" + ` rows or ` + "`checkpoint_limit_bytes`" + ` bytes lie between the oldest row that is not
acknowledged and the newest one handed out.

With ` + "`checkpoint_cache`" + ` a restart goes on behind the last row that is known to be delivered, in the same
version. The position is stored before the first row, then every ` + "`checkpoint_interval`" + `, and at the end, and
never past a row that is not acknowledged. After a crash, the rows behind it come again.

### Following

In the modes ` + "`append`" + ` and ` + "`reload`" + ` the input goes on behind the first version, for ever unless
` + "`until`" + ` or ` + "`end_version`" + ` says otherwise. ` + "`trigger`" + ` says when to look for new versions; a
look that finds nothing costs one request. In mode ` + "`append`" + ` a commit that removes rows stops the input with an
error that names the commit and the field that lets it pass: ` + "`on_rewrite`" + ` or ` + "`on_delete`" + `. Commits that
change no rows, such as those of OPTIMIZE, only move the position.

### Order

Versions come one after the other. Within a version, rows leave in the order of its files. They arrive in that order only
where nothing can overtake: with ` + "`pipeline.threads: 1`" + `, an output with ` + "`max_in_flight: 1`" + `, and a
` + "`checkpoint_limit`" + ` that is not larger than ` + "`batch_rows`" + `.

### Metadata

Each message has ` + "`delta_table`" + ` (the location), ` + "`delta_version`" + `, ` + "`delta_commit_timestamp`" + `
(milliseconds since 1970) and ` + "`operation`" + ` (` + "`read`" + `, or ` + "`insert`" + ` for a row that a commit
added); in mode ` + "`reload`" + ` the first and the last batch of a version have ` + "`delta_reload`" + `
(` + "`first`" + `, ` + "`last`" + `, or ` + "`only`" + `; a version without rows has no message); in the formats with one
message a batch also ` + "`delta_rows`" + `. ` + "`include_metadata`" + ` and ` + "`key_columns`" + ` add more.

### Errors

What cannot change by itself (no table, an unsupported feature, a corrupt file) is logged once and ends the input;
` + "`benthos-delta`" + ` then exits with status 1, as it does when it is stopped before the end. What may pass (a busy or
unreachable store) is retried for ` + "`retry_max_elapsed`" + `. An input that follows without an end does not end with an
error: it tries again after 30 seconds, then less and less often, and retries what may pass for ever. No row after an
error is ever delivered.`

// engineField converts one field. configspec.Kind says which kinds have a type of their own in the engine. An optional one is
// left out of a config by no value but null: the engine's create command writes the first example of a field without a default
// as its value, and empty text for one of type string.
func engineField(f configspec.Field, prefix string) *service.ConfigField {
	path := prefix + f.Name
	var out *service.ConfigField
	switch {
	case f.Kind == configspec.Object:
		return withUse(service.NewObjectField(f.Name, engineFields(f.Children, path+".")...), f)
	case f.Kind == configspec.String && !f.Optional():
		out = service.NewStringField(f.Name)
	case f.Kind == configspec.Enum:
		out = service.NewStringAnnotatedEnumField(f.Name, annotations(f))
	case f.Kind == configspec.ChildInput:
		out = service.NewInputField(f.Name)
	default:
		out = service.NewAnyField(f.Name)
	}
	out = out.LintRule(configspec.LintRule(path)) // after the options, whose own rule does not name the field
	if f.Default != nil {
		out = out.Default(f.Default)
	}
	if f.Optional() {
		return withUse(out.Optional(), f)
	}
	return withUse(out.Examples(f.Examples...), f)
}

func engineFields(fields []configspec.Field, prefix string) []*service.ConfigField {
	out := make([]*service.ConfigField, len(fields))
	for i, f := range fields {
		out[i] = engineField(f, prefix)
	}
	return out
}

// withUse adds what says how a field is used. Options of a list are told in words, since the engine knows them on enums only,
// and so are the examples that engineField leaves out.
func withUse(out *service.ConfigField, f configspec.Field) *service.ConfigField {
	text := f.Description
	if f.Kind == configspec.EnumList {
		for _, o := range f.Options {
			text += fmt.Sprintf("\n\n- `%s`: %s", o.Value, o.Description)
		}
	}
	if f.Optional() {
		text += "\n\nFor example: " + f.ExampleText() + "."
	}
	out = out.Description(text)
	if f.Advanced {
		out = out.Advanced()
	}
	return out
}

func annotations(f configspec.Field) map[string]string {
	out := make(map[string]string, len(f.Options))
	for _, o := range f.Options {
		out[o.Value] = o.Description
	}
	return out
}

// decode makes the configuration of what the engine parsed.
func decode(conf *service.ParsedConfig) (configspec.Config, error) {
	parsed, err := conf.FieldAny()
	if err != nil {
		return configspec.Config{}, err
	}
	fields, ok := parsed.(map[string]any)
	if !ok {
		return configspec.Config{}, fmt.Errorf("%s: must be an object, got %T", configspec.Component, parsed)
	}
	return configspec.Decode(withoutNulls(fields))
}

// withoutNulls leaves out fields that are null, which mean the same as none. Those of components the engine keeps as nodes of
// the YAML parser.
func withoutNulls(fields map[string]any) map[string]any {
	out := make(map[string]any, len(fields))
	for name, v := range fields {
		switch v := v.(type) {
		case map[string]any:
			out[name] = withoutNulls(v)
		case interface{ ShortTag() string }:
			if v.ShortTag() != "!!null" {
				out[name] = v
			}
		case nil:
		default:
			out[name] = v
		}
	}
	return out
}
