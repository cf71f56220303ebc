package encode

import (
	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/jsonform"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// field is a column of a row or struct, with the text that goes before its value.
type field struct {
	column
	name   string
	prefix []byte // {"name": for the first, ,"name": for the others
}

func newFields(t *schema.Struct, v configspec.Values, at *place, depth int) ([]field, error) {
	fields := make([]field, len(t.Fields))
	seen := make(map[string]bool, len(t.Fields))
	for i, f := range t.Fields {
		where := at.in(f.Name)
		if seen[f.Name] {
			return nil, where.fail(deltaerr.Corrupt, "the name occurs twice among the columns of one struct")
		}
		seen[f.Name] = true
		c, err := newColumn(f.Type, v, where, depth+1)
		if err != nil {
			return nil, err
		}
		prefix, ok := jsonform.AppendString([]byte{separator(i)}, []byte(f.Name))
		if !ok {
			return nil, where.fail(deltaerr.Corrupt, "the column's name is not valid UTF-8")
		}
		fields[i] = field{column: c, name: f.Name, prefix: append(prefix, ':')}
	}
	return fields, nil
}

func separator(i int) byte {
	if i == 0 {
		return '{'
	}
	return ','
}

func appendObject(dst []byte, fields []field, i int) (_ []byte, err error) {
	if len(fields) == 0 {
		return append(dst, "{}"...), nil
	}
	for k := range fields {
		f := &fields[k]
		dst = append(dst, f.prefix...)
		if dst, err = f.append(dst, i); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func objectValue(fields []field, i int) (map[string]any, error) {
	object := make(map[string]any, len(fields))
	for k := range fields {
		v, err := fields[k].value(i)
		if err != nil {
			return nil, err
		}
		object[fields[k].name] = v
	}
	return object, nil
}

type structs struct{ fields []field }

func (s *structs) bind(arr arrow.Array) (bool, error) {
	a, ok := arr.(*array.Struct)
	if !ok || a.NumField() != len(s.fields) {
		return false, nil
	}
	typ := a.DataType().(*arrow.StructType)
	for i := range s.fields {
		if typ.Field(i).Name != s.fields[i].name {
			return false, nil
		}
		if err := s.fields[i].bind(a.Field(i)); err != nil {
			return true, err
		}
	}
	return true, nil
}

func (s *structs) unbind() {
	for i := range s.fields {
		s.fields[i].unbind()
	}
}

func (s *structs) append(dst []byte, i int) ([]byte, error) { return appendObject(dst, s.fields, i) }
func (s *structs) value(i int) (any, error)                 { return objectValue(s.fields, i) }

type lists struct {
	element column
	offsets []int32
}

func (l *lists) bind(arr arrow.Array) (bool, error) {
	a, ok := arr.(*array.List)
	if !ok {
		return false, nil
	}
	l.offsets = rowOffsets(a)
	return true, l.element.bind(a.ListValues())
}

func (l *lists) unbind() {
	l.offsets = nil
	l.element.unbind()
}

func (l *lists) append(dst []byte, i int) (_ []byte, err error) {
	dst = append(dst, '[')
	start, end := int(l.offsets[i]), int(l.offsets[i+1])
	for k := start; k < end; k++ {
		if k > start {
			dst = append(dst, ',')
		}
		if dst, err = l.element.append(dst, k); err != nil {
			return dst, err
		}
	}
	return append(dst, ']'), nil
}

func (l *lists) value(i int) (any, error) {
	start, end := int(l.offsets[i]), int(l.offsets[i+1])
	list := make([]any, 0, end-start)
	for k := start; k < end; k++ {
		v, err := l.element.value(k)
		if err != nil {
			return nil, err
		}
		list = append(list, v)
	}
	return list, nil
}

// rowOffsets is the offsets of an array's own rows, one more than it has rows. They count in the whole child array.
func rowOffsets(a array.ListLike) []int32 {
	offsets := arrow.Int32Traits.CastFromBytes(a.Data().Buffers()[1].Bytes())
	return offsets[a.Data().Offset():][:a.Len()+1]
}
