package deltalog

import (
	"github.com/benthos-delta/benthos-delta/pruning"
)

// Statistics are what the log says about the rows of one file: of the leaves of a [Selection], by their number there. They
// are a hint that saves work (ST2), so whatever is odd about them is the same as nothing: text that is no JSON, values of
// another type, bounds in the wrong order, names that differ in case.
//
// They are lent to [Selection.Keep] and not kept. What keeps them across scans would copy the bounds of all leaves that have
// any beside the records of [ActiveFiles]; it then asks the same questions of its copy.
type Statistics struct {
	form *statsForm
	wide bool // the file has a deletion vector

	text   string        // JSON; when there is none:
	parsed *statsColumns // of a checkpoint
	row    int

	read  bool
	odd   bool
	facts statsFacts
	raw   []string // scratch: the values in the text, by slot
}

// statsFacts are the statistics of a file as they are written, but in the types of the leaves.
type statsFacts struct {
	rows   int64 // -1: not known
	tight  bool
	leaves []leafFacts
}

type leafFacts struct {
	least, greatest pruning.Value // no value: not known
	nulls           int64         // -1: not known
}

// of makes s the statistics in a text.
func (s *Statistics) of(text string, vector bool) *Statistics {
	s.text, s.parsed, s.wide, s.read, s.odd = text, nil, vector, false, false
	return s
}

// at makes s the statistics in a row of a checkpoint.
func (s *Statistics) at(columns *statsColumns, row int, vector bool) *Statistics {
	s.text, s.parsed, s.row, s.wide, s.read, s.odd = "", columns, row, vector, false, false
	return s
}

func newStatistics(form *statsForm) *Statistics {
	if form == nil {
		return nil
	}
	return &Statistics{
		form: form, raw: make([]string, form.slots), facts: statsFacts{leaves: make([]leafFacts, len(form.leaves))},
	}
}

// Bounds returns what is known about a leaf. It is true of every live row.
func (s *Statistics) Bounds(leaf int) pruning.Bounds {
	if s == nil {
		return pruning.Bounds{}
	}
	s.load()
	l := &s.facts.leaves[leaf]
	b := pruning.Bounds{Min: l.least, Max: l.greatest}
	if s.facts.rows >= 0 {
		b.Rows = pruning.Exactly(s.facts.rows)
	}
	if s.nullsHold(l.nulls) {
		b.Nulls = pruning.Exactly(l.nulls)
	}
	return b
}

// nullsHold says whether a null count can be used: where rows were deleted since it was made, only "none" and "all" still
// hold (ST6). A vector may come with counts of either kind, whatever tightBounds says.
func (s *Statistics) nullsHold(nulls int64) bool {
	rows := s.facts.rows
	switch {
	case nulls < 0 || (rows >= 0 && nulls > rows):
		return false
	case s.facts.tight && !s.wide:
		return true
	}
	return nulls == 0 || nulls == rows
}

// Odd says whether something that Bounds was asked for is there but cannot be used.
func (s *Statistics) Odd() bool {
	if s == nil {
		return false
	}
	return s.odd
}

// load reads the statistics when they are first asked for.
func (s *Statistics) load() {
	if s.read {
		return
	}
	s.read = true
	f := &s.facts
	f.rows, f.tight = -1, true
	for i := range f.leaves {
		f.leaves[i] = leafFacts{nulls: -1}
	}
	switch {
	case s.parsed != nil:
		s.odd = s.parsed.read(s.row, f)
	case s.text != "":
		s.odd = s.readText()
	}
	for i := range f.leaves {
		s.odd = f.leaves[i].settle(s.form.leaves[i].Type) || s.odd
	}
}

// settle makes bounds that hold of the values that are written, and drops those that contradict each other.
func (l *leafFacts) settle(t pruning.Type) (odd bool) {
	if known(l.least) && known(l.greatest) && l.least.Compare(l.greatest) > 0 {
		l.least, l.greatest = pruning.Value{}, pruning.Value{}
		return true
	}
	l.least, l.greatest = loosen(t, l.least, false), loosen(t, l.greatest, true)
	return false
}

func known(v pruning.Value) bool { return v.Kind != pruning.Opaque }
