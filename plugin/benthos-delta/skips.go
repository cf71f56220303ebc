package main

import (
	"cmp"
	"maps"
	"slices"
	"sync"

	"github.com/jedib0t/go-pretty/v6/table"

	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
)

// skips are what a plan leaves out, and by which part of the predicate. It is safe for concurrent use. It has memory for each
// cause, and for each file and row group when they are to be listed.
type skips struct {
	listed bool

	mu     sync.Mutex
	causes map[skipCause]*skipped
	list   []skippedPart
}

// skipCause is why something is left out.
type skipCause struct {
	reason  scanplan.Reason
	because string
}

// skipped counts what is left out for one cause.
type skipped struct {
	Reason    string `json:"reason"`
	Because   string `json:"because"` // the part of the predicate that no row fulfils; "": there is no row
	Files     int64  `json:"files"`
	RowGroups int64  `json:"row_groups"`
}

// skippedPart is a file, or a row group of one, that is left out.
type skippedPart struct {
	File     string `json:"file"`
	RowGroup *int   `json:"row_group"` // null: the whole file
	Reason   string `json:"reason"`
	Because  string `json:"because"`
}

func (s *skips) add(e scanplan.Explanation) {
	s.mu.Lock()
	defer s.mu.Unlock()
	cause := skipCause{e.Reason, e.Because}
	of := s.causes[cause]
	if of == nil {
		of = &skipped{Reason: e.Reason.String(), Because: e.Because}
		if s.causes == nil {
			s.causes = map[skipCause]*skipped{}
		}
		s.causes[cause] = of
	}
	part := skippedPart{e.File, nil, of.Reason, of.Because}
	if e.RowGroup == scanplan.WholeFile {
		of.Files++
	} else {
		of.RowGroups++
		part.RowGroup = &e.RowGroup
	}
	if s.listed {
		s.list = append(s.list, part)
	}
}

// counts lists the causes in the order in which the reasons are looked at.
func (s *skips) counts() []skipped {
	list := []skipped{}
	for _, cause := range slices.SortedFunc(maps.Keys(s.causes), func(a, b skipCause) int {
		return cmp.Or(cmp.Compare(a.reason, b.reason), cmp.Compare(a.because, b.because))
	}) {
		list = append(list, *s.causes[cause])
	}
	return list
}

// parts lists what is left out by file and row group; nil unless it is to be listed.
func (s *skips) parts() []skippedPart {
	slices.SortFunc(s.list, func(a, b skippedPart) int {
		return cmp.Or(cmp.Compare(a.File, b.File), cmp.Compare(a.number(), b.number()))
	})
	return s.list
}

func (p skippedPart) number() int {
	if p.RowGroup == nil {
		return scanplan.WholeFile
	}
	return *p.RowGroup
}

func causeTable(list []skipped) table.Writer {
	t := plainTable()
	t.AppendHeader(table.Row{"left out by", "files", "row groups", "fulfilled by no row"})
	for _, s := range list {
		t.AppendRow(table.Row{evidenceText(s.Reason), s.Files, s.RowGroups, statementText(s.Because)})
	}
	return t
}

func skippedTable(list []skippedPart) table.Writer {
	t := plainTable()
	t.AppendHeader(table.Row{"left out by", "row group", "file", "fulfilled by no row"})
	for _, s := range list {
		var group any = "all"
		if s.RowGroup != nil {
			group = *s.RowGroup
		}
		t.AppendRow(table.Row{evidenceText(s.Reason), group, s.File, statementText(s.Because)})
	}
	return t
}

const mostStatement = 100 // characters of a part of a predicate in a table

func statementText(because string) string {
	if because == "" {
		return "(no row is left)"
	}
	if text := []rune(because); len(text) > mostStatement {
		return string(text[:mostStatement-1]) + "…"
	}
	return because
}
