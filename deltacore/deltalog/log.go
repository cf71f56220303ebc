package deltalog

import (
	"github.com/benthos-delta/benthos-delta/deltacore/exec"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
)

const (
	logDir         = "_delta_log"
	sidecarDir     = logDir + "/_sidecars"
	defaultWorkers = 16
)

// Log is a table's log and the means to read it.
type Log struct {
	Store   storage.Store
	Root    storage.URI       // of the table, to place absolute paths of the log
	Parquet parquetio.Options // for checkpoints
	Workers int               // log files read at once; 0: 16
	Budget  *exec.Budget
	Warn    func(msg string) // told about what was passed over (a broken hint, an unusable checkpoint); nil: nobody
}

func (l Log) workers() int {
	if l.Workers > 0 {
		return l.Workers
	}
	return defaultWorkers
}

func (l Log) warn(msg string) {
	if l.Warn != nil {
		l.Warn(msg)
	}
}
