package main

import (
	"bufio"
	"cmp"
	"context"
	"iter"
	"os"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/exec"
	"github.com/benthos-delta/benthos-delta/input/encode"
)

// toNDJSON writes all rows as lines of JSON, encoded in parallel as by benthos-delta.
func (b *bench) toNDJSON(ctx context.Context) error {
	scan, err := b.scan(ctx, selection{})
	if err != nil {
		return err
	}
	config, err := configspec.Decode(map[string]any{"uri": b.table})
	if err != nil {
		return err
	}
	encoder, err := encode.New(scan.Columns(), config.Values)
	if err != nil {
		return err
	}
	file, err := os.Create(b.out)
	if err != nil {
		return err
	}
	out := bufio.NewWriterSize(file, 1<<20)
	err = b.writeLines(out, b.chunks(ctx, scan, encoder))
	return cmp.Or(err, out.Flush(), file.Close())
}

// chunk is some rows as lines, without the last newline.
type chunk struct {
	text []byte
	rows int64
}

// chunks encodes the rows of a scan.
func (b *bench) chunks(ctx context.Context, scan *deltacore.Scan, encoder *encode.Encoder) iter.Seq2[chunk, error] {
	o := exec.Options[chunk]{Workers: b.target, Budget: b.budget, Size: func(c chunk) int64 { return int64(cap(c.text)) }}
	return exec.Scoped(ctx, func(ctx context.Context) iter.Seq2[chunk, error] {
		return exec.Ordered(ctx, scan.Batches(ctx), o, func(_ context.Context, batch deltacore.Batch, emit func(chunk) error) error {
			defer batch.Record.Release()
			const most = 4 << 20
			for part := (encode.Part{Bytes: most}); part.From < int(batch.Record.NumRows()); {
				text, rows, err := encoder.LinesInto(b.oldChunk(), batch.Record, part)
				if err != nil {
					return err
				}
				if err := emit(chunk{text, int64(rows)}); err != nil {
					return err
				}
				part.From += rows
			}
			return nil
		})
	})
}

// oldChunk is the memory of a chunk that was written, nil when there is none.
func (b *bench) oldChunk() []byte {
	select {
	case text := <-b.written:
		return text
	default:
		return nil
	}
}

func (b *bench) writeLines(out *bufio.Writer, chunks iter.Seq2[chunk, error]) error {
	var rows, bytes int64
	for c, err := range chunks {
		if err != nil {
			return err
		}
		if _, err := out.Write(c.text); err != nil {
			return err
		}
		if err := out.WriteByte('\n'); err != nil {
			return err
		}
		rows, bytes = rows+c.rows, bytes+int64(len(c.text))+1
		select {
		case b.written <- c.text:
		default:
		}
	}
	b.result["rows"], b.result["bytes"] = rows, bytes
	return nil
}
