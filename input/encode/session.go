package encode

import (
	"slices"
	"strconv"

	"github.com/apache/arrow-go/v18/arrow"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// session encodes one batch at a time. It belongs to one call; between calls it lies in the encoder's pool.
type session struct {
	fields  []field
	rows    int
	scratch []byte // rows are built here, then copied once into an arena of their size
	ends    []int  // where the rows end in scratch
}

func newSession(columns *schema.Struct, values configspec.Values) (*session, error) {
	fields, err := newFields(columns, values, nil, 0)
	if err != nil {
		return nil, err
	}
	return &session{fields: fields}, nil
}

// bind points every codec at the batch's arrays. A batch that has other columns than the encoder was made for is our own bug.
func (s *session) bind(batch arrow.RecordBatch) error {
	if int(batch.NumCols()) != len(s.fields) {
		return deltaerr.New(deltaerr.Internal, "a batch of "+strconv.FormatInt(batch.NumCols(), 10)+
			" columns came to an encoder of "+strconv.Itoa(len(s.fields)))
	}
	s.rows = int(batch.NumRows())
	for i := range s.fields {
		f := &s.fields[i]
		if batch.ColumnName(i) != f.name {
			return f.at.fail(deltaerr.Internal, "the batch has the column "+batch.ColumnName(i)+" in its place")
		}
		if err := f.bind(batch.Column(i)); err != nil {
			return err
		}
	}
	return nil
}

// unbind drops every reference into the batch.
func (s *session) unbind() {
	for i := range s.fields {
		s.fields[i].unbind()
	}
	s.rows = 0
	s.scratch, s.ends = reuse(s.scratch, maxScratch), reuse(s.ends, maxIndexes)
}

// reuse empties a working buffer, and gives up one of more than limit elements.
func reuse[T any](buf []T, limit int) []T {
	if cap(buf) > limit {
		return nil
	}
	return buf[:0]
}

// appendRows builds the rows of a part, joined by a separator.
func (s *session) appendRows(p Part, separator string) error {
	end := p.end(s.rows)
	s.ends = slices.Grow(s.ends, min(max(end-p.From, 0), maxIndexes))
	for i := p.From; i < end; i++ {
		before := len(s.scratch)
		if i > p.From {
			s.scratch = append(s.scratch, separator...)
		}
		var err error
		if s.scratch, err = appendObject(s.scratch, s.fields, i); err != nil {
			return atRow(err, i)
		}
		if p.full(len(s.ends)+1, len(s.scratch)) {
			s.scratch = s.scratch[:before]
			return nil
		}
		s.ends = append(s.ends, len(s.scratch))
	}
	return nil
}
