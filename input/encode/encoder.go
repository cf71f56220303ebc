// Package encode answers how a row looks when it leaves the pipeline: record batches become rows as JSON, newline-delimited
// chunks, Arrow IPC, structured values, and message keys. It knows neither Benthos nor where batches come from.
//
// The mapping from a Delta type and the user's [configspec.Values] to a text is one function, [newCodec] in values.go.
// What is not obvious from a type's name:
//
//   - Strings that are not valid UTF-8 are refused: JSON has no text for them, and a replacement character would be a
//     value that the table does not hold. The Arrow IPC format carries such bytes as they are.
//   - Floats have the form of Go's encoding/json: the fewest digits that read back the same at the column's precision,
//     with an exponent below 1e-6 and from 1e21 on (1e-7, 1e+21); negative zero is -0.
//   - Years have at least four digits. Years after 9999 have all of theirs and no sign; the year before 0001 is 0000, the
//     ones before it are negative (-0043 is 44 BC), as ISO 8601 counts them.
//   - The option for 64-bit integers is about columns of type long. Microseconds of values.timestamp are always numbers.
//   - A map with text keys is an object with its entries in the order of the file. JSON has no answer to a key that occurs
//     twice and none to a null key, so both are refused. Any other map is an array of {"key":…,"value":…}, which holds both.
//   - A variant is its JSON value, in the form that package variant gives it: the options of values do not reach into it.
//   - A row has the same bytes in every format and batch: nothing depends on the rows around it.
package encode

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/apache/arrow-go/v18/arrow"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// The largest working buffers, by their elements, that are kept for the next batch: of bytes, of row ends and map keys.
const (
	maxScratch = 16 << 20
	maxIndexes = 64 << 10
)

// Encoder encodes batches of one schema. It is immutable and safe for concurrent use: what a batch needs while it is
// encoded comes from a pool and holds nothing of the batch afterwards.
type Encoder struct {
	columns *schema.Struct
	values  configspec.Values
	pool    sync.Pool    // of *session
	size    atomic.Int64 // of the last batch that was encoded: the first size of a new session's buffer
}

// New prepares one codec per column. The values are complete, as those of a decoded configuration are. A type that has no text, a field name that
// occurs twice in one struct and types nested deeper than 500 levels are errors that name the column.
func New(columns *schema.Struct, values configspec.Values) (*Encoder, error) {
	e := &Encoder{columns: columns, values: values}
	first, err := newSession(columns, values)
	if err != nil {
		return nil, err
	}
	e.pool.Put(first)
	return e, nil
}

// JSON encodes each row of a part as a JSON object without a newline, in a fresh arena of exactly its size. It borrows the
// batch.
func (e *Encoder) JSON(batch arrow.RecordBatch, p Part) (Rows, error) {
	s, err := e.open(batch)
	if err != nil {
		return Rows{}, err
	}
	defer e.close(s)
	if err := s.appendRows(p, ""); err != nil {
		return Rows{}, err
	}
	return Rows{Bytes: bytes.Clone(s.scratch), Ends: slices.Clone(s.ends)}, nil
}

// Lines encodes the rows of a part as one chunk: rows joined by newlines, none after the last. rows is how many it holds. It
// borrows the batch.
func (e *Encoder) Lines(batch arrow.RecordBatch, p Part) (chunk []byte, rows int, err error) {
	s, err := e.open(batch)
	if err != nil {
		return nil, 0, err
	}
	defer e.close(s)
	if err := s.appendRows(p, "\n"); err != nil {
		return nil, 0, err
	}
	return bytes.Clone(s.scratch), len(s.ends), nil
}

// LinesInto is as Lines, but for where the chunk is: in the memory of to, which it takes over, or in larger memory when that is
// not enough. Nothing is copied.
func (e *Encoder) LinesInto(to []byte, batch arrow.RecordBatch, p Part) (chunk []byte, rows int, err error) {
	s, err := e.open(batch)
	if err != nil {
		return nil, 0, err
	}
	defer e.close(s)
	own := s.scratch
	defer func() { s.scratch = own }()
	s.scratch = to[:0]
	if err := s.appendRows(p, "\n"); err != nil {
		return nil, 0, err
	}
	return s.scratch, len(s.ends), nil
}

// open takes a session from the pool and binds it to the batch.
func (e *Encoder) open(batch arrow.RecordBatch) (*session, error) {
	s, ok := e.pool.Get().(*session)
	if !ok {
		fresh, err := newSession(e.columns, e.values)
		if err != nil {
			return nil, err
		}
		s = fresh
		s.scratch = make([]byte, 0, e.size.Load())
	}
	if err := s.bind(batch); err != nil {
		e.close(s)
		return nil, err
	}
	return s, nil
}

func (e *Encoder) close(s *session) {
	e.size.Store(min(int64(len(s.scratch)), maxScratch))
	s.unbind()
	e.pool.Put(s)
}
