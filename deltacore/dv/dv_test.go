package dv

import (
	"bytes"
	"context"
	"encoding/binary"
	"hash/crc32"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/RoaringBitmap/roaring/v2"
	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// portable writes rows in the portable layout, as a writer does.
func portable(rows ...int64) []byte {
	parts := map[uint32]*roaring.Bitmap{}
	for _, r := range rows {
		high := uint32(r >> 32)
		if parts[high] == nil {
			parts[high] = roaring.New()
		}
		parts[high].Add(uint32(r))
	}
	out := binary.LittleEndian.AppendUint32(nil, portableMagic)
	out = binary.LittleEndian.AppendUint64(out, uint64(len(parts)))
	highs := make([]uint32, 0, len(parts))
	for h := range parts {
		highs = append(highs, h)
	}
	slices.Sort(highs)
	for _, h := range highs {
		out = binary.LittleEndian.AppendUint32(out, h)
		out = append(out, bitmapBytes(parts[h])...)
	}
	return out
}

func bitmapBytes(b *roaring.Bitmap) []byte {
	var buf bytes.Buffer
	if _, err := b.WriteTo(&buf); err != nil {
		panic(err)
	}
	return buf.Bytes()
}

// native writes 32-bit rows in the native layout.
func native(order binary.AppendByteOrder, rows ...uint32) []byte {
	bitmap := bitmapBytes(roaring.BitmapOf(rows...))
	out := order.AppendUint32(nil, nativeMagic)
	out = order.AppendUint32(out, 1)
	out = order.AppendUint32(out, uint32(len(bitmap)))
	return append(out, bitmap...)
}

// framed writes a vector file that holds data at offset.
func framed(offset int, data []byte) []byte {
	out := make([]byte, offset)
	out[0] = fileVersion
	out = binary.BigEndian.AppendUint32(out, uint32(len(data)))
	out = append(out, data...)
	return binary.BigEndian.AppendUint32(out, crc32.ChecksumIEEE(data))
}

func requireRows(t *testing.T, v *Vector, want ...int64) {
	t.Helper()
	if got := v.within(0, math.MaxInt64); !slices.Equal(want, got) {
		t.Fatalf("want rows %v, got %v", want, got)
	}
}

func requireCorrupt(t *testing.T, err error, text string) {
	t.Helper()
	if err == nil || deltaerr.KindOf(err) != deltaerr.Corrupt || !strings.Contains(err.Error(), text) {
		t.Fatalf("want a corrupt error with %q, got %v", text, err)
	}
}

// The vectors of D1 and D6.
func TestInlineVectorsOfTheProtocol(t *testing.T) {
	for name, d := range map[string]action.DeletionVector{
		"portable":             {PathOrInlineDv: "^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L", SizeInBytes: 44, Cardinality: 6},
		"native, byte-swapped": {PathOrInlineDv: "wi5b=000010000siXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L", SizeInBytes: 40, Cardinality: 6},
	} {
		t.Run(name, func(t *testing.T) {
			d.StorageType = "i"
			v, err := Load(t.Context(), nil, storage.URI{}, d)
			if err != nil {
				t.Fatal(err)
			}
			requireRows(t, v, 3, 4, 7, 11, 18, 29)
		})
	}
}

func TestStoredVectorIsFoundByItsUUID(t *testing.T) {
	for text, want := range map[string]string{
		"ab^-aqEH.-t@S}K{vb[*k^": "ab/deletion_vector_d2c639aa-8816-431a-aaf6-d3fe2512ff61.bin",
		"vBn[lx{q8@P<9BNH/isA":   "deletion_vector_61d16c75-6994-46b7-a15b-8b538852e50e.bin",
	} {
		got, err := Locate(storage.URI{}, action.DeletionVector{StorageType: "u", PathOrInlineDv: text})
		if err != nil || got.Path != want {
			t.Errorf("want %q, got %q, %v", want, got.Path, err)
		}
	}
}

// D3: writers that use the Rust z85 crate pad the last group from the left.
func TestZ85LastGroupWithLeadingHashes(t *testing.T) {
	got, err := z85Decode("##093")
	if err != nil || !bytes.Equal([]byte{3, 0}, got) {
		t.Fatalf("want 03 00, got %x, %v", got, err)
	}
	for _, bad := range []string{"##0930rr91", "####0", "%nSc1", "0000", "00 00", "#####"} {
		if got, err := z85Decode(bad); err == nil && bad != "#####" {
			t.Errorf("%q: want an error, got %x", bad, got)
		}
	}
}

func TestEveryLayoutHoldsTheSameRows(t *testing.T) {
	for name, data := range map[string][]byte{
		"portable":             portable(1, 5, 70000),
		"native":               native(binary.LittleEndian, 1, 5, 70000),
		"native, byte-swapped": native(binary.BigEndian, 1, 5, 70000),
	} {
		v, err := decode(data, 3)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		requireRows(t, v, 1, 5, 70000)
	}
}

// D11.
func TestPositionsBeyond32Bits(t *testing.T) {
	rows := []int64{0, 1<<31 + 7, 1 << 32, 1<<40 + 3}
	v, err := decode(portable(rows...), 4)
	if err != nil {
		t.Fatal(err)
	}
	requireRows(t, v, rows...)
	if v.Max() != rows[3] {
		t.Errorf("want max %d, got %d", rows[3], v.Max())
	}
	for _, c := range []struct{ first, n, want int64 }{
		{0, 1, 1},
		{0, 1 << 31, 1},
		{1, 1 << 31, 0},
		{0, 1<<31 + 8, 2},
		{0, 1 << 32, 2},
		{0, 1<<32 + 1, 3},
		{1 << 32, 1, 1},
		{1<<32 + 1, 1 << 40, 1},
		{0, math.MaxInt64, 4},
		{5, -1, 0},
	} {
		if got := v.Count(c.first, c.n); got != c.want {
			t.Errorf("count from %d for %d: want %d, got %d", c.first, c.n, c.want, got)
		}
	}
	if live, whole := v.Live(1<<32-1, 3); whole || !slices.Equal([]int64{1<<32 - 1, 1<<32 + 1}, live) {
		t.Errorf("rows around 2^32: got %v, %v", live, whole)
	}
}

// D5.
func TestDamagedVectorsAreRefused(t *testing.T) {
	data := portable(1, 2, 3)
	size := int64(len(data))
	good := framed(1, data)
	changed := func(at int) []byte {
		b := bytes.Clone(good)
		b[at] ^= 1
		return b
	}
	offset := int64(1)
	for name, c := range map[string]struct {
		file []byte
		d    action.DeletionVector
		text string
	}{
		"format version": {changed(0), action.DeletionVector{SizeInBytes: size, Cardinality: 3}, "unknown format version"},
		"stored size":    {changed(4), action.DeletionVector{SizeInBytes: size, Cardinality: 3}, "size mismatch"},
		"one bit":        {changed(20), action.DeletionVector{SizeInBytes: size, Cardinality: 3}, "checksum mismatch"},
		"cut":            {good[:len(good)-5], action.DeletionVector{SizeInBytes: size, Cardinality: 3}, "the file ends at byte"},
		"cardinality":    {good, action.DeletionVector{SizeInBytes: size, Cardinality: 2}, "cardinality mismatch"},
		"huge size":      {good, action.DeletionVector{SizeInBytes: 1 << 28, Cardinality: 3}, "the file ends at byte"},
		"negative size":  {good, action.DeletionVector{SizeInBytes: -9, Cardinality: 3}, "the descriptor states"},
	} {
		t.Run(name, func(t *testing.T) {
			store := storage.NewMemory()
			c.d.StorageType, c.d.PathOrInlineDv, c.d.Offset = "u", "vBn[lx{q8@P<9BNH/isA", &offset
			store.Put("deletion_vector_61d16c75-6994-46b7-a15b-8b538852e50e.bin", c.file)
			_, err := Load(t.Context(), store, storage.URI{}, c.d)
			requireCorrupt(t, err, c.text)
			if !strings.Contains(err.Error(), "deletion_vector_61d16c75-6994-46b7-a15b-8b538852e50e.bin") {
				t.Errorf("the message does not name the file: %v", err)
			}
		})
	}
}

func TestVectorDeepInItsFileTakesTwoReads(t *testing.T) {
	data, offset := portable(9), int64(nearStart+100)
	store := storage.NewMemory()
	store.Put("deletion_vector_61d16c75-6994-46b7-a15b-8b538852e50e.bin", framed(int(offset), data))
	v, err := Load(context.Background(), store, storage.URI{}, action.DeletionVector{
		StorageType: "u", PathOrInlineDv: "vBn[lx{q8@P<9BNH/isA", Offset: &offset, SizeInBytes: int64(len(data)), Cardinality: 1,
	})
	if err != nil {
		t.Fatal(err)
	}
	requireRows(t, v, 9)
}

func TestMissingVectorIsNamedAndExplained(t *testing.T) {
	_, err := Load(t.Context(), storage.NewMemory(), storage.URI{}, action.DeletionVector{
		StorageType: "u", PathOrInlineDv: "vBn[lx{q8@P<9BNH/isA", SizeInBytes: 34, Cardinality: 1,
	})
	if deltaerr.KindOf(err) != deltaerr.NotFound || !strings.Contains(err.Error(), "VACUUM") {
		t.Fatalf("want a not-found error that mentions VACUUM, got %v", err)
	}
}

func TestLiveRowsAreThoseNotInTheVector(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		rows := rapid.SliceOfDistinct(rapid.Int64Range(0, 300), func(r int64) int64 { return r }).Draw(t, "deleted")
		first, n := rapid.Int64Range(0, 200).Draw(t, "first"), rapid.Int64Range(0, 200).Draw(t, "n")
		v, err := decode(portable(rows...), int64(len(rows)))
		if err != nil {
			t.Fatal(err)
		}
		var want []int64
		for r := first; r < first+n; r++ {
			if !slices.Contains(rows, r) {
				want = append(want, r)
			}
		}
		if got := v.Count(first, n); n-int64(len(want)) != got {
			t.Fatalf("count: want %d, got %d", n-int64(len(want)), got)
		}
		live, whole := v.Live(first, n)
		if whole {
			live = v.everything(first, n)
		}
		if !slices.Equal(want, live) {
			t.Fatalf("want %v, got %v", want, live)
		}
	})
}

// everything lists [first, first+n).
func (*Vector) everything(first, n int64) []int64 {
	var rows []int64
	for r := first; r < first+n; r++ {
		rows = append(rows, r)
	}
	return rows
}

func FuzzDecode(f *testing.F) {
	f.Add(portable(1, 2, 1<<33))
	f.Add(native(binary.LittleEndian, 1, 2))
	f.Add(native(binary.BigEndian, 1, 2))
	f.Fuzz(func(t *testing.T, data []byte) {
		v, err := decode(data, 2)
		if err == nil && len(v.within(0, math.MaxInt64)) != 2 {
			t.Fatalf("accepted a vector of %d rows as one of 2", v.count)
		}
	})
}

func FuzzInline(f *testing.F) {
	f.Add("^Bg9^0rr910000000000iXQKl0rr91000f55c8Xg0@@D72lkbi5=-{L", int64(44))
	f.Add("##093", int64(2))
	f.Fuzz(func(t *testing.T, text string, size int64) {
		_, _ = decodeInline(action.DeletionVector{PathOrInlineDv: text, SizeInBytes: size, Cardinality: 6})
	})
}
