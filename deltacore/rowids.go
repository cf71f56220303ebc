package deltacore

import (
	"strings"

	"github.com/benthos-delta/benthos-delta/deltacore/datafile"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltalog"
)

// The properties of row tracking (protocol section 20).
const (
	rowTrackingEnabled     = "delta.enableRowTracking"
	rowIDColumn            = "delta.rowTracking.materializedRowIdColumnName"
	rowCommitVersionColumn = "delta.rowTracking.materializedRowCommitVersionColumnName"
)

// rowTracking says where the ids of rows are. A table without row tracking is a deltaerr Config: it has none.
func (t *Table) rowTracking() (*datafile.RowTracking, error) {
	properties := t.snapshot.Metadata.Configuration
	if !strings.EqualFold(properties[rowTrackingEnabled], "true") {
		return nil, deltaerr.New(deltaerr.Config, "row ids are asked for, but the table does not have row tracking on",
			deltaerr.Hint("set %s on the table, or do not ask for row ids", rowTrackingEnabled), deltaerr.Phase("planning the scan"))
	}
	return &datafile.RowTracking{IDColumn: properties[rowIDColumn], VersionColumn: properties[rowCommitVersionColumn]}, nil
}

// checkRowIDs refuses a file whose rows have no ids before any file is opened.
func checkRowIDs(f deltalog.ActiveFile) error {
	missing := ""
	switch {
	case f.Add.BaseRowID == nil:
		missing = "baseRowId"
	case f.Add.DefaultRowCommitVersion == nil:
		missing = "defaultRowCommitVersion"
	default:
		return nil
	}
	return deltaerr.New(deltaerr.Corrupt, "row tracking is on, but the file has no "+missing,
		deltaerr.File(f.Location.Key()), deltaerr.Phase("planning the scan"))
}
