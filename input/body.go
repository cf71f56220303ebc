package input

import (
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

func (b jsonRows) tail(i int) (rows, size int64) { return tailOf(b.Ends, i) }

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
type structuredRows struct{ encode.StructuredRows }

func (b structuredRows) messages() int { return len(b.Rows) }

func (b structuredRows) tail(i int) (rows, size int64) { return tailOf(b.Ends, i) }

// fill leaves the row shared: the engine copies it before anything changes it.
func (b structuredRows) fill(m *service.Message, i int) { m.SetStructured(b.Rows[i]) }

// tailOf is the rows from i on, and their bytes, where row i ends at ends[i].
func tailOf(ends []int, i int) (rows, size int64) {
	if i >= len(ends) {
		return 0, 0
	}
	start := 0
	if i > 0 {
		start = ends[i-1]
	}
	return int64(len(ends) - i), int64(ends[len(ends)-1] - start)
}
