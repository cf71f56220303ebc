package schema

import (
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/apache/arrow-go/v18/arrow/decimal128"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// PartitionValue is the value that a partition text stands for. The column's type says which field holds it.
type PartitionValue struct {
	Null    bool
	Bool    bool           // boolean
	Int     int64          // byte to long; date: days since 1970-01-01; timestamps: µs since 1970-01-01 (UTC or local)
	Float   float64        // float (rounded to its 32 bits), double
	Text    string         // string; binary: the bytes
	Decimal decimal128.Num // decimal: the digits without the point, at the type's scale
}

// ParsePartition reads the text of a partition value as the type of column f (section 12). A nil text and an empty one
// are null, for every type. Text that is no value of the type is a deltaerr Corrupt that names column, text and type.
func ParsePartition(f Field, text *string) (PartitionValue, error) {
	if text == nil || *text == "" {
		return PartitionValue{Null: true}, nil
	}
	v, wrong := parsePartitionText(f.Type, *text)
	if wrong == "" {
		return v, nil
	}
	kind := deltaerr.Corrupt
	if _, unknown := f.Type.(Unknown); unknown {
		kind = deltaerr.Unsupported
	}
	return PartitionValue{}, deltaerr.New(kind, "partition value "+quote(*text)+" "+wrong, deltaerr.Column(clip(f.Name)))
}

// quote shows text in single quotes, on one line and not too long.
func quote(text string) string {
	q := strconv.Quote(clip(text))
	return "'" + q[1:len(q)-1] + "'"
}

// parsePartitionText returns the value, or what is wrong with the text: a clause that follows it.
func parsePartitionText(t Type, text string) (v PartitionValue, wrong string) {
	switch t := t.(type) {
	case Decimal:
		v.Decimal, wrong = parseDecimalText(text, t)
		return v, wrong
	case Unknown:
		return v, fmt.Sprintf("is of type %s, which is not supported", clip(t.String()))
	case Primitive:
		return parsePrimitiveText(t, text)
	}
	return v, fmt.Sprintf("is of type %s, which no partition column can have", clip(t.String()))
}

func parsePrimitiveText(t Primitive, text string) (v PartitionValue, wrong string) {
	switch t {
	case String, Binary:
		v.Text = text
	case Long:
		v.Int, wrong = parseInteger(text, 64, "a long")
	case Integer:
		v.Int, wrong = parseInteger(text, 32, "an integer")
	case Short:
		v.Int, wrong = parseInteger(text, 16, "a short")
	case Byte:
		v.Int, wrong = parseInteger(text, 8, "a byte")
	case Float:
		v.Float, wrong = parseFloat(text, 32, "a float")
	case Double:
		v.Float, wrong = parseFloat(text, 64, "a double")
	case Boolean:
		v.Bool, wrong = parseBoolean(text)
	case Date:
		v.Int, wrong = parseDate(text)
	case Timestamp:
		v.Int, wrong = parseTimestamp(text)
	case TimestampNTZ:
		v.Int, wrong = parseTimestampNTZ(text)
	case Void:
		wrong = "is given for a void column, which can only be null"
	default:
		wrong = fmt.Sprintf("is of type %s, which no partition column can have", t)
	}
	return v, wrong
}

func parseInteger(text string, bits int, noun string) (int64, string) {
	n, err := strconv.ParseInt(text, 10, bits)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, "is outside the range of " + noun
	case err != nil:
		return 0, "is not " + noun
	}
	return n, ""
}

// parseFloat reads Java's text of a number: 1.0, 1.0E10, NaN, Infinity, -Infinity.
func parseFloat(text string, bits int, noun string) (float64, string) {
	switch strings.ToLower(text) {
	case "nan":
		return math.NaN(), ""
	case "infinity", "+infinity", "inf", "+inf":
		return math.Inf(1), ""
	case "-infinity", "-inf":
		return math.Inf(-1), ""
	}
	if strings.Trim(text, "0123456789+-.eE") != "" { // Go's other forms: hexadecimal, underscores
		return 0, "is not " + noun
	}
	f, err := strconv.ParseFloat(text, bits)
	switch {
	case errors.Is(err, strconv.ErrRange):
		return 0, "is outside the range of " + noun
	case err != nil:
		return 0, "is not " + noun
	}
	return f, ""
}

func parseBoolean(text string) (value bool, wrong string) {
	switch {
	case strings.EqualFold(text, "true"):
		return true, ""
	case strings.EqualFold(text, "false"):
		return false, ""
	}
	return false, "is not a boolean"
}
