package encode

import (
	"bytes"
	"sort"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// ArrowIPC returns the rows of a part as a self-contained Arrow IPC stream: schema, one record batch, end of stream. rows is
// how many it holds. Values are the columns' own, whatever the value options say. Part.Bytes is compared with [ValueBytes]:
// the schema and the headers of the columns come on top. It borrows the batch. Types nested deeper than 64 levels are an
// error: readers of the format refuse them.
func ArrowIPC(batch arrow.RecordBatch, p Part) (content []byte, rows int64, err error) {
	record := batch.NewSlice(int64(p.From), int64(p.From)+fitting(batch, p))
	defer record.Release()
	var buf bytes.Buffer
	w := ipc.NewWriter(&buf, ipc.WithSchema(record.Schema()), ipc.WithAllocator(memory.NewGoAllocator()))
	err = w.Write(record)
	if closeErr := w.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, 0, deltaerr.New(deltaerr.Unsupported, "the batch has no Arrow IPC form",
			deltaerr.Phase("writing an Arrow IPC stream"), deltaerr.Cause(err))
	}
	return bytes.Clone(buf.Bytes()), record.NumRows(), nil
}

// fitting is the number of rows of a part whose values take no more bytes than it may have, one at least.
func fitting(batch arrow.RecordBatch, p Part) int64 {
	rows := p.end(int(batch.NumRows())) - p.From
	if p.Bytes <= 0 {
		return int64(rows)
	}
	more := sort.Search(rows, func(n int) bool { return valueBytes(batch, int64(p.From), int64(p.From+n+1)) > int64(p.Bytes) })
	return int64(min(max(more, 1), rows))
}
