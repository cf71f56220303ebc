package datafile

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/benthos-delta/benthos-delta/deltacore/arrowdata"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// checkNulls reports nulls of a member that the table says is never null, where the struct that it belongs to exists
// (protocol S5). d is nil when the file does not have the member.
func (m member) checkNulls(d arrow.ArrayData, p parent) error {
	if m.Nullable || m.out.ID() == arrow.NULL || d != nil && d.NullN() == 0 {
		return nil
	}
	nulls := 0
	isNull, exists := nullsOf(d), p.exists()
	for i := range p.rows {
		if isNull(i) && exists(i) {
			nulls++
		}
	}
	switch {
	case nulls == 0:
		return nil
	case d == nil:
		return deltaerr.New(deltaerr.Corrupt, "the file does not have the column, but the table says that it is never null", m.column())
	default:
		return deltaerr.New(deltaerr.Corrupt,
			fmt.Sprintf("%d values are null, but the table says that the column is never null", nulls), m.column())
	}
}

// nullsOf returns a test for nulls. A nil array is null everywhere.
func nullsOf(d arrow.ArrayData) func(i int) bool {
	if d == nil {
		return func(int) bool { return true }
	}
	valid := arrowdata.Valid(d)
	return func(i int) bool { return !valid(i) }
}

// exists returns a test for the rows that the parent has.
func (p parent) exists() func(i int) bool {
	if p.valid == nil {
		return func(int) bool { return true }
	}
	return arrowdata.Valid(p.valid)
}
