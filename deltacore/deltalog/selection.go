package deltalog

import (
	"context"
	"iter"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// Selection says which of the active files are wanted, and what must be known of them to decide that.
type Selection struct {
	Leaves []Leaf // of which Keep looks at the statistics. None: no statistics are read

	// Keep decides about a file. Several goroutines call it at once; each file that is live in the version comes once. The
	// texts of the file and its statistics are lent: they are gone when Keep returns. An error ends the sequence.
	Keep func(ActiveFile) (bool, error)
}

// Leaf is a column of which the statistics of files are wanted.
type Leaf struct {
	Path []string     // physical names from the top (CM4)
	Type pruning.Type // in the table's schema
}

// Statistics are those of an add that does not come from [Snapshot.AddsFor], but with its own text.
func (s Selection) Statistics(add action.Add) *Statistics {
	stats := newStatistics(newStatsForm(s.Leaves))
	if stats == nil {
		return nil
	}
	return stats.of(add.Stats, add.DeletionVector != nil)
}

// AddsFor is [Snapshot.AddsWithoutStats] with the files only that are wanted. The others are dropped where they are decoded,
// so that they cost no memory. Of a checkpoint, no more of the statistics is read than the leaves need: their bounds and null
// counts where they are columns of their own (stats_parsed), else the JSON text.
func (s *Snapshot) AddsFor(ctx context.Context, wanted Selection) iter.Seq2[ActiveFile, error] {
	return s.adds(ctx, reading{omitStats: len(wanted.Leaves) == 0, keep: wanted.Keep, statistics: newStatsForm(wanted.Leaves)})
}

// reading says what of the adds is read and which are handed out.
type reading struct {
	omitStats  bool
	keep       func(ActiveFile) (bool, error) // nil: all, with their own texts
	statistics *statsForm                     // of keep; nil: none
}

// decide asks whether to hand a file out that no newer action hides. stats is filled in when it is asked for statistics.
func (r reading) decide(f *ActiveFile, stats *Statistics) (bool, error) {
	if r.keep == nil {
		return true, nil
	}
	f.Statistics = stats
	keep, err := r.keep(*f)
	f.Statistics = nil
	return keep, err
}
