package deltatest

import (
	"fmt"
	"net/url"
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
)

// WriteFiles writes each record as one data file for every combination of partition values in it, without committing
// them, and returns their adds: dataChange, with statistics, and the time of the next commit. It borrows the records.
func (t *Table) WriteFiles(records ...arrow.RecordBatch) []action.Add {
	var adds []action.Add
	for _, record := range records {
		for _, part := range t.split(record) {
			adds = append(adds, t.writeFile(part))
		}
	}
	return adds
}

// Layout sets how data files are written from now on.
func (t *Table) Layout(p Parquet) { t.options.Parquet = p }

// partition is the rows of one data file.
type partition struct {
	dir    string // "country=NL/", decoded; "" without partition columns
	values map[string]*string
	rows   arrow.RecordBatch // without the partition columns
}

func (t *Table) writeFile(p partition) action.Add {
	codec := strings.ToLower(t.options.Parquet.Codec)
	if codec == "" {
		codec = "snappy"
	}
	path := fmt.Sprintf("%spart-00000-%s.c000.%s.parquet", p.dir, t.uuid(), codec)
	rows := Physical(p.rows)
	content := t.options.Parquet.File(rows)
	t.Put(path, content)
	return action.Add{
		Path: LogPath(path), PartitionValues: p.values, Size: int64(len(content)),
		ModificationTime: t.CommitTime(t.next).UnixMilli(), DataChange: true, Stats: Stats(rows),
	}
}

// LogPath encodes a path for the log, where paths are URIs (protocol H1).
func LogPath(path string) string { return (&url.URL{Path: path}).EscapedPath() }

// split divides a record by its partition values, in the order in which they first appear.
func (t *Table) split(record arrow.RecordBatch) []partition {
	names := t.state.metadata.PartitionColumns
	var parts []partition
	runs := map[string][]run{}
	for from := int64(0); from < record.NumRows() || len(parts) == 0; {
		dir, values := partitionOf(record, names, from)
		to := from + 1
		for to < record.NumRows() && samePartition(record, names, from, to) {
			to++
		}
		if _, ok := runs[dir]; !ok {
			parts = append(parts, partition{dir: dir, values: values})
		}
		runs[dir] = append(runs[dir], run{from, min(to, record.NumRows())})
		from = to
	}
	rest := without(record, names)
	for i := range parts {
		parts[i].rows = collect(rest, runs[parts[i].dir])
	}
	return parts
}

type run struct{ from, to int64 }

func samePartition(record arrow.RecordBatch, names []string, a, b int64) bool {
	for _, name := range names {
		column := columnOf(record, name)
		x, y := partitionText(column, int(a)), partitionText(column, int(b))
		if (x == nil) != (y == nil) || x != nil && *x != *y {
			return false
		}
	}
	return true
}

func partitionOf(record arrow.RecordBatch, names []string, row int64) (dir string, values map[string]*string) {
	values = map[string]*string{}
	for _, name := range names {
		var text *string
		if row < record.NumRows() {
			text = partitionText(columnOf(record, name), int(row))
		}
		values[physicalName(record, name)] = text
		dir += escapeDir(name) + "=" + dirValue(text) + "/"
	}
	return dir, values
}

// physicalName is the name under which the log holds a column's partition values (protocol CM4).
func physicalName(record arrow.RecordBatch, name string) string {
	fields, _ := record.Schema().FieldsByName(name)
	for _, f := range fields {
		if physical, ok := f.Metadata.GetValue(physicalNameKey); ok {
			return physical
		}
	}
	return name
}

func dirValue(text *string) string {
	if text == nil {
		return "__HIVE_DEFAULT_PARTITION__"
	}
	return escapeDir(*text)
}

// escapeDir writes a name as Hive does in directories, so that the decoded path itself may hold percent signs.
func escapeDir(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if c < ' ' || c == 0x7f || strings.IndexByte(`"#%'*/:=?\{[]^`, c) >= 0 {
			fmt.Fprintf(&b, "%%%02X", c)
			continue
		}
		b.WriteByte(c)
	}
	return b.String()
}

func columnOf(record arrow.RecordBatch, name string) arrow.Array {
	indices := record.Schema().FieldIndices(name)
	if len(indices) != 1 {
		panic(fmt.Sprintf("deltatest: %d columns named %q", len(indices), name))
	}
	return record.Column(indices[0])
}

// without returns the record's other columns: partition columns stand only in the log.
func without(record arrow.RecordBatch, names []string) arrow.RecordBatch {
	drop := map[string]bool{}
	for _, name := range names {
		drop[name] = true
	}
	var fields []arrow.Field
	var columns []arrow.Array
	for i, f := range record.Schema().Fields() {
		if !drop[f.Name] {
			fields, columns = append(fields, f), append(columns, record.Column(i))
		}
	}
	return array.NewRecordBatch(arrow.NewSchema(fields, nil), columns, record.NumRows())
}

// collect joins runs of rows into one record.
func collect(record arrow.RecordBatch, runs []run) arrow.RecordBatch {
	if len(runs) == 1 {
		return record.NewSlice(runs[0].from, runs[0].to)
	}
	columns := make([]arrow.Array, record.NumCols())
	var rows int64
	for _, r := range runs {
		rows += r.to - r.from
	}
	for i, column := range record.Columns() {
		pieces := make([]arrow.Array, len(runs))
		for j, r := range runs {
			pieces[j] = array.NewSlice(column, r.from, r.to)
		}
		joined, err := array.Concatenate(pieces, memory.NewGoAllocator())
		must(err)
		columns[i] = joined
	}
	return array.NewRecordBatch(record.Schema(), columns, rows)
}
