package parquetio

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// pageReader looks at the unpacked pages of a column chunk before arrow-go decodes them: its decoders allocate what a
// page says of its values, and take a page that has too few of them for one that has more.
type pageReader struct {
	file.PageReader

	leaf *node
	mem  *ledger
	held int64 // for the present page
	err  error
}

// Next goes to the next page.
func (r *pageReader) Next() bool {
	r.mem.hold(-r.held)
	if r.held = 0; r.err != nil || !r.PageReader.Next() {
		return false
	}
	r.err = r.check(r.PageReader.Page())
	return r.err == nil
}

// Err returns why there is no next page.
func (r *pageReader) Err() error {
	if r.err != nil {
		return r.err
	}
	return r.PageReader.Err()
}

func (r *pageReader) check(p file.Page) error {
	if d, ok := p.(*file.DictionaryPage); ok {
		return r.dictionary(d)
	}
	values, defs, err := r.split(p)
	if err != nil {
		return damaged(err)
	}
	switch encoding := parquet.Encoding(p.Encoding()); encoding {
	case parquet.Encodings.DeltaBinaryPacked, parquet.Encodings.DeltaLengthByteArray, parquet.Encodings.DeltaByteArray:
		need, err := deltaSize(values, encoding, defs.countHighest())
		if err != nil {
			return deltaPage(err)
		}
		r.mem.hold(need)
		r.held = need
	case parquet.Encodings.RLEDict, parquet.Encodings.PlainDict:
		if !indexesFit(values, defs.countHighest()) {
			return damaged(errIndexes)
		}
	}
	return nil
}

var errIndexes = errors.New("the dictionary indexes of a page do not fit into it: damaged")

// indexesFit looks at the runs of dictionary indexes, behind the bits of one.
func indexesFit(values []byte, count int) bool {
	if count == 0 {
		return true
	}
	if len(values) == 0 || values[0] > 32 {
		return false
	}
	indexes := runs{bytes: values[1:], width: int(values[0]), count: count}
	return indexes.fit()
}

func deltaPage(err error) error {
	return deltaerr.New(deltaerr.Corrupt, "a page of delta-encoded values cannot be decoded", deltaerr.Cause(err))
}

// dictionary counts what arrow-go makes of a dictionary: a table of its values.
func (r *pageReader) dictionary(p *file.DictionaryPage) error {
	n, size := int64(p.NumValues()), int64(len(p.Data()))
	least, entry := int64(4), int64(24) // a length, and a slice
	switch r.leaf.leaf.physical {
	case parquet.Types.FixedLenByteArray:
		least = max(1, int64(r.leaf.leaf.length))
	case parquet.Types.Boolean:
		return deltaerr.New(deltaerr.Corrupt, "booleans have a dictionary")
	case parquet.Types.Int32, parquet.Types.Float:
		entry = 4
	case parquet.Types.Int64, parquet.Types.Double:
		least, entry = 8, 8
	}
	if n > size/least {
		return deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("the dictionary claims %d values, its page has %d bytes", n, size))
	}
	r.mem.hold(2 * n * entry) // it is built in a second place
	return nil
}

// split returns the bytes of a data page's values, and its definition levels.
func (r *pageReader) split(p file.Page) (values []byte, defs runs, err error) {
	l, data := r.leaf.levels, p.Data()
	reps := runs{width: bits.Len16(uint16(l.rep)), count: int(p.NumValues())}
	defs = runs{width: bits.Len16(uint16(l.def)), count: reps.count, highest: uint64(l.def)}
	switch p := p.(type) {
	case *file.DataPageV2:
		rep, def := int(p.RepetitionLevelByteLen()), int(p.DefinitionLevelByteLen())
		if rep < 0 || def < 0 || rep+def > len(data) {
			return nil, defs, errLevels
		}
		reps.bytes, defs.bytes, data = data[:rep], data[rep:rep+def], data[rep+def:]
	case *file.DataPageV1:
		if data, err = reps.cut(data, p.RepetitionLevelEncoding()); err == nil {
			data, err = defs.cut(data, p.DefinitionLevelEncoding())
		}
	}
	if err != nil || !reps.fit() || !defs.fit() {
		return nil, defs, errLevels
	}
	return data, defs, nil
}
