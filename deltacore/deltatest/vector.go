package deltatest

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"hash/crc32"
	"strings"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
)

// VectorFile is a file of deletion vectors that is being written (protocol D4).
type VectorFile struct {
	Path    string // of the file, relative to the table root
	Content []byte

	text string // what stands for the path in descriptors
}

// NewVectorFile begins a file in a directory, "" for the table's root. id is a UUID, with or without hyphens.
func NewVectorFile(dir, id string) *VectorFile {
	x := strings.ReplaceAll(id, "-", "")
	raw, err := hex.DecodeString(x)
	must(err)
	name := fmt.Sprintf("deletion_vector_%s-%s-%s-%s-%s.bin", x[:8], x[8:12], x[12:16], x[16:20], x[20:])
	f := &VectorFile{Path: name, Content: []byte{1}, text: dir + Z85(raw)}
	if dir != "" {
		f.Path = dir + "/" + name
	}
	return f
}

// Add appends the vector of the rows and returns its descriptor.
func (f *VectorFile) Add(b Bitmap, rows ...int64) action.DeletionVector {
	return f.AddData(b.Data(rows...), len(rows))
}

// AddData is Add with the bytes of a vector that holds as many rows as cardinality says, or does not.
func (f *VectorFile) AddData(data []byte, cardinality int) action.DeletionVector {
	offset := int64(len(f.Content))
	f.Content = binary.BigEndian.AppendUint32(f.Content, uint32(len(data)))
	f.Content = append(f.Content, data...)
	f.Content = binary.BigEndian.AppendUint32(f.Content, crc32.ChecksumIEEE(data))
	return action.DeletionVector{
		StorageType: "u", PathOrInlineDv: f.text, Offset: &offset, SizeInBytes: int64(len(data)), Cardinality: int64(cardinality),
	}
}

// InlineVector is the vector of the rows in the log itself.
func InlineVector(b Bitmap, rows ...int64) action.DeletionVector {
	data := b.Data(rows...)
	return action.DeletionVector{
		StorageType: "i", PathOrInlineDv: Z85(data), SizeInBytes: int64(len(data)), Cardinality: int64(len(rows)),
	}
}

const z85Alphabet = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ.-:+=^!/*?&<>()[]{}@%$#"

// Z85 encodes bytes as Spark does, with zero bytes behind them up to whole groups of four (protocol D2).
func Z85(data []byte) string {
	data = append(data[:len(data):len(data)], make([]byte, -len(data)&3)...)
	var out []byte
	for ; len(data) > 0; data = data[4:] {
		v := binary.BigEndian.Uint32(data)
		for _, power := range []uint32{85 * 85 * 85 * 85, 85 * 85 * 85, 85 * 85, 85, 1} {
			out = append(out, z85Alphabet[v/power%85])
		}
	}
	return string(out)
}

// DeleteRows commits the deletion of rows of a file by a vector in a file of its own: the file's add is replaced by one
// with the vector, which is returned. What vector the file had is not looked at.
func (t *Table) DeleteRows(file action.Add, rows ...int64) action.Add {
	f := NewVectorFile("", t.uuid())
	vector := f.Add(Bitmap{}, rows...)
	t.Put(f.Path, f.Content)
	return t.SetVector(file, &vector)
}

// SetVector commits the replacement of a file's add by one with another vector, nil for none, which is returned.
func (t *Table) SetVector(file action.Add, vector *action.DeletionVector) action.Add {
	with := file
	with.DeletionVector = vector
	t.Commit(t.removed(file), Add(with))
	return with
}
