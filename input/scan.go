package input

import (
	"sync"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/deltacore"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/limits"
)

// ScanOptions are what a configuration says about a read of a version, but for the size of its batches. It asks the host for its
// limits where no target is set, once a process.
func ScanOptions(c configspec.Config) (deltacore.ScanOptions, limits.Decision) {
	decision := decide(c.Partitions)
	prefetch := int(c.Scan.PrefetchFilesPerPartition)
	return deltacore.ScanOptions{
		Columns: c.Columns, Where: c.Where, Limit: c.Limit,
		TargetPartitions: decision.Target, Repartitioning: scanplan.Policy(c.Partitions.Repartitioning),
		RepartitionMinSize: &c.Partitions.RepartitionMinSize, FileReadsPerPartition: int(c.Scan.FileReadsPerPartition),
		PrefetchFilesPerPartition: &prefetch,
	}, decision
}

// host is what this host allowed when it was first asked.
var host = sync.OnceValue(func() limits.Signals { return limits.ThisHost().Signals() })

func decide(p configspec.Partitions) limits.Decision {
	o := limits.Overrides{
		Target: p.Target, DescriptorsPerPartition: p.DescriptorsPerPartition, MemoryPerPartition: p.MemoryPerPartition,
	}
	if o.Target > 0 {
		return limits.Signals{}.Decide(o)
	}
	return host().Decide(o)
}
