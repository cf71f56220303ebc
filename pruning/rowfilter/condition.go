package rowfilter

import "github.com/apache/arrow-go/v18/arrow"

// condition is a part of the predicate, without a NOT.
type condition interface {
	// narrow clears the rows for which the condition is not true.
	narrow(f *Filter, rows []uint64)
	// cost is how dear the condition is for a row, roughly, in comparisons of two numbers.
	cost() int
}

type (
	all   []condition
	some  []condition
	never struct{}

	isNull    struct{ column int }
	isNotNull struct{ column int }

	// leaf tests the values of a column; of a null it is not true.
	leaf struct {
		column int
		flip   uint64 // all ones: true of the values that do not pass; else 0
		values valueTest
	}
)

// valueTest tests the values of one column.
type valueTest interface {
	// keep clears the rows whose values do not pass; when flip is all ones, those whose values do. What the values of rows that
	// are clear already are does not matter: nulls are among them.
	keep(values arrow.Array, rows []uint64, flip uint64)
	cost() int
}

func (parts all) narrow(f *Filter, rows []uint64) {
	for _, part := range parts {
		if !anyRow(rows) {
			return
		}
		part.narrow(f, rows)
	}
}

// narrow asks each condition only about the rows that are true of none before.
func (parts some) narrow(f *Filter, rows []uint64) {
	left := f.spare.lend(rows)
	for _, part := range parts {
		if !anyRow(left) {
			break
		}
		passed := f.spare.lend(left)
		part.narrow(f, passed)
		remove(left, passed)
		f.spare.giveBack()
	}
	remove(rows, left)
	f.spare.giveBack()
}

func (never) narrow(_ *Filter, rows []uint64) { clear(rows) }

func (t isNotNull) narrow(f *Filter, rows []uint64) { f.columns[t.column].keepValid(rows) }

func (t isNull) narrow(f *Filter, rows []uint64) {
	valid := f.spare.lend(rows)
	f.columns[t.column].keepValid(valid)
	remove(rows, valid)
	f.spare.giveBack()
}

func (t leaf) narrow(f *Filter, rows []uint64) {
	column := &f.columns[t.column]
	column.keepValid(rows)
	if anyRow(rows) {
		t.values.keep(column.values, rows, t.flip)
	}
}

// remove clears the rows that are in others.
func remove(rows, others []uint64) {
	for i, w := range others {
		rows[i] &^= w
	}
}

func (parts all) cost() int  { return totalCost(parts) }
func (parts some) cost() int { return totalCost(parts) }
func (never) cost() int      { return 0 }
func (isNull) cost() int     { return 0 }
func (isNotNull) cost() int  { return 0 }
func (t leaf) cost() int     { return t.values.cost() }

func totalCost(parts []condition) int {
	total := 0
	for _, part := range parts {
		total += part.cost()
	}
	return total
}
