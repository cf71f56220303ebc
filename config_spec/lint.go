package configspec

import (
	"errors"
	"fmt"
	"regexp"
)

// The Bloblang functions that lint rules call. They are registered by the plugin, before the specification is built, as
// calls of [LintField] and [LintConfig].
const (
	LintFieldFunction  = "delta_lake_lint_field"
	LintConfigFunction = "delta_lake_lint_config"
)

// LintRule is the Bloblang rule of the field at path. The engine evaluates it with what the user wrote, never a default.
func LintRule(path string) string {
	return fmt.Sprintf("root = %s(%q, this)", LintFieldFunction, path)
}

// ConfigLintRule is the Bloblang rule of the whole component.
func ConfigLintRule() string { return fmt.Sprintf("root = %s(this)", LintConfigFunction) }

// LintField returns the messages about one value, each with the full path of the field.
func LintField(path string, value any) []string {
	f, ok := Lookup(path)
	if !ok || f.Kind == Object || value == nil {
		return nil
	}
	if _, err := f.parse(value); err != nil {
		return []string{problemf(path, "%s", err).Error()}
	}
	if path == "uri" {
		return lintURI(value)
	}
	return nil
}

var bucket = regexp.MustCompile(`(?i)^s3[an]?:`)

// lintURI refuses what the reader would: it knows the scheme, and has no store for it.
func lintURI(value any) []string {
	if text, _ := value.(string); bucket.MatchString(text) {
		return []string{problemf("uri", "S3 is not supported yet: copy the table to a local directory, or mount it as one").Error()}
	}
	return nil
}

// LintConfig returns the messages about fields that do not go together. What is wrong with one field alone is left to
// [LintField].
func LintConfig(raw map[string]any) []string {
	c, _ := decode(raw)
	var out []string
	for _, p := range Problems(errors.Join(append(c.misplaced(raw), c.Validate())...)) {
		out = append(out, p.Error())
	}
	return out
}
