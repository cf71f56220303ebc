package variant

import "bytes"

// Writer writes the JSON texts of a column's variants, one after the other. The zero value is ready. It keeps the names of
// the last metadata and its buffers, and belongs to one goroutine.
//
// One variant is Begin, then one value, then Text. A value is one call of Value, of a scalar's method, or
//
//	BeginArray                         { Element value }  EndArray
//	BeginObject or BeginPartialObject  { Field value }  EndObject
//
// After an error the text is worthless and only Begin may follow.
type Writer struct {
	names   dictionary
	text    []byte
	start   int // of this variant in text
	open    []container
	members []member // of the objects that are open
}

// container is an array or object of shredded values.
type container struct {
	count    int
	residual object // of an object: the members that are not shredded and not yet written
}

// Begin starts a variant behind dst. Both are borrowed: metadata until the call returns, dst until Text.
func (w *Writer) Begin(dst, metadata []byte) error {
	w.text, w.start = dst, len(dst)
	w.open, w.members = w.open[:0], w.members[:0]
	return w.names.read(metadata)
}

// Text returns dst with the variant. The writer does not keep it.
func (w *Writer) Text() []byte {
	text := w.text
	w.text = nil
	return text
}

// Value writes a value in the binary encoding, the whole variant or what stands in the place of one of its parts.
func (w *Writer) Value(value []byte) error {
	size, err := w.value(value, len(w.open))
	if err == nil && size != len(value) {
		err = corrupt("a value of %d bytes ends after %d", len(value), size)
	}
	return err
}

// BeginArray starts a shredded array.
func (w *Writer) BeginArray() error { return w.begin('[', object{}) }

// Element comes before each value of an array.
func (w *Writer) Element() error {
	w.comma()
	return w.bounded()
}

// EndArray ends the array.
func (w *Writer) EndArray() error { return w.end(']') }

// BeginObject starts an object that is shredded whole.
func (w *Writer) BeginObject() error { return w.begin('{', object{mark: len(w.members)}) }

// BeginPartialObject starts an object that is shredded in part (V3). residual is the binary encoding of an object with the
// other members. It is borrowed until EndObject.
func (w *Writer) BeginPartialObject(residual []byte) error {
	if len(residual) == 0 || residual[0]&3 != basicObject {
		return corrupt("value and typed_value are both present, but the value is no object")
	}
	o, err := w.openObject(residual[0]>>2, residual[1:])
	if err == nil && o.size+1 != len(residual) {
		err = corrupt("a value of %d bytes ends after %d", len(residual), o.size+1)
	}
	if err != nil {
		return err
	}
	return w.begin('{', o)
}

// Field comes for each shredded member, in the order of the names' bytes, and before the value of one that is present. An
// absent one has no value. It is an error when the residual has a member of the name as well.
func (w *Writer) Field(name []byte, present bool) error {
	rest := &w.top().residual
	for len(rest.members) > 0 {
		order := bytes.Compare(w.name(rest.members[0]), name)
		if order == 0 {
			return corrupt("the member %q stands in typed_value and in value", name)
		}
		if order > 0 {
			break
		}
		if err := w.nextResidual(rest); err != nil {
			return err
		}
	}
	if !present {
		return nil
	}
	w.comma()
	if err := w.key(name); err != nil {
		return err
	}
	return w.bounded()
}

// EndObject writes the members that are left of the residual and ends the object.
func (w *Writer) EndObject() error {
	rest := &w.top().residual
	for len(rest.members) > 0 {
		if err := w.nextResidual(rest); err != nil {
			return err
		}
	}
	w.closeObject(*rest)
	return w.end('}')
}

func (w *Writer) nextResidual(rest *object) error {
	w.comma()
	if err := w.member(rest, 0, len(w.open)-1); err != nil {
		return err
	}
	rest.members = rest.members[1:]
	return nil
}

func (w *Writer) top() *container { return &w.open[len(w.open)-1] }

func (w *Writer) begin(bracket byte, residual object) error {
	if len(w.open) >= maxDepth {
		return tooDeep()
	}
	w.open = append(w.open, container{residual: residual})
	w.text = append(w.text, bracket)
	return nil
}

func (w *Writer) comma() {
	c := w.top()
	if c.count > 0 {
		w.text = append(w.text, ',')
	}
	c.count++
}

func (w *Writer) end(bracket byte) error {
	w.open = w.open[:len(w.open)-1]
	w.text = append(w.text, bracket)
	return w.bounded()
}

// bounded refuses a text that is too long. It is asked often enough that a text is never much longer.
func (w *Writer) bounded() error {
	if len(w.text)-w.start > maxText {
		return unsupported("its JSON text is longer than %d MiB", maxText>>20)
	}
	return nil
}
