package input

import (
	"context"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/benthosdev/benthos/v4/public/service"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/input/encode"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

// converter turns groups of rows into batches. It is safe for concurrent use.
type converter struct {
	config configspec.Config
	table  string // location, fit for metadata

	mu      sync.Mutex
	columns *schema.Struct // what form was made for
	form    *form
}

// form is what is the same for all rows of a schema.
type form struct {
	encoder *encode.Encoder
	keys    []int // positions of the key columns
}

// rowLimit and byteLimit are the size of a batch; none is larger than what may be in flight.
func rowLimit(c configspec.Config) int64  { return min(c.BatchRows, c.CheckpointLimit) }
func byteLimit(c configspec.Config) int64 { return min(c.BatchBytes, c.CheckpointLimitBytes) }

// formOf returns the form of a schema, and keeps the last one.
func (c *converter) formOf(columns *schema.Struct) (*form, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.form != nil && c.columns == columns {
		return c.form, nil
	}
	encoder, err := encode.New(columns, c.config.Values)
	if err != nil {
		return nil, err
	}
	keys, err := keyPositions(columns, c.config.KeyColumns)
	if err != nil {
		return nil, err
	}
	c.columns, c.form = columns, &form{encoder: encoder, keys: keys}
	return c.form, nil
}

func keyPositions(columns *schema.Struct, names []string) ([]int, error) {
	out := make([]int, len(names))
	for i, name := range names {
		field, ok := columns.Field(name)
		if !ok {
			return nil, deltaerr.New(deltaerr.Config, "key_columns names a column that is not read", deltaerr.Column(name),
				deltaerr.Hint("name one of the columns of the table, and add it to columns if those are set"))
		}
		out[i] = slices.IndexFunc(columns.Fields, func(f schema.Field) bool { return f.Name == field.Name })
	}
	return out, nil
}

// convert encodes a group, which it releases, as batches within the limits. The last one carries the group's position.
func (c *converter) convert(ctx context.Context, g group, emit func(*batch) error) error {
	defer g.release()
	if len(g.rows) == 0 {
		return emit(&batch{position: g.position, files: g.files})
	}
	err := c.encode(ctx, g, emit)
	return deltaerr.Annotate(err, deltaerr.Table(c.table), deltaerr.Version(g.rows[0].Version))
}

func (c *converter) encode(ctx context.Context, g group, emit func(*batch) error) error {
	form, err := c.formOf(g.rows[0].Columns)
	if err != nil {
		return err
	}
	record, err := g.record()
	if err != nil {
		return err
	}
	defer record.Release()
	made := maker{c: c, form: form, group: g, emit: emit}
	rows := record.NumRows()
	step := c.step(record)
	for from := int64(0); from < rows; from += step {
		if err := ctx.Err(); err != nil {
			return err
		}
		slice := record.NewSlice(from, min(from+step, rows))
		err := made.slice(slice)
		slice.Release()
		if err != nil {
			return deltaerr.Annotate(err, deltaerr.File(g.rows[0].File))
		}
	}
	return nil
}

// step is how many rows are encoded at once: a batch, judged by what they take in Arrow, so that an arena is not much larger
// than a batch. What it holds is cut exactly afterwards.
func (c *converter) step(record arrow.RecordBatch) int64 {
	rows := record.NumRows()
	perRow := max(recordBytes(record)/max(rows, 1), 1)
	return max(min(rowLimit(c.config), byteLimit(c.config)/perRow), 1)
}

// maker makes the batches of one group.
type maker struct {
	c     *converter
	form  *form
	group group
	emit  func(*batch) error
	done  int64 // rows emitted
}

// slice encodes one slice and emits its batches.
func (m *maker) slice(record arrow.RecordBatch) error {
	bodies, err := m.c.bodies(m.form.encoder, record)
	if err != nil {
		return err
	}
	var keys *encode.Keys
	if len(m.form.keys) > 0 {
		k, err := m.form.encoder.Keys(record, m.form.keys)
		if err != nil {
			return err
		}
		keys = &k
	}
	firstKey := 0
	for _, b := range bodies {
		made := m.batch(b)
		made.keys, made.firstKey = keys, firstKey
		firstKey += b.messages()
		if err := m.emit(made); err != nil {
			return err
		}
	}
	return nil
}

// bodies encodes a record in the configured format.
func (c *converter) bodies(e *encode.Encoder, record arrow.RecordBatch) ([]body, error) {
	switch c.config.Format {
	case "json_lines":
		lines, err := e.Lines(record)
		if err != nil {
			return nil, err
		}
		return asBodies(cutLines(lines, byteLimit(c.config))), nil
	case "arrow_ipc":
		content, err := encode.ArrowIPC(record)
		return []body{chunk{content, record.NumRows()}}, err
	case "structured":
		rows, err := e.Structured(record)
		return []body{structuredRows{rows, structuredBytes(record)}}, err
	default:
		rows, err := e.JSON(record)
		if err != nil {
			return nil, err
		}
		var out []body
		for _, part := range cutRows(rows, byteLimit(c.config)) {
			out = append(out, jsonRows{part})
		}
		return out, nil
	}
}

func asBodies(chunks []chunk) []body {
	out := make([]body, len(chunks))
	for i, c := range chunks {
		out[i] = c
	}
	return out
}

// structuredBytes estimates what a structured row holds: its values, and a map entry for each.
func structuredBytes(record arrow.RecordBatch) int64 {
	const entry = 64
	return recordBytes(record)/max(record.NumRows(), 1) + record.NumCols()*entry
}

// batch adds to a body what it is and where it ends.
func (m *maker) batch(b body) *batch {
	rows, _ := b.tail(0)
	out := &batch{body: b, template: m.template(b, rows)}
	if slices.Contains(m.c.config.IncludeMetadata, "row") { // the group is one record then
		first, source := m.done, m.group.rows[0]
		out.rowNumber = func(i int) int64 { return physicalRow(source, first+int64(i)) }
	}
	m.done += rows
	out.position = m.group.positionAfter(m.done)
	if m.done == m.group.numRows() {
		out.files = m.group.files
	}
	return out
}

// template holds the metadata that every message of a batch has.
func (m *maker) template(b body, rows int64) *service.Message {
	first := m.group.rows[0]
	t := service.NewMessage(nil)
	t.MetaSetMut("delta_table", m.c.table)
	t.MetaSetMut("delta_version", first.Version)
	t.MetaSetMut("delta_commit_timestamp", first.CommitTimestamp.UnixMilli())
	t.MetaSetMut("operation", string(first.Operation))
	if _, whole := b.(chunk); whole {
		t.MetaSetMut("delta_rows", rows)
	}
	if slices.Contains(m.c.config.IncludeMetadata, "file") {
		t.MetaSetMut("delta_file", first.File)
	}
	return t
}

// grouper is how the events of a source are put together for this converter.
func (c *converter) grouper(source feed.Source) *grouper {
	return &grouper{
		source: source, rows: rowLimit(c.config), bytes: byteLimit(c.config),
		singleFile: slices.Contains(c.config.IncludeMetadata, "file"),
		single:     slices.Contains(c.config.IncludeMetadata, "row"),
	}
}
