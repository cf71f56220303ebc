package feed

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// schemaChange is what a version's metadata means to the columns that are read.
type schemaChange struct {
	metadata *action.Metadata
	columns  *schema.Struct
	event    *SchemaChanged // nil: they are the same, or the first
}

// check judges the columns of a version, whether it has rows or not: a position behind it would mean that they were accepted.
func (f *follower) check(version int64, m *action.Metadata) (schemaChange, error) {
	if m == f.metadata {
		return schemaChange{m, f.accepted, nil}, nil
	}
	columns, err := columnsOf(m, f.config.Scan)
	switch {
	case err != nil:
		return schemaChange{}, err
	case f.accepted == nil:
		return schemaChange{m, columns, nil}, f.unknownBefore(version, columns)
	}
	d := differenceOf(f.accepted, columns)
	policy := f.config.Follow.OnSchemaChange
	switch {
	case len(d.texts) == 0:
		return schemaChange{m, f.accepted, nil}, nil
	case policy == Any, policy == Additive && !d.breaking:
		return schemaChange{m, columns, &SchemaChanged{version, f.accepted, columns, d.String()}}, nil
	}
	return schemaChange{}, schemaRefused(version, d)
}

func schemaRefused(version int64, d difference) error {
	hint := "set on_schema_change to any, or name the columns that are to be read"
	if !d.breaking {
		hint = "set on_schema_change to additive or any, or name the columns that are to be read"
	}
	return deltaerr.New(deltaerr.Config, "the columns have changed: "+d.String(), deltaerr.Version(version), deltaerr.Hint("%s", hint))
}

// unknownBefore judges columns where only the hash of those before them is known.
func (f *follower) unknownBefore(version int64, columns *schema.Struct) error {
	if f.hash == "" || f.hash == columns.Hash() || f.config.Follow.OnSchemaChange == Any {
		return nil
	}
	return deltaerr.New(deltaerr.Config, "the columns are not those that were read before, and the log no longer tells what has changed",
		deltaerr.Version(version), deltaerr.Hint("set on_schema_change to any until rows of this version were read"))
}

func (f *follower) accept(c schemaChange) {
	f.metadata, f.accepted, f.hash = c.metadata, c.columns, ""
	if c.event != nil {
		f.queue = append(f.queue, *c.event)
	}
}

// columnsOf are the columns that are read of a version.
func columnsOf(m *action.Metadata, o deltacore.ScanOptions) (*schema.Struct, error) {
	if o.RowsOnly {
		return &schema.Struct{}, nil
	}
	all, err := schema.Parse(m.SchemaString)
	if err != nil {
		return nil, err
	}
	return all.Select(o.Columns)
}

// difference says in words what differs between two schemas, and whether somebody who knows the first may stumble over the
// second. The order of columns, comments and the like are none.
type difference struct {
	texts    []string
	breaking bool
}

// String names the first few differences.
func (d difference) String() string {
	const most = 5
	if n := len(d.texts) - most; n > 0 {
		return strings.Join(d.texts[:most], ", ") + fmt.Sprintf(" and %d more", n)
	}
	return strings.Join(d.texts, ", ")
}

func differenceOf(was, now *schema.Struct) difference {
	var d difference
	d.fields(was, now, "")
	return d
}

func (d *difference) note(breaking bool, format string, args ...any) {
	d.texts = append(d.texts, fmt.Sprintf(format, args...))
	d.breaking = d.breaking || breaking
}

func (d *difference) fields(was, now *schema.Struct, prefix string) {
	left := map[string]schema.Field{}
	for _, f := range now.Fields {
		left[f.Name] = f
	}
	for _, f := range was.Fields {
		path := prefix + f.Name
		n, there := left[f.Name]
		delete(left, f.Name)
		switch {
		case !there:
			d.note(true, "%s is gone", path)
		case physicalName(f) != physicalName(n):
			d.note(true, "%s is another column under the same name", path)
		default:
			d.nulls(f.Nullable, n.Nullable, path)
			d.types(f.Type, n.Type, path)
		}
	}
	for _, f := range now.Fields {
		if _, added := left[f.Name]; added {
			d.note(!f.Nullable, "%s is new", prefix+f.Name)
		}
	}
}

// nulls notes that values may be null now. That they never are any more surprises nobody.
func (d *difference) nulls(was, now bool, path string) {
	if now && !was {
		d.note(true, "%s may be null", path)
	}
}

func (d *difference) types(was, now schema.Type, path string) {
	switch w := was.(type) {
	case *schema.Struct:
		if n, same := now.(*schema.Struct); same {
			d.fields(w, n, path+".")
			return
		}
	case *schema.Array:
		if n, same := now.(*schema.Array); same {
			d.nulls(w.ContainsNull, n.ContainsNull, path+".element")
			d.types(w.Element, n.Element, path+".element")
			return
		}
	case *schema.Map:
		if n, same := now.(*schema.Map); same {
			d.nulls(w.ValueContainsNull, n.ValueContainsNull, path+".value")
			d.types(w.Key, n.Key, path+".key")
			d.types(w.Value, n.Value, path+".value")
			return
		}
	}
	if was.String() != now.String() {
		d.note(!schema.CanWiden(was, now), "%s is %s instead of %s", path, now, was)
	}
}

// physicalName is the name by which column mapping tells columns apart: the plain one where there is no mapping, and when it
// is switched on.
func physicalName(f schema.Field) string {
	var name string
	if json.Unmarshal(f.Metadata["delta.columnMapping.physicalName"], &name) == nil && name != "" {
		return name
	}
	return f.Name
}
