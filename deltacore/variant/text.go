package variant

import "github.com/benthos-delta/benthos-delta/deltacore/jsonform"

// String writes a text, which has to be valid UTF-8.
func (w *Writer) String(v []byte) error {
	text, ok := jsonform.AppendString(w.text, v)
	if !ok {
		return corrupt("a string is not valid UTF-8")
	}
	w.text = text
	return nil
}
