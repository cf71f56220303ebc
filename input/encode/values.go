package encode

import (
	"fmt"
	"strconv"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// maxDepth bounds the nesting of types, and with it every recursion of this package.
const maxDepth = 500

// newColumn is the codec of a type, with its nulls.
func newColumn(t schema.Type, v configspec.Values, at *place, depth int) (column, error) {
	if depth > maxDepth {
		return column{}, at.fail(deltaerr.Unsupported, "types are nested deeper than "+strconv.Itoa(maxDepth)+" levels")
	}
	c, err := newCodec(t, v, at, depth)
	return column{codec: c, at: at}, err
}

// newCodec is the table of how each Delta type is written.
func newCodec(t schema.Type, v configspec.Values, at *place, depth int) (codec, error) {
	switch t := t.(type) {
	case schema.Primitive:
		return newPrimitive(t, v, at)
	case schema.Decimal:
		return newDecimals(t, v, at)
	case *schema.Struct:
		fields, err := newFields(t, v, at, depth)
		return &structs{fields: fields}, err
	case *schema.Array:
		element, err := newColumn(t.Element, v, at.in("element"), depth+1)
		return &lists{element: element}, err
	case *schema.Map:
		return newMap(t, v, at, depth)
	case schema.Unknown:
		return nil, unsupported(at, string(t))
	}
	return nil, unsupported(at, fmt.Sprintf("%T", t))
}

func newDecimals(t schema.Decimal, v configspec.Values, at *place) (codec, error) {
	if t.Scale < 0 || t.Scale > 38 {
		return nil, unsupported(at, fmt.Sprintf("decimal(%d,%d)", t.Precision, t.Scale))
	}
	return &decimals{scale: t.Scale, quoted: v.Decimal == "string"}, nil
}

func newPrimitive(t schema.Primitive, v configspec.Values, at *place) (codec, error) {
	switch t {
	case schema.String:
		return &texts{at: at}, nil
	case schema.Long:
		return &integers[int64]{quoted: v.Int64 == "string"}, nil
	case schema.Integer:
		return &integers[int32]{}, nil
	case schema.Short:
		return &integers[int16]{}, nil
	case schema.Byte:
		return &integers[int8]{}, nil
	case schema.Float:
		return &floats[float32]{bits: 32, nonFinite: v.NonFinite, at: at}, nil
	case schema.Double:
		return &floats[float64]{bits: 64, nonFinite: v.NonFinite, at: at}, nil
	case schema.Boolean:
		return &booleans{}, nil
	case schema.Binary:
		return &binaries{hex: v.Binary == "hex"}, nil
	case schema.Date:
		return &dates{}, nil
	case schema.Timestamp:
		return newTimestamps(v.Timestamp, "UTC"), nil
	case schema.TimestampNTZ:
		return newTimestamps(v.Timestamp, ""), nil
	case schema.Void:
		return voids{}, nil
	case schema.Variant:
		return &variants{at: at}, nil
	}
	return nil, unsupported(at, string(t))
}

func unsupported(at *place, typ string) error {
	return at.fail(deltaerr.Unsupported, "values of type "+typ+" cannot be encoded",
		deltaerr.Hint("leave the column out with the field columns"))
}
