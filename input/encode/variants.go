package encode

import (
	stdjson "encoding/json"
	"errors"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// variants is a column of JSON texts, which were made by this program. They stand in the row as they are: the options of
// values are about columns, not about what a variant holds.
type variants struct {
	byteStrings
	at *place
}

// bind also takes the extension type arrow.json, as which arrow-go reads such a column from an IPC stream.
func (v *variants) bind(arr arrow.Array) (bool, error) {
	if e, ok := arr.(array.ExtensionArray); ok {
		arr = e.Storage()
	}
	a, ok := arr.(*array.String)
	if ok {
		v.set(a.ValueOffsets(), a)
	}
	return ok, nil
}

func (v *variants) append(dst []byte, i int) ([]byte, error) { return append(dst, v.raw(i)...), nil }

// exactNumbers keeps numbers as they are written.
var exactNumbers = json.WithUnmarshalers(json.UnmarshalFromFunc(func(d *jsontext.Decoder, v *any) error {
	if d.PeekKind() != '0' {
		return errors.ErrUnsupported
	}
	number, err := d.ReadValue()
	*v = stdjson.Number(number)
	return err
}))

func (v *variants) value(i int) (any, error) {
	var value any
	if err := json.Unmarshal(v.raw(i), &value, exactNumbers); err != nil {
		return nil, v.at.fail(deltaerr.Internal, "the text of a variant is no JSON", deltaerr.Cause(err))
	}
	return value, nil
}

// unquoted replaces the JSON string that dst ends with, from start on, by what it says.
func unquoted(dst []byte, start int) ([]byte, bool, error) {
	text, err := jsontext.AppendUnquote(nil, dst[start:])
	return append(dst[:start], text...), true, err
}
