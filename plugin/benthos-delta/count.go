package main

import (
	"slices"

	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// cheapest names the column that costs least to read: a partition column, whose values are in the log, before narrow
// types before wide ones.
func cheapest(columns *schema.Struct, partitionColumns []string) []string {
	if len(columns.Fields) == 0 {
		return nil
	}
	best := slices.MinFunc(columns.Fields, func(a, b schema.Field) int {
		return cost(a, partitionColumns) - cost(b, partitionColumns)
	})
	return []string{best.Name}
}

// cost orders columns by the bytes that a value has in a file, roughly.
func cost(f schema.Field, partitionColumns []string) int {
	if slices.Contains(partitionColumns, f.Name) {
		return 0
	}
	switch f.Type {
	case schema.Boolean:
		return 1
	case schema.Byte, schema.Short, schema.Integer, schema.Date, schema.Float:
		return 4
	case schema.Long, schema.Double, schema.Timestamp, schema.TimestampNTZ:
		return 8
	case schema.String, schema.Binary:
		return 32
	case schema.Void:
		return 1000 // not in the files
	}
	if _, ok := f.Type.(schema.Decimal); ok {
		return 16
	}
	return 100
}
