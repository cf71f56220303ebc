package parquetio

import (
	"fmt"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet"
	"github.com/apache/arrow-go/v18/parquet/file"

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

	likely, rows int64 // bytes and rows of the column chunk

	data   arrow.ArrayData // of the batch: one value for each element of the nearest list, or row
	levels runLevels       // of the batch
}

func newLeafReader(n *node, reader *file.Reader, index int, mem *ledger) *leafReader {
	descr := reader.MetaData().Schema.Column(index)
	typ := readType(n.leaf)
	return &leafReader{
		node: n, index: index, mem: mem, typ: typ,
		records: file.NewRecordReader(descr, n.levels.info(), typ, mem, reader.BufferPool()),
	}
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

// begin gives the reader its pages. likely is what they may unpack to.
func (l *leafReader) begin(pages file.PageReader, likely, rows int64) error {
	l.likely, l.rows = likely, rows
	checked := &pageReader{PageReader: pages, leaf: l.node, mem: l.mem}
	if records, ok := l.records.(file.RecordReaderWithError); ok {
		return records.SetPageReaderWithError(checked)
	}
	l.records.SetPageReader(checked)
	return nil
}

// load reads the next n rows.
func (l *leafReader) load(n int64) error {
	l.records.Reset()
	if binary, ok := l.records.(file.BinaryRecordReader); ok {
		binary.ReserveData(l.likely / l.rows * n)
	}
	if err := l.records.Reserve(n); err != nil {
		return err
	}
	read, err := l.read(n)
	if err != nil {
		return err
	}
	if l.levels = l.run(); read != n {
		return deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("the pages end %d rows before the footer says", n-read))
	}
	if err := l.levels.check(l.node.levels); err != nil {
		return err
	}
	l.data = l.values()
	return nil
}

func (l *leafReader) read(n int64) (read int64, err error) {
	for read < n {
		more, err := l.records.ReadRecords(n - read)
		if err != nil || more == 0 {
			return read, err
		}
		read += more
	}
	return read, nil
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

// end checks that there are no more rows.
func (l *leafReader) end() error {
	l.records.Reset()
	more, err := l.records.ReadRecords(1)
	if err == nil && more > 0 {
		return deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("the pages hold more than the %d rows that the footer says", l.rows))
	}
	return err
}

func (l *leafReader) release() {
	if l.data != nil {
		l.data.Release()
		l.data = nil
	}
}

func (l *leafReader) close() {
	l.release()
	l.records.Release()
}
