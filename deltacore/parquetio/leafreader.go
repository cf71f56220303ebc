package parquetio

import (
	"fmt"
	"sync"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"
	"github.com/apache/arrow-go/v18/parquet/schema"

	"github.com/benthos-delta/benthos-delta/deltacore/arrowdata"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// leafReader reads one column chunk with arrow-go's record reader, below its assembly of nested columns: that takes lists
// from the levels of one leaf and never looks whether the others agree.
type leafReader struct {
	node    *node
	index   int // in the projection
	mem     *ledger
	typ     arrow.DataType // as read
	records file.RecordReader
	pages   *pageStream
	taken   int64 // rows that arrow-go has given

	perRow int64 // bytes that a row may unpack to

	data   arrow.ArrayData // of the batch: one value for each element of the nearest list, or row
	levels runLevels       // of the batch
	copied int64           // bytes of levels
}

// leafPlace is a leaf in the projection, with its column chunk.
type leafPlace struct {
	chunk chunk
	index int
	descr *schema.Column
	rows  int64 // of the row group
}

func newLeafReader(at leafPlace, pages *pageStream, mem *ledger, pool *sync.Pool) (*leafReader, error) {
	n := at.chunk.node
	typ := readType(n.leaf)
	l := &leafReader{
		node: n, index: at.index, mem: mem, typ: typ, pages: pages, perRow: at.chunk.likely / at.rows,
		records: file.NewRecordReader(at.descr, n.levels.info(), typ, mem, pool),
	}
	if records, ok := l.records.(file.RecordReaderWithError); ok {
		return l, records.SetPageReaderWithError(pages)
	}
	l.records.SetPageReader(pages)
	return l, nil
}

// readType is the Arrow type as which the values are read, before their conversion.
func readType(l leafForm) arrow.DataType {
	switch l.physical {
	case parquet.Types.Boolean:
		return arrow.FixedWidthTypes.Boolean
	case parquet.Types.Int32:
		return arrow.PrimitiveTypes.Int32
	case parquet.Types.Int64:
		return arrow.PrimitiveTypes.Int64
	case parquet.Types.Float:
		return arrow.PrimitiveTypes.Float32
	case parquet.Types.Double:
		return arrow.PrimitiveTypes.Float64
	case parquet.Types.FixedLenByteArray:
		return &arrow.FixedSizeBinaryType{ByteWidth: l.length}
	default:
		return arrow.BinaryTypes.Binary
	}
}

// load reads rows. What it read before is behind them.
func (l *leafReader) load(rows Ranges) error {
	if len(rows) == 1 {
		d, levels, err := l.piece(rows[0])
		l.data, l.levels = d, levels
		return err
	}
	var parts []arrow.ArrayData
	defer func() { arrowdata.Release(parts) }()
	l.levels = runLevels{}
	for _, r := range rows {
		d, levels, err := l.piece(r)
		if err != nil {
			return err
		}
		parts = append(parts, d)
		l.copied += l.mem.holdValues(int64(len(levels.def)+len(levels.rep)) * 4) // room to grow
		l.levels.append(levels)
	}
	var err error
	l.data, err = joined(l.mem, parts)
	return err
}

// joined makes one array of several.
func joined(mem memory.Allocator, parts []arrow.ArrayData) (arrow.ArrayData, error) {
	arrays := make([]arrow.Array, len(parts))
	for i, d := range parts {
		arrays[i] = array.MakeFromData(d)
		defer arrays[i].Release()
	}
	a, err := array.Concatenate(arrays, mem)
	if err != nil {
		return nil, err
	}
	defer a.Release()
	d := a.Data()
	d.Retain()
	return d, nil
}

// piece reads rows that stand together. The levels are good until the next call.
func (l *leafReader) piece(rows Range) (arrow.ArrayData, runLevels, error) {
	if err := l.skip(rows.From); err != nil {
		return nil, runLevels{}, err
	}
	n := rows.To - rows.From
	if err := l.decode(n); err != nil {
		return nil, runLevels{}, err
	}
	return l.values(), l.run(), nil
}

// at is the row that comes next.
func (l *leafReader) at() int64 { return l.taken + l.pages.passed }

// skip goes to a row. Pages without wanted rows are not read; of others, what is before the row is decoded and dropped.
func (l *leafReader) skip(to int64) error {
	for l.at() < to {
		n := min(to-l.at(), mostSkipped)
		if l.pages.until == l.at() {
			l.pages.find()
			if l.pages.err != nil {
				return l.pages.err
			}
			if n = to - l.at(); n <= 0 {
				break
			}
		}
		if l.pages.until >= 0 {
			n = min(n, l.pages.until-l.at())
		}
		if n <= 0 {
			return deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("the pages end at row %d, row %d is wanted", l.at(), to))
		}
		if err := l.decode(n); err != nil {
			return err
		}
		l.values().Release()
	}
	if l.at() != to {
		return deltaerr.New(deltaerr.Internal, fmt.Sprintf("the reader is at row %d, row %d is wanted", l.at(), to))
	}
	return nil
}

// mostSkipped are the rows that are decoded at a time to be dropped.
const mostSkipped = 8192

// decode reads the next n rows.
func (l *leafReader) decode(n int64) error {
	l.records.Reset()
	queued := l.queued()
	if err := l.reserve(n); err != nil {
		return err
	}
	read, err := l.read(n, queued)
	l.taken += read
	if err != nil {
		return err
	}
	if read != n {
		return deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("the pages end %d rows before the footer says", n-read))
	}
	return l.run().check(l.node.levels)
}

// reserve makes room for n rows. arrow-go doubles what is a power of two, as the most rows of a batch are, so one row is left
// out: its room is there all the same.
func (l *leafReader) reserve(n int64) error {
	if binary, ok := l.records.(file.BinaryRecordReader); ok {
		binary.ReserveData(l.perRow * n)
	}
	return l.records.Reserve(max(n-1, 1))
}

// read reads n rows, first those whose levels arrow-go has queued. It makes room for as many values as it reads levels, which
// may be as many as it is asked for rows, whatever it has: so it is never asked for rows of two places at once.
func (l *leafReader) read(n, queued int64) (read int64, err error) {
	for read < n {
		some := l.inPage(l.at()+read, n-read)
		if read < queued {
			some = min(some, queued-read)
		}
		more, err := l.records.ReadRecords(some)
		if err != nil || more == 0 {
			return read, err
		}
		read += more
	}
	return read, nil
}

// queued is how many rows arrow-go has the levels of, after a reset.
func (l *leafReader) queued() int64 {
	if l.node.levels.def == 0 || l.node.levels.rep > 0 {
		return 0
	}
	return int64(len(l.records.DefLevels()))
}

// inPage is how many of n rows from a row on are in one page, where that is known.
func (l *leafReader) inPage(from, n int64) int64 {
	if l.node.levels.rep > 0 || l.pages.until <= from {
		return n
	}
	return min(n, l.pages.until-from)
}

// run returns the levels of the batch.
func (l *leafReader) run() runLevels {
	var r runLevels
	n := l.records.LevelsPos()
	if l.node.levels.def > 0 {
		r.def = l.records.DefLevels()[:n]
	}
	if l.node.levels.rep > 0 {
		r.rep = l.records.RepLevels()[:n]
	}
	return r
}

// values takes the values of the batch from arrow-go.
func (l *leafReader) values() arrow.ArrayData {
	if binary, ok := l.records.(file.BinaryRecordReader); ok {
		chunk := binary.GetBuilderChunks()[0] // it has one unless a dictionary is kept
		defer chunk.Release()
		d := chunk.Data()
		d.Retain()
		l.expect(d)
		return d
	}
	rows, nulls := l.records.ValuesWritten(), int(l.records.NullCount())
	valid := l.records.ReleaseValidBits()
	var values *memory.Buffer
	if bits, ok := l.records.(file.BooleanRecordReader); ok {
		values = bits.ReleaseValueBitmap()
	} else {
		values = l.records.ReleaseValues()
	}
	defer values.Release()
	if valid != nil {
		defer valid.Release()
	}
	if nulls == 0 {
		return array.NewData(l.typ, rows, []*memory.Buffer{nil, values}, nil, 0, 0)
	}
	return array.NewData(l.typ, rows, []*memory.Buffer{valid, values}, nil, nulls, 0)
}

// expect remembers how long the values of a row are: the next ones are about as long. Of a dictionary's the footer does not
// say it.
func (l *leafReader) expect(d arrow.ArrayData) {
	if text := d.Buffers(); len(text) == 3 && text[2] != nil && d.Len() > 0 {
		bytes := int64(text[2].Len())
		l.perRow = (bytes+bytes/32)/int64(d.Len()) + 1
	}
}

// end checks that there are no more rows.
func (l *leafReader) end() error {
	l.records.Reset()
	more, err := l.records.ReadRecords(1)
	if err == nil && more > 0 {
		return deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("the pages hold more than the %d rows that the footer says", l.at()))
	}
	return err
}

func (l *leafReader) release() {
	if l.data != nil {
		l.data.Release()
		l.data = nil
	}
	l.mem.column = l.index
	l.mem.holdValues(-l.copied)
	l.copied = 0
}

func (l *leafReader) close() {
	l.release()
	l.records.Release()
}
