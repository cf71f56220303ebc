package deltacore

import (
	"fmt"
	"iter"
	"runtime"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
)

// Plan is how the work of a scan is divided. It says nothing about the order of the rows, which is always the canonical one.
type Plan struct {
	Files      int   // to read
	Bytes      int64 // of those files, as the log says it
	Cut        bool  // into ranges: row groups are read in parallel, else files
	Partitions []Partition
}

// Partition is work for one reader.
type Partition struct {
	scanplan.Partition
	scan *Scan
}

// Tasks yields what the partition reads. The numbers in its Parts count the files to read from 0.
func (p Partition) Tasks() iter.Seq[scanplan.FileTask] {
	return func(yield func(scanplan.FileTask) bool) {
		for _, part := range p.Parts {
			if !yield(p.task(part)) {
				return
			}
		}
	}
}

func (p Partition) task(part scanplan.Part) scanplan.FileTask {
	task := p.scan.task(p.scan.first + part.File)
	task.Range = part.Range
	return task
}

// Plan divides the work. It opens no file, and costs about 50 bytes of memory a file.
func (s *Scan) Plan() (Plan, error) {
	sizes := make([]int64, 0, s.Files())
	for size := range s.sizes() {
		sizes = append(sizes, size)
	}
	o := s.division()
	divided, err := scanplan.Divide(sizes, o)
	if err != nil {
		return Plan{}, s.table.annotate(err)
	}
	in := s.input()
	p := Plan{Files: in.Files, Bytes: in.Bytes, Cut: o.Cuts(in), Partitions: make([]Partition, len(divided))}
	for i, part := range divided {
		p.Partitions[i] = Partition{part, s}
	}
	return p, nil
}

// input is what there is to read. Whether the sizes can be added up was seen when the scan was planned.
func (s *Scan) input() scanplan.Input {
	in, _ := scanplan.Sum(s.sizes())
	return in
}

func (s *Scan) division() scanplan.Options {
	o := s.options.division()
	o.LookAhead = s.table.budget.Limit() / decodedRatio
	return o
}

// decodedRatio is about how many bytes of memory the columns of a byte of a file take.
const decodedRatio = 4

func (o ScanOptions) division() scanplan.Options {
	d := scanplan.Options{Target: o.TargetPartitions, Policy: o.Repartitioning, MinSize: DefaultRepartitionMinSize}
	if d.Target == 0 {
		d.Target = runtime.GOMAXPROCS(0)
	}
	if o.RepartitionMinSize != nil {
		d.MinSize = *o.RepartitionMinSize
	}
	return d
}

func (o ScanOptions) fileReads() int {
	if o.FileReadsPerPartition == 0 {
		return DefaultFileReadsPerPartition
	}
	return o.FileReadsPerPartition
}

func (o ScanOptions) prefetch() int {
	if o.PrefetchFilesPerPartition == nil {
		return DefaultPrefetchFilesPerPartition
	}
	return *o.PrefetchFilesPerPartition
}

// openAtOnce is how many files workers may have open that have some each: never more than there are.
func (s *Scan) openAtOnce(workers, each int) int {
	files := s.Files()
	return max(1, min(workers*min(each, files), files))
}

// check refuses options that mean nothing.
func (o ScanOptions) check() error {
	if o.fileReads() < 1 || o.prefetch() < 0 {
		return deltaerr.New(deltaerr.Config, fmt.Sprintf("%d files are to be open at once, and %d to be opened ahead, a partition",
			o.fileReads(), o.prefetch()), deltaerr.Hint("at least one must be open, and none need be opened ahead"))
	}
	return o.division().Check()
}
