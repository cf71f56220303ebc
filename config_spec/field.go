// Package configspec answers how delta_lake is configured: its fields as data, and a decoded configuration as a value.
//
// [Fields] is the one table from which everything else is made: the engine's specification, lint messages, the Markdown
// reference and the JSON Schema; [Decode] turns plain values into a complete [Config]. The package knows neither the
// engine nor the table format, so it can be read and tested alone: whether a column exists is found out at connect.
package configspec

import "strings"

// Component is the name of the input, and the first part of every field path.
const Component = "delta_lake"

// Kind says which values a field takes.
type Kind string

// The kinds of fields. Numbers, sizes and booleans may also be written as text, as environment variables and the command
// line give them; list elements that look like numbers must be quoted. Only Enum, ChildInput and a String that is required are declared to
// the engine with a type of their own: it reports a wrong type without the field's path or not at all, and rules for lists run on the
// elements too. All other kinds are declared as any value, and judged by [LintField].
const (
	String     Kind = "string"
	Int        Kind = "integer"
	Size       Kind = "size" // bytes, or text with a unit: 65536, 64KiB
	Bool       Kind = "boolean"
	Duration   Kind = "duration"  // text such as 30s or 5m
	Timestamp  Kind = "timestamp" // text that ParseTimestamp reads
	Enum       Kind = "enum"      // one of Options
	StringList Kind = "list of strings"
	EnumList   Kind = "list of enums"               // any of Options, each at most once
	Schedule   Kind = "duration or cron expression" // or empty text: off
	ChildInput Kind = "input"                       // another input, in the engine's form
	Predicate  Kind = "predicate"                   // text that pruning.Parse reads
	Object     Kind = "object"                      // Children
)

// Option is one value of an enum.
type Option struct{ Value, Description string }

// Field is one field of the configuration. It is required, has a default, or is optional (no default: unset has a
// meaning of its own, which the description gives).
type Field struct {
	Name        string
	Kind        Kind
	Description string // Markdown; the first sentence can stand alone
	Required    bool
	Default     any // as a user writes it; nil: none
	Examples    []any
	Advanced    bool
	Follow      bool // only for modes that follow the table; with its children
	Options     []Option
	Min, Max    int64   // bounds of Int and Size
	Zero        bool    // a Duration may be 0s
	Children    []Field // of an Object, which has no default of its own

	set func(*Config, any)
}

// Optional says whether the field may be left out and has no default.
func (f Field) Optional() bool { return !f.Required && f.Default == nil && f.Kind != Object }

// Summary is the first sentence of the description.
func (f Field) Summary() string {
	if i := strings.Index(f.Description, ". "); i >= 0 {
		return f.Description[:i+1]
	}
	return f.Description
}

// Lookup finds a field by its dotted path without the component's name: "values.decimal".
func Lookup(path string) (Field, bool) {
	name, rest, nested := strings.Cut(path, ".")
	fields := Fields()
	for {
		f, ok := byName(fields, name)
		if !ok || !nested {
			return f, ok
		}
		name, rest, nested = strings.Cut(rest, ".")
		fields = f.Children
	}
}

func byName(fields []Field, name string) (Field, bool) {
	for _, f := range fields {
		if f.Name == name {
			return f, true
		}
	}
	return Field{}, false
}

// Walk calls visit for every field, an object before its children, with the dotted path of each.
func Walk(fields []Field, visit func(path string, f Field)) { walk("", fields, visit) }

func walk(prefix string, fields []Field, visit func(path string, f Field)) {
	for _, f := range fields {
		visit(prefix+f.Name, f)
		walk(prefix+f.Name+".", f.Children, visit)
	}
}

// values lists the values of the options.
func (f Field) values() []string {
	out := make([]string, len(f.Options))
	for i, o := range f.Options {
		out[i] = o.Value
	}
	return out
}
