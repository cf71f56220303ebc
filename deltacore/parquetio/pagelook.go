package parquetio

import (
	"errors"
	"fmt"
	"math/bits"

	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// look checks an unpacked page before arrow-go decodes it: its decoders allocate what a page says of its values, and take a
// page that has too few of them for one that has more.
func (s *pageStream) look(p file.Page) error {
	if d, ok := p.(*file.DictionaryPage); ok {
		return s.lookAtDictionary(d)
	}
	values, defs, err := s.split(p)
	if err != nil {
		return damaged(err)
	}
	switch encoding := parquet.Encoding(p.Encoding()); encoding {
	case parquet.Encodings.DeltaBinaryPacked, parquet.Encodings.DeltaLengthByteArray, parquet.Encodings.DeltaByteArray:
		need, err := deltaSize(values, encoding, defs.countHighest())
		if err != nil {
			return deltaPage(err)
		}
		s.mem.hold(need)
		s.held = need
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

// lookAtDictionary counts what arrow-go makes of a dictionary: a table of its values.
func (s *pageStream) lookAtDictionary(p *file.DictionaryPage) error {
	n, size := int64(p.NumValues()), int64(len(p.Data()))
	least, entry := int64(4), int64(24) // a length, and a slice
	switch s.chunk.node.leaf.physical {
	case parquet.Types.FixedLenByteArray:
		least = max(1, int64(s.chunk.node.leaf.length))
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
	s.mem.hold(2 * n * entry) // it is built in a second place
	return nil
}

// split returns the bytes of a data page's values, and its definition levels.
func (s *pageStream) split(p file.Page) (values []byte, defs runs, err error) {
	l, data := s.chunk.node.levels, p.Data()
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
	if index := s.chunk.index; index != nil && l.rep > 0 {
		reps.highest = 0
		if from, to := index.rows(s.number); !reps.beginsWith(0) || int64(reps.countHighest()) != to-from {
			return nil, defs, errWrongIndex
		}
	}
	return data, defs, nil
}
