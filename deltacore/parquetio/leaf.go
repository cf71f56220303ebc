package parquetio

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

const int96Size = 12

// leafForm says how a leaf is read and what is made of the values.
type leafForm struct {
	inFile   parquet.Type // physical type in the file
	physical parquet.Type // as presented to arrow-go
	length   int          // of fixed-length values
	convert  convertFunc  // nil: the values are as shown
}

func (b *treeBuilder) newLeaf(n *schema.PrimitiveNode, optional bool) *node {
	leaf := b.leaves
	b.leaves++
	typ, form := classify(n)
	out := &node{kind: leafNode, leaf: form, field: Field{
		Name: n.Name(), ID: n.FieldID(), Type: typ, Nullable: optional, Leaf: leaf,
		Physical: n.PhysicalType().String(), Logical: logicalText(n.LogicalType()),
	}}
	out.guide = out
	return out
}

// classify chooses the Arrow type of a leaf and the way to it. arrow-go reads all leaves without annotation: its own
// conversions wrap numbers that are out of range, take INT96 through nanoseconds and refuse wide decimals.
func classify(n *schema.PrimitiveNode) (arrow.DataType, leafForm) {
	form := leafForm{inFile: n.PhysicalType(), physical: n.PhysicalType(), length: n.TypeLength()}
	logical := n.LogicalType()
	if logical.Equals(schema.NullLogicalType{}) {
		form.convert = toNull
		return arrow.Null, form
	}
	if d, ok := logical.(schema.DecimalLogicalType); ok && d.Precision() <= 38 {
		typ := &arrow.Decimal128Type{Precision: d.Precision(), Scale: d.Scale()}
		if form.convert = decimalFrom(n.PhysicalType(), n.TypeLength(), typ); form.convert != nil {
			return typ, form
		}
	}
	switch n.PhysicalType() {
	case parquet.Types.Int32:
		return form.retyped(arrow.PrimitiveTypes.Int32, int32Type(logical))
	case parquet.Types.Int64:
		return form.retyped(arrow.PrimitiveTypes.Int64, int64Type(logical))
	case parquet.Types.Int96:
		form.physical, form.length = parquet.Types.FixedLenByteArray, int96Size
		return &arrow.FixedSizeBinaryType{ByteWidth: int96Size}, form
	case parquet.Types.Boolean:
		return arrow.FixedWidthTypes.Boolean, form
	case parquet.Types.Float:
		return arrow.PrimitiveTypes.Float32, form
	case parquet.Types.Double:
		return arrow.PrimitiveTypes.Float64, form
	case parquet.Types.FixedLenByteArray:
		return &arrow.FixedSizeBinaryType{ByteWidth: n.TypeLength()}, form
	}
	if _, ok := logical.(schema.StringLogicalType); ok {
		return form.retyped(arrow.BinaryTypes.Binary, arrow.BinaryTypes.String)
	}
	return arrow.BinaryTypes.Binary, form
}

// retyped shows values that are read as one type as another of the same layout.
func (f leafForm) retyped(read, shown arrow.DataType) (arrow.DataType, leafForm) {
	if read.ID() != shown.ID() {
		f.convert = retype(shown)
	}
	return shown, f
}

// int32Type keeps narrow integers as they are stored: whether they fit their annotation is for the reader to check.
func int32Type(logical schema.LogicalType) arrow.DataType {
	switch l := logical.(type) {
	case schema.DateLogicalType:
		return arrow.FixedWidthTypes.Date32
	case schema.TimeLogicalType:
		return arrow.FixedWidthTypes.Time32ms
	case schema.IntLogicalType:
		if !l.IsSigned() && l.BitWidth() == 32 {
			return arrow.PrimitiveTypes.Uint32
		}
	}
	return arrow.PrimitiveTypes.Int32
}

func int64Type(logical schema.LogicalType) arrow.DataType {
	switch l := logical.(type) {
	case schema.TimestampLogicalType:
		return timestampType(l)
	case schema.TimeLogicalType:
		if l.TimeUnit() == schema.TimeUnitNanos {
			return arrow.FixedWidthTypes.Time64ns
		}
		return arrow.FixedWidthTypes.Time64us
	case schema.IntLogicalType:
		if !l.IsSigned() {
			return arrow.PrimitiveTypes.Uint64
		}
	}
	return arrow.PrimitiveTypes.Int64
}

// timestampType: the converted types TIMESTAMP_MILLIS and TIMESTAMP_MICROS of old writers mean UTC.
func timestampType(l schema.TimestampLogicalType) arrow.DataType {
	t := &arrow.TimestampType{Unit: arrow.Microsecond}
	switch l.TimeUnit() {
	case schema.TimeUnitMillis:
		t.Unit = arrow.Millisecond
	case schema.TimeUnitNanos:
		t.Unit = arrow.Nanosecond
	}
	if l.IsAdjustedToUTC() || l.IsFromConvertedType() {
		t.TimeZone = "UTC"
	}
	return t
}

// logicalText spells an annotation as the Parquet specification does.
func logicalText(logical schema.LogicalType) string {
	switch l := logical.(type) {
	case schema.StringLogicalType:
		return "STRING"
	case schema.DateLogicalType:
		return "DATE"
	case schema.EnumLogicalType:
		return "ENUM"
	case schema.JSONLogicalType:
		return "JSON"
	case schema.BSONLogicalType:
		return "BSON"
	case schema.UUIDLogicalType:
		return "UUID"
	case schema.IntervalLogicalType:
		return "INTERVAL"
	case schema.Float16LogicalType:
		return "FLOAT16"
	case schema.NullLogicalType:
		return "UNKNOWN"
	case schema.DecimalLogicalType:
		return fmt.Sprintf("DECIMAL(%d,%d)", l.Precision(), l.Scale())
	case schema.IntLogicalType:
		return fmt.Sprintf("INT(%d,%t)", l.BitWidth(), l.IsSigned())
	case schema.TimestampLogicalType:
		return fmt.Sprintf("TIMESTAMP(%s,%t)", unitText(l.TimeUnit()), l.IsAdjustedToUTC() || l.IsFromConvertedType())
	case schema.TimeLogicalType:
		return fmt.Sprintf("TIME(%s,%t)", unitText(l.TimeUnit()), l.IsAdjustedToUTC())
	case schema.NoLogicalType, schema.UnknownLogicalType, nil:
		return ""
	default:
		return fmt.Sprint(l)
	}
}

func unitText(u schema.TimeUnitType) string {
	switch u {
	case schema.TimeUnitMillis:
		return "MILLIS"
	case schema.TimeUnitNanos:
		return "NANOS"
	default:
		return "MICROS"
	}
}
