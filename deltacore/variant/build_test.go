package variant

import (
	"encoding/binary"
	"strings"
)

// dictionaryOf encodes metadata with offsets of size bytes. Nothing is sorted or checked.
func dictionaryOf(size int, names ...string) []byte {
	out := []byte{byte(1 | (size-1)<<6)}
	out = appendUnsigned(out, len(names), size)
	end := 0
	for _, name := range append([]string{""}, names...) {
		end += len(name)
		out = appendUnsigned(out, end, size)
	}
	return append(out, strings.Join(names, "")...)
}

func appendUnsigned(dst []byte, n, size int) []byte {
	for i := range size {
		dst = append(dst, byte(n>>(8*i)))
	}
	return dst
}

// form is how the numbers of an object or array are stored.
type form struct {
	idSize, offsetSize int
	large              bool
}

var small = form{idSize: 1, offsetSize: 1}

func (f form) count(dst []byte, n int) []byte {
	if f.large {
		return appendUnsigned(dst, n, 4)
	}
	return append(dst, byte(n))
}

func (f form) largeBit(shift int) int {
	if f.large {
		return 1 << shift
	}
	return 0
}

func (f form) array(values ...[]byte) []byte {
	out := f.count([]byte{byte(basicArray | (f.largeBit(2)+f.offsetSize-1)<<2)}, len(values))
	end := 0
	for _, v := range append([][]byte{nil}, values...) {
		end += len(v)
		out = appendUnsigned(out, end, f.offsetSize)
	}
	return append(out, join(values)...)
}

// idValue is a member of an object.
type idValue struct {
	id    int
	value []byte
}

// object stores the values in the order given.
func (f form) object(members ...idValue) []byte {
	out := f.count([]byte{byte(basicObject | (f.largeBit(4)+(f.idSize-1)<<2+f.offsetSize-1)<<2)}, len(members))
	values := make([][]byte, len(members))
	for i, m := range members {
		out = appendUnsigned(out, m.id, f.idSize)
		values[i] = m.value
	}
	end := 0
	for _, v := range append([][]byte{nil}, values...) {
		end += len(v)
		out = appendUnsigned(out, end, f.offsetSize)
	}
	return append(out, join(values)...)
}

func join(list [][]byte) []byte {
	var out []byte
	for _, v := range list {
		out = append(out, v...)
	}
	return out
}

func primitive(id byte, data ...byte) []byte { return append([]byte{id << 2}, data...) }

func int8Value(n int8) []byte { return primitive(typeInt8, byte(n)) }

func number(id byte, n int64, size int) []byte {
	return primitive(id, binary.LittleEndian.AppendUint64(nil, uint64(n))[:size]...)
}

func short(text string) []byte { return append([]byte{byte(basicShortString | len(text)<<2)}, text...) }

func long(id byte, text string) []byte {
	return append(appendUnsigned([]byte{id << 2}, len(text), 4), text...)
}
