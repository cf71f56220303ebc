package encode

import (
	"encoding/base64"
	"encoding/hex"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/jsonform"
)

// byteStrings is the values of a string or binary array.
type byteStrings struct {
	offsets []int32
	data    []byte
}

func (b *byteStrings) set(offsets []int32, arr arrow.Array) {
	b.offsets = offsets
	if data := arr.Data().Buffers()[2]; data != nil {
		b.data = data.Bytes()
	}
}

func (b *byteStrings) unbind() { b.offsets, b.data = nil, nil }

func (b *byteStrings) raw(i int) []byte { return b.data[b.offsets[i]:b.offsets[i+1]] }

// texts is a string column.
type texts struct {
	byteStrings
	at *place
}

func (t *texts) bind(arr arrow.Array) (bool, error) {
	a, ok := arr.(*array.String)
	if ok {
		t.set(a.ValueOffsets(), a)
	}
	return ok, nil
}

func (t *texts) append(dst []byte, i int) ([]byte, error) {
	dst, ok := jsonform.AppendString(dst, t.raw(i))
	if !ok {
		return dst, t.invalid()
	}
	return dst, nil
}

func (t *texts) value(i int) (any, error) { return t.string(i) }

func (t *texts) string(i int) (string, error) {
	raw := t.raw(i)
	if !utf8.Valid(raw) {
		return "", t.invalid()
	}
	return string(raw), nil
}

func (t *texts) invalid() error {
	return t.at.fail(deltaerr.Corrupt, "a string is not valid UTF-8, so it has no JSON text",
		deltaerr.Hint("leave the column out with the field columns, or use format arrow_ipc, which carries the bytes as they are"))
}

// binaries is a binary column.
type binaries struct {
	byteStrings
	hex bool
}

func (b *binaries) bind(arr arrow.Array) (bool, error) {
	a, ok := arr.(*array.Binary)
	if ok {
		b.set(a.ValueOffsets(), a)
	}
	return ok, nil
}

func (b *binaries) append(dst []byte, i int) ([]byte, error) {
	return append(b.appendText(append(dst, '"'), i), '"'), nil
}

func (b *binaries) value(i int) (any, error) { return string(b.appendText(nil, i)), nil }

func (b *binaries) appendText(dst []byte, i int) []byte {
	if b.hex {
		return hex.AppendEncode(dst, b.raw(i))
	}
	return base64.StdEncoding.AppendEncode(dst, b.raw(i))
}
