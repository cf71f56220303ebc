package encode

import (
	"strings"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/bitutil"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// codec reads the values of one array. Its caller is a [column], which answers for nulls and for arrays without rows:
// bind gets an array of at least one row, append and value are called for rows that are not null.
type codec interface {
	// bind keeps references into arr until unbind. false: arr is not of the codec's Arrow type.
	bind(arr arrow.Array) (bool, error)
	unbind()
	// append adds the JSON text of row i.
	append(dst []byte, i int) ([]byte, error)
	// value is row i for the structured format, in memory of its own.
	value(i int) (any, error)
}

// column is a codec with its nulls.
type column struct {
	codec    codec
	at       *place
	validity []byte // nil: no row is null
	offset   int
}

func (c *column) bind(arr arrow.Array) error {
	c.validity = nil
	if arr.NullN() > 0 {
		c.validity, c.offset = arr.NullBitmapBytes(), arr.Data().Offset()
	}
	if arr.Len() == 0 {
		return nil
	}
	ok, err := c.codec.bind(arr)
	if err == nil && !ok {
		err = c.at.fail(deltaerr.Internal, "the batch holds the unexpected Arrow type "+arr.DataType().String())
	}
	return err
}

func (c *column) unbind() {
	c.validity = nil
	c.codec.unbind()
}

func (c *column) null(i int) bool {
	return c.validity != nil && !bitutil.BitIsSet(c.validity, c.offset+i)
}

func (c *column) append(dst []byte, i int) ([]byte, error) {
	if c.null(i) {
		return append(dst, "null"...), nil
	}
	return c.codec.append(dst, i)
}

func (c *column) value(i int) (any, error) {
	if c.null(i) {
		return nil, nil
	}
	return c.codec.value(i)
}

// place is where a column stands in the schema. Its text is formed only for an error: paths of a deep schema are long.
type place struct {
	parent *place
	name   string
}

func (p *place) in(name string) *place { return &place{parent: p, name: name} }

func (p *place) String() string {
	var names []string
	for ; p != nil; p = p.parent {
		names = append(names, p.name)
	}
	for i, j := 0, len(names)-1; i < j; i, j = i+1, j-1 {
		names[i], names[j] = names[j], names[i]
	}
	return strings.Join(names, ".")
}

func (p *place) fail(kind deltaerr.Kind, msg string, attrs ...deltaerr.Attr) error {
	return deltaerr.New(kind, msg, append(attrs, deltaerr.Column(p.String()))...)
}
