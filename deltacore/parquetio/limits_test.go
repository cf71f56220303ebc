package parquetio

import (
	"bytes"
	"encoding/binary"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow/memory"
	"github.com/apache/arrow-go/v18/parquet/compress"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

func TestReadBuffersOfAWideFileAreBounded(t *testing.T) {
	for _, leaves := range []int{1, 10, 128, 400, 1000} {
		l := &chunkLimits{rows: 1}
		for range leaves {
			l.add(1<<20, 1<<20)
		}
		size := l.readAhead(readBuffer)
		if total := size * int64(leaves); size < minReadBuffer || size > readBuffer || total > max(allReadBuffers, int64(leaves)*minReadBuffer) {
			t.Errorf("%d leaves: buffers of %d bytes, %d in all", leaves, size, total)
		}
	}
}

func TestPagesAreBoundedByTheirColumnAndACeiling(t *testing.T) {
	tests := map[string]struct{ size, uncompressed, wantSize, wantUncompressed int64 }{
		"small":  {1000, 5000, 1000, freePageSize},
		"large":  {300 << 20, 900 << 20, 300 << 20, 900 << 20},
		"absurd": {5 << 30, 1 << 50, maxPageSize, maxPageSize},
	}
	for name, test := range tests {
		l := &chunkLimits{rows: 1}
		l.add(test.size, test.uncompressed)
		packed, unpacked := l.pageSizes()
		if packed != test.wantSize || unpacked != test.wantUncompressed {
			t.Errorf("%s: want %d and %d, got %d and %d", name, test.wantSize, test.wantUncompressed, packed, unpacked)
		}
	}
}

func TestBatchesOfLargeRowsHaveFewerRows(t *testing.T) {
	tests := []struct{ rows, size, uncompressed, want int64 }{
		{1000, 1000, 8000, 8192},
		{1000, 1000 << 20, 1000 << 20, 31},
		{2, 1 << 30, 1 << 30, 1},
		{1000, 10, 1 << 60, 8192}, // nobody believes that
		{1000, 10, -5, 8192},
	}
	for _, test := range tests {
		l := &chunkLimits{rows: test.rows}
		l.add(test.size, test.uncompressed)
		if got := l.batchRows(8192); got != test.want {
			t.Errorf("%+v: got %d", test, got)
		}
	}
}

// TestALedgerBoundsARead: the pages and values of all columns together, but for the largest one's pages and, in a batch of one
// row, its values.
func TestALedgerBoundsARead(t *testing.T) {
	const most = readMemory + 3*leafMemory
	tests := map[string]struct {
		used   []use
		oneRow bool
		pages  bool
		more   int
		fits   bool
	}{
		"few":                          {[]use{{0, 0}, {1 << 20, 1 << 20}, {}}, false, false, 100, true},
		"values up to the ceiling":     {[]use{{0, most - 100}, {}, {}}, false, false, 100, true},
		"values above it":              {[]use{{0, most - 100}, {}, {}}, false, false, 101, false},
		"of one row":                   {[]use{{0, most - 100}, {}, {}}, true, false, 101, true},
		"of one row, in two columns":   {[]use{{0, most}, {0, most + 1}, {}}, true, false, 101, false},
		"large pages of one column":    {[]use{{most, 0}, {}, {}}, false, true, 1 << 20, true},
		"and of another":               {[]use{{0, 0}, {most - 100, 0}, {most, 0}}, false, true, 101, false},
		"a page above all ceilings":    {[]use{{0, 0}, {}, {}}, false, true, maxColumnMemory + 1, false},
		"the values beside large ones": {[]use{{most, most - 100}, {}, {}}, false, false, 101, false},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			l := newLedger(memory.NewGoAllocator(), mostMemory(3), 3)
			l.oneRow = test.oneRow
			for i, u := range test.used {
				l.book(i, true, u.pages)
				l.book(i, false, u.values)
			}
			err := guard(columnPages, func() error {
				l.reserve(test.pages, int64(test.more))
				return nil
			})
			if fits := err == nil; fits != test.fits {
				t.Errorf("want fits %t, got %v", test.fits, err)
			}
			if again := !test.fits && !test.oneRow && !test.pages; l.full != again {
				t.Errorf("want another try %t, got %t", again, l.full)
			}
			if err != nil && deltaerr.KindOf(err) != deltaerr.Unsupported {
				t.Errorf("want unsupported, got %v", err)
			}
		})
	}
}

func TestALedgerGivesBackWhatWasNotGivenOut(t *testing.T) {
	mem := memory.NewCheckedAllocator(memory.NewGoAllocator())
	l := newLedger(mem, 1<<20, 1)
	kept, forgotten := l.Allocate(100), l.Allocate(10)
	forgotten = l.Reallocate(1000, forgotten)
	l.Free(l.Allocate(50))
	_ = forgotten
	l.forget(kept)
	l.close()
	if n := mem.CurrentAlloc(); n != 100 {
		t.Errorf("want 100 bytes left, got %d", n)
	}
	l.Free(kept)
	mem.AssertSize(t, 0)
}

// TestCodecsUnpackNoMoreThanAsked: small blocks that unpack to much more than the page header says.
func TestCodecsUnpackNoMoreThanAsked(t *testing.T) {
	zeros := make([]byte, 4<<20)
	for _, c := range []compress.Compression{
		compress.Codecs.Snappy, compress.Codecs.Zstd, compress.Codecs.Gzip, compress.Codecs.Brotli, compress.Codecs.Lz4Raw, compress.Codecs.Lz4,
	} {
		codec, err := compress.GetCodec(c)
		if err != nil {
			t.Fatal(err)
		}
		packed := codec.Encode(nil, zeros)
		for _, dst := range [][]byte{nil, make([]byte, 10)} {
			if out, err := compress.Decode(codec, dst, packed); err == nil {
				t.Errorf("%s: want an error, got %d bytes", c, len(out))
			}
		}
		out, err := compress.Decode(codec, make([]byte, len(zeros)), packed)
		if err != nil || !bytes.Equal(out, zeros) {
			t.Errorf("%s: does not unpack: %v", c, err)
		}
	}
	snappy, _ := compress.GetCodec(compress.Codecs.Snappy)
	bomb := append(binary.AppendUvarint(nil, 1<<32-1), 0)
	if _, err := compress.Decode(snappy, make([]byte, 10), bomb); err == nil || !strings.Contains(err.Error(), "4294967295 bytes for a page of 10") {
		t.Errorf("want the claim refused, got %v", err)
	}
}

// TestSnappyIsReadAsItsFormatSays: a copy of offset 0 is an extension of another format.
func TestSnappyIsReadAsItsFormatSays(t *testing.T) {
	blocks := map[string][]byte{
		"copy of offset 0":         {12, 3 << 2, 'a', 'b', 'c', 'd', 0<<5 | 1, 4, 0<<5 | 1, 0},
		"long copy of offset 0":    {8, 3 << 2, 'a', 'b', 'c', 'd', 3<<2 | 2, 0, 0},
		"copy from before":         {8, 3 << 2, 'a', 'b', 'c', 'd', 0<<5 | 1, 5},
		"fewer bytes than claimed": {13, 3 << 2, 'a', 'b', 'c', 'd', 0<<5 | 1, 4},
	}
	codec, _ := compress.GetCodec(compress.Codecs.Snappy)
	for name, block := range blocks {
		if out, err := compress.Decode(codec, make([]byte, block[0]), block); err == nil {
			t.Errorf("%s: want an error, got %q", name, out)
		}
	}
	good := []byte{8, 3 << 2, 'a', 'b', 'c', 'd', 0<<5 | 1, 4}
	if out, err := compress.Decode(codec, make([]byte, 8), good); err != nil || string(out) != "abcdabcd" {
		t.Errorf("want abcdabcd, got %q, %v", out, err)
	}
}

// TestAPageHasTheSizeThatItsHeaderSays: a block that unpacks to fewer bytes leaves others in the page.
func TestAPageHasTheSizeThatItsHeaderSays(t *testing.T) {
	for _, c := range []compress.Compression{
		compress.Codecs.Snappy, compress.Codecs.Zstd, compress.Codecs.Gzip, compress.Codecs.Brotli, compress.Codecs.Lz4Raw, compress.Codecs.Lz4,
	} {
		codec, _ := compress.GetCodec(c)
		packed := codec.Encode(make([]byte, codec.CompressBound(1000)), make([]byte, 1000))
		if out, err := compress.Decode(codec, make([]byte, 1001), packed); err == nil && len(out) == 1001 {
			t.Errorf("%s: want an error", c)
		}
	}
}

func TestLZ4IsReadWithAndWithoutHadoopFraming(t *testing.T) {
	raw, _ := compress.GetCodec(compress.Codecs.Lz4Raw)
	lz4, _ := compress.GetCodec(compress.Codecs.Lz4)
	text := []byte(strings.Repeat("benthos delta ", 100))
	chunk := func(b []byte) []byte {
		packed := raw.Encode(nil, b)
		return append(binary.BigEndian.AppendUint32(nil, uint32(len(packed))), packed...)
	}
	block := func(parts ...[]byte) []byte {
		size := 0
		var out []byte
		for _, p := range parts {
			size, out = size+len(p), append(out, chunk(p)...)
		}
		return append(binary.BigEndian.AppendUint32(nil, uint32(size)), out...)
	}
	forms := map[string][]byte{
		"one block":  block(text),
		"two chunks": block(text[:400], text[400:]),
		"two blocks": append(block(text[:700]), block(text[700:])...),
		"raw":        raw.Encode(nil, text),
	}
	for name, packed := range forms {
		out, err := compress.Decode(lz4, make([]byte, len(text)), packed)
		if err != nil || !bytes.Equal(out, text) {
			t.Errorf("%s: does not unpack: %v", name, err)
		}
	}
	if _, err := compress.Decode(lz4, make([]byte, len(text)), block(text)[:30]); err == nil {
		t.Error("want an error for a cut block")
	}
}

// thriftList is a footer with a field 2, the schema, of the given elements.
func thriftSchema(n int, elements ...[]byte) []byte {
	out := append([]byte{0x15, 0x02, 0x19, 0xfc}, binary.AppendUvarint(nil, uint64(n))...)
	for _, e := range elements {
		out = append(out, e...)
	}
	return append(out, 0x00)
}

// schemaElement has a name and num_children.
func schemaElement(children int64) []byte {
	return append(binary.AppendVarint([]byte{0x48, 0x01, 'a', 0x15}, children), 0x00)
}

func TestTheFootersSchemaMustBeATree(t *testing.T) {
	deep := make([][]byte, 1000)
	for i := range deep {
		deep[i] = schemaElement(1)
	}
	deep[999] = schemaElement(0)
	tests := map[string]struct {
		footer []byte
		text   string
	}{
		"no schema":     {[]byte{0x00}, "ends in the middle, after 0 elements"},
		"many elements": {thriftSchema(1 << 30), "a Thrift list claims 1073741824 elements in 1 bytes"},
		"very wide":     {thriftSchema(1<<18+1, bytes.Repeat(append([]byte{0x48, 0x08}, "abcdefgh\x15\x00\x00"...), 1<<18+1)), "the schema has 262145 elements, at most 262144 are read"},
		"empty chunks": {
			append(append([]byte{0x49, 0x1c, 0x19, 0xfc}, binary.AppendUvarint(nil, 1<<20)...), make([]byte, 1<<20)...),
			"the lists have more elements than a footer of its size can need",
		},
		"many children": {thriftSchema(2, schemaElement(1<<31-1), schemaElement(0)), "makes the footer's schema no tree"},
		"negative":      {thriftSchema(2, schemaElement(-1), schemaElement(0)), "makes the footer's schema no tree"},
		"two roots":     {thriftSchema(2, schemaElement(0), schemaElement(0)), "makes the footer's schema no tree"},
		"too deep":      {thriftSchema(1000, deep...), "element 201 of 1000 makes the footer's schema no tree"},
		"cut":           {thriftSchema(2, schemaElement(1)), "a Thrift structure ends in the middle"},
		"nested":        {bytes.Repeat([]byte{0x1c}, 1000), "Thrift structures are inside each other"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			err := checkFooter(test.footer)
			if deltaerr.KindOf(err) != deltaerr.Corrupt || !strings.Contains(err.Error(), test.text) {
				t.Errorf("want %q, got %v", test.text, err)
			}
		})
	}
}
