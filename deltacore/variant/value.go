package variant

// The basic types, in the low two bits of a value's first byte.
const (
	basicPrimitive = iota
	basicShortString
	basicObject
	basicArray
)

// value writes the value that v begins with, and returns its size in bytes. depth is that of the objects and arrays
// around it.
func (w *Writer) value(v []byte, depth int) (size int, err error) {
	if len(v) == 0 {
		return 0, corrupt("there are no bytes where a value should be")
	}
	header, data := v[0]>>2, v[1:]
	switch v[0] & 3 {
	case basicPrimitive:
		size, err = w.primitive(header, data)
	case basicShortString:
		if size = int(header); size > len(data) {
			return 0, corrupt("a string of %d bytes ends after %d", size, len(data))
		}
		err = w.String(data[:size])
	case basicObject:
		size, err = w.object(header, data, depth)
	default:
		size, err = w.array(header, data, depth)
	}
	return size + 1, err
}

// items is what objects and arrays have in common: how many, the names of the members, where each value begins and
// where the last one ends, the values.
type items struct {
	count      int
	ids        []byte // of an object's members
	idSize     int
	offsets    []byte // count+1
	offsetSize int
	values     []byte
	size       int // of all of it
}

// itemsForm says how wide the numbers are.
type itemsForm struct {
	large              bool // the count has four bytes, not one
	idSize, offsetSize int
}

func newItems(v []byte, form itemsForm) (items, error) {
	width := 1
	if form.large {
		width = 4
	}
	if len(v) < width {
		return items{}, corrupt("an object or array ends within its size")
	}
	count := unsigned(v[:width])
	ids := count * uint64(form.idSize)
	offsets := (count + 1) * uint64(form.offsetSize)
	head := uint64(width) + ids + offsets // of 32-bit numbers times at most 4: no overflow
	if head > uint64(len(v)) {
		return items{}, corrupt("%d bytes are too short for an object or array of %d", len(v), count)
	}
	it := items{count: int(count), idSize: form.idSize, offsetSize: form.offsetSize}
	it.ids, it.offsets = v[width:][:ids], v[uint64(width)+ids:][:offsets]
	length := it.offset(it.count)
	if length > len(v)-int(head) {
		return items{}, corrupt("the values of an object or array have %d bytes, but %d are left", length, len(v)-int(head))
	}
	it.values = v[head:][:length]
	it.size = int(head) + length
	return it, nil
}

func (it items) offset(i int) int {
	return int(unsigned(it.offsets[i*it.offsetSize:][:it.offsetSize]))
}

func (it items) id(i int) int { return int(unsigned(it.ids[i*it.idSize:][:it.idSize])) }

// array writes an array. Its values fill the room between their offsets exactly.
func (w *Writer) array(header byte, v []byte, depth int) (int, error) {
	if header>>3 != 0 {
		return 0, unsupported("an array's header has bits that have no meaning in version 1")
	}
	it, err := newItems(v, itemsForm{large: header&4 != 0, offsetSize: int(header&3) + 1})
	if err != nil {
		return 0, err
	}
	if it.offset(0) != 0 {
		return 0, corrupt("the first value of an array is at %d, not at its begin", it.offset(0))
	}
	if depth >= maxDepth {
		return 0, tooDeep()
	}
	w.text = append(w.text, '[')
	for i := range it.count {
		if err := w.arrayValue(it, i, depth); err != nil {
			return 0, err
		}
	}
	w.text = append(w.text, ']')
	return it.size, w.bounded()
}

func (w *Writer) arrayValue(it items, i, depth int) error {
	from, to := it.offset(i), it.offset(i+1)
	if from > to || to > len(it.values) {
		return corrupt("value %d of an array is at %d to %d of %d bytes", i, from, to, len(it.values))
	}
	if i > 0 {
		w.text = append(w.text, ',')
	}
	size, err := w.value(it.values[from:to], depth+1)
	if err == nil && size != to-from {
		err = corrupt("value %d of an array has %d bytes, but %d are its own", i, size, to-from)
	}
	return err
}

func tooDeep() error { return unsupported("its values are nested deeper than %d levels", maxDepth) }
