package dv

import (
	"context"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

// D6, D7: a writer that shares no code with the reader.
func TestVectorsOfAnyLayoutHoldTheirRows(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		b := deltatest.Bitmap{Native: rapid.Bool().Draw(t, "native"), Runs: rapid.Bool().Draw(t, "runs")}
		b.Swapped = b.Native && rapid.Bool().Draw(t, "swapped")
		var rows []int64
		for range rapid.IntRange(0, 4).Draw(t, "ranges") {
			from := rapid.SampledFrom([]int64{0, 1, 65530, 1<<16 + 9, 5 << 16, 1<<32 - 3, 1 << 32, 3<<32 + 70000}).Draw(t, "from")
			for i := range rapid.Int64Range(1, 6000).Draw(t, "length") {
				rows = append(rows, from+i*rapid.SampledFrom([]int64{1, 1, 2}).Draw(t, "step"))
			}
		}
		slices.Sort(rows)
		rows = slices.Compact(rows)
		v, err := decode(b.Data(rows...), int64(len(rows)))
		if err != nil {
			t.Fatal(err)
		}
		if got := v.within(0, math.MaxInt64); !slices.Equal(rows, got) {
			t.Fatalf("want %d rows, got %d", len(rows), len(got))
		}
	})
}

// D11: a position costs what it takes to write it down, however great it is.
func TestSparseHighPositionsCostNoMemory(t *testing.T) {
	data := deltatest.Bitmap{}.Data(5, 2_147_483_657, 1<<62)
	const runs = 100
	before := allocated()
	for range runs {
		v, err := decode(data, 3)
		if err != nil || v.Max() != 1<<62 || v.Count(0, 1<<40) != 2 {
			t.Fatalf("%v, %v", v, err)
		}
		if live, whole := v.Live(2_147_483_650, 10); whole || len(live) != 9 {
			t.Fatalf("live rows %v", live)
		}
	}
	if got := (allocated() - before) / runs; got > 8<<10 {
		t.Errorf("want a few hundred bytes, got %d", got)
	}
}

// allocated is how many bytes were allocated until now.
func allocated() uint64 {
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return m.TotalAlloc
}

// A run container states up to 65,536 rows in 4 bytes: what is decoded of it must stay as small.
func TestVectorOfRunsStaysSmall(t *testing.T) {
	rows := make([]int64, 1<<20)
	for i := range rows {
		rows[i] = int64(i)
	}
	data := deltatest.Bitmap{Runs: true}.Data(rows...)
	v, err := decode(data, 1<<20)
	if err != nil || v.Count(0, 1<<30) != 1<<20 {
		t.Fatalf("%v rows, %v", v.Cardinality(), err)
	}
	if size := v.parts[0].bitmap.GetSizeInBytes(); size > 4096 {
		t.Errorf("%d bytes of data became %d", len(data), size)
	}
}

// D4: offsets are 64 bits wide. The file is sparse.
func TestVectorFarIntoItsFile(t *testing.T) {
	const offset = 3 << 30
	f := deltatest.NewVectorFile("dir", "61d16c75-6994-46b7-a15b-8b538852e50e")
	d := f.Add(deltatest.Bitmap{}, 1, 9)
	dir := t.TempDir()
	name := filepath.Join(dir, filepath.FromSlash(f.Path))
	if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
		t.Fatal(err)
	}
	file, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	for at, content := range map[int64][]byte{0: f.Content[:1], offset: f.Content[1:]} {
		if _, err := file.WriteAt(content, at); err != nil {
			t.Skipf("no sparse files here: %v", err)
		}
	}
	if err := file.Close(); err != nil {
		t.Fatal(err)
	}
	root, err := storage.ParseURI(dir)
	if err != nil {
		t.Fatal(err)
	}
	local, err := storage.NewLocal(root)
	if err != nil {
		t.Fatal(err)
	}
	*d.Offset = offset
	store := storage.NewMetered(local)
	v, err := Load(context.Background(), store, root, d)
	if err != nil {
		t.Fatal(err)
	}
	requireRows(t, v, 1, 9)
	if read := store.Usage().Total().Bytes; read > 1<<10 {
		t.Errorf("want only the vector and the first byte read, got %d bytes", read)
	}
}

func TestPrefixCannotLeadOutUnseen(t *testing.T) {
	d := deltatest.NewVectorFile("..", "61d16c75-6994-46b7-a15b-8b538852e50e").Add(deltatest.Bitmap{}, 1)
	root, err := storage.ParseURI("s3://bucket/tables/t")
	if err != nil {
		t.Fatal(err)
	}
	l, err := Locate(root, d)
	if want := "s3://bucket/tables/deletion_vector_61d16c75-6994-46b7-a15b-8b538852e50e.bin"; err != nil || l.External != want {
		t.Errorf("want the external %s, got %+v, %v", want, l, err)
	}
}

// H6: an absolute path is a URI like any other of the log.
func TestAbsoluteVectorPathIsDecodedOnce(t *testing.T) {
	root, err := storage.ParseURI("s3://bucket/t")
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]storage.Location{
		"s3://bucket/t/a%20b/dv%2525.bin": {Path: "a b/dv%25.bin"},
		"s3a://bucket/t/x.bin":            {Path: "x.bin"},
		"s3://other/x%20y.bin":            {External: "s3://other/x y.bin"},
	} {
		if got, err := Locate(root, action.DeletionVector{StorageType: "p", PathOrInlineDv: text}); err != nil || got != want {
			t.Errorf("%s: want %+v, got %+v, %v", text, want, got, err)
		}
	}
}

func TestInlineVectorLongerThanItsTextIsRefused(t *testing.T) {
	d := deltatest.InlineVector(deltatest.Bitmap{}, 1, 2)
	for _, size := range []int64{-1, 1 << 40, d.SizeInBytes + 8} {
		d.SizeInBytes = size
		_, err := Load(t.Context(), nil, storage.URI{}, d)
		requireCorrupt(t, err, "size mismatch")
	}
	d = deltatest.InlineVector(deltatest.Bitmap{}, 1, 2)
	d.SizeInBytes -= 2
	_, err := Load(t.Context(), nil, storage.URI{}, d)
	if deltaerr.KindOf(err) != deltaerr.Corrupt {
		t.Errorf("cut short: want a corrupt error, got %v", err)
	}
}

// A vector is held in memory whole, so its size is bounded before anything is read.
func TestVectorsOfMoreThanAnyFileNeedsAreRefused(t *testing.T) {
	_, err := Load(t.Context(), nil, storage.URI{}, action.DeletionVector{
		StorageType: "u", PathOrInlineDv: "vBn[lx{q8@P<9BNH/isA", SizeInBytes: 256<<20 + 1, Cardinality: 1,
	})
	if deltaerr.KindOf(err) != deltaerr.Unsupported {
		t.Errorf("want unsupported, got %v", err)
	}
}
