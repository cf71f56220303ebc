package datafile

import (
	"fmt"
	"math"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/arrowdata"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// RowTracking names the columns of files in which rows that were moved keep their ids and commit versions (section 20).
// They are called so in the files, whatever the mapping (CM10); a file need not have them, and "" means that none has.
type RowTracking struct{ IDColumn, VersionColumn string }

// rowNumbers makes one of the two numbers of row tracking.
type rowNumbers struct {
	stored  *member // the column of the file, nil when it has none
	base    int64   // where the column has no value, the number is base …
	counted bool    // … plus the physical row
}

// tracked is what a file knows of its rows.
type tracked struct{ ids, versions rowNumbers }

// trackedOf checks the numbers of a task.
func trackedOf(task scanplan.FileTask, rows int64) (*tracked, error) {
	id, version := task.BaseRowID, task.DefaultRowCommitVersion
	switch {
	case id == nil || version == nil:
		return nil, deltaerr.New(deltaerr.Corrupt, "the file has no baseRowId or no defaultRowCommitVersion, which row ids are counted from")
	case *id < 0 || *id > math.MaxInt64-rows || *version < 0:
		return nil, deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("a file of %d rows cannot have the baseRowId %d and the defaultRowCommitVersion %d",
			rows, *id, *version))
	}
	return &tracked{ids: rowNumbers{base: *id, counted: true}, versions: rowNumbers{base: *version}}, nil
}

// wanted are the columns to read for the numbers, among those that the file has.
func (t RowTracking) wanted(fields []parquetio.Field) (list []wantedField, hasIDs bool) {
	for i, name := range []string{t.IDColumn, t.VersionColumn} {
		if len(indexes(fields, func(f parquetio.Field) bool { return f.Name == name })) == 0 {
			continue
		}
		hasIDs = hasIDs || i == 0
		f := schema.Field{Name: name, Type: schema.Long, Nullable: true}
		list = append(list, wantedField{Field: f, path: name, out: arrow.PrimitiveTypes.Int64})
	}
	return list, hasIDs
}

// bind takes the members that were bound for wanted.
func (t *tracked) bind(members []member, hasIDs bool) {
	if hasIDs {
		t.ids.stored, members = &members[0], members[1:]
	}
	if len(members) > 0 {
		t.versions.stored = &members[0]
	}
}

// of returns the numbers of the rows of a batch as it was read. physical is where a row is in the file. It borrows record.
func (n rowNumbers) of(mem memory.Allocator, record arrow.RecordBatch, physical func(i int) int64) ([]int64, error) {
	out := make([]int64, record.NumRows())
	for i := range out {
		out[i] = n.base
		if n.counted {
			out[i] += physical(i)
		}
	}
	if n.stored == nil || n.stored.source < 0 {
		return out, nil
	}
	d, err := n.stored.make(mem, record.Column(n.stored.source).Data(), parent{rows: len(out)})
	if err != nil {
		return nil, err
	}
	defer d.Release()
	values, valid := arrow.GetValues[int64](d, 1), arrowdata.Valid(d)
	for i := range out {
		if valid(i) {
			out[i] = values[i]
		}
	}
	return out, nil
}
