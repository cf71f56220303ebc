package deltalog

import (
	"encoding/binary"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// details of a file that are not in its record, as bytes: flags, then what the flags say, in their order.
type details byte

const (
	dataChange details = 1 << iota
	decoded            // the location is the path, percent-decoded
	inside             // the location is stored, relative to the root
	outside            // the location is stored, absolute
	hasVector
	hasOffset // of the vector
	hasBaseRowID
	hasCommitVersion
)

func appendDetails(b []byte, f ActiveFile) []byte {
	flags, place := placeOf(f)
	v := f.Add.DeletionVector
	flags |= flagIf(f.Add.DataChange, dataChange) | flagIf(v != nil, hasVector) |
		flagIf(v != nil && v.Offset != nil, hasOffset) |
		flagIf(f.Add.BaseRowID != nil, hasBaseRowID) | flagIf(f.Add.DefaultRowCommitVersion != nil, hasCommitVersion)
	b = append(b, byte(flags))
	if flags&(inside|outside) != 0 {
		b = appendSized(b, place)
	}
	if v != nil {
		b = appendSized(appendSized(b, v.StorageType), v.PathOrInlineDv)
		b = binary.AppendVarint(binary.AppendVarint(b, v.SizeInBytes), v.Cardinality)
		b = appendPointer(b, v.Offset)
	}
	return appendPointer(appendPointer(b, f.Add.BaseRowID), f.Add.DefaultRowCommitVersion)
}

func flagIf(set bool, flag details) details {
	if set {
		return flag
	}
	return 0
}

func appendPointer(b []byte, v *int64) []byte {
	if v == nil {
		return b
	}
	return binary.AppendVarint(b, *v)
}

// readDetails returns the file of a path with what its details hold.
func readDetails(b []byte, path string) ActiveFile {
	flags := details(b[0])
	r := detailReader{b[1:]}
	f := ActiveFile{Add: action.Add{Path: path, DataChange: flags&dataChange != 0}}
	switch {
	case flags&inside != 0:
		f.Location.Path = r.text()
	case flags&outside != 0:
		f.Location.External = r.text()
	case flags&decoded != 0:
		f.Location.Path = storage.DecodePath(path)
	default:
		f.Location.Path = path
	}
	if flags&hasVector != 0 {
		v := &action.DeletionVector{StorageType: r.text(), PathOrInlineDv: r.text()}
		v.SizeInBytes, v.Cardinality = r.int(), r.int()
		v.Offset = r.pointer(flags&hasOffset != 0)
		f.Add.DeletionVector = v
	}
	f.Add.BaseRowID = r.pointer(flags&hasBaseRowID != 0)
	f.Add.DefaultRowCommitVersion = r.pointer(flags&hasCommitVersion != 0)
	return f
}

// placeOf says how the location of a file follows from its path, so that it is stored only where it does not.
func placeOf(f ActiveFile) (flags details, stored string) {
	switch l := f.Location; l {
	case storage.Location{Path: f.Add.Path}:
		return 0, ""
	case storage.Location{Path: storage.DecodePath(f.Add.Path)}:
		return decoded, ""
	case storage.Location{Path: l.Path}:
		return inside, l.Path
	default:
		return outside, l.External
	}
}

type detailReader struct{ rest []byte }

func (r *detailReader) text() string {
	text, rest := cutSized(r.rest)
	r.rest = rest
	return string(text)
}

func (r *detailReader) int() int64 {
	v, width := binary.Varint(r.rest)
	r.rest = r.rest[width:]
	return v
}

func (r *detailReader) pointer(set bool) *int64 {
	if !set {
		return nil
	}
	v := r.int()
	return &v
}

// arena holds byte strings in chunks that are never moved.
type arena struct{ chunks [][]byte }

// place is where a byte string begins in an arena.
type place struct{ chunk, offset uint32 }

const (
	firstArenaChunk = 4 << 10
	lastArenaChunk  = 256 << 10
)

func (a *arena) put(b []byte) place {
	n := len(a.chunks)
	if n == 0 || cap(a.chunks[n-1])-len(a.chunks[n-1]) < len(b) {
		size := lastArenaChunk
		if n < 6 {
			size = min(size, firstArenaChunk<<n)
		}
		a.chunks = append(a.chunks, make([]byte, 0, max(size, len(b))))
		n++
	}
	last := &a.chunks[n-1]
	p := place{uint32(n - 1), uint32(len(*last))}
	*last = append(*last, b...)
	return p
}

func (a *arena) at(p place) []byte { return a.chunks[p.chunk][p.offset:] }

// appendSized appends a text after its length.
func appendSized(b []byte, text string) []byte {
	return append(binary.AppendUvarint(b, uint64(len(text))), text...)
}

func cutSized(b []byte) (text, rest []byte) {
	n, width := binary.Uvarint(b)
	return b[width : width+int(n)], b[width+int(n):]
}
