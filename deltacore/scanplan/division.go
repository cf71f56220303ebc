package scanplan

import (
	"cmp"
	"fmt"
	"iter"
	"math"
	"slices"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// Policy says when files are cut into ranges.
type Policy string

// The policies. The empty one is WhenBelowTarget.
const (
	WhenBelowTarget Policy = "when_below_target" // when whole files would leave workers idle
	Always          Policy = "always"
	Off             Policy = "off"
)

// MostPartitions is the largest target: each partition takes memory before it reads anything.
const MostPartitions = 1 << 17

// Options say how work is divided.
type Options struct {
	Target    int // partitions wished for, 1 to MostPartitions
	Policy    Policy
	MinSize   int64 // bytes of all files from which they are cut
	LookAhead int64 // bytes of files whose rows may wait for their turn in the output
}

// Check refuses options that mean nothing.
func (o Options) Check() error {
	switch {
	case o.Target < 1 || o.Target > MostPartitions:
		return deltaerr.New(deltaerr.Config, fmt.Sprintf("the number of partitions is %d", o.Target),
			deltaerr.Hint("give 1 to %d", MostPartitions))
	case o.MinSize < 0:
		return deltaerr.New(deltaerr.Config, fmt.Sprintf("the size from which files are cut is %d bytes", o.MinSize),
			deltaerr.Hint("give 0 or more"))
	}
	switch o.Policy {
	case "", WhenBelowTarget, Always, Off:
		return nil
	}
	return deltaerr.New(deltaerr.Config, fmt.Sprintf("there is no repartitioning %q", string(o.Policy)),
		deltaerr.Hint("give %s, %s or %s", WhenBelowTarget, Always, Off))
}

// Input is what the log says about the files to read.
type Input struct {
	Files   int
	Bytes   int64
	Unsized bool // the size of a file is not known
}

// Sum adds up the sizes of files, 0 for one that is not known.
func Sum(sizes iter.Seq[int64]) (Input, error) {
	var in Input
	for size := range sizes {
		switch {
		case size < 0:
			return in, deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("the log says that a file has %d bytes", size))
		case size > math.MaxInt64-in.Bytes:
			return in, deltaerr.New(deltaerr.Corrupt, fmt.Sprintf("the sizes of the files add up to more than %d bytes", int64(math.MaxInt64)))
		}
		in.Files++
		in.Bytes += size
		in.Unsized = in.Unsized || size == 0
	}
	return in, nil
}

// Cuts says whether files are cut into ranges. Since rows come in canonical order, more than idle workers is a reason: of
// files so large that those behind the first do not fit in what may wait, whole ones would be read one after the other.
func (o Options) Cuts(in Input) bool {
	if o.Policy == Off || o.Target < 2 || in.Files == 0 || in.Unsized || in.Bytes < o.MinSize {
		return false
	}
	return o.Policy == Always || in.Files < o.Target || in.Bytes/int64(in.Files) > o.LookAhead/int64(o.Target)
}

// Partitions is how many there are at most.
func (o Options) Partitions(in Input) int {
	if o.Cuts(in) {
		return o.Target
	}
	return min(o.Target, in.Files)
}

// Partition is work for one reader.
type Partition struct {
	Bytes int64 // 0 when a size is not known
	Parts []Part
}

// Part is a file, by its number in canonical order, or a range of it.
type Part struct {
	File  int
	Range *ByteRange // nil: all of it
}

// Divide spreads files, given by their sizes in canonical order, over partitions. None of them is empty; the parts of each
// are in canonical order. Ranges cover their files.
func Divide(sizes []int64, o Options) ([]Partition, error) {
	if err := o.Check(); err != nil {
		return nil, err
	}
	in, err := Sum(slices.Values(sizes))
	switch {
	case err != nil:
		return nil, err
	case o.Cuts(in):
		return cut(sizes, ceilDiv(in.Bytes, int64(o.Target))), nil
	case in.Unsized:
		return byCount(in.Files, o.Target), nil
	default:
		return bySize(sizes, o.Target), nil
	}
}

func ceilDiv(a, b int64) int64 {
	n := a / b
	if a%b > 0 {
		n++
	}
	return n
}

// cut makes partitions of a size, but for the last one, of the files as they come.
func cut(sizes []int64, size int64) []Partition {
	var list []Partition
	var p Partition
	for file, end := range sizes {
		for start := int64(0); start < end; {
			n := min(end-start, size-p.Bytes)
			p.Parts = append(p.Parts, Part{file, &ByteRange{start, start + n}})
			start += n
			if p.Bytes += n; p.Bytes == size {
				list, p = append(list, p), Partition{}
			}
		}
	}
	if len(p.Parts) > 0 {
		list = append(list, p)
	}
	return list
}

// byCount gives each partition as many files as it can, those of one partition side by side.
func byCount(files, target int) []Partition {
	list := make([]Partition, min(files, target))
	next := 0
	for i := range list {
		n := int(ceilDiv(int64(files-next), int64(len(list)-i)))
		for range n {
			list[i].Parts = append(list[i].Parts, Part{File: next})
			next++
		}
	}
	return list
}

// bySize gives the largest file that is left to the partition that has least.
func bySize(sizes []int64, target int) []Partition {
	order := make([]int, len(sizes))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(sizes[b], sizes[a]) })
	list := make([]Partition, min(len(sizes), target))
	least := newLoads(len(list))
	for _, file := range order {
		p := &list[least[0].partition]
		p.Parts = append(p.Parts, Part{File: file})
		p.Bytes += sizes[file]
		least.raise(p.Bytes)
	}
	for _, p := range list {
		slices.SortFunc(p.Parts, func(a, b Part) int { return cmp.Compare(a.File, b.File) })
	}
	return list
}

// loads is a heap of partitions: first the one with the fewest bytes, of equal ones the first.
type loads []load

type load struct {
	bytes     int64
	partition int
}

func newLoads(n int) loads {
	l := make(loads, n)
	for i := range l {
		l[i].partition = i
	}
	return l
}

func (l load) less(other load) bool {
	return cmp.Or(cmp.Compare(l.bytes, other.bytes), cmp.Compare(l.partition, other.partition)) < 0
}

// raise sets the bytes of the first partition and finds its place.
func (l loads) raise(bytes int64) {
	l[0].bytes = bytes
	for at := 0; ; {
		least := at
		for child := 2*at + 1; child <= 2*at+2 && child < len(l); child++ {
			if l[child].less(l[least]) {
				least = child
			}
		}
		if least == at {
			return
		}
		l[at], l[least] = l[least], l[at]
		at = least
	}
}
