package dv

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/RoaringBitmap/roaring/v2"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// The layouts of a vector's data by the number it starts with (D6). All is little-endian but for the swapped form of the
// native one, which the protocol's text prints as its inline example.
const (
	portableMagic = 1681511377
	nativeMagic   = 1681511376
)

// decode reads the data of a vector and checks it against the number of rows that its descriptor states (D5, D6).
func decode(data []byte, cardinality int64) (v *Vector, err error) {
	defer func() {
		if r := recover(); r != nil { // a bound that the bitmap library does not check
			v, err = nil, corrupt("the bitmap cannot be decoded: %v", r)
		}
	}()
	if len(data) < 4 {
		return nil, corrupt("the data is %d bytes long", len(data))
	}
	little, big := binary.LittleEndian.Uint32(data), binary.BigEndian.Uint32(data)
	switch {
	case little == portableMagic:
		v, err = decodePortable(data[4:])
	case little == nativeMagic:
		v, err = decodeNative(data[4:], binary.LittleEndian)
	case big == nativeMagic:
		v, err = decodeNative(data[4:], binary.BigEndian)
	default:
		return nil, corrupt("unknown bitmap layout %d", little)
	}
	if err != nil {
		return nil, err
	}
	if v.count != cardinality {
		return nil, corrupt("cardinality mismatch: the descriptor states %d deleted rows, the bitmap holds %d",
			cardinality, v.count)
	}
	return v, nil
}

// decodePortable reads the 64-bit layout: int64 count, then per bitmap its upper 32 bits and a 32-bit bitmap.
func decodePortable(data []byte) (*Vector, error) {
	if len(data) < 8 {
		return nil, corrupt("the bitmap ends before its number of parts")
	}
	count := binary.LittleEndian.Uint64(data)
	data = data[8:]
	v := &Vector{}
	for i := range count {
		if len(data) < 4 {
			return nil, corrupt("the bitmap ends before part %d of %d", i+1, count)
		}
		high := binary.LittleEndian.Uint32(data)
		used, err := v.add(high, data[4:])
		if err != nil {
			return nil, err
		}
		data = data[4+used:]
	}
	if len(data) > 0 {
		return nil, corrupt("%d bytes follow the bitmap", len(data))
	}
	return v, nil
}

// decodeNative reads the array layout: int32 count, then per bitmap its length and a 32-bit bitmap; the upper 32 bits are
// the index.
func decodeNative(data []byte, order binary.ByteOrder) (*Vector, error) {
	if len(data) < 4 {
		return nil, corrupt("the bitmap ends before its number of parts")
	}
	count := order.Uint32(data)
	data = data[4:]
	v := &Vector{}
	for i := range count {
		if len(data) < 4 || uint64(order.Uint32(data)) > uint64(len(data)-4) {
			return nil, corrupt("the bitmap ends inside part %d of %d", i+1, count)
		}
		size := int(order.Uint32(data))
		used, err := v.add(i, data[4:4+size])
		if err != nil {
			return nil, err
		}
		if used != size {
			return nil, corrupt("part %d states %d bytes and has %d", i+1, size, used)
		}
		data = data[4+size:]
	}
	if len(data) > 0 {
		return nil, corrupt("%d bytes follow the bitmap", len(data))
	}
	return v, nil
}

// add decodes the 32-bit bitmap at the start of data (D7) and returns its length. ReadFrom copies, so the vector does not
// keep data alive, and reads no further than its own bytes.
func (v *Vector) add(high uint32, data []byte) (used int, err error) {
	if high > math.MaxInt32 {
		return 0, corrupt("row position beyond 63 bits")
	}
	if n := len(v.parts); n > 0 && v.parts[n-1].high >= high {
		return 0, corrupt("the parts of the bitmap are not ascending")
	}
	bitmap := roaring.New()
	n, err := bitmap.ReadFrom(bytes.NewReader(data))
	if err != nil {
		return 0, corrupt("%v", err)
	}
	if bitmap.IsEmpty() {
		return int(n), nil
	}
	if err := bitmap.Validate(); err != nil {
		return 0, corrupt("%v", err)
	}
	v.parts = append(v.parts, part{high, bitmap})
	v.count += int64(bitmap.GetCardinality())
	return int(n), nil
}

func corrupt(format string, args ...any) error {
	return deltaerr.New(deltaerr.Corrupt, fmt.Sprintf(format, args...))
}
