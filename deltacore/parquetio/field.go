package parquetio

import (
	"github.com/apache/arrow-go/v18/arrow"
)

// Field is a node of the file's schema as Arrow sees it. Lists and maps look the same however the file spells them: a
// list has one child "element", a map the children "key" and "value". The Arrow types are those of the batches:
//
//	BOOLEAN bool; FLOAT float32; DOUBLE float64
//	INT32 int32, also with an INT(8…32) annotation; DATE date32; TIME time32; UINT_32 uint32
//	INT64 int64; TIMESTAMP timestamp in the file's unit, with zone "UTC" or none; TIME time64; UINT_64 uint64
//	DECIMAL of any physical type decimal128, whose values may have more digits than the annotation says, as those of
//	integers may be wider; of a precision above 38 the type without the annotation
//	INT96 fixed_size_binary[12]
//	BYTE_ARRAY utf8 with a STRING annotation, else binary; FIXED_LEN_BYTE_ARRAY fixed_size_binary
//	any type with an UNKNOWN annotation null
type Field struct {
	Name     string
	ID       int32 // field_id, -1 when there is none
	Type     arrow.DataType
	Nullable bool
	Physical string  // physical type of a leaf: "INT96", "BYTE_ARRAY", …; "" for groups
	Logical  string  // annotation of a leaf as text: "DATE", "INT(8,true)", …; "" when there is none
	Leaf     int     // index of the leaf column, -1 for groups
	Children []Field // struct: members; list: one; map: key and value
}

// Leaves returns the indexes of the leaf columns of the field, ascending.
func (f Field) Leaves() []int {
	if f.Leaf >= 0 {
		return []int{f.Leaf}
	}
	var leaves []int
	for _, c := range f.Children {
		leaves = append(leaves, c.Leaves()...)
	}
	return leaves
}
