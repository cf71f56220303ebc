package schema

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// maxDepth bounds how deep types are nested. Everything that walks a type recurses once a level, so the bound keeps the
// stack small whatever the log says. Schemas that people write stay below 20; those generated from recursive messages
// are cut by their tools at about 30.
const maxDepth = 64

// Parse reads a schemaString (protocol S1–S6). What breaks the format is a deltaerr Corrupt that names the column; types
// nested deeper than 64 levels are Unsupported. A type that is not known becomes [Unknown] and is no error here.
func Parse(text string) (*Struct, error) {
	if strings.TrimSpace(text) == "" {
		return nil, corrupt("", "the schemaString is missing or empty")
	}
	p := parser{dec: jsontext.NewDecoder(strings.NewReader(text))}
	t, err := p.parseType(1)
	if err != nil {
		return nil, err
	}
	if _, err := p.dec.ReadToken(); !errors.Is(err, io.EOF) {
		return nil, corrupt("", "the schemaString goes on after its end")
	}
	s, ok := t.(*Struct)
	switch {
	case !ok:
		return nil, corrupt("", fmt.Sprintf("the schemaString is of type %s, not a struct", clip(t.String())))
	case len(s.Fields) == 0:
		return nil, corrupt("", "the schemaString has no columns")
	}
	return s, nil
}

// parser walks the JSON once, whatever the order of an object's keys.
type parser struct {
	dec  *jsontext.Decoder
	path []string // names that lead to the type at hand; element, key and value stand for members of lists and maps
}

// typeParts are the members of a type that is written as an object.
type typeParts struct {
	name                  string
	fields                []Field
	hasFields             bool
	element, key, value   Type
	containsNull, valNull bool
}

// parseType reads a type: a name, or an object for struct, array and map.
func (p *parser) parseType(depth int) (Type, error) {
	if depth > maxDepth {
		return nil, deltaerr.New(deltaerr.Unsupported,
			fmt.Sprintf("types nested deeper than %d levels are not supported", maxDepth), p.column())
	}
	switch p.dec.PeekKind() {
	case jsontext.KindString:
		tok, err := p.dec.ReadToken()
		if err != nil {
			return nil, p.badJSON(err)
		}
		return namedType(tok.String()), nil
	case jsontext.KindBeginObject:
		parts, err := p.parseParts(depth)
		if err != nil {
			return nil, err
		}
		return p.assemble(parts)
	}
	return nil, p.unexpected("a type")
}

func (p *parser) parseParts(depth int) (typeParts, error) {
	parts := typeParts{containsNull: true, valNull: true}
	err := p.members(func(key string) (err error) {
		switch key {
		case "type":
			parts.name, err = p.text("type")
		case "fields":
			parts.hasFields = true
			parts.fields, err = p.parseFields(depth)
		case "elementType":
			parts.element, err = p.nested("element", depth)
		case "keyType":
			parts.key, err = p.nested("key", depth)
		case "valueType":
			parts.value, err = p.nested("value", depth)
		case "containsNull":
			parts.containsNull, err = p.truth(key)
		case "valueContainsNull":
			parts.valNull, err = p.truth(key)
		default:
			err = p.skip()
		}
		return err
	})
	return parts, err
}

// assemble makes the type that the members describe.
func (p *parser) assemble(parts typeParts) (Type, error) {
	switch parts.name {
	case "":
		return nil, p.corrupt("a type has no name")
	case "struct":
		if !parts.hasFields {
			return nil, p.corrupt("a struct has no fields")
		}
		return &Struct{Fields: parts.fields}, nil
	case "array":
		if parts.element == nil {
			return nil, p.corrupt("an array has no elementType")
		}
		return &Array{Element: parts.element, ContainsNull: parts.containsNull}, nil
	case "map":
		if parts.key == nil || parts.value == nil {
			return nil, p.corrupt("a map has no keyType or no valueType")
		}
		return &Map{Key: parts.key, Value: parts.value, ValueContainsNull: parts.valNull}, nil
	}
	return Unknown(parts.name), nil
}

func (p *parser) parseFields(depth int) ([]Field, error) {
	if k := p.dec.PeekKind(); k != jsontext.KindBeginArray {
		return nil, p.unexpected("a list of fields")
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return nil, p.badJSON(err)
	}
	var fields []Field
	seen := map[string]string{}
	for p.dec.PeekKind() != jsontext.KindEndArray {
		f, err := p.parseField(depth)
		if err != nil {
			return nil, err
		}
		if other, twice := seen[fold(f.Name)]; twice {
			return nil, p.corrupt(fmt.Sprintf("the schemaString has two columns of one name: %q and %q", clip(other), clip(f.Name)))
		}
		seen[fold(f.Name)] = f.Name
		fields = append(fields, f)
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return nil, p.badJSON(err)
	}
	return fields, nil
}

func (p *parser) parseField(depth int) (Field, error) {
	f := Field{Nullable: true}
	if p.dec.PeekKind() != jsontext.KindBeginObject {
		return f, p.unexpected("a field")
	}
	named := false
	p.path = append(p.path, "?") // until the name is known, which usually comes first
	err := p.members(func(key string) (err error) {
		switch key {
		case "name":
			f.Name, err = p.text("name")
			p.path[len(p.path)-1], named = f.Name, err == nil
		case "type":
			f.Type, err = p.parseType(depth + 1)
		case "nullable":
			f.Nullable, err = p.truth(key)
		case "metadata":
			f.Metadata, err = p.parseMetadata()
		default:
			err = p.skip()
		}
		return err
	})
	switch {
	case err != nil:
		return f, err
	case !named:
		return f, p.corrupt("a field has no name")
	case f.Type == nil:
		return f, p.corrupt("a field has no type")
	}
	p.path = p.path[:len(p.path)-1]
	return f, nil
}

func (p *parser) parseMetadata() (map[string]jsontext.Value, error) {
	if p.dec.PeekKind() == jsontext.KindNull {
		return nil, p.skip()
	}
	var metadata map[string]jsontext.Value
	err := p.members(func(key string) error {
		raw, err := p.dec.ReadValue()
		if err != nil {
			return p.badJSON(err)
		}
		value := slices.Clone(raw)
		if err := value.Compact(); err != nil {
			return p.badJSON(err)
		}
		if metadata == nil {
			metadata = map[string]jsontext.Value{}
		}
		metadata[key] = value
		return nil
	})
	return metadata, err
}

// nested reads the type of a list's or map's member.
func (p *parser) nested(name string, depth int) (Type, error) {
	p.path = append(p.path, name)
	t, err := p.parseType(depth + 1)
	if err == nil {
		p.path = p.path[:len(p.path)-1] // kept on errors: it says where
	}
	return t, err
}

// members calls visit with each key of the object that comes next; visit reads the value.
func (p *parser) members(visit func(key string) error) error {
	if p.dec.PeekKind() != jsontext.KindBeginObject {
		return p.unexpected("an object")
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return p.badJSON(err)
	}
	for p.dec.PeekKind() == jsontext.KindString {
		tok, err := p.dec.ReadToken()
		if err != nil {
			return p.badJSON(err)
		}
		if err := visit(tok.String()); err != nil {
			return err
		}
	}
	if _, err := p.dec.ReadToken(); err != nil {
		return p.badJSON(err)
	}
	return nil
}

// text reads a string.
func (p *parser) text(what string) (string, error) {
	if p.dec.PeekKind() != jsontext.KindString {
		return "", p.unexpected("text as " + what)
	}
	tok, err := p.dec.ReadToken()
	if err != nil {
		return "", p.badJSON(err)
	}
	return tok.String(), nil
}

// truth reads true or false. Null stands for a missing key, whose default is true (S4).
func (p *parser) truth(what string) (bool, error) {
	switch p.dec.PeekKind() {
	case jsontext.KindTrue, jsontext.KindFalse:
		tok, err := p.dec.ReadToken()
		if err != nil {
			return false, p.badJSON(err)
		}
		return tok.Bool(), nil
	case jsontext.KindNull:
		return true, p.skip()
	}
	return false, p.unexpected("true or false as " + what)
}

func (p *parser) skip() error {
	if err := p.dec.SkipValue(); err != nil {
		return p.badJSON(err)
	}
	return nil
}

// unexpected says that something else than want comes next, unless the JSON itself is broken there.
func (p *parser) unexpected(want string) error {
	v, err := p.dec.ReadValue()
	if err != nil {
		return p.badJSON(err)
	}
	return p.corrupt(fmt.Sprintf("the schemaString has %s where %s belongs", clip(string(v)), want))
}

func (p *parser) badJSON(err error) error {
	if errors.Is(err, io.EOF) {
		err = io.ErrUnexpectedEOF // the text ends inside a type
	}
	return deltaerr.New(deltaerr.Corrupt, "the schemaString is not valid JSON", p.column(), deltaerr.Cause(err))
}

func (p *parser) corrupt(msg string) error { return corrupt(strings.Join(p.path, "."), msg) }

func (p *parser) column() deltaerr.Attr { return deltaerr.Column(clip(strings.Join(p.path, "."))) }

func corrupt(column, msg string) error {
	return deltaerr.New(deltaerr.Corrupt, msg, deltaerr.Column(clip(column)))
}

// clip shortens text that comes from a table to what a message can hold.
func clip(text string) string {
	const limit = 100
	for i := range text {
		if i > limit {
			return text[:i] + "…"
		}
	}
	return text
}
