package deltalog

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"iter"
	"math/rand/v2"
	"runtime"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

var testRoot = storage.URI{Scheme: storage.SchemeFile, Path: "/lake/orders"}

func drawFile(t *rapid.T, i int) ActiveFile {
	text := rapid.SampledFrom([]string{"", "a", "b", "%41", "ü", "/"})
	number := rapid.SampledFrom([]int64{0, 1, -1, 1 << 62})
	dir := rapid.SampledFrom([]string{"", "p=1/", "p=%20/", "p=1/q=2/", "/elsewhere/", "file:/lake/orders/", "s3://b/", "%zz/", "../"})
	f := ActiveFile{Add: action.Add{
		Path: dir.Draw(t, "dir") + text.Draw(t, "name") + fmt.Sprint(i), Size: number.Draw(t, "size"),
		ModificationTime: rapid.Int64Range(0, 2).Draw(t, "time"), DataChange: rapid.Bool().Draw(t, "change"),
	}}
	f.Location = storage.ResolvePath(testRoot, f.Add.Path)
	if rapid.Bool().Draw(t, "partitioned") {
		value := text.Draw(t, "value")
		f.Add.PartitionValues = map[string]*string{text.Draw(t, "key"): &value, "null": nil}
	}
	if rapid.Bool().Draw(t, "vector") {
		f.Add.DeletionVector = &action.DeletionVector{
			StorageType: "u", PathOrInlineDv: text.Draw(t, "inline"), SizeInBytes: number.Draw(t, "bytes"), Cardinality: 1,
		}
		if rapid.Bool().Draw(t, "offset") {
			offset := number.Draw(t, "at")
			f.Add.DeletionVector.Offset = &offset
		}
	}
	if rapid.Bool().Draw(t, "ids") {
		id := number.Draw(t, "id")
		f.Add.BaseRowID = &id
	}
	return f
}

// TestCollectedFilesAreUnchangedAndInCanonicalOrder: what goes in comes out, ordered, whatever order it came in.
func TestCollectedFilesAreUnchangedAndInCanonicalOrder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		files := make([]ActiveFile, rapid.IntRange(0, 30).Draw(t, "files"))
		for i := range files {
			files[i] = drawFile(t, i)
		}
		got, err := Collect(context.Background(), sequence(files))
		if err != nil {
			t.Fatal(err)
		}
		slices.SortStableFunc(files, func(a, b ActiveFile) int {
			return cmp.Or(cmp.Compare(a.Add.ModificationTime, b.Add.ModificationTime), cmp.Compare(a.Add.Path, b.Add.Path))
		})
		if got.Len() != len(files) {
			t.Fatalf("want %d files, got %d", len(files), got.Len())
		}
		for i, want := range files {
			if describe(got.At(i)) != describe(want) {
				t.Fatalf("file %d:\nwant %s\ngot  %s", i, describe(want), describe(got.At(i)))
			}
		}
	})
}

func sequence(files []ActiveFile) iter.Seq2[ActiveFile, error] { return each(files) }

// TestCollectRefusesAFileTwice covers A5: with two vectors at once its rows would be there twice.
func TestCollectRefusesAFileTwice(t *testing.T) {
	one := ActiveFile{Add: file("a"), Location: storage.Location{Path: "a"}}
	other := ActiveFile{Add: fileWith("a", "one"), Location: storage.Location{Path: "a"}}
	for want, files := range map[string][]ActiveFile{
		"file a: the log lists the file twice":                        {one, one},
		"file a: the file is live under two deletion vectors at once": {one, other},
	} {
		_, err := Collect(context.Background(), sequence(files))
		wantError(t, err, want)
		if deltaerr.KindOf(err) != deltaerr.Corrupt {
			t.Errorf("want Corrupt, got %v", err)
		}
	}
}

func TestCollectEndsWithTheFirstError(t *testing.T) {
	want := errors.New("broken")
	_, err := Collect(context.Background(), func(yield func(ActiveFile, error) bool) { yield(ActiveFile{}, want) })
	if !errors.Is(err, want) {
		t.Errorf("want %v, got %v", want, err)
	}
}

// TestCollectedFilesAreSmall holds the promise of at most 150 bytes a file, with few partitions, with many, and with one of
// its own for every file.
func TestCollectedFilesAreSmall(t *testing.T) {
	const n = 50_000
	for _, partitions := range []int{300, n / 4, n} {
		before := heap()
		files, err := Collect(context.Background(), synthetic(n, partitions))
		if err != nil {
			t.Fatal(err)
		}
		perFile := float64(heap()-before) / n
		t.Logf("%d partitions: %.0f bytes a file", partitions, perFile)
		if perFile > 150 {
			t.Errorf("%d partitions: want at most 150 bytes a file, got %.0f", partitions, perFile)
		}
		runtime.KeepAlive(files)
	}
}

func heap() int64 {
	var m runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc)
}

// synthetic yields files as a partitioned table of a common writer has them, in random order of time.
func synthetic(n, partitions int) iter.Seq2[ActiveFile, error] {
	return func(yield func(ActiveFile, error) bool) {
		r := rand.New(rand.NewPCG(1, 2))
		for i := range n {
			k := i % partitions
			date, region := fmt.Sprintf("2024-%02d-%02d", 1+k%12, 1+k%28), fmt.Sprint("r", k)
			path := fmt.Sprintf("date=%s/region=%s/part-%05d-%08x-%04x-4%03x-8%03x-%012x.c000.snappy.parquet",
				date, region, i%200, r.Uint32(), r.Uint32()&0xffff, r.Uint32()&0xfff, r.Uint32()&0xfff, r.Uint64()&0xffffffffffff)
			stats := `{"numRecords":1000,"minValues":{"id":1},"maxValues":{"id":1000}}`
			f := ActiveFile{
				Add: action.Add{
					Path: path, Size: 1 << 20, ModificationTime: 1_700_000_000_000 + r.Int64N(1e9), Stats: stats,
					PartitionValues: map[string]*string{"date": &date, "region": &region},
				},
				Location: storage.Location{Path: path},
			}
			if !yield(f, nil) {
				return
			}
		}
	}
}

func BenchmarkCollect(b *testing.B) {
	const n = 100_000
	for b.Loop() {
		if _, err := Collect(context.Background(), synthetic(n, 300)); err != nil {
			b.Fatal(err)
		}
	}
}

// TestManyDirectoriesAreDerivedOrKeptWhole: past those that are kept, a directory follows from the partition values or stays
// with its file. What comes out is what went in, in canonical order, whether times differ or not.
func TestManyDirectoriesAreDerivedOrKeptWhole(t *testing.T) {
	var files []ActiveFile
	for i := range 3 * 2048 {
		date, region := fmt.Sprintf("d%d", i), fmt.Sprintf("r%d", i%7)
		path := fmt.Sprintf("date=%s/region=%s/%d.parquet", date, region, i)
		values := map[string]*string{"date": &date, "region": &region}
		switch i % 5 {
		case 1: // written in another way than in the log
			path = fmt.Sprintf("date=%%64%d/region=%s/%d.parquet", i, region, i)
		case 2:
			path = fmt.Sprintf("prefix%d/%d.parquet", i, i)
			files = append(files, ActiveFile{ // its values in a directory that is derived
				Add:      action.Add{Path: fmt.Sprintf("date=%s/region=%s/again.parquet", date, region), PartitionValues: values},
				Location: storage.Location{Path: fmt.Sprintf("date=%s/region=%s/again.parquet", date, region)},
			})
		case 3:
			region = date
			values["date"] = nil
			path = fmt.Sprintf("date=%s/region=%s/%d.parquet", nullDir, region, i)
		case 4:
			delete(values, "date")
		}
		files = append(files, ActiveFile{
			Add:      action.Add{Path: path, ModificationTime: int64(i % 3), PartitionValues: values},
			Location: storage.ResolvePath(testRoot, path),
		})
	}
	for i := range 100 {
		files[i].Add.DeletionVector = &action.DeletionVector{StorageType: "u", PathOrInlineDv: "v"}
	}
	rand.New(rand.NewPCG(1, 2)).Shuffle(len(files), func(i, j int) { files[i], files[j] = files[j], files[i] })
	got, err := Collect(context.Background(), sequence(files))
	if err != nil || got.Len() != len(files) {
		t.Fatalf("got %d files, %v", got.Len(), err)
	}
	slices.SortFunc(files, func(a, b ActiveFile) int {
		return cmp.Or(cmp.Compare(a.Add.ModificationTime, b.Add.ModificationTime), cmp.Compare(a.Add.Path, b.Add.Path))
	})
	for i, want := range files {
		if describe(got.At(i)) != describe(want) {
			t.Fatalf("file %d:\nwant %s\ngot  %s", i, describe(want), describe(got.At(i)))
		}
	}
}

// TestCollectRefusesAFileTwiceWhateverElseItsAddsSay: neither another time nor another spelling makes it another file (R2, R4).
func TestCollectRefusesAFileTwiceWhateverElseItsAddsSay(t *testing.T) {
	for _, path := range []string{"p=1/a%20b", "file:/lake/orders/p=1/a%20b", "/lake/orders/p=1/./a b"} {
		one, other := file("p=1/a b"), file(path)
		other.ModificationTime, other.Size = 99, 1
		var files []ActiveFile
		for _, a := range []action.Add{one, file("c"), other} {
			files = append(files, ActiveFile{Add: a, Location: storage.ResolvePath(testRoot, a.Path)})
		}
		_, err := Collect(context.Background(), sequence(files))
		wantError(t, err, "file p=1/a b: the log lists the file twice")
	}
}
