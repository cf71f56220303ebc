package configspec

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/benthos-delta/benthos-delta/pruning"
)

// Values says how values become text.
type Values struct {
	Decimal   string // string, number
	Int64     string // number, string
	Timestamp string // rfc3339, unix_micros
	Binary    string // base64, hex
	NonFinite string // string, null, fail
}

// Config is a complete configuration: every field has its value or default. [Decode] makes one.
type Config struct {
	URI                                   string
	Version                               *int64     // nil: the latest, or the one of Timestamp
	Timestamp                             *time.Time // the version committed at or before it; not together with Version
	Mode                                  string
	Columns                               []string           // empty: all
	Where                                 *pruning.Predicate // nil: all rows
	Limit                                 *int64             // nil: all rows
	AllowedExternalPaths                  []string           // directories outside the table that its files may lie in
	OnMissingFile                         string             // fail, skip
	Follow                                Follow             // in the modes that follow the table
	Trigger                               Trigger
	BatchRows                             int64
	BatchBytes                            int64
	Format                                string
	Values                                Values
	IncludeMetadata                       []string
	KeyColumns                            []string
	Checkpoint                            Checkpoint
	CheckpointLimit, CheckpointLimitBytes int64
	AutoReplayNacks                       bool
	RetryMaxElapsed                       time.Duration
	Partitions                            Partitions
	Scan                                  Scan
}

// Decode makes a complete configuration of plain values: strings, numbers, booleans, []any and nested map[string]any. A
// field that is missing or nil takes its default. The error joins every [Problem], those of [Config.Validate] included.
func Decode(raw map[string]any) (Config, error) {
	c, problems := decode(raw)
	problems = append(problems, c.misplaced(raw)...)
	return c, errors.Join(append(problems, c.Validate())...)
}

// decode reads each field alone and leaves the bad ones at their zero value.
func decode(raw map[string]any) (Config, []error) {
	var d decoder
	d.object("", Fields(), raw)
	return d.config, d.problems
}

type decoder struct {
	config   Config
	problems []error
}

func (d *decoder) object(prefix string, fields []Field, raw map[string]any) {
	for _, f := range fields {
		d.field(prefix+f.Name, f, raw[f.Name])
	}
	for _, name := range slices.Sorted(maps.Keys(raw)) {
		if _, ok := byName(fields, name); !ok {
			d.problem(problemf(prefix+name, "is not a field; there are %s", names(fields)))
		}
	}
}

func (d *decoder) field(path string, f Field, raw any) {
	if f.Kind == Object {
		d.child(path, f, raw)
		return
	}
	if raw == nil && f.Required {
		d.problem(problemf(path, "is required"))
		return
	}
	if raw == nil {
		raw = f.Default
	}
	if raw == nil {
		return
	}
	v, err := f.parse(raw)
	if err != nil {
		d.problem(problemf(path, "%s", err))
		return
	}
	f.set(&d.config, v)
}

func (d *decoder) child(path string, f Field, raw any) {
	object, ok := raw.(map[string]any)
	if raw != nil && !ok {
		d.problem(problemf(path, "must be an object with the fields %s", names(f.Children)))
	}
	d.object(path+".", f.Children, object)
}

func (d *decoder) problem(p Problem) { d.problems = append(d.problems, p) }

// Validate returns what is wrong with the fields together, joined; each problem names a field.
func (c Config) Validate() error {
	var problems []error
	report := func(path, format string, args ...any) {
		problems = append(problems, problemf(path, format, args...))
	}
	if c.Version != nil && c.Timestamp != nil {
		report("timestamp", "cannot go together with %s.version: leave one of them out", Component)
	}
	c.followTogether(report)
	if !c.rowMessages() {
		if len(c.KeyColumns) > 0 {
			report("key_columns", "needs one message a row: set %s.format to json or structured", Component)
		}
		for _, name := range []string{"row", "row_id"} {
			if slices.Contains(c.IncludeMetadata, name) {
				report("include_metadata", "%s needs one message a row: set %s.format to json or structured", name, Component)
			}
		}
	}
	if c.Checkpoint.Key != "" && c.Checkpoint.Cache == "" {
		report("checkpoint_cache_key", "needs a cache: set %s.checkpoint_cache", Component)
	}
	for _, key := range c.KeyColumns {
		if len(c.Columns) > 0 && !slices.ContainsFunc(c.Columns, func(s string) bool { return strings.EqualFold(s, key) }) {
			report("key_columns", "column %q must be among %s.columns", key, Component)
		}
	}
	return errors.Join(problems...)
}

// rowMessages says whether the format has one message a row. A format that did not decode is given the benefit.
func (c Config) rowMessages() bool { return c.Format != "json_lines" && c.Format != "arrow_ipc" }

func names(fields []Field) string {
	out := make([]string, len(fields))
	for i, f := range fields {
		out[i] = f.Name
	}
	return strings.Join(out, ", ")
}

// into returns a setter of the configuration value that target points out.
func into[T any](target func(*Config) *T) func(*Config, any) {
	return func(c *Config, v any) {
		if t, ok := v.(T); ok {
			*target(c) = t
		}
	}
}

// intoOptional is into for a value that may be unset.
func intoOptional[T any](target func(*Config) **T) func(*Config, any) {
	return func(c *Config, v any) {
		if t, ok := v.(T); ok {
			*target(c) = &t
		}
	}
}
