package encode

import (
	"bytes"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

func newMap(t *schema.Map, v configspec.Values, at *place, depth int) (codec, error) {
	key, err := newColumn(t.Key, v, at.in("key"), depth+1)
	if err != nil {
		return nil, err
	}
	value, err := newColumn(t.Value, v, at.in("value"), depth+1)
	if err != nil {
		return nil, err
	}
	e := entries{key: key, item: value}
	if text, ok := key.codec.(*texts); ok {
		return &objects{entries: e, text: text}, nil
	}
	return &pairs{entries: e}, nil
}

// entries is the keys and values of a map array.
type entries struct {
	key, item column
	offsets   []int32
}

func (e *entries) bind(arr arrow.Array) (bool, error) {
	a, ok := arr.(*array.Map)
	if !ok {
		return false, nil
	}
	e.offsets = rowOffsets(a)
	if err := e.key.bind(a.Keys()); err != nil {
		return true, err
	}
	return true, e.item.bind(a.Items())
}

func (e *entries) unbind() {
	e.offsets = nil
	e.key.unbind()
	e.item.unbind()
}

// pairs writes a map as an array of {"key":…,"value":…}.
type pairs struct{ entries }

func (p *pairs) append(dst []byte, i int) (_ []byte, err error) {
	dst = append(dst, '[')
	start, end := int(p.offsets[i]), int(p.offsets[i+1])
	for k := start; k < end; k++ {
		if k > start {
			dst = append(dst, ',')
		}
		dst = append(dst, `{"key":`...)
		if dst, err = p.key.append(dst, k); err != nil {
			return dst, err
		}
		dst = append(dst, `,"value":`...)
		if dst, err = p.item.append(dst, k); err != nil {
			return dst, err
		}
		dst = append(dst, '}')
	}
	return append(dst, ']'), nil
}

func (p *pairs) value(i int) (any, error) {
	start, end := int(p.offsets[i]), int(p.offsets[i+1])
	list := make([]any, 0, end-start)
	for k := start; k < end; k++ {
		key, err := p.key.value(k)
		if err != nil {
			return nil, err
		}
		item, err := p.item.value(k)
		if err != nil {
			return nil, err
		}
		list = append(list, map[string]any{"key": key, "value": item})
	}
	return list, nil
}

// objects writes a map with text keys as an object, in the order of the file.
type objects struct {
	entries
	text   *texts // the key column's codec
	sorted [][]byte
}

func (o *objects) append(dst []byte, i int) (_ []byte, err error) {
	start, end := int(o.offsets[i]), int(o.offsets[i+1])
	if err := o.checkKeys(start, end); err != nil {
		return dst, err
	}
	dst = append(dst, '{')
	for k := start; k < end; k++ {
		if k > start {
			dst = append(dst, ',')
		}
		if dst, err = o.text.append(dst, k); err != nil {
			return dst, err
		}
		dst = append(dst, ':')
		if dst, err = o.item.append(dst, k); err != nil {
			return dst, err
		}
	}
	return append(dst, '}'), nil
}

func (o *objects) value(i int) (any, error) {
	start, end := int(o.offsets[i]), int(o.offsets[i+1])
	if err := o.checkKeys(start, end); err != nil {
		return nil, err
	}
	object := make(map[string]any, end-start)
	for k := start; k < end; k++ {
		key, err := o.text.string(k)
		if err != nil {
			return nil, err
		}
		if object[key], err = o.item.value(k); err != nil {
			return nil, err
		}
	}
	return object, nil
}

// checkKeys refuses null and repeated keys. Up to 16 entries are compared pair by pair, more are sorted.
func (o *objects) checkKeys(start, end int) error {
	for k := start; k < end; k++ {
		if o.key.null(k) {
			return o.key.at.fail(deltaerr.Corrupt, "a map has a null key")
		}
	}
	if end-start > 16 {
		return o.checkSorted(start, end)
	}
	for k := start + 1; k < end; k++ {
		for earlier := start; earlier < k; earlier++ {
			if bytes.Equal(o.text.raw(earlier), o.text.raw(k)) {
				return o.repeated()
			}
		}
	}
	return nil
}

func (o *objects) checkSorted(start, end int) error {
	o.sorted = o.sorted[:0]
	for k := start; k < end; k++ {
		o.sorted = append(o.sorted, o.text.raw(k))
	}
	defer func() {
		clear(o.sorted)
		o.sorted = reuse(o.sorted, maxIndexes)
	}()
	slices.SortFunc(o.sorted, bytes.Compare)
	for k := 1; k < len(o.sorted); k++ {
		if bytes.Equal(o.sorted[k-1], o.sorted[k]) {
			return o.repeated()
		}
	}
	return nil
}

func (o *objects) repeated() error {
	return o.key.at.fail(deltaerr.Corrupt, "a map has the same key twice, which a JSON object cannot hold",
		deltaerr.Hint("leave the column out with the field columns, or use format arrow_ipc, which carries both entries"))
}
