package variant

import (
	"bytes"
	"unicode/utf8"
)

// dictionary is the names of a variant's members. It keeps a copy of the last metadata: neighbouring rows mostly share it.
type dictionary struct {
	source     []byte // the metadata that was read, empty when there is none
	count      int
	offsetSize int
	offsets    []byte // count+1 of them, part of source
	names      []byte // part of source
}

// read makes the dictionary that of metadata.
func (d *dictionary) read(metadata []byte) error {
	if len(d.source) > 0 && bytes.Equal(d.source, metadata) {
		return nil
	}
	source := append(d.source[:0], metadata...)
	*d = dictionary{}
	if err := d.parse(source); err != nil {
		return err
	}
	d.source = source
	return nil
}

// parse checks a dictionary whole, so that name needs no checks (V5).
func (d *dictionary) parse(metadata []byte) error {
	if len(metadata) == 0 {
		return corrupt("the metadata has no bytes")
	}
	header := metadata[0]
	if version := header & 15; version != 1 {
		return unsupported("its metadata has the version %d, only 1 is known", version)
	}
	if header&reservedMetadataBit != 0 {
		return unsupported("a bit of its metadata's header is set that has no meaning in version 1")
	}
	size := int(header>>6) + 1
	rest := metadata[1:]
	if len(rest) < size {
		return corrupt("the metadata of %d bytes ends within its size", len(metadata))
	}
	count := unsigned(rest[:size])
	rest = rest[size:]
	if count == 0 && len(rest) == 0 { // the specification's own examples leave out the offset of an empty dictionary
		return nil
	}
	length := (count + 1) * uint64(size)
	if length > uint64(len(rest)) {
		return corrupt("the metadata of %d bytes is too short for %d names", len(metadata), count)
	}
	d.count, d.offsetSize = int(count), size
	d.offsets, d.names = rest[:length], rest[length:]
	return d.check()
}

const reservedMetadataBit = 1 << 5

func (d *dictionary) check() error {
	if first, last := d.offset(0), d.offset(d.count); first != 0 || last != len(d.names) {
		return corrupt("the names of the metadata are at %d to %d, but there are %d bytes", first, last, len(d.names))
	}
	for id := range d.count {
		from, to := d.offset(id), d.offset(id+1)
		if from > to || to > len(d.names) {
			return corrupt("name %d of the metadata is at %d to %d of %d bytes", id, from, to, len(d.names))
		}
		if !utf8.Valid(d.names[from:to]) {
			return corrupt("name %d of the metadata is not valid UTF-8", id)
		}
	}
	return nil
}

func (d *dictionary) offset(i int) int {
	return int(unsigned(d.offsets[i*d.offsetSize:][:d.offsetSize]))
}

// name returns the name with an id below count. It stays valid until the next read.
func (d *dictionary) name(id int) []byte { return d.names[d.offset(id):d.offset(id+1)] }

// unsigned reads a little-endian number of up to 8 bytes.
func unsigned(b []byte) uint64 {
	var n uint64
	for i, x := range b {
		n |= uint64(x) << (8 * i)
	}
	return n
}
