package schema

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// Field finds a top-level field: exact name first, then without regard to case (S2). ok is false when there is none.
func (s *Struct) Field(name string) (f Field, ok bool) {
	for _, f := range s.Fields {
		if f.Name == name {
			return f, true
		}
	}
	folded := fold(name)
	for _, f := range s.Fields {
		if fold(f.Name) == folded {
			return f, true
		}
	}
	return Field{}, false
}

// PartitionNames returns the names of a table's partition columns as the schema spells them. One that names no column, or one
// that another one names too, is Corrupt.
func (s *Struct) PartitionNames(names []string) ([]string, error) {
	list := make([]string, 0, min(len(names), len(s.Fields)))
	for _, name := range names {
		f, ok := s.Field(name)
		switch {
		case !ok:
			return nil, deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("the table is partitioned by %q, but its schema has no such column", clip(name)))
		case slices.Contains(list, f.Name):
			return nil, deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("the table is partitioned by %q twice", clip(f.Name)))
		}
		list = append(list, f.Name)
	}
	return list, nil
}

// Select returns the named top-level columns in the order given (an empty list means all), with the schema's own
// spelling. Names are whole: a dot does not lead into a struct. Unknown and repeated names are Config errors; the one of an
// unknown name says what it may stand for.
func (s *Struct) Select(columns []string) (*Struct, error) {
	if len(columns) == 0 {
		return s, nil
	}
	byName := make(map[string]Field, len(s.Fields))
	for _, f := range s.Fields {
		byName[fold(f.Name)] = f
	}
	chosen := make([]Field, 0, min(len(columns), len(s.Fields)))
	taken := make(map[string]bool, len(columns))
	for _, name := range columns {
		f, ok := byName[fold(name)]
		if !ok {
			return nil, s.unknownColumn(name)
		}
		if taken[f.Name] {
			return nil, deltaerr.New(deltaerr.Config, fmt.Sprintf("column %q is selected twice", f.Name),
				deltaerr.Hint("name each column once"))
		}
		taken[f.Name] = true
		chosen = append(chosen, f)
	}
	return &Struct{Fields: chosen}, nil
}

// unknownColumn says what name may stand for: a field inside a column, a column of nearly that name, or any column.
func (s *Struct) unknownColumn(name string) error {
	msg := fmt.Sprintf("the table has no column %q", clip(name))
	if column, found := s.leadsInto(name); found {
		return deltaerr.New(deltaerr.Config, msg, deltaerr.Hint("only top-level columns can be selected: use %s", clip(column)))
	}
	if near := s.nearest(name); len(near) > 0 {
		return deltaerr.New(deltaerr.Config, msg, deltaerr.Hint("did you mean %s?", strings.Join(near, " or ")))
	}
	return deltaerr.New(deltaerr.Config, msg, deltaerr.Hint("%s", s.columnList()))
}

// leadsInto returns the struct column that a dotted name leads into.
func (s *Struct) leadsInto(name string) (column string, found bool) {
	for i, r := range name {
		if r != '.' {
			continue
		}
		f, ok := s.Field(name[:i])
		if inner, is := f.Type.(*Struct); ok && is && inner.has(name[i+1:]) {
			return f.Name, true
		}
	}
	return "", false
}

// has says whether a dotted name is that of a field or leads into one.
func (s *Struct) has(name string) bool {
	if _, ok := s.Field(name); ok {
		return true
	}
	_, ok := s.leadsInto(name)
	return ok
}

// nearest returns up to three names that differ from name in at most a third of its letters, or in one.
func (s *Struct) nearest(name string) []string {
	type candidate struct {
		name     string
		distance int
	}
	limit := max(1, utf8.RuneCountInString(name)/3)
	var candidates []candidate
	for _, f := range s.Fields {
		if d := editDistance(fold(name), fold(f.Name)); d <= limit && d < utf8.RuneCountInString(name) {
			candidates = append(candidates, candidate{f.Name, d})
		}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	var names []string
	for _, c := range candidates[:min(3, len(candidates))] {
		names = append(names, clip(c.name))
	}
	return names
}

// columnList names the first columns.
func (s *Struct) columnList() string {
	const most = 8
	if len(s.Fields) == 0 {
		return "it has no columns"
	}
	var names []string
	for _, f := range s.Fields[:min(most, len(s.Fields))] {
		names = append(names, clip(f.Name))
	}
	text := "its columns are " + strings.Join(names, ", ")
	if more := len(s.Fields) - most; more > 0 {
		text += fmt.Sprintf(" and %d more", more)
	}
	return text
}

// editDistance counts the insertions, deletions and substitutions that lead from a to b (Levenshtein). Only the first 64
// runes of each count, so that a wide table with long names stays cheap.
func editDistance(a, b string) int {
	const limit = 64
	from, to := []rune(a), []rune(b)
	from, to = from[:min(limit, len(from))], to[:min(limit, len(to))]
	row := make([]int, len(to)+1)
	for j := range row {
		row[j] = j
	}
	for i, r := range from {
		diagonal := row[0]
		row[0] = i + 1
		for j, q := range to {
			substituted := diagonal
			if r != q {
				substituted++
			}
			diagonal = row[j+1]
			row[j+1] = min(substituted, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(to)]
}

// fold maps names that differ only in case to one text (S2). The capital dotted I keeps itself: Go would make it a plain
// i, the reference does not, and a table may have both.
func fold(name string) string {
	return strings.Map(func(r rune) rune {
		if r == 'İ' {
			return r
		}
		return unicode.ToLower(r)
	}, name)
}

// Hash is a short stable fingerprint of the names, types and nullability: 16 hexadecimal digits. Field metadata does not
// count, the order of the fields does.
func (s *Struct) Hash() string {
	// Names come from Parse, hence are valid text; a schema made by hand with invalid names has the hash of nothing.
	text, _ := writer{}.appendType(nil, s)
	sum := sha256.Sum256(text)
	return hex.EncodeToString(sum[:8])
}
