package configspec

import "math"

// Partitions says how the work of a read is divided. It changes neither the rows nor their order.
type Partitions struct {
	Target                  int64  // 0: what the host allows
	Repartitioning          string // when_below_target, always, off
	RepartitionMinSize      int64  // bytes of all files
	DescriptorsPerPartition int64
	MemoryPerPartition      int64 // bytes
}

// Scan says how files are read.
type Scan struct {
	MemoryLimit               int64 // bytes decoded or encoded but not yet handed out
	FileReadsPerPartition     int64
	PrefetchFilesPerPartition int64
	FooterReadSize            int64 // bytes
}

func partitionFields() []Field { return append(divisionFields(), hostFields()...) }

// mostPartitions is the largest target that work can be divided by: scanplan.MostPartitions.
const mostPartitions = 1 << 17

func divisionFields() []Field {
	return []Field{{
		Name: "target_partitions", Kind: Int, Min: 1, Max: mostPartitions, Examples: []any{4},
		Description: "The number of partitions: parts that the work is divided into, which are decoded at once. They are not the table's. Rows and their order do not depend " +
			"on it. It is what the CPUs, the open files and the memory of this host allow when left out, of which the limits of its control groups " +
			"count too: `benthos-delta delta limits` shows what that is, and why. A value that is set is taken as it is, and nothing is looked up.",
		set: into(func(c *Config) *int64 { return &c.Partitions.Target }),
	}, {
		Name: "intra_file_repartitioning", Kind: Enum, Default: "when_below_target", Examples: []any{"off"},
		Description: "When files are cut, so that the row groups of one are decoded at once.",
		Options: []Option{
			{"when_below_target", "When whole files would leave partitions without work: where there are fewer files than partitions, " +
				"or they are so large that what is decoded ahead would not fit in `scan.memory_limit`."},
			{"always", "Always, from `repartition_file_min_size` on."},
			{"off", "Never: a file is decoded by one partition."},
		},
		set: into(func(c *Config) *string { return &c.Partitions.Repartitioning }),
	}, {
		Name: "repartition_file_min_size", Kind: Size, Default: "10MiB", Min: 1, Max: math.MaxInt64, Examples: []any{"64MiB"},
		Description: "The size of all files together from which they are cut.",
		set:         into(func(c *Config) *int64 { return &c.Partitions.RepartitionMinSize }),
	}}
}

func hostFields() []Field {
	return []Field{{
		Name: "file_descriptors_per_partition", Kind: Int, Default: 16, Min: 1, Max: math.MaxInt32, Examples: []any{32}, Advanced: true,
		Description: "The number of open files that a partition is reckoned to need, for the automatic `target_partitions`. It reserves nothing.",
		set:         into(func(c *Config) *int64 { return &c.Partitions.DescriptorsPerPartition }),
	}, {
		Name: "memory_per_partition", Kind: Size, Default: "256MiB", Min: 1, Max: math.MaxInt64, Examples: []any{"512MiB"}, Advanced: true,
		Description: "The memory that a partition is reckoned to need, for the automatic `target_partitions`. It reserves nothing.",
		set:         into(func(c *Config) *int64 { return &c.Partitions.MemoryPerPartition }),
	}}
}

func scanFields() []Field {
	return []Field{{
		Name: "scan", Kind: Object, Advanced: true, Examples: []any{map[string]any{"memory_limit": "128MiB"}},
		Description: "How files are read.",
		Children:    []Field{memoryLimitField(), fileReadsField(), prefetchField(), footerField()},
	}}
}

func memoryLimitField() Field {
	return Field{
		Name: "memory_limit", Kind: Size, Default: "64MiB", Min: 1, Max: math.MaxInt64, Examples: []any{"128MiB"}, Advanced: true,
		Description: "The number of bytes that may be decoded or encoded and wait to be sent. " +
			"The batch that is next always passes, so that a small limit slows a run but never stops it. All inputs of a process " +
			"share the limit of the first one; another value is ignored with a warning.",
		set: into(func(c *Config) *int64 { return &c.Scan.MemoryLimit }),
	}
}

func fileReadsField() Field {
	return Field{
		Name: "file_reads_per_partition", Kind: Int, Default: 3, Min: 1, Max: math.MaxInt32, Examples: []any{8}, Advanced: true,
		Description: "The number of files that may be open at once, for each partition.",
		set:         into(func(c *Config) *int64 { return &c.Scan.FileReadsPerPartition }),
	}
}

func prefetchField() Field {
	return Field{
		Name: "prefetch_files_per_partition", Kind: Int, Default: 2, Max: math.MaxInt32, Examples: []any{0}, Advanced: true,
		Description: "The number of files that are opened ahead, for each partition: their footers and the lists of their deleted rows are " +
			"fetched while others are decoded. `0` opens a file when it is its turn.",
		set: into(func(c *Config) *int64 { return &c.Scan.PrefetchFilesPerPartition }),
	}
}

func footerField() Field {
	const most = 64 << 20 // a longer footer is refused
	return Field{
		Name: "footer_read_size", Kind: Size, Default: "64KiB", Min: 1, Max: most, Examples: []any{"1MiB"}, Advanced: true,
		Description: "The number of bytes that are read from the end of a file first, for its footer. A longer footer costs a second " +
			"read; what else lies in these bytes is not read again.",
		set: into(func(c *Config) *int64 { return &c.Scan.FooterReadSize }),
	}
}
