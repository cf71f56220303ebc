package configspec

import "time"

// Checkpoint says where and how often the position is stored.
type Checkpoint struct {
	Cache         string        // label of a cache resource; "": nowhere
	Key           string        // "": one made of the label and the location
	Interval      time.Duration // 0: each time the position moves
	OnUnresumable string        // fail, reset
}

func checkpointFields() []Field {
	return []Field{{
		Name: "checkpoint_cache", Kind: String, Examples: []any{"positions"},
		Description: "The label of a cache resource that keeps how far the table was delivered, so that a restart continues after " +
			"the last row that is known to be. Take one that survives what the input has to survive, with no time to live; the " +
			"directory of a `file` cache must exist. `columns` and `where` may change in between: they hold for the rows behind it. " +
			"After a `snapshot` run that finished, the next one starts from the beginning, and so does every run with a `limit`. " +
			"Every run starts from the beginning when left out. Each input " +
			"needs a key of its own: a second one on the same key in a process is an error, in another process it is not noticed.",
		set: into(func(c *Config) *string { return &c.Checkpoint.Cache }),
	}, {
		Name: "checkpoint_cache_key", Kind: String, Examples: []any{"orders_to_kafka"}, Advanced: true,
		Description: "The key in the cache. The position is written in turn under this with `_a` and with `_b`, so that a write " +
			"that is cut short loses nothing. A key belongs to one table. It is `delta_lake_`, the input's label, and a hash of `uri` when " +
			"left out: after a change of the label or of `uri` the input then starts from the beginning.",
		set: into(func(c *Config) *string { return &c.Checkpoint.Key }),
	}, {
		Name: "checkpoint_interval", Kind: Duration, Zero: true, Default: "5s", Examples: []any{"1m", "0s"}, Advanced: true,
		Description: "The shortest time between two writes of the position; `0s` writes it whenever it moved. It is also written " +
			"before the first row, when the first snapshot is done, and at the end. After a crash, what was delivered since the last " +
			"write comes again. With `0s` that is at most `checkpoint_limit` and one batch: delivery then waits for a cache that is " +
			"slower than the output, but not for one that fails.",
		set: into(func(c *Config) *time.Duration { return &c.Checkpoint.Interval }),
	}, {
		Name: "on_unresumable_position", Kind: Enum, Default: "fail", Examples: []any{"reset"},
		Description: "What to do when a stored position cannot be continued from: its versions or files are gone, the table is " +
			"another one, or the position itself is damaged.",
		Options: []Option{
			{"fail", "The input ends with an error and the stored position stays. `benthos-delta delta position set` stores another."},
			{"reset", "The input starts from the beginning, as if nothing had been stored. What is lost with that is logged."},
		},
		set: into(func(c *Config) *string { return &c.Checkpoint.OnUnresumable }),
	}}
}
