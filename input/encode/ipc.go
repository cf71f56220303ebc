package encode

import (
	"bytes"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// ArrowIPC returns the batch as a self-contained Arrow IPC stream: schema, one record batch, end of stream. Values are
// the columns' own, whatever the value options say. It borrows the batch. Types nested deeper than 64 levels are an
// error: readers of the format refuse them.
func ArrowIPC(batch arrow.RecordBatch) ([]byte, error) {
	var buf bytes.Buffer
	w := ipc.NewWriter(&buf, ipc.WithSchema(batch.Schema()), ipc.WithAllocator(memory.NewGoAllocator()))
	err := w.Write(batch)
	if closeErr := w.Close(); err == nil {
		err = closeErr
	}
	if err != nil {
		return nil, deltaerr.New(deltaerr.Unsupported, "the batch has no Arrow IPC form",
			deltaerr.Phase("writing an Arrow IPC stream"), deltaerr.Cause(err))
	}
	return bytes.Clone(buf.Bytes()), nil
}
