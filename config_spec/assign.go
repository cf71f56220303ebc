package configspec

import (
	"errors"
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"
)

// Assign makes plain values for [Decode] of assignments "path=text", as the command line gives them. The text of a list
// is its elements joined by commas, without the spaces around them, or a JSON array where an element holds a comma. A later
// assignment wins.
func Assign(assignments []string) (map[string]any, error) {
	raw := map[string]any{}
	var problems []error
	for _, a := range assignments {
		path, text, ok := strings.Cut(a, "=")
		if !ok {
			problems = append(problems, fmt.Errorf("%q is not an assignment: write field=value", a))
			continue
		}
		f, known := Lookup(path)
		if !known || f.Kind == Object {
			problems = append(problems, problemf(path, "is not a field%s", meant(path)))
			continue
		}
		v, err := f.fromText(text)
		if err != nil {
			problems = append(problems, problemf(path, "%s", err))
			continue
		}
		assign(raw, strings.Split(path, "."), v)
	}
	return raw, errors.Join(problems...)
}

func (f Field) fromText(text string) (any, error) {
	switch {
	case f.Kind != StringList && f.Kind != EnumList:
		return text, nil
	case text == "":
		return []any{}, nil
	case strings.HasPrefix(text, "["):
		var list []any
		if err := json.Unmarshal([]byte(text), &list); err != nil {
			return nil, fmt.Errorf("must be a JSON array of strings, or elements joined by commas, got %q", text)
		}
		return list, nil
	default:
		elements := strings.Split(text, ",")
		for i, e := range elements {
			elements[i] = strings.TrimSpace(e)
		}
		return asAny(elements), nil
	}
}

// meant suggests the fields that a path without its objects may stand for, and those that are in an object.
func meant(path string) string {
	var fields []string
	Walk(Fields(), func(full string, f Field) {
		if f.Kind != Object && (strings.HasSuffix(full, "."+path) || strings.HasPrefix(full, path+".")) {
			fields = append(fields, full)
		}
	})
	if len(fields) == 0 {
		return ""
	}
	return ": did you mean " + strings.Join(fields, ", ") + "?"
}

func assign(into map[string]any, path []string, v any) {
	for _, name := range path[:len(path)-1] {
		child, ok := into[name].(map[string]any)
		if !ok {
			child = map[string]any{}
			into[name] = child
		}
		into = child
	}
	into[path[len(path)-1]] = v
}
