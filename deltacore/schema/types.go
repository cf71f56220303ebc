// Package schema answers what a column of a Delta table is: its type, how that is written in the log, which Arrow type
// carries it, and which value of it the text of a partition value stands for.
//
// It does no I/O and knows neither files nor actions. How a Parquet column becomes one of these types is the business
// of datafile and parquetio.
package schema

import (
	"fmt"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// Type is one of Primitive, Decimal, *Struct, *Array, *Map or Unknown. String returns the Delta spelling
// ("decimal(10,2)", "array<long>"), for messages.
type Type interface {
	fmt.Stringer
	isType()
}

// Primitive is a type without parameters, by its name in the schema's JSON (protocol S1).
type Primitive string

const (
	String       Primitive = "string"
	Long         Primitive = "long"
	Integer      Primitive = "integer"
	Short        Primitive = "short"
	Byte         Primitive = "byte"
	Float        Primitive = "float"
	Double       Primitive = "double"
	Boolean      Primitive = "boolean"
	Binary       Primitive = "binary"
	Date         Primitive = "date"
	Timestamp    Primitive = "timestamp"
	TimestampNTZ Primitive = "timestamp_ntz"
	Void         Primitive = "void" // always null, never in a file
	Variant      Primitive = "variant"
)

// Decimal is an exact number of Precision digits, Scale of them after the point. 1 <= Precision <= 38.
type Decimal struct{ Precision, Scale int }

// Struct is a record; the type of a table is one.
type Struct struct{ Fields []Field }

// Array is a list of elements.
type Array struct {
	Element      Type
	ContainsNull bool
}

// Map is a list of key and value pairs. Keys are never null.
type Map struct {
	Key, Value        Type
	ValueContainsNull bool
}

// Unknown is a type text that this reader does not know. A table that has one opens; reading the column is refused, by
// [ArrowSchema].
type Unknown string

// Field is a named member of a Struct. A dot in Name is part of the name (protocol S3). Nullable is true when the schema
// does not say (protocol S4). Metadata is nil when there is none; its values are compact JSON.
type Field struct {
	Name     string
	Type     Type
	Nullable bool
	Metadata map[string]jsontext.Value
}

func (Primitive) isType() {}
func (Decimal) isType()   {}
func (*Struct) isType()   {}
func (*Array) isType()    {}
func (*Map) isType()      {}
func (Unknown) isType()   {}

// String returns the type's name.
func (p Primitive) String() string { return string(p) }

// String returns "decimal(10,2)".
func (d Decimal) String() string { return fmt.Sprintf("decimal(%d,%d)", d.Precision, d.Scale) }

// String returns "struct<a:long,b:string>". Nullability is not shown.
func (s *Struct) String() string {
	members := make([]string, len(s.Fields))
	for i, f := range s.Fields {
		members[i] = f.Name + ":" + f.Type.String()
	}
	return "struct<" + strings.Join(members, ",") + ">"
}

// String returns "array<long>".
func (a *Array) String() string { return "array<" + a.Element.String() + ">" }

// String returns "map<string,long>".
func (m *Map) String() string { return "map<" + m.Key.String() + "," + m.Value.String() + ">" }

// String returns the text of the schema.
func (u Unknown) String() string { return string(u) }
