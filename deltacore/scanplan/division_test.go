package scanplan

import (
	"math"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// filesOf lists the files of each partition.
func filesOf(partitions []Partition) [][]int {
	list := make([][]int, len(partitions))
	for i, p := range partitions {
		for _, part := range p.Parts {
			list[i] = append(list[i], part.File)
		}
	}
	return list
}

func TestWholeFilesAreBalancedLargestFirst(t *testing.T) {
	for _, c := range []struct {
		sizes  []int64
		target int
		want   [][]int
	}{
		{nil, 3, [][]int{}},
		{[]int64{5}, 3, [][]int{{0}}},
		{[]int64{5, 5, 5}, 3, [][]int{{0}, {1}, {2}}},
		{[]int64{10, 40, 30, 20}, 2, [][]int{{0, 1}, {2, 3}}},
		{[]int64{7, 7, 7, 7}, 2, [][]int{{0, 2}, {1, 3}}},
		{[]int64{1, 100, 1, 1}, 2, [][]int{{1}, {0, 2, 3}}},
		{[]int64{3, 1, 2}, 1, [][]int{{0, 1, 2}}},
		// Without all sizes: by number, side by side.
		{[]int64{0, 0, 0, 0, 0}, 2, [][]int{{0, 1, 2}, {3, 4}}},
		{[]int64{9, 9, 0, 9}, 3, [][]int{{0, 1}, {2}, {3}}},
	} {
		got, err := Divide(c.sizes, Options{Target: c.target, Policy: Off})
		if err != nil || !reflect.DeepEqual(c.want, filesOf(got)) {
			t.Errorf("%v over %d: want %v, got %v, %v", c.sizes, c.target, c.want, filesOf(got), err)
		}
	}
}

func TestFilesAreCutIntoPiecesOfOneSize(t *testing.T) {
	got, err := Divide([]int64{10, 25, 1}, Options{Target: 4, Policy: Always, LookAhead: 1000})
	if err != nil {
		t.Fatal(err)
	}
	part := func(file int, start, end int64) Part { return Part{file, &ByteRange{start, end}} }
	want := []Partition{
		{9, []Part{part(0, 0, 9)}},
		{9, []Part{part(0, 9, 10), part(1, 0, 8)}},
		{9, []Part{part(1, 8, 17)}},
		{9, []Part{part(1, 17, 25), part(2, 0, 1)}},
	}
	if !reflect.DeepEqual(want, got) {
		t.Errorf("want %+v, got %+v", want, got)
	}
}

func TestWhenFilesAreCut(t *testing.T) {
	const mib = 1 << 20
	for name, c := range map[string]struct {
		options Options
		in      Input
		want    bool
	}{
		"fewer files than workers":           {Options{Target: 4}, Input{Files: 3, Bytes: 30 * mib}, true},
		"as many files as workers":           {Options{Target: 3}, Input{Files: 3, Bytes: 30 * mib}, false},
		"as many, but too large to wait":     {Options{Target: 3}, Input{Files: 3, Bytes: 90 * mib}, true},
		"too little in all":                  {Options{Target: 4}, Input{Files: 1, Bytes: 10*mib - 1}, false},
		"just enough in all":                 {Options{Target: 4}, Input{Files: 1, Bytes: 10 * mib}, true},
		"one worker":                         {Options{Target: 1, Policy: Always}, Input{Files: 1, Bytes: 90 * mib}, false},
		"always, of many files":              {Options{Target: 2, Policy: Always}, Input{Files: 100, Bytes: 100 * mib}, true},
		"always, but too little in all":      {Options{Target: 2, Policy: Always}, Input{Files: 100, Bytes: mib}, false},
		"off":                                {Options{Target: 4, Policy: Off}, Input{Files: 1, Bytes: 90 * mib}, false},
		"a size is not known":                {Options{Target: 4, Policy: Always}, Input{Files: 2, Bytes: 90 * mib, Unsized: true}, false},
		"nothing to read":                    {Options{Target: 4, Policy: Always}, Input{}, false},
		"so many workers that none may wait": {Options{Target: 1 << 40, Policy: WhenBelowTarget}, Input{Files: 1, Bytes: 90 * mib}, true},
	} {
		c.options.MinSize, c.options.LookAhead = 10*mib, 64*mib
		if got := c.options.Cuts(c.in); got != c.want {
			t.Errorf("%s: want %t, got %t", name, c.want, got)
		}
	}
}

func TestMeaninglessDivisionsAreRefused(t *testing.T) {
	for want, c := range map[string]struct {
		sizes   []int64
		options Options
		kind    deltaerr.Kind
	}{
		"the number of partitions is 0":          {nil, Options{}, deltaerr.Config},
		"the number of partitions is -1":         {[]int64{1}, Options{Target: -1}, deltaerr.Config},
		"the number of partitions is 131073":     {[]int64{1}, Options{Target: MostPartitions + 1}, deltaerr.Config},
		`there is no repartitioning "sometimes"`: {[]int64{1}, Options{Target: 1, Policy: "sometimes"}, deltaerr.Config},
		"are cut is -1 bytes":                    {[]int64{1}, Options{Target: 1, MinSize: -1}, deltaerr.Config},
		"a file has -5 bytes":                    {[]int64{1, -5}, Options{Target: 1}, deltaerr.Corrupt},
		"add up to more than 9223372036854775807": {
			[]int64{math.MaxInt64, 1}, Options{Target: 1}, deltaerr.Corrupt,
		},
	} {
		_, err := Divide(c.sizes, c.options)
		if deltaerr.KindOf(err) != c.kind || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want a %v error with %q, got %v", c.kind, want, err)
		}
	}
}

// The largest sizes there are do not overflow.
func TestHugeFileIsCut(t *testing.T) {
	got, err := Divide([]int64{math.MaxInt64}, Options{Target: 3, Policy: Always})
	if err != nil || len(got) != 3 || got[2].Parts[0].Range.End != math.MaxInt64 {
		t.Errorf("want three ranges up to the end, got %+v, %v", got, err)
	}
}

// footer is what matters here of one: where its row groups begin.
type footer struct {
	logSize, size int64
	offsets       []int64
}

func footers(t *rapid.T) []footer {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) footer {
		f := footer{size: rapid.Int64Range(5, 2000).Draw(t, "size")}
		if f.logSize = f.size; rapid.Bool().Draw(t, "the log is wrong") {
			f.logSize = rapid.Int64Range(1, 3000).Draw(t, "size in the log")
		}
		f.offsets = rapid.SliceOf(rapid.Int64Range(0, f.size-1)).Draw(t, "offsets")
		return f
	}), 1, 8).Draw(t, "footers")
}

func TestEachRowGroupIsOwnedOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		files := footers(t)
		sizes := make([]int64, len(files))
		for i, f := range files {
			sizes[i] = f.logSize
		}
		o := Options{
			Target: rapid.IntRange(1, 70).Draw(t, "target"), LookAhead: 1000,
			Policy: rapid.SampledFrom([]Policy{WhenBelowTarget, Always, Off}).Draw(t, "policy"),
		}
		partitions, err := Divide(sizes, o)
		if err != nil {
			t.Fatal(err)
		}
		owned := make([][]int, len(files))
		for i, f := range files {
			owned[i] = make([]int, len(f.offsets))
		}
		for _, p := range partitions {
			if len(p.Parts) == 0 {
				t.Fatal("a partition has no parts")
			}
			for _, part := range p.Parts {
				task := FileTask{Size: sizes[part.File], Range: part.Range}
				for i, offset := range files[part.File].offsets {
					if task.Owns(offset) {
						owned[part.File][i]++
					}
				}
			}
		}
		for file, counts := range owned {
			if slices.ContainsFunc(counts, func(n int) bool { return n != 1 }) {
				t.Fatalf("file %d, row groups at %v: want each owned once, got %v", file, files[file].offsets, counts)
			}
		}
	})
}

func TestPartitionsAreBalanced(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		sizes := rapid.SliceOfN(rapid.Int64Range(1, 1000), 1, 100).Draw(t, "sizes")
		o := Options{Target: rapid.IntRange(1, 20).Draw(t, "target"), Policy: rapid.SampledFrom([]Policy{Always, Off}).Draw(t, "policy")}
		partitions, err := Divide(sizes, o)
		if err != nil {
			t.Fatal(err)
		}
		in, _ := Sum(slices.Values(sizes))
		if n := len(partitions); n > o.Partitions(in) || n < 1 {
			t.Fatalf("want 1 to %d partitions, got %d", o.Partitions(in), n)
		}
		var total int64
		for _, p := range partitions {
			total += p.Bytes
			if most := in.Bytes/int64(len(partitions)) + slices.Max(sizes); p.Bytes > most {
				t.Fatalf("want at most %d bytes in a partition, got %d", most, p.Bytes)
			}
		}
		if total != in.Bytes {
			t.Fatalf("want %d bytes in all, got %d", in.Bytes, total)
		}
	})
}

func TestHundredThousandFilesAreDividedQuickly(t *testing.T) {
	sizes := make([]int64, 100_000)
	for i := range sizes {
		sizes[i] = int64(i%977 + 1)
	}
	began := time.Now()
	for _, target := range []int{1, 7, 100_000} {
		for _, policy := range []Policy{Off, Always} {
			partitions, err := Divide(sizes, Options{Target: target, Policy: policy})
			if err != nil || len(partitions) > target {
				t.Fatalf("want at most %d partitions, got %d, %v", target, len(partitions), err)
			}
		}
	}
	if took := time.Since(began); took > 5*time.Second {
		t.Errorf("it took %s", took)
	}
}
