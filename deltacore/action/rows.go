package action

import (
	"strconv"
	"strings"

	"github.com/go-json-experiment/json"
)

// LiveRows is the number of rows of the file less those of its deletion vector, as its statistics say (D9). ok is false
// when they do not tell (A7), or tell of fewer rows than are deleted.
func (a *Add) LiveRows() (rows int64, ok bool) {
	rows, ok = numRecords(a.Stats)
	if v := a.DeletionVector; v != nil {
		rows -= v.Cardinality
	}
	return rows, ok && rows >= 0
}

// numRecords reads the number of physical rows from statistics. ok is false when they do not tell (A7).
func numRecords(stats string) (rows int64, ok bool) {
	if rest, first := strings.CutPrefix(stats, `{"numRecords":`); first { // as nearly all writers have it
		if end := strings.IndexAny(rest, ",}"); end > 0 {
			if rows, err := strconv.ParseInt(rest[:end], 10, 64); err == nil {
				return rows, true
			}
		}
	}
	var members struct {
		NumRecords *int64 `json:"numRecords"`
	}
	if json.Unmarshal([]byte(stats), &members) != nil || members.NumRecords == nil {
		return 0, false
	}
	return *members.NumRecords, true
}
