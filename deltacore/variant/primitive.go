package variant

import (
	"encoding/binary"
	"math"
)

// The types of primitive values, in the upper six bits of a value's first byte.
const (
	typeNull = iota
	typeTrue
	typeFalse
	typeInt8
	typeInt16
	typeInt32
	typeInt64
	typeDouble
	typeDecimal4
	typeDecimal8
	typeDecimal16
	typeDate
	typeTimestamp
	typeTimestampNTZ
	typeFloat
	typeBinary
	typeString
	typeTimeNTZ
	typeTimestampNanos
	typeTimestampNTZNanos
	typeUUID
)

// stated: the value begins with its length, in four bytes.
const stated = -1

// primitives says for each type how many bytes a value has and how it is written.
var primitives = [...]struct {
	size  int
	write func(w *Writer, v []byte) error
}{
	typeNull:      {0, func(w *Writer, _ []byte) error { return w.Null() }},
	typeTrue:      {0, func(w *Writer, _ []byte) error { return w.Bool(true) }},
	typeFalse:     {0, func(w *Writer, _ []byte) error { return w.Bool(false) }},
	typeInt8:      {1, func(w *Writer, v []byte) error { return w.Int(int64(int8(v[0]))) }},
	typeInt16:     {2, func(w *Writer, v []byte) error { return w.Int(int64(int16(unsigned(v)))) }},
	typeInt32:     {4, func(w *Writer, v []byte) error { return w.Int(int64(int32(unsigned(v)))) }},
	typeInt64:     {8, func(w *Writer, v []byte) error { return w.Int(int64(unsigned(v))) }},
	typeDouble:    {8, func(w *Writer, v []byte) error { return w.Double(math.Float64frombits(unsigned(v))) }},
	typeDecimal4:  {5, func(w *Writer, v []byte) error { return w.smallDecimal(v[0], int64(int32(unsigned(v[1:])))) }},
	typeDecimal8:  {9, func(w *Writer, v []byte) error { return w.smallDecimal(v[0], int64(unsigned(v[1:]))) }},
	typeDecimal16: {17, (*Writer).largeDecimal},
	typeDate:      {4, func(w *Writer, v []byte) error { return w.Date(int32(unsigned(v))) }},
	typeTimestamp: {8, func(w *Writer, v []byte) error { return w.Timestamp(int64(unsigned(v)), TimestampForm{Zone: true}) }},
	typeTimestampNTZ: {8, func(w *Writer, v []byte) error {
		return w.Timestamp(int64(unsigned(v)), TimestampForm{})
	}},
	typeFloat:   {4, func(w *Writer, v []byte) error { return w.Float(math.Float32frombits(uint32(unsigned(v)))) }},
	typeBinary:  {stated, (*Writer).Binary},
	typeString:  {stated, (*Writer).String},
	typeTimeNTZ: {8, func(w *Writer, v []byte) error { return w.Time(int64(unsigned(v))) }},
	typeTimestampNanos: {8, func(w *Writer, v []byte) error {
		return w.Timestamp(int64(unsigned(v)), TimestampForm{Nanos: true, Zone: true})
	}},
	typeTimestampNTZNanos: {8, func(w *Writer, v []byte) error {
		return w.Timestamp(int64(unsigned(v)), TimestampForm{Nanos: true})
	}},
	typeUUID: {16, func(w *Writer, v []byte) error { return w.UUID([16]byte(v)) }},
}

// primitive writes a primitive value and returns the size of its data.
func (w *Writer) primitive(id byte, v []byte) (int, error) {
	if int(id) >= len(primitives) {
		return 0, unsupported("the primitive type %d is not known", id)
	}
	p := primitives[id]
	if p.size != stated {
		if len(v) < p.size {
			return 0, corrupt("a value of the primitive type %d has %d bytes instead of %d", id, len(v), p.size)
		}
		return p.size, p.write(w, v[:p.size])
	}
	if len(v) < 4 {
		return 0, corrupt("a string or binary value ends within its length")
	}
	length, data := binary.LittleEndian.Uint32(v), v[4:]
	if uint64(length) > uint64(len(data)) {
		return 0, corrupt("a string or binary value of %d bytes ends after %d", length, len(data))
	}
	return 4 + int(length), p.write(w, data[:length])
}

func (w *Writer) smallDecimal(scale byte, unscaled int64) error {
	return w.Decimal(Decimal{High: unscaled >> 63, Low: uint64(unscaled), Scale: int(scale)})
}

func (w *Writer) largeDecimal(v []byte) error {
	return w.Decimal(Decimal{High: int64(unsigned(v[9:])), Low: unsigned(v[1:9]), Scale: int(v[0])})
}
