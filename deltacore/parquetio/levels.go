package parquetio

import (
	"errors"
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/parquet/file"
)

// levels say what the definition and repetition levels of the leaves below a node mean for it.
type levels struct {
	def  int16 // from this definition level on the node is not null
	rep  int16 // lists around the node: a higher repetition level goes on with a value of it
	slot int16 // from this definition level on the nearest list around it has an element; 0 outside lists
}

// element are the levels that the elements of a list begin with.
func (l levels) element() levels { return levels{def: l.def + 1, rep: l.rep + 1, slot: l.def + 1} }

func (l levels) info() file.LevelInfo {
	return file.LevelInfo{NullSlotUsage: 1, DefLevel: l.def, RepLevel: l.rep, RepeatedAncestorDefLevel: l.slot}
}

// runLevels are the levels of a leaf in one batch. nil where the leaf has none.
type runLevels struct{ def, rep []int16 }

// at returns the levels of entry i.
func (r runLevels) at(i int) (def, rep int16) {
	if r.rep != nil {
		rep = r.rep[i]
	}
	return r.def[i], rep
}

// append copies the levels of other behind those of r.
func (r *runLevels) append(other runLevels) {
	r.def, r.rep = append(r.def, other.def...), append(r.rep, other.rep...)
}

// check refuses levels above the highest that the leaf has: run-length encoded ones may be anything.
func (r runLevels) check(leaf levels) error {
	if at := above(r.def, leaf.def); at >= 0 {
		return fmt.Errorf("a definition level is %d, the highest is %d", r.def[at], leaf.def)
	}
	if at := above(r.rep, leaf.rep); at >= 0 {
		return fmt.Errorf("a repetition level is %d, the highest is %d", r.rep[at], leaf.rep)
	}
	return nil
}

const (
	everyLane = 0x0001_0001_0001_0001
	laneSigns = 0x8000 * everyLane
)

// above returns the index of a level that is negative or above the highest, -1 when there is none. Four are looked at at a
// time, since those of every value pass here: what is added to a level sets its sign from highest+1 on.
func above(levels []int16, highest int16) int {
	first := 0
	if four := levels[:len(levels)&^3]; len(four) > 0 && !anyAbove(four, highest) {
		first = len(four)
	}
	for i, level := range levels[first:] {
		if level < 0 || level > highest {
			return first + i
		}
	}
	return -1
}

func anyAbove(levels []int16, highest int16) bool {
	add := uint64(0x7fff-highest) * everyLane
	var bad uint64
	for _, w := range arrow.Uint64Traits.CastFromBytes(arrow.Int16Traits.CastToBytes(levels)) {
		bad |= w | (w + add)
	}
	return bad&laneSigns != 0
}

var (
	errOtherShape = errors.New("its lists and nulls are not those of the column beside it: the pages are damaged")
	errNoList     = errors.New("its levels go on with a list that is not there: the pages are damaged")
)

// sameShape compares two leaves below one node: they must agree which of its values exist, and in which lists.
func sameShape(n levels, a, b runLevels) error {
	if n.def == 0 && n.rep == 0 {
		return nil // each has a value in every row
	}
	if len(a.def) == len(b.def) && (a.rep == nil) == (b.rep == nil) && sameEntries(n, a, b) {
		return nil
	}
	i, j := 0, 0
	for {
		i, j = a.next(i, n.rep), b.next(j, n.rep)
		if i == len(a.def) || j == len(b.def) {
			break
		}
		defA, repA := a.at(i)
		defB, repB := b.at(j)
		if repA != repB || min(defA, n.def) != min(defB, n.def) {
			return errOtherShape
		}
		i, j = i+1, j+1
	}
	if i != len(a.def) || j != len(b.def) {
		return errOtherShape
	}
	return nil
}

// sameEntries is the common case of sameShape: no lists below the node.
func sameEntries(n levels, a, b runLevels) bool {
	for i, def := range a.def {
		if min(def, n.def) != min(b.def[i], n.def) {
			return false
		}
	}
	for i, rep := range a.rep {
		if rep != b.rep[i] || rep > n.rep {
			return false
		}
	}
	return true
}

// next returns the first entry from i on that begins a value of a node with rep lists around it.
func (r runLevels) next(i int, rep int16) int {
	for r.rep != nil && i < len(r.rep) && r.rep[i] > rep {
		i++
	}
	return i
}

// listShape is what the levels of a leaf say of a list around it.
type listShape struct {
	offsets  []int32 // one more than there are lists
	valid    []byte  // bitmap, nil for lists that are never null
	nulls    int
	elements int
}

// fill reads as many lists as there are offsets for.
func (s *listShape) fill(list levels, r runLevels) error {
	element := list.element()
	at, end, open := 0, int32(0), false
	for i, def := range r.def {
		rep := r.rep[i]
		if rep >= element.rep {
			if !open || def < element.def {
				return errNoList
			}
			if rep == element.rep {
				end++
			}
			continue
		}
		if open = def >= element.def; def < list.slot {
			continue
		}
		if at == len(s.offsets)-1 {
			return fmt.Errorf("there are more than the %d lists that are expected", at)
		}
		s.offsets[at] = end
		if open {
			end++
		}
		s.mark(at, def >= list.def)
		at++
	}
	if at != len(s.offsets)-1 {
		return fmt.Errorf("there are %d lists, %d are expected", at, len(s.offsets)-1)
	}
	s.offsets[at], s.elements = end, int(end)
	return nil
}

func (s *listShape) mark(at int, valid bool) {
	if s.valid == nil {
		return
	}
	if valid {
		s.valid[at/8] |= 1 << (at % 8)
	} else {
		s.nulls++
	}
}

// validity writes the bitmap of the values of a node, slots in number, and counts the nulls.
func (r runLevels) validity(n levels, bits []byte, slots int) (nulls int, err error) {
	at := 0
	for i, def := range r.def {
		if def < n.slot || r.rep != nil && r.rep[i] > n.rep {
			continue
		}
		if at == slots {
			return 0, fmt.Errorf("there are more than the %d values that are expected", slots)
		}
		if def >= n.def {
			bits[at/8] |= 1 << (at % 8)
		} else {
			nulls++
		}
		at++
	}
	if at != slots {
		return 0, fmt.Errorf("there are %d values, %d are expected", at, slots)
	}
	return nulls, nil
}
