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
		Description: "The label of a cache resource that keeps how far the table was delivered, so that a restart goes on behind " +
			"the last row that is known to be. Take one that survives what the input has to survive, with no time to live. " +
			"A finished `snapshot` run begins anew, and so does one with a `limit`. Every run begins anew when left out. Each input " +
			"needs a key of its own: a second one on the same key in a process is an error, in another process it is not noticed.",
		set: into(func(c *Config) *string { return &c.Checkpoint.Cache }),
	}, {
		Name: "checkpoint_cache_key", Kind: String, Examples: []any{"orders_to_kafka"}, Advanced: true,
		Description: "The key in the cache. The position is written in turn under this with `_a` and with `_b`, so that a write " +
			"that is cut short loses nothing. It is `delta_lake_`, the input's label, and a hash of `uri` when left out: " +
			"changing the label or moving the table then begins anew.",
		set: into(func(c *Config) *string { return &c.Checkpoint.Key }),
	}, {
		Name: "checkpoint_interval", Kind: Duration, Zero: true, Default: "5s", Examples: []any{"1m", "0s"}, Advanced: true,
		Description: "The shortest time between two writes of the position; `0s` writes it whenever it moved. It is also written " +
			"before the first row, when the first snapshot is done, and at the end.",
		set: into(func(c *Config) *time.Duration { return &c.Checkpoint.Interval }),
	}, {
		Name: "on_unresumable_position", Kind: Enum, Default: "fail", Examples: []any{"reset"},
		Description: "What to do when a stored position cannot be continued from: its versions or files are gone, the table is " +
			"another one, or the position itself is damaged.",
		Options: []Option{
			{"fail", "The input ends with an error and the stored position stays. `benthos-delta delta position set` stores another."},
			{"reset", "The input begins anew, as if nothing had been stored. What is lost with that is logged."},
		},
		set: into(func(c *Config) *string { return &c.Checkpoint.OnUnresumable }),
	}}
}
