package configspec

import (
	"errors"
	"regexp"
	"strings"
	"testing"
)

var snakeCase = regexp.MustCompile(`^[a-z][a-z0-9]*(_[a-z0-9]+)*$`)

func TestEveryFieldIsDescribed(t *testing.T) {
	Walk(Fields(), func(path string, f Field) {
		t.Run(path, func(t *testing.T) {
			if !snakeCase.MatchString(f.Name) {
				t.Errorf("want a name in snake_case, got %q", f.Name)
			}
			if !strings.HasSuffix(f.Description, ".") {
				t.Errorf("want a description of whole sentences, got %q", f.Description)
			}
			if len(f.Examples) == 0 {
				t.Error("want an example")
			}
			if f.Required && f.Default != nil {
				t.Error("want a required field to have no default")
			}
			if (f.Kind == Object) == (f.set != nil) {
				t.Error("want a place in Config for every field but objects")
			}
			if (f.Kind == Enum || f.Kind == EnumList) == (len(f.Options) == 0) {
				t.Error("want options for enums, and only for them")
			}
		})
	})
}

// An optional field says what its absence means.
func TestOptionalFieldsSayWhatLeavingThemOutMeans(t *testing.T) {
	Walk(Fields(), func(path string, f Field) {
		if f.Optional() && !strings.Contains(f.Description, "when left out") {
			t.Errorf("%s: want the description to say what happens when it is left out, got %q", path, f.Description)
		}
	})
}

func TestExamplesDefaultsAndOptionsDecode(t *testing.T) {
	Walk(Fields(), func(path string, f Field) {
		values := append([]any{}, f.Examples...)
		if f.Default != nil {
			values = append(values, f.Default)
		}
		for _, o := range f.Options {
			if o.Description == "" {
				t.Errorf("%s: want a description of %q", path, o.Value)
			}
			if f.Kind == EnumList {
				values = append(values, []any{o.Value})
			} else {
				values = append(values, o.Value)
			}
		}
		for _, v := range values {
			raw := map[string]any{"uri": "table"}
			assign(raw, strings.Split(path, "."), v)
			if path == "checkpoint_cache_key" {
				raw["checkpoint_cache"] = "positions"
			}
			if path == "key_columns" || path == "include_metadata" {
				raw["format"] = "json"
			}
			c, problems := decode(raw)
			if err := errors.Join(append(problems, c.Validate())...); err != nil {
				t.Errorf("%s: %v: %v", path, v, err)
			}
		}
	})
}
