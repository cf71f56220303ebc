package configspec

import "reflect"

// misplaced returns a problem for each field of the modes that follow a table that is there although a single version is
// read. Defaults do not count: the engine adds them to what was written, before it lints too, and its create command writes
// them into a config.
func (c Config) misplaced(raw map[string]any) []error {
	if c.Mode != "snapshot" {
		return nil
	}
	var problems []error
	for _, f := range Fields() {
		if f.Follow && !f.isDefault(raw[f.Name]) {
			problems = append(problems, problemf(f.Name, "is for modes that follow the table: leave it out in mode %s", c.Mode))
		}
	}
	return problems
}

// isDefault says that a value means the same as none.
func (f Field) isDefault(raw any) bool {
	if raw == nil {
		return true
	}
	if f.Kind == Object {
		object, ok := raw.(map[string]any)
		for _, child := range f.Children {
			ok = ok && child.isDefault(object[child.Name])
		}
		return ok
	}
	if f.Default == nil {
		return false
	}
	want, _ := f.parse(f.Default)
	got, err := f.parse(raw)
	return err == nil && reflect.DeepEqual(want, got)
}
