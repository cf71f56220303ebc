package configspec

import (
	"math"
	"reflect"
	"time"
)

// Follow says how a table is followed, in the modes that do.
type Follow struct {
	StreamSnapshot bool
	StartVersion   *int64
	StartTimestamp *time.Time
	EndVersion     *int64
	Until          string // forever, caught_up
	OnRewrite      string // fail, skip, emit
	OnDelete       string // fail, skip
	OnSchemaChange string // fail, additive, any
}

func followFields() []Field { return append(boundFields(), policyFields()...) }

func boundFields() []Field {
	return []Field{{
		Name: "stream_snapshot", Kind: Bool, Default: true, Follow: true, Examples: []any{false},
		Description: "Whether the rows that exist come first. With `false` only what is committed after the start is read.",
		set:         into(func(c *Config) *bool { return &c.Follow.StreamSnapshot }),
	}, {
		Name: "start_version", Kind: Int, Max: math.MaxInt64, Follow: true, Examples: []any{120},
		Description: "The version with whose commit mode `append` begins, without the rows that existed before. The log must still " +
			"hold it; a version that does not exist yet is waited for. The rows that exist come first when left out. It does not count " +
			"once a position is stored.",
		set: intoOptional(func(c *Config) **int64 { return &c.Follow.StartVersion }),
	}, {
		Name: "start_timestamp", Kind: Timestamp, Follow: true, Examples: []any{"2024-05-01T12:00:00Z", "2024-05-01"},
		Description: "The point in time, written as `timestamp`, with whose first commit at or after it mode `append` begins, " +
			"without the rows that existed before. Not together with `start_version`, and as that one when left out.",
		set: intoOptional(func(c *Config) **time.Time { return &c.Follow.StartTimestamp }),
	}, {
		Name: "end_version", Kind: Int, Max: math.MaxInt64, Follow: true, Examples: []any{200},
		Description: "The last version that is read; then the input ends. Versions are followed without an end when left out.",
		set:         intoOptional(func(c *Config) **int64 { return &c.Follow.EndVersion }),
	}, {
		Name: "until", Kind: Enum, Default: "forever", Follow: true, Examples: []any{"caught_up"},
		Description: "When the input ends.",
		Options: []Option{
			{"forever", "Not by itself, unless `end_version` is set."},
			{"caught_up", "Behind the version that is the latest when the input connects, or behind a lower `end_version`."},
		},
		set: into(func(c *Config) *string { return &c.Follow.Until }),
	}}
}

func policyFields() []Field {
	return []Field{{
		Name: "on_rewrite", Kind: Enum, Default: "fail", Follow: true, Examples: []any{"skip"},
		Description: "What mode `append` does with a commit that removes rows and adds others: an update, a merge, an overwrite, or a " +
			"delete that rewrites files or marks rows. Commits that only rearrange rows, such as those of OPTIMIZE, never stop it and give no rows.",
		Options: []Option{
			{"fail", "The input stops before it with an error that says what the commit did."},
			{"skip", "The whole commit is left out, the rows that it inserted included; that is logged and counted."},
			{"emit", "The rows of the files that it added are read, those that were there before once more."},
		},
		set: into(func(c *Config) *string { return &c.Follow.OnRewrite }),
	}, {
		Name: "on_delete", Kind: Enum, Default: "fail", Follow: true, Examples: []any{"skip"},
		Description: "What mode `append` does with a commit that removes whole files and adds none. A delete of some rows of a file rewrites " +
			"that file or marks the rows: it is a matter of `on_rewrite`.",
		Options: []Option{
			{"fail", "The input stops before it with an error that says what the commit did."},
			{"skip", "It is left out, logged and counted."},
		},
		set: into(func(c *Config) *string { return &c.Follow.OnDelete }),
	}, {
		Name: "on_schema_change", Kind: Enum, Default: "additive", Follow: true, Examples: []any{"any"},
		Description: "Which changes of the columns that are read are let pass. Rows always have the columns of their own version. An input " +
			"that stopped at a change stops there again after a restart, until this is changed.",
		Options: []Option{
			{"fail", "None: the input stops before the version with an error that names the change."},
			{"additive", "New columns that may be null, and types that became wider."},
			{"any", "All of them."},
		},
		set: into(func(c *Config) *string { return &c.Follow.OnSchemaChange }),
	}}
}

// misplaced returns a problem for each field that is there although the mode has no use for it. Defaults do not count: the
// engine adds them to what was written, before it lints too, and its create command writes them into a config.
func (c Config) misplaced(raw map[string]any) []error {
	var problems []error
	for _, f := range Fields() {
		if f.isDefault(raw[f.Name]) {
			continue
		}
		switch c.Mode {
		case "snapshot":
			if f.Follow {
				problems = append(problems, problemf(f.Name, "is for modes that follow the table: leave it out in mode %s", c.Mode))
			}
		case "reload":
			if appendOnly[f.Name] {
				problems = append(problems, problemf(f.Name, "is for mode append: leave it out in mode %s", c.Mode))
			}
			fallthrough
		case "append":
			if snapshotOnly[f.Name] {
				problems = append(problems, problemf(f.Name, "is for mode snapshot: leave it out in mode %s", c.Mode))
			}
		}
	}
	return problems
}

var (
	snapshotOnly = map[string]bool{"version": true, "timestamp": true, "limit": true}
	appendOnly   = map[string]bool{"start_version": true, "start_timestamp": true, "on_rewrite": true, "on_delete": true}
)

// followTogether reports what does not go together in the modes that follow.
func (c Config) followTogether(report func(path, format string, args ...any)) {
	f := c.Follow
	if f.StartVersion != nil && f.StartTimestamp != nil {
		report("start_timestamp", "cannot go together with %s.start_version: leave one of them out", Component)
	}
	if f.StartVersion != nil && f.EndVersion != nil && *f.EndVersion < *f.StartVersion {
		report("end_version", "is lower than %s.start_version", Component)
	}
	if c.Follows() && !c.Bounded() && c.Trigger.Interval.Off() && !c.Trigger.Input {
		report("trigger.interval", "is off, and there is no trigger.input: nothing would ever look for a new version; "+
			"set one of them, or %s.until: caught_up", Component)
	}
}

// Follows says whether the mode goes on behind the first version.
func (c Config) Follows() bool { return c.Mode == "append" || c.Mode == "reload" }

// Bounded says whether the input ends by itself.
func (c Config) Bounded() bool {
	return !c.Follows() || c.Follow.Until == "caught_up" || c.Follow.EndVersion != nil
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
