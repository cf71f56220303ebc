package datafile

import (
	"context"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// held asks bloom filters and dictionaries of a row group, which are read when they are needed first. After an error of the
// store it knows nothing.
type held struct {
	ctx    context.Context //nolint:containedctx // of the read: pruning asks without one
	file   *File
	group  int
	lists  map[int]*valueList // by column
	last   scanplan.Reason    // by which a value was found not to be there
	asking bool               // whether it may read; else it says of every column that could know that a value is not there
	err    error
}

// valueList is what is known about the values of a column chunk.
type valueList struct {
	bloom  *parquetio.Bloom
	values map[pruning.Value]bool // of those that the predicate names, whether they are there; nil: not known
}

// mayHold says whether the row group may have a value.
func (h *held) mayHold(column int, v pruning.Value) bool {
	s := h.file.sources[column]
	if s.leaf < 0 || h.err != nil {
		return true
	}
	if !h.asking {
		return !h.file.knowsValues(h.group, s.leaf)
	}
	list := h.list(column, s)
	if list.bloom != nil {
		is := storedAs(s.field, v, s.typ)
		if !is.open {
			may := false
			if !is.none {
				may, h.err = list.bloom.MayHold(h.ctx, is.bytes)
			}
			if !may && h.err == nil {
				h.last = scanplan.ByBloom
				return false
			}
		}
	}
	if list.values == nil || v.IsNaN() {
		return true
	}
	there, named := list.values[v]
	if named && !there {
		h.last = scanplan.ByDictionary
	}
	return there || !named
}

// knowsValues says whether there is a bloom filter or a dictionary to ask.
func (f *File) knowsValues(group, leaf int) bool {
	off := f.reader.layout.Without
	return off&BloomFilters == 0 && f.parquet.HasBloom(group, leaf) || off&Dictionaries == 0 && f.parquet.HasDictionary(group, leaf)
}

func (h *held) list(column int, s source) *valueList {
	if list, ok := h.lists[column]; ok {
		return list
	}
	list := &valueList{}
	h.lists[column] = list
	var wrong error
	off := h.file.reader.layout.Without
	if off&BloomFilters == 0 {
		list.bloom, wrong, h.err = h.file.parquet.Bloom(h.ctx, h.group, s.leaf)
		h.count(scanplan.ByBloom, wrong)
	}
	if off&Dictionaries == 0 && h.err == nil && list.bloom == nil {
		var values arrow.Array
		values, wrong, h.err = h.file.parquet.Dictionary(h.ctx, h.group, s.leaf)
		h.count(scanplan.ByDictionary, wrong)
		if values != nil {
			defer values.Release()
			list.values = h.found(column, values)
		}
	}
	return list
}

func (h *held) count(r scanplan.Reason, wrong error) {
	if wrong != nil {
		h.file.unusable(r, 1)
	}
}

// found says which of the values that the predicate names of a column are in a dictionary; nil when one of its values cannot be
// read.
func (h *held) found(column int, values arrow.Array) map[pruning.Value]bool {
	s := h.file.sources[column]
	shown, err := s.shown(h.file.mem(), values)
	if err != nil {
		h.count(scanplan.ByDictionary, err)
		return nil
	}
	defer shown.Release()
	found := askedFor(h.file.reader.layout.Where.Root, column)
	for i := range shown.Len() {
		v := lentValue(shown, i, s.typ.Kind)
		if v.Kind == pruning.Opaque {
			return nil
		}
		if _, is := found[v]; is {
			found[v] = true
		}
	}
	return found
}

// askedFor are the values that a part of a predicate asks a column for by = and IN, each false.
func askedFor(n pruning.Node, column int) map[pruning.Value]bool {
	values := map[pruning.Value]bool{}
	var add func(pruning.Node)
	add = func(n pruning.Node) {
		switch n := n.(type) {
		case pruning.And:
			eachOf(n.Parts, add)
		case pruning.Or:
			eachOf(n.Parts, add)
		case pruning.Not:
			add(n.Part)
		case pruning.Compare:
			if n.Column == column && n.Op == pruning.Equal {
				values[n.Value] = false
			}
		case pruning.In:
			if n.Column == column {
				for _, v := range n.Values {
					values[v] = false
				}
			}
		}
	}
	add(n)
	return values
}

func eachOf(parts []pruning.Node, do func(pruning.Node)) {
	for _, p := range parts {
		do(p)
	}
}
