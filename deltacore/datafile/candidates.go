package datafile

import (
	"fmt"
	"slices"
	"strings"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// find returns the index of the file's field for a field of the table among the members of one struct, -1 when the file has
// none.
func find(fields []parquetio.Field, w wantedField) (int, error) {
	found := candidates(fields, w)
	switch len(found) {
	case 0:
		return -1, nil
	case 1:
		return found[0], nil
	}
	names := make([]string, len(found))
	for i, at := range found {
		names[i] = fmt.Sprintf("%q", fields[at].Name)
	}
	return -1, deltaerr.New(deltaerr.Corrupt, "several columns of the file could be meant: "+strings.Join(names, ", "))
}

// candidates lists the fields that could be meant. A table that maps its columns says which: by physical name (CM2) or by
// id, whatever the name (CM3). In another the exact name comes first; without one, names that differ in case only (CM9,
// Q9).
func candidates(fields []parquetio.Field, w wantedField) []int {
	switch mapping := w.from.mapping; mapping {
	case schema.MapByName:
		physical := mapping.PhysicalName(w.Field)
		return indexes(fields, func(f parquetio.Field) bool { return f.Name == physical })
	case schema.MapByID:
		id, ok := mapping.ColumnID(w.Field)
		return indexes(fields, func(f parquetio.Field) bool { return ok && f.ID == id })
	}
	exact := indexes(fields, func(f parquetio.Field) bool { return f.Name == w.Name })
	if len(exact) > 0 {
		return exact
	}
	return indexes(fields, func(f parquetio.Field) bool { return strings.EqualFold(f.Name, w.Name) })
}

func indexes(fields []parquetio.Field, meant func(parquetio.Field) bool) []int {
	var found []int
	for i, f := range fields {
		if meant(f) {
			found = append(found, i)
		}
	}
	return found
}

// checkIDs refuses a file without any field id in a table that finds columns by id: all of them would be null (CM3).
func checkIDs(fields []parquetio.Field, mapping schema.Mapping) error {
	if mapping != schema.MapByID || len(fields) == 0 || hasID(fields) {
		return nil
	}
	return deltaerr.New(deltaerr.Corrupt, "the table finds columns by field id, but the file has no field ids")
}

func hasID(fields []parquetio.Field) bool {
	return slices.ContainsFunc(fields, func(f parquetio.Field) bool { return f.ID >= 0 || hasID(f.Children) })
}
