package schema

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// Resolver finds the columns of predicates in s. At every step of a path the exact name comes first, then the only one that
// differs in case alone (S2). Its errors are Config and say what the path may stand for. There is no way into lists and maps.
func Resolver(s *Struct) pruning.Resolver {
	return func(path []string) (pruning.Column, error) {
		fields, err := s.Resolve(path)
		if err != nil {
			return pruning.Column{}, err
		}
		c := pruning.Column{Type: fields[len(fields)-1].PruningType()}
		for _, f := range fields {
			c.Path = append(c.Path, f.Name)
		}
		return c, nil
	}
}

// Resolve finds the fields that a path leads through, from the top.
func (s *Struct) Resolve(path []string) ([]Field, error) {
	fields := make([]Field, 0, len(path))
	for i, name := range path {
		if i > 0 {
			inner, is := fields[i-1].Type.(*Struct)
			if !is {
				return nil, s.noWayInto(fields, path)
			}
			s = inner
		}
		f, err := s.one(name, path[:i])
		if err != nil {
			return nil, err
		}
		fields = append(fields, f)
	}
	if len(fields) == 0 {
		return nil, deltaerr.New(deltaerr.Config, "a predicate names no column")
	}
	return fields, nil
}

// one finds the field of a name below a path.
func (s *Struct) one(name string, above []string) (Field, error) {
	var found []Field
	folded := fold(name)
	for _, f := range s.Fields {
		if f.Name == name {
			return f, nil
		}
		if fold(f.Name) == folded {
			found = append(found, f)
		}
	}
	switch {
	case len(found) == 1:
		return found[0], nil
	case len(found) > 1:
		msg := fmt.Sprintf("%q may be column %q or %q", clip(name), clip(found[0].Name), clip(found[1].Name))
		return Field{}, deltaerr.New(deltaerr.Config, msg, deltaerr.Hint("write the name as the table does"))
	case len(above) == 0:
		return Field{}, s.unknownColumn(name)
	}
	return Field{}, s.unknownMember(name, above)
}

func (s *Struct) unknownMember(name string, above []string) error {
	hint := deltaerr.Hint("%s", strings.Replace(s.columnList(), "its columns", "its fields", 1))
	if near := s.nearest(name); len(near) > 0 {
		hint = deltaerr.Hint("did you mean %s?", strings.Join(near, " or "))
	}
	return deltaerr.New(deltaerr.Config, fmt.Sprintf("column %q has no field %q", clip(strings.Join(above, ".")), clip(name)), hint)
}

// noWayInto is about a path that goes on behind a field that has no members.
func (s *Struct) noWayInto(fields []Field, path []string) error {
	var names []string
	for _, f := range fields {
		names = append(names, f.Name)
	}
	last := fields[len(fields)-1]
	return deltaerr.New(deltaerr.Config, fmt.Sprintf("column %q is a %s: it has no field %q",
		clip(strings.Join(names, ".")), clip(last.Type.String()), clip(path[len(fields)])),
		deltaerr.Hint("a name that holds a dot stands in backquotes"))
}

// collationsKey is the annotation of text that is not compared by its bytes.
const collationsKey = "__COLLATIONS"

// PruningType is the type of f's values as predicates see it. Text with a collation of its own is Opaque: its order and its
// equality are not those of the bytes.
func (f Field) PruningType() pruning.Type {
	t := pruning.Type{Name: f.Type.String()}
	switch of := f.Type.(type) {
	case Decimal:
		t.Kind, t.Precision, t.Scale = pruning.Decimal, of.Precision, of.Scale
	case Primitive:
		t.Kind, t.Bits = kindOf(of)
		if t.Kind == pruning.String && f.collated() {
			t.Kind, t.Name = pruning.Opaque, t.Name+" with a collation"
		}
	}
	return t
}

func kindOf(p Primitive) (kind pruning.Kind, bits int) {
	switch p {
	case Byte:
		return pruning.Integer, 8
	case Short:
		return pruning.Integer, 16
	case Integer:
		return pruning.Integer, 32
	case Long:
		return pruning.Integer, 64
	case Float:
		return pruning.Float, 0
	case Double:
		return pruning.Double, 0
	case Boolean:
		return pruning.Boolean, 0
	case String:
		return pruning.String, 0
	case Binary:
		return pruning.Binary, 0
	case Date:
		return pruning.Date, 0
	case Timestamp:
		return pruning.Timestamp, 0
	case TimestampNTZ:
		return pruning.TimestampNTZ, 0
	}
	return pruning.Opaque, 0
}

// collated says whether the text of f has a collation other than that of its bytes. An annotation of another form counts.
func (f Field) collated() bool {
	text, has := f.Metadata[collationsKey]
	if !has {
		return false
	}
	var collations map[string]string
	if json.Unmarshal(text, &collations) != nil {
		return true
	}
	for _, name := range collations {
		if name = strings.TrimPrefix(name, "spark."); name != "UTF8_BINARY" {
			return true
		}
	}
	return false
}
