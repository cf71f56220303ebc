package encode

import (
	"encoding/json"

	"github.com/apache/arrow-go/v18/arrow"
)

// StructuredRows is rows as maps of plain values. Ends are as those of [Rows], in bytes of memory, which are estimated.
type StructuredRows struct {
	Rows []map[string]any
	Ends []int
}

// Structured returns each row of a part as a map of plain values, which belong to the caller: string, json.Number (decimals
// of values.decimal number), int64, bool, float64, float32 (whose text is the shorter one), nil, []any, map[string]any. It
// borrows the batch and shares nothing between rows.
func (e *Encoder) Structured(batch arrow.RecordBatch, p Part) (StructuredRows, error) {
	s, err := e.open(batch)
	if err != nil {
		return StructuredRows{}, err
	}
	defer e.close(s)
	var out StructuredRows
	size := 0
	for i := p.From; i < p.end(s.rows); i++ {
		row, held, err := s.row(i)
		if err != nil {
			return StructuredRows{}, atRow(err, i)
		}
		if size += held; p.full(len(out.Rows)+1, size) {
			break
		}
		out.Rows, out.Ends = append(out.Rows, row), append(out.Ends, size)
	}
	return out, nil
}

// row also returns what the row holds in memory. Its values are weighed before they go into the map, since walking a map is slow.
func (s *session) row(i int) (row map[string]any, held int, err error) {
	row, held = make(map[string]any, len(s.fields)), weightOfMap
	for k := range s.fields {
		v, err := s.fields[k].value(i)
		if err != nil {
			return nil, 0, err
		}
		row[s.fields[k].name] = v
		held += weightOfEntry + weight(v)
	}
	return row, held, nil
}

// What Go takes, about: the entries of maps include the room that maps keep free.
const (
	weightOfMap   = 48
	weightOfEntry = 64
	weightOfValue = 16 // the two words of an interface
	weightOfBox   = 8  // what the second one points to
)

// weight estimates the bytes that a structured value holds beside its entry.
func weight(v any) int {
	switch v := v.(type) {
	case nil, bool:
		return 0
	case string:
		return weightOfValue + len(v)
	case json.Number:
		return weightOfValue + len(v)
	case []any:
		n := weightOfValue + weightOfBox
		for _, e := range v {
			n += weightOfValue + weight(e)
		}
		return n
	case map[string]any:
		n := weightOfMap
		for key, e := range v {
			n += weightOfEntry + len(key) + weight(e)
		}
		return n
	default:
		return weightOfBox
	}
}
