package deltatest

import (
	"fmt"
	"maps"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// The annotations of a mapped field (protocol CM2, CM3).
const (
	columnIDKey     = "delta.columnMapping.id"
	physicalNameKey = "delta.columnMapping.physicalName"
)

// Mapped returns the columns with the annotations of column mapping: ids counted from 1 in the order of a walk through the
// schema, physical names "col-" and the id. Fields that are annotated already keep what they have.
func Mapped(columns *schema.Struct) *schema.Struct {
	next := int32(0)
	eachField(columns, func(f schema.Field) { next = max(next, FieldID(f)) })
	return mappedStruct(columns, &next)
}

func mappedStruct(s *schema.Struct, last *int32) *schema.Struct {
	out := &schema.Struct{Fields: make([]schema.Field, len(s.Fields))}
	for i, f := range s.Fields {
		if FieldID(f) < 0 {
			*last++
			f = WithMapping(f, *last, fmt.Sprintf("col-%d", *last))
		}
		f.Type = mappedType(f.Type, last)
		out.Fields[i] = f
	}
	return out
}

func mappedType(t schema.Type, last *int32) schema.Type {
	switch t := t.(type) {
	case *schema.Struct:
		return mappedStruct(t, last)
	case *schema.Array:
		return &schema.Array{Element: mappedType(t.Element, last), ContainsNull: t.ContainsNull}
	case *schema.Map:
		return &schema.Map{Key: mappedType(t.Key, last), Value: mappedType(t.Value, last), ValueContainsNull: t.ValueContainsNull}
	}
	return t
}

// WithMapping returns the field with an id and a physical name.
func WithMapping(f schema.Field, id int32, physical string) schema.Field {
	f.Metadata = maps.Clone(f.Metadata)
	if f.Metadata == nil {
		f.Metadata = map[string]jsontext.Value{}
	}
	f.Metadata[columnIDKey] = jsontext.Value(strconv.Itoa(int(id)))
	f.Metadata[physicalNameKey] = marshal(physical)
	return f
}

// FieldID is the id of a mapped field, -1 when it has none.
func FieldID(f schema.Field) int32 {
	id, err := strconv.ParseInt(string(f.Metadata[columnIDKey]), 10, 32)
	if err != nil {
		return -1
	}
	return int32(id)
}

// PhysicalName is the name of a field in data files.
func PhysicalName(f schema.Field) string {
	if text, ok := f.Metadata[physicalNameKey]; ok {
		name, err := strconv.Unquote(string(text))
		must(err)
		return name
	}
	return f.Name
}

// Physical returns the columns as data files hold them: by physical name.
func Physical(columns *schema.Struct) *schema.Struct {
	out := &schema.Struct{Fields: make([]schema.Field, len(columns.Fields))}
	for i, f := range columns.Fields {
		f.Name, f.Type = PhysicalName(f), physicalType(f.Type)
		out.Fields[i] = f
	}
	return out
}

func physicalType(t schema.Type) schema.Type {
	switch t := t.(type) {
	case *schema.Struct:
		return Physical(t)
	case *schema.Array:
		return &schema.Array{Element: physicalType(t.Element), ContainsNull: t.ContainsNull}
	case *schema.Map:
		return &schema.Map{Key: physicalType(t.Key), Value: physicalType(t.Value), ValueContainsNull: t.ValueContainsNull}
	}
	return t
}

func eachField(s *schema.Struct, visit func(schema.Field)) {
	for _, f := range s.Fields {
		visit(f)
		eachFieldOf(f.Type, visit)
	}
}

func eachFieldOf(t schema.Type, visit func(schema.Field)) {
	switch t := t.(type) {
	case *schema.Struct:
		eachField(t, visit)
	case *schema.Array:
		eachFieldOf(t.Element, visit)
	case *schema.Map:
		eachFieldOf(t.Key, visit)
		eachFieldOf(t.Value, visit)
	}
}
