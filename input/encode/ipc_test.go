package encode

import (
	"bytes"
	"io"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/ipc"
	"github.com/apache/arrow-go/v18/arrow/memory"
	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

func TestArrowStreamHoldsTheBatch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
		s := drawSample(t, mem)
		stream, _, err := ArrowIPC(s.batch, Part{})
		if err != nil {
			t.Fatalf("ArrowIPC: %v", err)
		}
		readOne(t, mem, stream, func(got arrow.RecordBatch) {
			if !got.Schema().Equal(s.batch.Schema()) {
				t.Fatalf("want the schema %v, got %v", s.batch.Schema(), got.Schema())
			}
			if got.NumRows() != s.batch.NumRows() || !array.RecordApproxEqual(s.batch, got, array.WithNaNsEqual(true), array.WithAbsTolerance(0)) {
				t.Fatalf("want %v\n got %v", s.batch, got)
			}
			if !s.fails() {
				checkJSON(t, mustEncoder(t, s.schema, s.values), sample{s.schema, got, s.rows, s.values, s.want})
			}
		})
		s.batch.Release()
		if left := mem.CurrentAlloc(); left != 0 {
			t.Fatalf("want no Arrow memory left, got %d bytes", left)
		}
	})
}

// readOne reads a stream of exactly one batch.
func readOne(t fataler, mem memory.Allocator, stream []byte, use func(arrow.RecordBatch)) {
	t.Helper()
	source := bytes.NewReader(stream)
	r, err := ipc.NewReader(source, ipc.WithAllocator(mem))
	if err != nil {
		t.Fatalf("opening the stream: %v", err)
	}
	defer r.Release()
	batch, err := r.Read()
	if err != nil {
		t.Fatalf("reading the batch: %v", err)
	}
	use(batch)
	if _, err := r.Read(); err != io.EOF { //nolint:errorlint // the bare io.EOF: a wrapped one is no end
		t.Fatalf("want the end after one batch, got %v", err)
	}
	if source.Len() != 0 {
		t.Fatalf("want nothing behind the end, got %d bytes", source.Len())
	}
}

func TestArrowStreamOfTooDeepTypesIsRefused(t *testing.T) {
	typ, value := schema.Type(schema.Long), any(int64(7))
	for range 70 {
		typ, value = &schema.Array{Element: typ, ContainsNull: true}, []any{value}
	}
	s := &schema.Struct{Fields: []schema.Field{{Name: "v", Type: typ, Nullable: true}}}
	batch := buildBatch(t, checked(t), s, []record{{value}})
	defer batch.Release()
	if _, _, err := ArrowIPC(batch, Part{}); err == nil || deltaerr.KindOf(err) != deltaerr.Unsupported {
		t.Errorf("want an unsupported error, got %v", err)
	}
}
