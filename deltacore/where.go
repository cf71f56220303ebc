package deltacore

import (
	"errors"

	"github.com/benthos-delta/benthos-delta/deltacore/datafile"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// bind gives the predicate of a scan, if there is one, the table's columns: all of them, not only those that are read.
func (s *Scan) bind(l *datafile.Layout) error {
	if s.options.Where == nil {
		return nil
	}
	all, err := s.table.Schema()
	if err != nil {
		return err
	}
	bound, err := s.options.Where.Bind(schema.Resolver(all))
	if err != nil {
		return badPredicate(err)
	}
	l.Where, l.Table, l.Skipped, l.Explain = bound, all, s.skipped, s.options.Explain
	columns := scanplan.Columns{Schema: all, Partition: l.PartitionColumns, Mapping: l.Mapping}
	if s.pruner, err = scanplan.NewPruner(bound, columns); err != nil {
		return badPredicate(err)
	}
	s.pruner.Skipped, s.pruner.Explain = s.skipped, s.options.Explain
	return nil
}

// badPredicate says what is wrong with a predicate of this table.
func badPredicate(err error) error {
	if _, known := errors.AsType[*deltaerr.Error](err); !known {
		err = deltaerr.New(deltaerr.Config, err.Error())
	}
	return deltaerr.Annotate(err, deltaerr.Phase("planning the scan"))
}

// Skipped counts what Where spared until now: files when the scan was planned, row groups and pages as they are come to, by
// all reads of the scan together. With [ScanOptions].Skipped it is that.
func (s *Scan) Skipped() scanplan.SkippedCounts { return s.skipped.Snapshot() }
