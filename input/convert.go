package input

import (
	"context"
	"math"
	"slices"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/benthosdev/benthos/v4/public/service"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/input/encode"
	"github.com/benthos-delta/benthos-delta/input/feed"
)

// converter turns groups of rows into batches. It is safe for concurrent use.
type converter struct {
	config    configspec.Config
	table     string // location, fit for metadata
	allocator memory.Allocator

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
	record, err := g.record(c.allocator)
	if err != nil {
		return err
	}
	defer record.Release()
	made := maker{c: c, form: form, group: g}
	for made.done < record.NumRows() {
		if err := ctx.Err(); err != nil {
			return err
		}
		b, err := made.next(record)
		if err != nil {
			return encode.Locate(err, g.place)
		}
		if err := emit(b); err != nil {
			return err
		}
	}
	return nil
}

// maker makes the batches of one group.
type maker struct {
	c     *converter
	form  *form
	group group
	done  int64 // rows of it that have their batch
}

// next encodes the next rows of the group's record, as many as make a batch.
func (m *maker) next(record arrow.RecordBatch) (*batch, error) {
	part := encode.Part{From: int(m.done), Rows: int(rowLimit(m.c.config)), Bytes: int(min(byteLimit(m.c.config), math.MaxInt))}
	b, err := m.body(record, part)
	if err != nil {
		return nil, err
	}
	out := m.batch(b)
	if len(m.form.keys) == 0 {
		return out, nil
	}
	part.Rows = b.messages()
	keys, err := m.form.encoder.Keys(record, m.form.keys, part)
	out.keys = &keys
	return out, err
}

// body encodes rows in the configured format.
func (m *maker) body(record arrow.RecordBatch, p encode.Part) (body, error) {
	switch m.c.config.Format {
	case "json_lines":
		lines, rows, err := m.form.encoder.Lines(record, p)
		return chunk{lines, int64(rows)}, err
	case "arrow_ipc":
		stream, rows, err := encode.ArrowIPC(record, p)
		return chunk{stream, rows}, err
	case "structured":
		rows, err := m.form.encoder.Structured(record, p)
		return structuredRows{rows}, err
	default:
		rows, err := m.form.encoder.JSON(record, p)
		return jsonRows{rows}, err
	}
}

// batch adds to a body what it is and where it ends.
func (m *maker) batch(b body) *batch {
	rows, _ := b.tail(0)
	out := &batch{body: b, template: m.template(b, rows)}
	first, source := m.done, m.group.rows[0] // the group is one record where its rows have numbers
	if slices.Contains(m.c.config.IncludeMetadata, "row") {
		out.rowNumber = func(i int) int64 { return physicalRow(source, first+int64(i)) }
	}
	if wantsRowIDs(m.c.config) {
		out.rowID = func(i int) (id, version int64) {
			return source.RowIDs[first+int64(i)], source.RowCommitVersions[first+int64(i)]
		}
	}
	m.done += rows
	out.template = m.reloaded(out.template, first)
	out.position = m.group.positionAfter(m.done)
	if m.done == m.group.numRows() {
		out.files = m.group.files
	}
	return out
}

// wantsRowIDs says whether messages carry what row tracking knows of their rows.
func wantsRowIDs(c configspec.Config) bool { return slices.Contains(c.IncludeMetadata, "row_id") }

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

// reloaded adds which part of a version that was loaded again a batch is: that of the rows from first up to those done.
func (m *maker) reloaded(t *service.Message, first int64) *service.Message {
	begins := first == 0 && m.group.rows[0].First
	ends := m.done == m.group.numRows() && m.group.rows[len(m.group.rows)-1].Last
	switch {
	case begins && ends:
		t.MetaSetMut("delta_reload", "only")
	case begins:
		t.MetaSetMut("delta_reload", "first")
	case ends:
		t.MetaSetMut("delta_reload", "last")
	}
	return t
}

// grouper is how the events of a source are put together for this converter.
func (c *converter) grouper(source feed.Source) *grouper {
	return &grouper{
		source: source, rows: rowLimit(c.config), bytes: byteLimit(c.config),
		singleFile: slices.Contains(c.config.IncludeMetadata, "file"),
		single:     slices.Contains(c.config.IncludeMetadata, "row") || wantsRowIDs(c.config),
	}
}
