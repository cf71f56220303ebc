package deltalog

import (
	"crypto/sha256"
	"maps"
	"slices"
)

// A set of partition values is written as bytes: each name and value after its length, so that no two sets share a form.

// appendValue appends a name and its value; nil is null.
func appendValue(b []byte, name string, value *string) []byte {
	b = appendSized(b, name)
	if value == nil {
		return append(b, 0)
	}
	return appendSized(append(b, 1), *value)
}

// readValues reads a set of n values.
func readValues(b []byte, n int) map[string]*string {
	values := make(map[string]*string, n)
	for range n {
		name, rest := cutSized(b)
		null := rest[0] == 0
		b = rest[1:]
		if null {
			values[string(name)] = nil
			continue
		}
		text, rest := cutSized(b)
		value := string(text)
		values[string(name)], b = &value, rest
	}
	return values
}

// rowValues reads the partition values of a batch's rows and gives equal rows one map.
type rowValues struct {
	index   map[string]map[string]*string
	scratch []byte
}

func (t *rowValues) get(p pairs, row int) map[string]*string {
	from, to := p.span(row)
	t.scratch = t.scratch[:0]
	for i := from; i < to; i++ {
		var value *string
		if !p.items.null(i) {
			text := p.items.borrow(i)
			value = &text
		}
		t.scratch = appendValue(t.scratch, p.keys.borrow(i), value)
	}
	values, ok := t.index[string(t.scratch)]
	if ok {
		return values
	}
	if t.index == nil {
		t.index = map[string]map[string]*string{}
	}
	values = readValues(t.scratch, to-from)
	t.index[string(t.scratch)] = values
	return values
}

// partitionTable keeps each set of partition values once: most tables have far fewer of them than files.
type partitionTable struct {
	sets   []partitionSet
	bytes  arena
	shared []map[string]*string // of all sets, when they are few
}

// partitionSet is where the bytes of a set lie, and how many values it has.
type partitionSet struct{ chunk, offset, values uint32 }

const maxShared = 4096 // sets kept as maps too

// get returns a set. It may be shared.
func (t *partitionTable) get(i uint32) map[string]*string {
	if t.shared != nil {
		return t.shared[i]
	}
	s := t.sets[i]
	return readValues(t.bytes.chunks[s.chunk][s.offset:], int(s.values))
}

// share makes maps of the sets when they are few.
func (t *partitionTable) share() {
	if len(t.sets) > maxShared {
		return
	}
	shared := make([]map[string]*string, len(t.sets))
	for i := range t.sets {
		shared[i] = t.get(uint32(i))
	}
	t.shared = shared
}

// partitionIndex finds a set that a table has already.
type partitionIndex struct {
	index   map[key]uint32
	scratch []byte
}

func (x *partitionIndex) add(t *partitionTable, values map[string]*string) uint32 {
	x.scratch = x.scratch[:0]
	for _, name := range slices.Sorted(maps.Keys(values)) {
		x.scratch = appendValue(x.scratch, name, values[name])
	}
	sum := sha256.Sum256(x.scratch)
	k := key(sum[:len(key{})])
	if i, ok := x.index[k]; ok {
		return i
	}
	i := uint32(len(t.sets))
	set := partitionSet{values: uint32(len(values))}
	set.chunk, set.offset = t.bytes.put(x.scratch)
	t.sets = append(t.sets, set)
	x.index[k] = i
	return i
}
