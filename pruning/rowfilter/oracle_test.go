package rowfilter_test

import (
	"bytes"
	"cmp"
	"math/big"

	"github.com/benthos-delta/benthos-delta/pruning"
)

// cell is what a column has in a row; nil: null.
type cell = *pruning.Value

// truth is the meaning of a predicate, node by node, for one row.
func truth(n pruning.Node, row []cell) pruning.Truth {
	switch n := n.(type) {
	case pruning.Not:
		return not(truth(n.Part, row))
	case pruning.And:
		return not(anyTruth(n.Parts, row, not))
	case pruning.Or:
		return anyTruth(n.Parts, row, func(t pruning.Truth) pruning.Truth { return t })
	case pruning.Constant:
		return n.Truth
	case pruning.IsNull:
		return truthOf(row[n.Column] == nil)
	}
	return columnTruth(n, row)
}

func columnTruth(n pruning.Node, row []cell) pruning.Truth {
	switch n := n.(type) {
	case pruning.Compare:
		return ofValue(row[n.Column], func(v pruning.Value) pruning.Truth { return truthOf(holds(n.Op, order(v, n.Value))) })
	case pruning.In:
		return ofValue(row[n.Column], func(v pruning.Value) pruning.Truth { return isOneOf(v, n) })
	case pruning.Like:
		return ofValue(row[n.Column], func(v pruning.Value) pruning.Truth { return truthOf(like([]rune(n.Pattern.Text), []rune(v.Bytes))) })
	case pruning.Known:
		return ofValue(row[n.Column], func(pruning.Value) pruning.Truth { return n.Truth })
	}
	panic("a new kind of node")
}

func ofValue(c cell, f func(pruning.Value) pruning.Truth) pruning.Truth {
	if c == nil {
		return pruning.Null
	}
	return f(*c)
}

func truthOf(b bool) pruning.Truth {
	if b {
		return pruning.True
	}
	return pruning.False
}

func not(t pruning.Truth) pruning.Truth {
	return map[pruning.Truth]pruning.Truth{pruning.True: pruning.False, pruning.False: pruning.True, pruning.Null: pruning.Null}[t]
}

// anyTruth is OR of the parts' truths after a change.
func anyTruth(parts []pruning.Node, row []cell, change func(pruning.Truth) pruning.Truth) pruning.Truth {
	result := pruning.False
	for _, p := range parts {
		switch change(truth(p, row)) {
		case pruning.True:
			return pruning.True
		case pruning.Null:
			result = pruning.Null
		}
	}
	return result
}

func isOneOf(v pruning.Value, n pruning.In) pruning.Truth {
	for _, candidate := range n.Values {
		if order(v, candidate) == 0 {
			return pruning.True
		}
	}
	if n.HasNull {
		return pruning.Null
	}
	return pruning.False
}

func holds(op pruning.Op, order int) bool {
	switch op {
	case pruning.Equal:
		return order == 0
	case pruning.NotEqual:
		return order != 0
	case pruning.Less:
		return order < 0
	case pruning.LessEqual:
		return order <= 0
	case pruning.Greater:
		return order > 0
	default:
		return order >= 0
	}
}

// order does not use Value.Compare, so that neither depends on the other.
func order(a, b pruning.Value) int {
	switch a.Kind {
	case pruning.Float, pruning.Double:
		return orderFloats(a.Float, b.Float)
	case pruning.Decimal:
		return unscaled(a.Decimal).Cmp(unscaled(b.Decimal))
	case pruning.String, pruning.Binary:
		return bytes.Compare([]byte(a.Bytes), []byte(b.Bytes))
	default:
		return cmp.Compare(a.Int, b.Int)
	}
}

func orderFloats(a, b float64) int {
	switch {
	case a != a && b != b:
		return 0
	case a != a:
		return 1
	case b != b:
		return -1
	default:
		return cmp.Compare(a, b)
	}
}

func unscaled(v pruning.Int128) *big.Int {
	n := new(big.Int).Lsh(big.NewInt(v.High), 64)
	return n.Add(n, new(big.Int).SetUint64(v.Low))
}

// like matches patterns without escapes.
func like(pattern, text []rune) bool {
	if len(pattern) == 0 {
		return len(text) == 0
	}
	if pattern[0] == '%' {
		return like(pattern[1:], text) || len(text) > 0 && like(pattern, text[1:])
	}
	return len(text) > 0 && (pattern[0] == '_' || pattern[0] == text[0]) && like(pattern[1:], text[1:])
}
