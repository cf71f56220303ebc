package deltalog

import (
	"encoding/binary"
	"hash/maphash"
	"maps"
	"slices"
)

// appendValue appends a name and its value; nil is null. Each text stands after its length, so that no two sets of values
// share a form.
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

// rowValues reads the partition values of rows and gives equal ones one map, as long as there are not too many.
type rowValues struct {
	index   map[string]map[string]*string
	scratch []byte
}

const mostRowValues = 4096

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
	if t.index == nil || len(t.index) == mostRowValues {
		t.index = map[string]map[string]*string{}
	}
	values = readValues(t.scratch, to-from)
	t.index[string(t.scratch)] = values
	return values
}

// partitionTable keeps each value of a partition column once. A set of values is written as codes: their number, then one
// for each column. The first sets are kept as maps too, since most tables have few; the codes of others lie with their
// files.
type partitionTable struct {
	columns []partitionColumn
	shared  []map[string]*string
}

// partitionColumn holds the values of a column in the order of their codes.
type partitionColumn struct {
	name   string
	values []place
	bytes  arena
}

const (
	absentCode = iota // the set does not name the column
	nullCode
	firstValueCode

	maxShared = 1024
)

// read reads a set of values from its codes.
func (t *partitionTable) read(codes []byte) (values map[string]*string, rest []byte) {
	n, rest := cutUvarint(codes)
	values = make(map[string]*string, n)
	for i := range n {
		var code uint64
		switch code, rest = cutUvarint(rest); code {
		case absentCode:
		case nullCode:
			values[t.columns[i].name] = nil
		default:
			text := string(t.columns[i].value(code))
			values[t.columns[i].name] = &text
		}
	}
	return values, rest
}

// find returns the value of a column as it stands in a directory.
func (t *partitionTable) find(codes []byte, name string) []byte {
	n, rest := cutUvarint(codes)
	for i := range n {
		var code uint64
		code, rest = cutUvarint(rest)
		if code >= firstValueCode && t.columns[i].name == name {
			return t.columns[i].value(code)
		}
	}
	return []byte(nullDir)
}

func (c *partitionColumn) value(code uint64) []byte {
	text, _ := cutSized(c.bytes.at(c.values[code-firstValueCode]))
	return text
}

func cutUvarint(b []byte) (uint64, []byte) {
	v, width := binary.Uvarint(b)
	return v, b[width:]
}

// partitionIndex finds the codes of sets while a table is filled.
type partitionIndex struct {
	seed    maphash.Seed
	codes   []map[uint64]uint64 // by column: code of a value by its hash
	sets    map[string]uint32   // by their codes
	scratch []byte
}

func newPartitionIndex() partitionIndex {
	return partitionIndex{seed: maphash.MakeSeed(), sets: map[string]uint32{}}
}

// add returns the number of a shared set, or its codes, valid until the next call.
func (x *partitionIndex) add(t *partitionTable, values map[string]*string) (set uint32, codes []byte, shared bool) {
	codes = x.encode(t, values)
	set, shared = x.sets[string(codes)]
	if !shared && len(t.shared) < maxShared {
		set, shared = uint32(len(t.shared)), true
		x.sets[string(codes)] = set
		own, _ := t.read(codes)
		t.shared = append(t.shared, own)
	}
	return set, codes, shared
}

func (x *partitionIndex) encode(t *partitionTable, values map[string]*string) []byte {
	for {
		x.scratch = binary.AppendUvarint(x.scratch[:0], uint64(len(t.columns)))
		known := 0
		for i := range t.columns {
			code := uint64(absentCode)
			if value, named := values[t.columns[i].name]; named {
				code = x.code(t, i, value)
				known++
			}
			x.scratch = binary.AppendUvarint(x.scratch, code)
		}
		if known == len(values) {
			return x.scratch
		}
		x.addColumns(t, values)
	}
}

// addColumns adds the columns that values name first.
func (x *partitionIndex) addColumns(t *partitionTable, values map[string]*string) {
	for _, name := range slices.Sorted(maps.Keys(values)) {
		if !slices.ContainsFunc(t.columns, func(c partitionColumn) bool { return c.name == name }) {
			t.columns = append(t.columns, partitionColumn{name: name})
			x.codes = append(x.codes, map[uint64]uint64{})
		}
	}
}

// code returns the code of a column's value. Of two values with one hash, which are none in practice, the second is stored
// anew each time: that costs memory and nothing else.
func (x *partitionIndex) code(t *partitionTable, column int, value *string) uint64 {
	if value == nil {
		return nullCode
	}
	c := &t.columns[column]
	hash := maphash.String(x.seed, *value)
	code, known := x.codes[column][hash]
	if known && string(c.value(code)) == *value {
		return code
	}
	code = firstValueCode + uint64(len(c.values))
	c.values = append(c.values, c.bytes.put(appendSized(nil, *value)))
	if !known {
		x.codes[column][hash] = code
	}
	return code
}
