package rowfilter

import (
	"github.com/apache/arrow-go/v18/arrow"

	"github.com/benthos-delta/benthos-delta/pruning"
)

// booleans tests bits for being one of the values that pass. All ones: that value passes.
type booleans struct{ whenTrue, whenFalse uint64 }

// compareBoolean tests for =, < or <=; false comes before true.
func compareBoolean(op pruning.Op, v bool) valueTest {
	return booleans{
		whenTrue:  -bit(passes(op, 1, bit(v))),
		whenFalse: -bit(passes(op, 0, bit(v))),
	}
}

func passes(op pruning.Op, v, than uint64) bool {
	switch op {
	case pruning.Equal:
		return v == than
	case pruning.Less:
		return v < than
	default:
		return v <= than
	}
}

func inBooleans(values []pruning.Value) valueTest {
	var t booleans
	for _, v := range values {
		if v.Int != 0 {
			t.whenTrue = ^uint64(0)
		} else {
			t.whenFalse = ^uint64(0)
		}
	}
	return t
}

func (t booleans) keep(a arrow.Array, rows []uint64, flip uint64) {
	data := a.Data()
	values := bitmap{data.Buffers()[1].Bytes(), data.Offset()}
	for i := range rows {
		v := values.word(i)
		rows[i] &= (v&t.whenTrue | ^v&t.whenFalse) ^ flip
	}
}

func (booleans) cost() int { return 0 }
