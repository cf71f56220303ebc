package main

import (
	"bufio"
	"cmp"
	"context"
	"fmt"
	"io"
	"iter"
	"runtime"
	"slices"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/urfave/cli/v2"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/exec"
	"github.com/benthos-delta/benthos-delta/input"
	"github.com/benthos-delta/benthos-delta/input/encode"
)

func scanCommand() *cli.Command {
	return &cli.Command{
		Name: "scan", Usage: "write the rows of a table version", ArgsUsage: "URI",
		Flags: slices.Concat(settingFlags(), rowFlags(), []cli.Flag{&cli.StringFlag{
			Name: "format", Value: "json",
			Usage: "json: one object a line; arrow: one Arrow IPC stream; count: the number of rows",
		}}),
		Action: func(c *cli.Context) error {
			format, err := oneOf(c, "format", "json", "arrow", "count")
			if err != nil {
				return err
			}
			config, err := settings(c, scanFields)
			if err != nil {
				return err
			}
			return scan(c, config, format)
		},
	}
}

// outputBuffer is large: rows go to a pipe or file, where few big writes are cheap.
const outputBuffer = 1 << 20

// scan writes the rows in a format. After an error what came before it is still written, and nothing more.
func scan(c *cli.Context, config configspec.Config, format string) error {
	budget := exec.NewBudget(config.Scan.MemoryLimit)
	table, err := open(c, config, budget)
	if err != nil {
		return err
	}
	options, _ := input.ScanOptions(config)
	options.BatchRows = decodedRows(config)
	out := bufio.NewWriterSize(c.App.Writer, outputBuffer)
	switch format {
	case "count":
		err = writeCount(c.Context, out, table, options)
	case "arrow":
		err = writeArrow(c.Context, out, arrowScan{table, options, config.BatchRows})
	default:
		err = writeJSON(c.Context, out, jsonScan{table, options, config.Values, budget})
	}
	return cmp.Or(err, writing(out.Flush())) // it writes in any case
}

// decodedRows is the size of the records that are decoded: small batches are cut of larger records, since decoding few rows
// at a time is slow. Larger ones than the most are not faster.
func decodedRows(c configspec.Config) int64 {
	const least, most = 8192, 65536
	return min(max(c.BatchRows, least), most)
}

func writing(err error) error {
	if err != nil {
		return fmt.Errorf("writing the output: %w", err)
	}
	return nil
}

type jsonScan struct {
	table   *deltacore.Table
	options deltacore.ScanOptions
	values  configspec.Values
	budget  *exec.Budget
}

// writeJSON writes a JSON object and a newline for each row: the bytes that a pipeline's json format has. Batches are
// encoded in parallel and written in order.
func writeJSON(ctx context.Context, out *bufio.Writer, j jsonScan) error {
	scan, err := j.table.Scan(ctx, j.options)
	if err != nil {
		return err
	}
	encoder, err := encode.New(scan.Columns(), j.values)
	if err != nil {
		return err
	}
	o := exec.Options[[]byte]{
		Workers: runtime.GOMAXPROCS(0), Budget: j.budget,
		Size: func(chunk []byte) int64 { return int64(cap(chunk)) },
	}
	written := make(chunkMemory, o.Workers+1)
	chunks := exec.Scoped(ctx, func(ctx context.Context) iter.Seq2[[]byte, error] {
		return exec.Ordered(ctx, scan.Batches(ctx), o, linesOf(encoder, written))
	})
	for chunk, err := range chunks {
		if err != nil {
			return deltaerr.Annotate(err, deltaerr.Table(j.table.URI()), deltaerr.Version(j.table.Version()))
		}
		if err := writeLines(out, chunk); err != nil {
			return err
		}
		written.put(chunk)
	}
	return nil
}

// chunkBytes is the largest chunk of several lines: text can be many times the size of the batch that it is made of.
const chunkBytes = 4 << 20

// chunkMemory holds chunks that were written, to be filled again: made anew they would be most of the garbage of a scan.
type chunkMemory chan []byte

// take returns a chunk, nil when there is none.
func (m chunkMemory) take() []byte {
	select {
	case chunk := <-m:
		return chunk
	default:
		return nil
	}
}

// put keeps a chunk unless there are enough, or it is one large row.
func (m chunkMemory) put(chunk []byte) {
	if cap(chunk) > 2*chunkBytes {
		return
	}
	select {
	case m <- chunk:
	default:
	}
}

// linesOf encodes a batch, which it takes over, as chunks of lines; none if it has no rows. It fills the memory of old chunks.
func linesOf(encoder *encode.Encoder, old chunkMemory) func(context.Context, deltacore.Batch, func([]byte) error) error {
	return func(_ context.Context, b deltacore.Batch, emit func([]byte) error) error {
		defer b.Record.Release()
		for part := (encode.Part{Bytes: chunkBytes}); part.From < int(b.Record.NumRows()); {
			chunk, rows, err := encoder.LinesInto(old.take(), b.Record, part)
			if err != nil {
				return encode.Locate(err, func(row int) (string, int64) { return b.Task.File, b.PhysicalRow(row) })
			}
			if err := emit(chunk); err != nil {
				return err
			}
			part.From += rows
		}
		return nil
	}
}

func writeLines(out *bufio.Writer, chunk []byte) error {
	if _, err := out.Write(chunk); err != nil {
		return writing(err)
	}
	return writing(out.WriteByte('\n'))
}

type arrowScan struct {
	table   *deltacore.Table
	options deltacore.ScanOptions
	rows    int64 // of a record batch, at most
}

// writeArrow writes one Arrow IPC stream; of a table without rows it holds the schema alone.
func writeArrow(ctx context.Context, out io.Writer, a arrowScan) error {
	scan, err := a.table.Scan(ctx, a.options)
	if err != nil {
		return err
	}
	w := ipc.NewWriter(out, ipc.WithSchema(scan.ArrowSchema()))
	for b, err := range scan.Batches(ctx) {
		if err != nil {
			return err // without the end marker, so that a reader sees that the stream was cut
		}
		err = writeRecord(w, b.Record, a.rows)
		b.Record.Release()
		if err != nil {
			return writing(err)
		}
	}
	return writing(w.Close())
}

// writeRecord writes the rows of a record, which it borrows, in batches of at most step rows.
func writeRecord(w *ipc.Writer, record arrow.RecordBatch, step int64) error {
	for from := int64(0); from < record.NumRows(); from += step {
		part := record.NewSlice(from, min(from+step, record.NumRows()))
		err := w.Write(part)
		part.Release()
		if err != nil {
			return err
		}
	}
	return nil
}

// writeCount writes the number of rows. It comes from the files' footers and deletion vectors, not from what the log says
// about them; no column is decoded.
func writeCount(ctx context.Context, out io.Writer, table *deltacore.Table, o deltacore.ScanOptions) error {
	columns, err := table.Schema()
	if err != nil {
		return err
	}
	if _, err = columns.Select(o.Columns); err != nil {
		return err
	}
	o.Columns, o.RowsOnly = nil, true
	scan, err := table.Scan(ctx, o)
	if err != nil {
		return err
	}
	var rows int64
	for b, err := range scan.Batches(ctx) {
		if err != nil {
			return err
		}
		rows += b.Record.NumRows()
		b.Record.Release()
	}
	_, err = fmt.Fprintln(out, rows)
	return writing(err)
}
