package deltatest

import (
	"fmt"
	"maps"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/go-json-experiment/json/jsontext"

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

// mappingMetadata is what of a field's annotations travels with records: the id, under the name that the Parquet writer of
// arrow-go looks for, and the physical name.
func mappingMetadata(f schema.Field) arrow.Metadata {
	if FieldID(f) < 0 {
		return arrow.Metadata{}
	}
	return arrow.NewMetadata([]string{"PARQUET:field_id", physicalNameKey},
		[]string{strconv.Itoa(int(FieldID(f))), PhysicalName(f)})
}

// Physical returns a record as data files hold it: columns and members of structs by physical name. Records without
// annotations stay as they are.
func Physical(record arrow.RecordBatch) arrow.RecordBatch {
	fields := physicalFields(record.Schema().Fields())
	columns := make([]arrow.Array, len(fields))
	for i, f := range fields {
		columns[i] = array.MakeFromData(retyped(record.Column(i).Data(), f.Type))
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, record.NumRows())
}

func physicalFields(fields []arrow.Field) []arrow.Field {
	out := make([]arrow.Field, len(fields))
	for i, f := range fields {
		f.Type = physicalType(f.Type)
		if name, ok := f.Metadata.GetValue(physicalNameKey); ok {
			f.Name = name
		}
		out[i] = f
	}
	return out
}

func physicalType(t arrow.DataType) arrow.DataType {
	switch t := t.(type) {
	case *arrow.StructType:
		return arrow.StructOf(physicalFields(t.Fields())...)
	case *arrow.ListType:
		return arrow.ListOfField(physicalFields(t.Fields())[0])
	case *arrow.MapType:
		pair := physicalFields(t.Elem().(*arrow.StructType).Fields())
		return arrow.MapOfFields(pair[0], pair[1])
	}
	return t
}

// retyped is data under a type of the same layout.
func retyped(d arrow.ArrayData, t arrow.DataType) arrow.ArrayData {
	var children []arrow.ArrayData
	if nested, ok := t.(arrow.NestedType); ok {
		for i, f := range nested.Fields() {
			children = append(children, retyped(d.Children()[i], f.Type))
		}
	}
	return array.NewData(t, d.Len(), d.Buffers(), children, d.NullN(), d.Offset())
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
