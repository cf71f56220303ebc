package deltacore

import (
	"context"
	"iter"

	"github.com/benthos-delta/benthos-delta/deltacore/datafile"
	"github.com/benthos-delta/benthos-delta/deltacore/deltalog"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
)

// Skipping says in which ways a scan reads less than everything.
type Skipping struct {
	Partitions bool            // files by partition values
	Statistics bool            // files by what the log says of their rows
	Levels     datafile.Levels // inside files
}

// ScanSkipping is Scan with some of the ways only in which a predicate saves work.
func (t *Table) ScanSkipping(ctx context.Context, o ScanOptions, by Skipping) (*Scan, error) {
	s, err := t.plan(o)
	if err != nil {
		return nil, err
	}
	layout, err := t.layout(o)
	if err == nil {
		err = s.bind(&layout)
	}
	if err != nil {
		return nil, err
	}
	layout.Without = datafile.AllLevels &^ by.Levels
	parquet := t.parquet
	parquet.BatchRows = o.BatchRows
	if s.reader, err = datafile.NewReader(t.store, layout, parquet); err != nil {
		return nil, err
	}
	columns := scanplan.Columns{Schema: layout.Table, Mapping: layout.Mapping}
	if by.Partitions {
		columns.Partition = layout.PartitionColumns
	}
	pruner, err := scanplan.NewPruner(layout.Where, columns)
	if err != nil {
		return nil, err
	}
	pruner.Skipped = s.skipped
	var files *deltalog.ActiveFiles
	switch adds := t.snapshot.AddsWithoutStats(ctx); {
	case by.Statistics:
		files, err = deltalog.Collect(ctx, t.snapshot.AddsFor(ctx, pruner.Selection(nil)))
	case by.Partitions:
		files, err = deltalog.Collect(ctx, kept(adds, pruner))
	default:
		files, err = deltalog.Collect(ctx, adds)
	}
	if err != nil {
		return nil, err
	}
	return s.of(files)
}

// kept leaves out what a pruner skips of files that come without statistics.
func kept(files iter.Seq2[deltalog.ActiveFile, error], p *scanplan.Pruner) iter.Seq2[deltalog.ActiveFile, error] {
	return func(yield func(deltalog.ActiveFile, error) bool) {
		for f, err := range files {
			if (err != nil || p.Keep(f)) && !yield(f, err) {
				return
			}
		}
	}
}
