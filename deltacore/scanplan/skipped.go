package scanplan

import "sync/atomic"

// Reason is why something is not read.
type Reason uint8

// The reasons, in the order in which they are looked at.
const (
	ByPartition  Reason = iota // the partition values of a file
	ByStatistics               // the statistics of a file in the log
	ByRowGroup                 // the statistics of a row group in the footer
	ByPage                     // the column index of a row group
	ByBloom                    // a bloom filter
	ByDictionary               // the dictionary of a column chunk
	ByVector                   // the deletion vector: no row is left

	reasons
)

var reasonNames = [reasons]string{"partition", "statistics", "row_group", "page", "bloom", "dictionary", "vector"}

// String returns the name that metrics and plans show.
func (r Reason) String() string { return reasonNames[r] }

// Reasons lists all reasons in their order.
func Reasons() []Reason {
	list := make([]Reason, reasons)
	for i := range list {
		list[i] = Reason(i)
	}
	return list
}

// Skipped counts what was not read, and what could not be used to find that out. It is safe for concurrent use; a nil one
// counts nothing.
type Skipped struct {
	counts   [reasons]skipCount
	unusable [reasons]atomic.Int64
}

type skipCount struct{ files, rowGroups, pages atomic.Int64 }

// Add counts what was skipped for a reason. A skipped file does not count its row groups, nor a row group its pages.
func (s *Skipped) Add(r Reason, files, rowGroups, pages int64) {
	if s == nil {
		return
	}
	c := &s.counts[r]
	c.files.Add(files)
	c.rowGroups.Add(rowGroups)
	c.pages.Add(pages)
}

// Unusable counts evidence that was there and is not to be used: damaged, of another form, or at odds with itself. The
// reason is the one for which it might have been used to skip something; whatever it belongs to was kept.
func (s *Skipped) Unusable(r Reason, n int64) {
	if s != nil {
		s.unusable[r].Add(n)
	}
}

// SkipCount is how much was skipped for one reason.
type SkipCount struct{ Files, RowGroups, Pages int64 }

// SkippedCounts is what a [Skipped] held at one time, by reason. Reasons that did not occur are not in it.
type SkippedCounts struct {
	By       map[Reason]SkipCount
	Unusable map[Reason]int64
}

// Snapshot returns the counts so far.
func (s *Skipped) Snapshot() SkippedCounts {
	counts := SkippedCounts{By: map[Reason]SkipCount{}, Unusable: map[Reason]int64{}}
	if s == nil {
		return counts
	}
	for _, r := range Reasons() {
		from := &s.counts[r]
		if c := (SkipCount{from.files.Load(), from.rowGroups.Load(), from.pages.Load()}); c != (SkipCount{}) {
			counts.By[r] = c
		}
		if n := s.unusable[r].Load(); n > 0 {
			counts.Unusable[r] = n
		}
	}
	return counts
}

// Files is the number of files that were skipped for any reason.
func (c SkippedCounts) Files() (n int64) {
	for _, by := range c.By {
		n += by.Files
	}
	return n
}
