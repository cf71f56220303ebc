package datafile

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/variant"
)

// The members of a variant's group in a file, found by name, in any order (V2, V3).
const (
	metadataMember = "metadata"
	valueMember    = "value"
	typedMember    = "typed_value"
)

// bindVariant reads a variant from its group in the file, shredded or not, as the text of its JSON value. All leaves of
// the group are read: the file alone says how it is shredded.
func bindVariant(f parquetio.Field, w wantedField) (converter, []int, error) {
	if f.Leaf >= 0 || f.Type.ID() != arrow.STRUCT {
		return nil, nil, mismatch(f, w)
	}
	metadata := memberIndex(f, metadataMember)
	if metadata < 0 || !isPlainBinary(f.Children[metadata]) {
		return nil, nil, badVariant(w, "has no binary member metadata")
	}
	value, err := newShreddedValue(f, w, []string{metadataMember, valueMember, typedMember})
	if err != nil {
		return nil, nil, err
	}
	column := &variantColumn{metadata: metadata, value: value, required: !f.Nullable, room: w.from.room}
	return column.convert, f.Leaves(), nil
}

func badVariant(w wantedField, what string) error {
	return deltaerr.New(deltaerr.Corrupt, "the file's group for a variant "+what, w.column())
}

func memberIndex(f parquetio.Field, name string) int {
	return slices.IndexFunc(f.Children, func(c parquetio.Field) bool { return c.Name == name })
}

func isPlainBinary(f parquetio.Field) bool {
	return f.Physical == "BYTE_ARRAY" && f.Type.ID() == arrow.BINARY && f.Logical == ""
}

// variantColumn writes the texts of a column. It belongs to one goroutine.
type variantColumn struct {
	metadata int
	value    *shreddedValue
	required bool // the group is, so nulls of a struct around it do not show in it
	room     *room
	writer   variant.Writer
	text     []byte
}

const maxKeptText = 1 << 20

func (c *variantColumn) convert(mem memory.Allocator, d arrow.ArrayData) (arrow.ArrayData, error) {
	group := array.NewStructData(d)
	defer group.Release()
	out := array.NewStringBuilder(mem)
	defer out.Release()
	out.Reserve(group.Len())
	metadata := group.Field(c.metadata).(*array.Binary)
	value := c.value.over(group)
	for i := range group.Len() {
		if group.IsNull(i) || c.required && metadata.IsNull(i) && value.isMissing(i) {
			out.AppendNull()
			continue
		}
		if err := c.write(metadata, value, i); err != nil {
			return nil, err
		}
		if err := c.room.check(out.DataLen() + len(c.text)); err != nil {
			return nil, err
		}
		out.BinaryBuilder.Append(c.text)
	}
	if cap(c.text) > maxKeptText {
		c.text = nil
	}
	texts := out.NewArray()
	defer texts.Release()
	texts.Data().Retain()
	return texts.Data(), nil
}

// write makes the text of row i. A value that is missing altogether is a variant's null, by the specification.
func (c *variantColumn) write(metadata *array.Binary, value *boundValue, i int) error {
	if metadata.IsNull(i) {
		return deltaerr.New(deltaerr.Corrupt, "a variant breaks its format: its metadata is null")
	}
	if err := c.writer.Begin(c.text[:0], metadata.Value(i)); err != nil {
		return err
	}
	err := value.write(&c.writer, i)
	c.text = c.writer.Text()
	return err
}
