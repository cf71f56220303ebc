package dv

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"math"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// Load finds and decodes the vector that d describes, for a table at root. It costs one ranged read, or two where the
// vector lies deep in its file, and none when it is inline. Errors are deltaerr and name the vector's file; whose vector it is
// is for the caller to add.
func Load(ctx context.Context, store storage.Store, root storage.URI, d action.DeletionVector) (*Vector, error) {
	v, file, err := load(ctx, store, root, d)
	if err != nil {
		return nil, deltaerr.Annotate(err, deltaerr.File(file))
	}
	return v, nil
}

func load(ctx context.Context, store storage.Store, root storage.URI, d action.DeletionVector) (*Vector, string, error) {
	if d.StorageType == "i" {
		v, err := decodeInline(d)
		return v, "", err
	}
	location, err := Locate(root, d)
	if err != nil {
		return nil, "", err
	}
	path := location.Key()
	data, err := readStored(ctx, store, path, d)
	if err != nil {
		return nil, path, err
	}
	v, err := decode(data, d.Cardinality)
	return v, path, err
}

// decodeInline reads a vector that stands in the log itself. The text may be padded to whole groups: sizeInBytes says where
// it ends (D2).
func decodeInline(d action.DeletionVector) (*Vector, error) {
	data, err := z85Decode(d.PathOrInlineDv)
	if err != nil {
		return nil, err
	}
	if d.SizeInBytes < 0 || d.SizeInBytes > int64(len(data)) {
		return nil, corrupt("size mismatch: the descriptor states %d bytes, the inline text holds %d", d.SizeInBytes, len(data))
	}
	return decode(data[:d.SizeInBytes], d.Cardinality)
}

// uuidLength is the length of 16 bytes in Z85.
const uuidLength = 20

// Locate finds the file of a vector (D1): a UUID after an optional directory prefix, or an absolute URI. An inline vector
// has none.
func Locate(root storage.URI, d action.DeletionVector) (storage.Location, error) {
	switch d.StorageType {
	case "i":
		return storage.Location{}, nil
	case "p":
		return storage.ResolvePath(root, d.PathOrInlineDv), nil
	case "u":
		cut := len(d.PathOrInlineDv) - uuidLength
		if cut < 0 {
			return storage.Location{}, corrupt("%q holds no UUID", d.PathOrInlineDv)
		}
		id, err := z85Decode(d.PathOrInlineDv[cut:])
		if err != nil || len(id) != 16 {
			return storage.Location{}, corrupt("%q holds no UUID", d.PathOrInlineDv)
		}
		name := fmt.Sprintf("deletion_vector_%x-%x-%x-%x-%x.bin", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
		if prefix := d.PathOrInlineDv[:cut]; prefix != "" {
			name = prefix + "/" + name
		}
		return storage.ResolvePath(root, storage.EncodePath(name)), nil // a prefix may not lead out of the root unseen
	default:
		return storage.Location{}, corrupt("unknown storage type %q of a deletion vector", d.StorageType)
	}
}

// A stored vector is framed by its size before and a checksum behind it, both big-endian (D4).
const (
	fileVersion = 1
	frame       = 4
	// nearStart is how far into a file the first byte is fetched along with the vector: cheaper than a second request.
	nearStart = 64 << 10
	// maxSize is that of a vector with any pattern of two billion rows: more than a data file holds.
	maxSize = 256 << 20
)

// readStored fetches the vector's data and checks version, size and checksum (D4, D5).
func readStored(ctx context.Context, store storage.Store, path string, d action.DeletionVector) ([]byte, error) {
	offset := int64(1) // behind the version byte, where the log does not say
	if d.Offset != nil {
		offset = *d.Offset
	}
	switch {
	case offset < 1 || offset > 1<<62 || d.SizeInBytes < 0 || d.SizeInBytes > math.MaxInt32: // the format has 32 bits for the size
		return nil, corrupt("the descriptor states offset %d and %d bytes", offset, d.SizeInBytes)
	case d.SizeInBytes > maxSize:
		return nil, deltaerr.New(deltaerr.Unsupported,
			fmt.Sprintf("the deletion vector has %d bytes, at most %d are read", d.SizeInBytes, int64(maxSize)))
	}
	start := int64(0)
	if offset > nearStart {
		if err := checkVersion(ctx, store, path); err != nil {
			return nil, err
		}
		start = offset
	}
	stored, err := readRange(ctx, store, path, byteRange{start, offset - start + frame + d.SizeInBytes + frame})
	if err != nil {
		return nil, err
	}
	if start == 0 && stored[0] != fileVersion {
		return nil, unknownVersion(stored[0])
	}
	return unframe(stored[offset-start:], d.SizeInBytes)
}

// unframe checks size and checksum of a stored vector and returns its data.
func unframe(stored []byte, size int64) ([]byte, error) {
	if got := int64(binary.BigEndian.Uint32(stored)); got != size {
		return nil, corrupt("size mismatch: the descriptor states %d bytes, the file %d", size, got)
	}
	data, sum := stored[frame:frame+size], binary.BigEndian.Uint32(stored[frame+size:])
	if crc32.ChecksumIEEE(data) != sum {
		return nil, corrupt("checksum mismatch: the deletion vector is damaged")
	}
	return data, nil
}

func checkVersion(ctx context.Context, store storage.Store, path string) error {
	first, err := readRange(ctx, store, path, byteRange{0, 1})
	if err != nil {
		return err
	}
	if first[0] != fileVersion {
		return unknownVersion(first[0])
	}
	return nil
}

func unknownVersion(b byte) error {
	return corrupt("unknown format version %d of a deletion vector file", b)
}

type byteRange struct{ offset, length int64 }

// readChunk bounds what is allocated on the word of a descriptor before the file has shown that it is that long.
const readChunk = 1 << 20

// readRange reads exactly the range. A file that ends before is cut.
func readRange(ctx context.Context, store storage.Store, path string, r byteRange) ([]byte, error) {
	var data []byte
	for have := int64(0); have < r.length; have = int64(len(data)) {
		step := min(r.length-have, max(readChunk, have)) // doubling
		data = append(data, make([]byte, step)...)
		n, err := store.ReadAt(ctx, path, data[have:], r.offset+have)
		switch {
		case int64(n) == step:
		case errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF):
			return nil, corrupt("the file ends at byte %d, the deletion vector at %d", r.offset+have+int64(n), r.offset+r.length)
		case storage.IsGone(err):
			return nil, deltaerr.New(deltaerr.NotFound, "the file does not exist", deltaerr.Cause(err),
				deltaerr.Hint("it may have been removed by VACUUM or by hand; the deleted rows cannot be told from the live ones"))
		default:
			return nil, err
		}
	}
	return data, nil
}
