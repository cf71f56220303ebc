package configspec

// Trigger says when to look for a new version.
type Trigger struct {
	Interval Interval
	Input    bool // a child input is there, which whoever knows the engine makes
}

func triggerField() Field {
	return Field{
		Name: "trigger", Kind: Object, Follow: true, Examples: []any{map[string]any{"interval": "5m"}},
		Description: "When to look for a new version, in the modes that follow the table. A look lists the table's log once. An interval and an input go together: " +
			"each look restarts the interval, which then is the safety net.",
		Children: []Field{{
			Name: "interval", Kind: Schedule, Default: "30s", Examples: []any{"5m", "@hourly", "TZ=Europe/London 0 30 3 * * *", ""},
			Description: "The time from one look to the next, or a cron expression. A duration is shortened by up to a tenth at " +
				"random, so that inputs that were started together spread out. A cron expression has five fields, or six with " +
				"seconds first, or is a descriptor such as `@every 5m`; it is in UTC unless it begins with `TZ=` and a zone. " +
				"Empty text turns it off.",
			set: into(func(c *Config) *Interval { return &c.Trigger.Interval }),
		}, {
			Name: "input", Kind: ChildInput, Examples: []any{map[string]any{"http_server": map[string]any{"path": "/look"}}},
			Description: "An input, any message of which means: look now. Messages that come together, and those that wait for a " +
				"look in progress, cause one look. A message is acknowledged when a look that began after its arrival has listed " +
				"the log, and rejected when that look failed; rows need not be delivered for it. When the input ends, the interval " +
				"goes on; without one, what is known is read and `delta_lake` ends. Only the interval is used when left out.",
			set: into(func(c *Config) *bool { return &c.Trigger.Input }),
		}},
	}
}
