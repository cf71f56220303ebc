package deltatest

import (
	"fmt"
	"regexp"
	"strconv"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/schema"
)

// messageParser reads the text form of a Parquet schema.
type messageParser struct{ tokens []string }

var messageToken = regexp.MustCompile(`[^\s(){}=;,]+|[(){}=;,]`)

func messageTokens(text string) []string { return messageToken.FindAllString(text, -1) }

func (p *messageParser) peek() string {
	if len(p.tokens) == 0 {
		return ""
	}
	return p.tokens[0]
}

func (p *messageParser) next() string {
	token := p.peek()
	if token == "" {
		panic("deltatest: the message type ends in the middle")
	}
	p.tokens = p.tokens[1:]
	return token
}

func (p *messageParser) accept(token string) bool {
	if p.peek() != token {
		return false
	}
	p.next()
	return true
}

func (p *messageParser) expect(token string) {
	if got := p.next(); got != token {
		panic(fmt.Sprintf("deltatest: %q instead of %q in the message type", got, token))
	}
}

func (p *messageParser) number() int {
	n, err := strconv.Atoi(p.next())
	must(err)
	return n
}

func (p *messageParser) fields() schema.FieldList {
	var list schema.FieldList
	p.expect("{")
	for !p.accept("}") {
		list = append(list, p.field())
	}
	return list
}

var repetitions = map[string]parquet.Repetition{
	"required": parquet.Repetitions.Required,
	"optional": parquet.Repetitions.Optional,
	"repeated": parquet.Repetitions.Repeated,
}

func (p *messageParser) field() schema.Node {
	repetition := named(repetitions, p.next())
	typ, length := p.next(), -1
	if typ == "fixed_len_byte_array" {
		p.expect("(")
		length = p.number()
		p.expect(")")
	}
	name := p.next()
	a := p.annotation()
	id := -1
	if p.accept("=") {
		id = p.number()
	}
	if typ == "group" {
		return a.group(name, repetition, p.fields(), int32(id))
	}
	p.expect(";")
	return a.primitive(name, repetition, named(physicalTypes, typ), length, int32(id))
}

var physicalTypes = map[string]parquet.Type{
	"boolean":              parquet.Types.Boolean,
	"int32":                parquet.Types.Int32,
	"int64":                parquet.Types.Int64,
	"int96":                parquet.Types.Int96,
	"float":                parquet.Types.Float,
	"double":               parquet.Types.Double,
	"binary":               parquet.Types.ByteArray,
	"fixed_len_byte_array": parquet.Types.FixedLenByteArray,
}

// annotation is what stands in brackets behind a name.
type annotation struct {
	name       string
	parameters []string
}

func (p *messageParser) annotation() annotation {
	var a annotation
	if !p.accept("(") {
		return a
	}
	a.name = p.next()
	if p.accept("(") {
		for !p.accept(")") {
			if token := p.next(); token != "," {
				a.parameters = append(a.parameters, token)
			}
		}
	}
	p.expect(")")
	return a
}

func (a annotation) number(i int) int {
	n, err := strconv.Atoi(a.parameters[i])
	must(err)
	return n
}

var timeUnits = map[string]schema.TimeUnitType{
	"MILLIS": schema.TimeUnitMillis, "MICROS": schema.TimeUnitMicros, "NANOS": schema.TimeUnitNanos,
}

// logical returns the logical type, nil when the name is one of a converted type only.
func (a annotation) logical() schema.LogicalType {
	switch a.name {
	case "":
		return schema.NoLogicalType{}
	case "STRING":
		return schema.StringLogicalType{}
	case "DATE":
		return schema.DateLogicalType{}
	case "JSON":
		return schema.JSONLogicalType{}
	case "BSON":
		return schema.BSONLogicalType{}
	case "ENUM":
		return schema.EnumLogicalType{}
	case "UUID":
		return schema.UUIDLogicalType{}
	case "UNKNOWN":
		return schema.NullLogicalType{}
	case "LIST":
		return schema.NewListLogicalType()
	case "MAP":
		return schema.MapLogicalType{}
	case "VARIANT":
		return schema.VariantLogicalType{}
	case "DECIMAL":
		return schema.NewDecimalLogicalType(int32(a.number(0)), int32(a.number(1)))
	case "INT":
		return schema.NewIntLogicalType(int8(a.number(0)), a.parameters[1] == "true")
	case "TIMESTAMP":
		return schema.NewTimestampLogicalType(a.parameters[1] == "true", named(timeUnits, a.parameters[0]))
	case "TIME":
		return schema.NewTimeLogicalType(a.parameters[1] == "true", named(timeUnits, a.parameters[0]))
	}
	return nil
}

var convertedTypes = map[string]schema.ConvertedType{
	"UTF8":             schema.ConvertedTypes.UTF8,
	"TIMESTAMP_MILLIS": schema.ConvertedTypes.TimestampMillis,
	"TIMESTAMP_MICROS": schema.ConvertedTypes.TimestampMicros,
	"INT_8":            schema.ConvertedTypes.Int8,
	"INT_16":           schema.ConvertedTypes.Int16,
	"UINT_8":           schema.ConvertedTypes.Uint8,
	"MAP_KEY_VALUE":    schema.ConvertedTypes.MapKeyValue,
}

func (a annotation) primitive(name string, r parquet.Repetition, typ parquet.Type, length int, id int32) schema.Node {
	if logical := a.logical(); logical != nil {
		return schema.Must(schema.NewPrimitiveNodeLogical(name, r, logical, typ, length, id))
	}
	return schema.Must(schema.NewPrimitiveNodeConverted(name, r, typ, named(convertedTypes, a.name), length, 0, 0, id))
}

func (a annotation) group(name string, r parquet.Repetition, fields schema.FieldList, id int32) schema.Node {
	if logical := a.logical(); logical != nil && a.name != "" {
		return schema.Must(schema.NewGroupNodeLogical(name, r, fields, logical, id))
	}
	converted := schema.ConvertedTypes.None
	if a.name != "" {
		converted = named(convertedTypes, a.name)
	}
	return schema.Must(schema.NewGroupNodeConverted(name, r, fields, converted, id))
}
