package datafile

import (
	"bytes"
	"fmt"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/variant"
)

// shreddedValue is a group that holds a variant or a part of one in the binary member value, in the member typed_value, or
// both for objects. Members are indexes into the group, -1 for those that the file does not have.
type shreddedValue struct {
	value, typed int
	scalar       scalarReader     // of a typed_value that is a leaf
	element      *shreddedValue   // of a list
	fields       []*shreddedField // of a group, in the order of the names' bytes
}

// shreddedField is a member of an object.
type shreddedField struct {
	name  []byte
	index int // among the members of typed_value
	value *shreddedValue
}

// newShreddedValue accepts the members that are allowed and no others: what they would mean is not known (V7).
func newShreddedValue(f parquetio.Field, w wantedField, allowed []string) (*shreddedValue, error) {
	if f.Leaf >= 0 || f.Type.ID() != arrow.STRUCT {
		return nil, badVariant(w, fmt.Sprintf("has %s %s where a group should be", fileType(f), f.Name))
	}
	for i, c := range f.Children {
		if !slices.Contains(allowed, c.Name) || memberIndex(f, c.Name) != i {
			return nil, badVariant(w, fmt.Sprintf("has the unexpected member %q", c.Name))
		}
	}
	s := &shreddedValue{value: memberIndex(f, valueMember), typed: memberIndex(f, typedMember)}
	if s.value < 0 && s.typed < 0 {
		return nil, badVariant(w, "has neither value nor typed_value")
	}
	if s.value >= 0 && !isPlainBinary(f.Children[s.value]) {
		return nil, badVariant(w, "has a value of the type "+fileType(f.Children[s.value]))
	}
	if s.typed < 0 {
		return s, nil
	}
	return s, s.bindTyped(f.Children[s.typed], w)
}

func (s *shreddedValue) bindTyped(f parquetio.Field, w wantedField) (err error) {
	switch {
	case f.Leaf >= 0:
		if s.scalar = scalarReaderOf(f); s.scalar == nil {
			err = badVariant(w, "has a typed_value of the type "+fileType(f)+", which no variant has")
		}
	case f.Type.ID() == arrow.LIST:
		s.element, err = newShreddedValue(f.Children[0], w, []string{valueMember, typedMember})
	case f.Type.ID() == arrow.STRUCT:
		err = s.bindFields(f, w)
	default:
		err = badVariant(w, "has a typed_value of the type "+fileType(f)+", which no variant has")
	}
	return err
}

func (s *shreddedValue) bindFields(f parquetio.Field, w wantedField) error {
	for i, c := range f.Children {
		value, err := newShreddedValue(c, w, []string{valueMember, typedMember})
		if err != nil {
			return err
		}
		s.fields = append(s.fields, &shreddedField{name: []byte(c.Name), index: i, value: value})
	}
	slices.SortFunc(s.fields, func(a, b *shreddedField) int { return bytes.Compare(a.name, b.name) })
	for i := 1; i < len(s.fields); i++ {
		if bytes.Equal(s.fields[i-1].name, s.fields[i].name) {
			return badVariant(w, fmt.Sprintf("has the member %q twice", s.fields[i].name))
		}
	}
	return nil
}

// boundValue is a shreddedValue with the arrays of one batch.
type boundValue struct {
	group  *array.Struct
	value  *array.Binary // nil: there is none
	typed  arrow.Array   // nil: there is none
	scalar scalarWriter
	// of a list
	list    *array.List
	element *boundValue
	// of an object
	object bool
	fields []boundField
}

type boundField struct {
	name  []byte
	value *boundValue
}

func (s *shreddedValue) over(group *array.Struct) *boundValue {
	b := &boundValue{group: group}
	if s.value >= 0 {
		b.value = group.Field(s.value).(*array.Binary)
	}
	if s.typed < 0 {
		return b
	}
	b.typed = group.Field(s.typed)
	switch typed := b.typed.(type) {
	case *array.Struct:
		b.object = true
		for _, f := range s.fields {
			b.fields = append(b.fields, boundField{f.name, f.value.over(typed.Field(f.index).(*array.Struct))})
		}
	case *array.List:
		b.list, b.element = typed, s.element.over(typed.ListValues().(*array.Struct))
	default:
		b.scalar = s.scalar(typed)
	}
	return b
}

func (b *boundValue) hasValue(i int) bool {
	return b.value != nil && b.group.IsValid(i) && b.value.IsValid(i)
}

func (b *boundValue) hasTyped(i int) bool {
	return b.typed != nil && b.group.IsValid(i) && b.typed.IsValid(i)
}

// isMissing: there is no value of either kind.
func (b *boundValue) isMissing(i int) bool { return !b.hasValue(i) && !b.hasTyped(i) }

// write merges both members (V3). What is missing in both stands here where a value is required.
func (b *boundValue) write(w *variant.Writer, i int) error {
	switch hasValue, hasTyped := b.hasValue(i), b.hasTyped(i); {
	case hasTyped && b.object:
		return b.writeObject(w, i)
	case hasTyped && hasValue:
		return deltaerr.New(deltaerr.Corrupt, "a variant breaks its format: value and typed_value are both present, but the value is no object")
	case hasTyped && b.list != nil:
		return b.writeArray(w, i)
	case hasTyped:
		return b.scalar(w, i)
	case hasValue:
		return w.Value(b.value.Value(i))
	}
	return w.Null()
}

func (b *boundValue) writeObject(w *variant.Writer, i int) error {
	begin := w.BeginObject
	if b.hasValue(i) {
		begin = func() error { return w.BeginPartialObject(b.value.Value(i)) }
	}
	if err := begin(); err != nil {
		return err
	}
	for _, f := range b.fields {
		present := !f.value.isMissing(i)
		if err := w.Field(f.name, present); err != nil {
			return err
		}
		if !present {
			continue
		}
		if err := f.value.write(w, i); err != nil {
			return err
		}
	}
	return w.EndObject()
}

func (b *boundValue) writeArray(w *variant.Writer, i int) error {
	if err := w.BeginArray(); err != nil {
		return err
	}
	start, end := b.list.ValueOffsets(i)
	for k := start; k < end; k++ {
		if err := w.Element(); err != nil {
			return err
		}
		if err := b.element.write(w, int(k)); err != nil {
			return err
		}
	}
	return w.EndArray()
}
