package deltalog

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json/jsontext"
)

// statsForm is what is looked for in the JSON of statistics: a tree of names, whose values go into numbered slots.
type statsForm struct {
	leaves []Leaf
	root   statsNode
	slots  int
}

// statsNode is a name in the JSON. Slot is where its value goes, -1 for none; a name can be wanted both itself and for what
// is in it, as a struct is by s IS NULL and s.a = 1.
type statsNode struct {
	name    string
	slot    int
	members []*statsNode
}

// The slots: those of the file, then three for each leaf.
const (
	rowsSlot = iota
	tightSlot
	leafSlots

	leastSlot = iota - leafSlots - 1
	greatestSlot
	nullsSlot
	slotsPerLeaf
)

// The names of the protocol (ST1).
const (
	rowsName     = "numRecords"
	tightName    = "tightBounds"
	leastName    = "minValues"
	greatestName = "maxValues"
	nullsName    = "nullCount"
)

func newStatsForm(leaves []Leaf) *statsForm {
	if len(leaves) == 0 {
		return nil
	}
	f := &statsForm{leaves: leaves, root: statsNode{slot: -1}, slots: leafSlots + slotsPerLeaf*len(leaves)}
	f.root.at(rowsName).slot = rowsSlot
	f.root.at(tightName).slot = tightSlot
	for i, l := range leaves {
		first := leafSlots + slotsPerLeaf*i
		if hasBounds(l.Type) {
			f.root.at(append([]string{leastName}, l.Path...)...).slot = first + leastSlot
			f.root.at(append([]string{greatestName}, l.Path...)...).slot = first + greatestSlot
		}
		f.root.at(append([]string{nullsName}, l.Path...)...).slot = first + nullsSlot
	}
	return f
}

// at returns the node of a path, which it makes where it is not there.
func (n *statsNode) at(path ...string) *statsNode {
	for _, name := range path {
		next := n.member(name)
		if next == nil {
			next = &statsNode{name: name, slot: -1}
			n.members = append(n.members, next)
		}
		n = next
	}
	return n
}

func (n *statsNode) member(name string) *statsNode {
	for _, m := range n.members {
		if m.name == name {
			return m
		}
	}
	return nil
}

// readText takes the facts from the JSON. It says whether something in there cannot be used.
func (s *Statistics) readText() (odd bool) {
	clear(s.raw)
	r := statsScanner{text: s.text, values: s.raw}
	if !r.object(&s.form.root) || !r.atEnd() {
		return true
	}
	f := &s.facts
	f.rows, odd = countOf(s.raw[rowsSlot])
	f.tight = s.raw[tightSlot] == "" || s.raw[tightSlot] == "null" || s.raw[tightSlot] == "true" // ST6: absent is true
	for i := range f.leaves {
		l, t, raw := &f.leaves[i], s.form.leaves[i].Type, s.raw[leafSlots+slotsPerLeaf*i:]
		var wrong [3]bool
		l.least, wrong[0] = valueOf(t, raw[leastSlot], false)
		l.greatest, wrong[1] = valueOf(t, raw[greatestSlot], true)
		l.nulls, wrong[2] = countOf(raw[nullsSlot])
		odd = odd || wrong[0] || wrong[1] || wrong[2]
	}
	return odd
}

// countOf reads a count; -1 is none.
func countOf(raw string) (n int64, odd bool) {
	if raw == "" || raw == "null" || raw[0] == '{' {
		return -1, false
	}
	n, err := strconv.ParseInt(raw, 10, 64)
	if err != nil || n < 0 {
		return -1, true
	}
	return n, false
}

// statsScanner goes over JSON once and picks out the values of the nodes of a form. It looks only at what JSON needs to be
// told apart; the values that are picked are checked when they are read. Its methods are false where the text is no JSON,
// or names one thing twice.
type statsScanner struct {
	text   string
	at     int
	values []string // by slot, as written; "" is none
}

func (r *statsScanner) space() {
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case ' ', '\t', '\n', '\r':
			r.at++
		default:
			return
		}
	}
}

// take passes over c when it comes next, blanks aside.
func (r *statsScanner) take(c byte) bool {
	r.space()
	if r.at < len(r.text) && r.text[r.at] == c {
		r.at++
		return true
	}
	return false
}

func (r *statsScanner) atEnd() bool {
	r.space()
	return r.at == len(r.text)
}

// object reads an object whose members are those of n.
func (r *statsScanner) object(n *statsNode) bool {
	if !r.take('{') {
		return false
	}
	if r.take('}') {
		return true
	}
	var seen uint64 // of the first 64 members
	for {
		r.space()
		name, ok := r.name()
		if !ok || !r.take(':') {
			return false
		}
		member, bit := r.find(n, name)
		if seen&bit != 0 || !r.member(member) {
			return false
		}
		seen |= bit
		if r.take(',') {
			continue
		}
		return r.take('}')
	}
}

// find returns the member of a name, or nil, and its bit.
func (r *statsScanner) find(n *statsNode, name string) (member *statsNode, bit uint64) {
	for i, m := range n.members {
		if m.name == name {
			return m, 1 << min(i, 64)
		}
	}
	return nil, 0
}

// member reads the value of a member; nil is one that is not wanted.
func (r *statsScanner) member(n *statsNode) bool {
	r.space()
	if n != nil && len(n.members) > 0 && r.at < len(r.text) && r.text[r.at] == '{' {
		return r.object(n)
	}
	from := r.at
	if !r.skip() {
		return false
	}
	if n == nil || n.slot < 0 {
		return true
	}
	if r.values[n.slot] != "" {
		return false
	}
	r.values[n.slot] = r.text[from:r.at]
	return true
}

// name reads the name of a member.
func (r *statsScanner) name() (name string, ok bool) {
	from := r.at
	if !r.quoted() {
		return "", false
	}
	return unquote(r.text[from:r.at])
}

// unquote returns the text of a string as JSON writes it.
func unquote(raw string) (text string, ok bool) {
	inner := raw[1 : len(raw)-1]
	if strings.IndexByte(inner, '\\') < 0 {
		return inner, true
	}
	unescaped, err := jsontext.AppendUnquote(nil, raw)
	return string(unescaped), err == nil
}

// quoted passes over a string.
func (r *statsScanner) quoted() bool {
	if r.at >= len(r.text) || r.text[r.at] != '"' {
		return false
	}
	r.at++
	for {
		next := strings.IndexByte(r.text[r.at:], '"')
		if next < 0 {
			return false
		}
		end := r.at + next
		escapes := 0
		for escapes < next && r.text[end-1-escapes] == '\\' {
			escapes++
		}
		if r.at = end + 1; escapes%2 == 0 {
			return true
		}
	}
}

// skip passes over a value, whatever it is.
func (r *statsScanner) skip() bool {
	if r.at >= len(r.text) {
		return false
	}
	switch r.text[r.at] {
	case '"':
		return r.quoted()
	case '{', '[':
		return r.nested()
	}
	from := r.at
	for r.at < len(r.text) && isLiteral(r.text[r.at]) {
		r.at++
	}
	return r.at > from
}

// isLiteral says whether numbers, true, false and null are written with c.
func isLiteral(c byte) bool {
	return '0' <= c && c <= '9' || 'a' <= c && c <= 'z' || c == '-' || c == '+' || c == '.' || c == 'E'
}

// nested passes over a list or an object. That its brackets match is seen, but no more.
func (r *statsScanner) nested() bool {
	depth := 0
	for r.at < len(r.text) {
		switch r.text[r.at] {
		case '"':
			if !r.quoted() {
				return false
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if r.at++; depth == 0 {
			return true
		}
	}
	return false
}
