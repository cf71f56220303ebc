// Package datafile turns one task into logical record batches: the file's columns are matched to the table's, converted
// without loss, missing ones are null and partition columns come from the log.
//
// What a file may hold for a type of the table is the table of protocol section 17 and, for types that were widened
// since, of section 16; it is decided from the file alone (TW2). Everything else is a Corrupt error that names file,
// column and both types (TW3), and so is a null where the table has none (S5). How the bytes are read is parquetio's
// matter, which files are read scanplan's. Where rows are wanted that match a predicate, what the file says about its values
// may save reading some of them; a filter over the values decides.
package datafile

import (
	"slices"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/pruning"
	"github.com/benthos-delta/benthos-delta/pruning/rowfilter"
)

// Layout is what is the same for all files of a scan.
type Layout struct {
	Root             storage.URI    // of the table, to find deletion vectors
	Columns          *schema.Struct // the output, in order
	PartitionColumns []string       // names of the table's partition columns, as its schema spells them
	Mapping          schema.Mapping // how columns are found in files; "" is MapByDisplayName
	RowTracking      *RowTracking   // nil: row ids are not wanted

	Where   *pruning.Bound             // which rows are wanted; nil: all
	Table   *schema.Struct             // where the columns of Where are, which need not be among Columns; nil: Columns
	Skipped *scanplan.Skipped          // counts what is not read because of Where; nil: nobody wants to know
	Explain func(scanplan.Explanation) // is told of each row group that is not read, by several goroutines; nil: nobody wants to know
	Without Levels                     // ways of reading less that are not taken
}

// Levels are ways of reading less than all that may hold a row. Which rows come out does not depend on them.
type Levels uint8

// The levels.
const (
	RowGroupStatistics  Levels = 1 << iota // of the footer
	ColumnIndex                            // pages by their statistics
	BloomFilters                           // for = and IN
	Dictionaries                           // of column chunks that have no other values, for = and IN
	LateMaterialisation                    // columns beside those of Where, only where rows match
	Searches                               // text by = and IN, in the pages
	AllLevels           = 1<<iota - 1
)

// Batch are live rows of one file, in its order. The receiver releases Record.
type Batch struct {
	Record   arrow.RecordBatch // columns of Layout.Columns
	FirstRow int64             // physical row of the first row in the file, before vector and filter
	Index    []int64           // physical row of each row; nil when they are consecutive from FirstRow

	// One number a row; nil unless the layout has RowTracking.
	RowIDs, RowCommitVersions []int64
}

// Reader reads the files of one scan. It is safe for concurrent use.
type Reader struct {
	store   storage.Store
	options parquetio.Options
	layout  Layout
	output  columnSet
	where   *columnSet // the columns of Where, nested ones with the fields that it names; nil: all rows are wanted
	paths   [][]schema.Field
}

// columnSet are columns of the table that are read together.
type columnSet struct {
	fields    []schema.Field
	partition []bool // by column: its value comes from the log
	schema    *arrow.Schema
}

// NewReader checks that every column of the layout can be read. Columns of a type that cannot are Unsupported errors.
func NewReader(store storage.Store, layout Layout, o parquetio.Options) (*Reader, error) {
	r := &Reader{store: store, options: o, layout: layout}
	var err error
	if r.output, err = newColumnSet(layout.Columns, layout.PartitionColumns); err != nil || layout.Where == nil {
		return r, err
	}
	table := layout.Table
	if table == nil {
		table = layout.Columns
	}
	if r.paths, err = fieldsOf(layout.Where, table); err != nil {
		return nil, err
	}
	where, err := newColumnSet(named(table, pathsOf(layout.Where)), layout.PartitionColumns)
	if err != nil {
		return nil, err
	}
	r.where = &where
	_, err = rowfilter.New(layout.Where, where.schema)
	return r, err
}

func newColumnSet(columns *schema.Struct, partitionColumns []string) (columnSet, error) {
	out, err := schema.ArrowSchema(columns)
	if err != nil {
		return columnSet{}, err
	}
	set := columnSet{fields: columns.Fields, schema: out}
	for _, c := range set.fields {
		set.partition = append(set.partition, slices.Contains(partitionColumns, c.Name))
	}
	return set, nil
}

func pathsOf(where *pruning.Bound) [][]string {
	paths := make([][]string, len(where.Columns))
	for i, c := range where.Columns {
		paths[i] = c.Path
	}
	return paths
}

// named is s with the columns and fields only that paths lead to or through.
func named(s *schema.Struct, paths [][]string) *schema.Struct {
	out := &schema.Struct{}
	for _, f := range s.Fields {
		var below [][]string
		chosen, whole := false, false
		for _, path := range paths {
			if path[0] != f.Name {
				continue
			}
			if chosen = true; len(path) == 1 {
				whole = true
			} else {
				below = append(below, path[1:])
			}
		}
		if inner, ok := f.Type.(*schema.Struct); ok && chosen && !whole {
			f.Type = named(inner, below)
		}
		if chosen {
			out.Fields = append(out.Fields, f)
		}
	}
	return out
}

// fieldsOf finds the fields along the path of each column.
func fieldsOf(where *pruning.Bound, table *schema.Struct) ([][]schema.Field, error) {
	paths := make([][]schema.Field, len(where.Columns))
	for i, c := range where.Columns {
		fields, err := table.Resolve(c.Path)
		if err != nil {
			return nil, err
		}
		paths[i] = fields
	}
	return paths, nil
}
