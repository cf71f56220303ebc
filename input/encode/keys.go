package encode

import (
	"strconv"
	"unicode/utf8"

	"github.com/apache/arrow-go/v18/arrow"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// Keys is the message keys of rows of a batch, all in one text.
type Keys struct {
	text   string
	ends   []int
	absent []bool // nil: every row has a key
}

// Key returns the key of row i. false: the row has none, because its only key column is null.
func (k Keys) Key(i int) (string, bool) {
	if k.absent != nil && k.absent[i] {
		return "", false
	}
	start, end := span(k.ends, i)
	return k.text[start:end], true
}

// Len is the number of rows.
func (k Keys) Len() int { return len(k.ends) }

// Keys forms a key for each row of a part from the columns at these positions of the encoder's schema. One column gives its
// JSON text, a string without quotes and escapes; where it is null there is no key. Several give a JSON array, in which
// nulls stand, so every row has a key. It borrows the batch and allocates per part, not per row. Part.Bytes does not count:
// there is a key for each row of the part.
func (e *Encoder) Keys(batch arrow.RecordBatch, columns []int, p Part) (Keys, error) {
	s, err := e.open(batch)
	if err != nil {
		return Keys{}, err
	}
	defer e.close(s)
	if err := s.checkKeyColumns(columns); err != nil {
		return Keys{}, err
	}
	keys := Keys{ends: make([]int, p.end(s.rows)-p.From)}
	for i := range keys.ends {
		present, err := s.appendKey(columns, p.From+i)
		if err != nil {
			return Keys{}, atRow(err, p.From+i)
		}
		if !present && keys.absent == nil {
			keys.absent = make([]bool, len(keys.ends))
		}
		if !present {
			keys.absent[i] = true
		}
		keys.ends[i] = len(s.scratch)
	}
	keys.text = string(s.scratch)
	return keys, nil
}

func (s *session) checkKeyColumns(columns []int) error {
	if len(columns) == 0 {
		return deltaerr.New(deltaerr.Internal, "keys were asked for without key columns")
	}
	for _, c := range columns {
		if c < 0 || c >= len(s.fields) {
			return deltaerr.New(deltaerr.Internal, "no column has the position "+strconv.Itoa(c)+" of a key column")
		}
	}
	return nil
}

func (s *session) appendKey(columns []int, i int) (present bool, err error) {
	if len(columns) == 1 {
		s.scratch, present, err = appendBare(s.scratch, &s.fields[columns[0]].column, i)
		return present, err
	}
	s.scratch = append(s.scratch, '[')
	for k, c := range columns {
		if k > 0 {
			s.scratch = append(s.scratch, ',')
		}
		if s.scratch, err = s.fields[c].append(s.scratch, i); err != nil {
			return false, err
		}
	}
	s.scratch = append(s.scratch, ']')
	return true, nil
}

// appendBare adds a value as JSON writes it, but strings without quotes and escapes. false: it is null in JSON.
func appendBare(dst []byte, c *column, i int) ([]byte, bool, error) {
	if c.null(i) {
		return dst, false, nil
	}
	if text, ok := c.codec.(*texts); ok {
		raw := text.raw(i)
		if !utf8.Valid(raw) {
			return dst, false, text.invalid()
		}
		return append(dst, raw...), true, nil
	}
	start := len(dst)
	dst, err := c.codec.append(dst, i)
	if err != nil {
		return dst, false, err
	}
	value := dst[start:]
	if string(value) == "null" {
		return dst[:start], false, nil
	}
	if _, ok := c.codec.(*variants); ok && value[0] == '"' {
		return unquoted(dst, start)
	}
	if value[0] == '"' { // of a number, time or binary, which need no escapes
		copy(value, value[1:len(value)-1])
		dst = dst[:len(dst)-2]
	}
	return dst, true, nil
}
