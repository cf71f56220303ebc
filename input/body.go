package input

import (
	"bytes"

	"github.com/benthosdev/benthos/v4/public/service"

	"github.com/benthos-delta/benthos-delta/input/encode"
)

// body is the encoded content of a batch: messages of one row each, or one message of all rows. It is read only, so that it
// can be delivered again.
type body interface {
	messages() int
	tail(i int) (rows, bytes int64) // of message i and those after it
	fill(m *service.Message, i int)
}

// jsonRows is a message a row.
type jsonRows struct{ encode.Rows }

func (b jsonRows) messages() int { return b.Len() }

func (b jsonRows) tail(i int) (rows, size int64) {
	start := 0
	if i > 0 {
		start = b.Ends[i-1]
	}
	return int64(len(b.Ends) - i), int64(len(b.Bytes) - start)
}

func (b jsonRows) fill(m *service.Message, i int) { m.SetBytes(b.Row(i)) }

// chunk is one message that holds all rows.
type chunk struct {
	content []byte
	rows    int64
}

func (b chunk) messages() int { return 1 }

func (b chunk) tail(i int) (rows, size int64) {
	if i > 0 {
		return 0, 0
	}
	return b.rows, int64(len(b.content))
}

func (b chunk) fill(m *service.Message, _ int) { m.SetBytes(b.content) }

// structuredRows is a structured message a row. What the rows hold in memory is estimated.
type structuredRows struct {
	rows   []map[string]any
	perRow int64
}

func (b structuredRows) messages() int { return len(b.rows) }

func (b structuredRows) tail(i int) (rows, size int64) {
	n := int64(len(b.rows) - i)
	return n, n * b.perRow
}

// fill leaves the row shared: the engine copies it before anything changes it.
func (b structuredRows) fill(m *service.Message, i int) { m.SetStructured(b.rows[i]) }

// cutRows divides rows into parts of at most size bytes; a larger row is a part of its own.
func cutRows(rows encode.Rows, size int64) []encode.Rows {
	var parts []encode.Rows
	first, start := 0, 0
	for i, end := range rows.Ends {
		if i > first && int64(end-start) > size {
			parts = append(parts, part(rows, first, i))
			first, start = i, rows.Ends[i-1]
		}
	}
	return append(parts, part(rows, first, len(rows.Ends)))
}

// part is rows first up to end, in the same arena.
func part(rows encode.Rows, first, end int) encode.Rows {
	if first == 0 && end == len(rows.Ends) {
		return rows
	}
	start := 0
	if first > 0 {
		start = rows.Ends[first-1]
	}
	stop := rows.Ends[end-1]
	out := encode.Rows{Bytes: rows.Bytes[start:stop:stop], Ends: make([]int, end-first)}
	for i := range out.Ends {
		out.Ends[i] = rows.Ends[first+i] - start
	}
	return out
}

// cutLines divides lines at newlines into parts of at most size bytes; a longer line is a part of its own. Rows hold no
// newline: JSON escapes it.
func cutLines(lines []byte, size int64) []chunk {
	var parts []chunk
	for int64(len(lines)) > size {
		end := bytes.LastIndexByte(lines[:size+1], '\n')
		if end < 0 {
			end = bytes.IndexByte(lines, '\n')
		}
		if end < 0 {
			break
		}
		parts = append(parts, lineChunk(lines[:end:end]))
		lines = lines[end+1:]
	}
	return append(parts, lineChunk(lines))
}

func lineChunk(lines []byte) chunk {
	return chunk{content: lines, rows: int64(bytes.Count(lines, []byte{'\n'})) + 1}
}
