package schema

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"unicode"

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

// Select returns the named top-level columns in the order given (an empty list means all), with the schema's own
// spelling. Names are whole: a dot does not lead into a struct. Unknown and repeated names are Config errors; an unknown
// one lists the nearest names.
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

// unknownColumn says which names are nearest to name.
func (s *Struct) unknownColumn(name string) error {
	type candidate struct {
		name     string
		distance int
	}
	candidates := make([]candidate, len(s.Fields))
	for i, f := range s.Fields {
		candidates[i] = candidate{f.Name, editDistance(fold(name), fold(f.Name))}
	}
	slices.SortStableFunc(candidates, func(a, b candidate) int { return cmp.Compare(a.distance, b.distance) })
	var nearest []string
	for _, c := range candidates[:min(3, len(candidates))] {
		nearest = append(nearest, clip(c.name))
	}
	return deltaerr.New(deltaerr.Config, fmt.Sprintf("the table has no column %q", clip(name)),
		deltaerr.Hint("the nearest names are %s", strings.Join(nearest, ", ")))
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
