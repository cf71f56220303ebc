package variant

import (
	"bytes"
	"slices"
)

// member is one of an object: the id of its name and where its value begins.
type member struct{ id, from uint32 }

// object is an object whose members are written one by one. Its values may lie in any order and with gaps, but not over
// one another: together they have room bytes at most. So the work is bounded by the bytes.
type object struct {
	members []member // in the order of their names, none twice
	values  []byte
	room    int
	mark    int // of the writer's members, to give back
	size    int
}

// openObject reads the head of an object and puts its members in order. closeObject gives back its room.
func (w *Writer) openObject(header byte, v []byte) (object, error) {
	if header>>5 != 0 {
		return object{}, unsupported("an object's header has bits that have no meaning in version 1")
	}
	it, err := newItems(v, itemsForm{large: header&16 != 0, idSize: int(header>>2&3) + 1, offsetSize: int(header&3) + 1})
	if err != nil {
		return object{}, err
	}
	o := object{values: it.values, room: len(it.values), mark: len(w.members), size: it.size}
	for i := range it.count {
		id, from := it.id(i), it.offset(i)
		if id >= w.names.count {
			return object{}, corrupt("an object has the name %d, but the metadata has %d names", id, w.names.count)
		}
		if from >= len(it.values) {
			return object{}, corrupt("a value of an object is at %d of %d bytes", from, len(it.values))
		}
		w.members = append(w.members, member{uint32(id), uint32(from)})
	}
	o.members = w.members[o.mark:]
	return o, w.arrange(o.members)
}

func (w *Writer) closeObject(o object) { w.members = w.members[:o.mark] }

// arrange sorts members by their names. Writers have done so, by the format; that a name occurs once is checked.
func (w *Writer) arrange(members []member) error {
	if w.firstOutOfOrder(members) == len(members) {
		return nil
	}
	slices.SortFunc(members, func(a, b member) int { return bytes.Compare(w.name(a), w.name(b)) })
	if i := w.firstOutOfOrder(members); i < len(members) {
		return corrupt("an object has the name %q twice", w.name(members[i]))
	}
	return nil
}

// firstOutOfOrder returns the first member whose name does not come after the one before, or how many there are.
func (w *Writer) firstOutOfOrder(members []member) int {
	for i := 1; i < len(members); i++ {
		if bytes.Compare(w.name(members[i-1]), w.name(members[i])) >= 0 {
			return i
		}
	}
	return len(members)
}

func (w *Writer) name(m member) []byte { return w.names.name(int(m.id)) }

func (w *Writer) object(header byte, v []byte, depth int) (int, error) {
	o, err := w.openObject(header, v)
	if err != nil {
		return 0, err
	}
	defer w.closeObject(o)
	if depth >= maxDepth {
		return 0, tooDeep()
	}
	w.text = append(w.text, '{')
	for i := range o.members {
		if i > 0 {
			w.text = append(w.text, ',')
		}
		if err := w.member(&o, i, depth); err != nil {
			return 0, err
		}
	}
	w.text = append(w.text, '}')
	return o.size, w.bounded()
}

// member writes name and value of member i.
func (w *Writer) member(o *object, i, depth int) error {
	m := o.members[i]
	if err := w.key(w.name(m)); err != nil {
		return err
	}
	size, err := w.value(o.values[m.from:], depth+1)
	if o.room -= size; err == nil && o.room < 0 {
		err = corrupt("the values of an object overlap")
	}
	return err
}

// key writes a member's name and the colon.
func (w *Writer) key(name []byte) error {
	if err := w.String(name); err != nil {
		return err
	}
	w.text = append(w.text, ':')
	return nil
}
