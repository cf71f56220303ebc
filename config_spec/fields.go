package configspec

import (
	"math"
	"time"

	"github.com/benthos-delta/benthos-delta/pruning"
)

// Fields returns the fields of delta_lake in the order of the reference. The slice is fresh.
func Fields() []Field {
	var all []Field
	for _, group := range [][]Field{
		tableFields(), followFields(),
		{triggerField()},
		outputFields(), checkpointFields(), deliveryFields(), partitionFields(),
		scanFields(),
	} {
		all = append(all, group...)
	}
	return all
}

func tableFields() []Field {
	return []Field{{
		Name: "uri", Kind: String, Required: true, Examples: []any{"./data/orders", "file:///data/orders"},
		Description: "Where the table is: a local path or a `file://` URI of the directory that holds `_delta_log`. S3 is not supported yet. " +
			"A relative path is meant from the directory that the program was started in; `~` is not expanded.",
		set: into(func(c *Config) *string { return &c.URI }),
	}, {
		Name: "mode", Kind: Enum, Default: "snapshot", Examples: []any{"snapshot"},
		Description: "What is read.",
		Options: []Option{
			{"snapshot", "The rows of one version, then the input ends."},
			{"append", "The rows that exist, then those that each new version adds."},
			{"reload", "The rows that exist, then all rows again at each new version that is found; versions between two looks " +
				"are left out, and so are those that change no rows. A version without rows sends nothing."},
		},
		set: into(func(c *Config) *string { return &c.Mode }),
	}, {
		Name: "version", Kind: Int, Max: math.MaxInt64, Examples: []any{12},
		Description: "The table version to read. The latest version when left out.",
		set:         intoOptional(func(c *Config) **int64 { return &c.Version }),
	}, {
		Name: "timestamp", Kind: Timestamp, Examples: []any{"2024-05-01T12:00:00Z", "2024-05-01"},
		Description: "The point in time whose version to read: the newest one that was committed at or before it. RFC 3339, " +
			"`YYYY-MM-DD hh:mm:ss`, or a date, which is its midnight; UTC where there is no zone. A time before the first commit that " +
			"the log still holds, or after the last one, is an error. Not together with `version`, which decides when left out.",
		set: intoOptional(func(c *Config) **time.Time { return &c.Timestamp }),
	}, {
		Name: "columns", Kind: StringList, Default: []any{}, Examples: []any{[]any{"id", "amount"}},
		Description: "The top-level columns to read, in this order. All columns, in the order of the schema, when empty. " +
			"Names are found without regard to case and keep the spelling of the schema; an unknown one is an error.",
		set: into(func(c *Config) *[]string { return &c.Columns }),
	}, {
		Name: "where", Kind: Predicate, Examples: []any{"country = 'NL' AND amount > 10"},
		Description: "The rows to read: those for which this condition is true. All rows when left out. Columns are compared with " +
			"literals, `=`, `<>`, `<`, `<=`, `>`, `>=`, `IN`, `BETWEEN`, `LIKE`, `IS NULL`, and joined with `AND`, `OR` and `NOT`, as in SQL: " +
			"a comparison with null is neither true nor false, so that `id = NULL` gives no rows. Text is in single quotes, of which one in the " +
			"text is written twice; names with other characters than letters, digits and " +
			"underscores are in backquotes, fields of structs follow a dot, and there are `DATE '2024-05-01'` and `TIMESTAMP '2024-05-01T12:00:00Z'`. " +
			"There are no functions, no arithmetic, no comparison of two columns and no double quotes. Columns need not be among `columns`. Files, row groups and pages that cannot hold such a row are not read.",
		set: into(func(c *Config) **pruning.Predicate { return &c.Where }),
	}, {
		Name: "limit", Kind: Int, Max: math.MaxInt64, Examples: []any{1000},
		Description: "The number of rows after which the input ends. All rows when left out; `0` reads no file.",
		set:         intoOptional(func(c *Config) **int64 { return &c.Limit }),
	}, {
		Name: "on_missing_file", Kind: Enum, Default: "fail", Examples: []any{"skip"}, Advanced: true,
		Description: "What to do when a data file of the table, or the list of its deleted rows, is gone: because of VACUUM, for instance.",
		Options: []Option{
			{"fail", "The run ends with an error that names the file."},
			{"skip", "The rest of the file is left out, logged and counted."},
		},
		set: into(func(c *Config) *string { return &c.OnMissingFile }),
	}, {
		Name: "allowed_external_paths", Kind: StringList, Default: []any{}, Advanced: true,
		Examples: []any{[]any{"/data/orders", "file:///data/archive"}},
		Description: "The directories outside the table that its files may lie in, as URIs or local paths. Tables such as shallow " +
			"clones point to files of other tables; a file that lies neither in the table nor below one of these ends the run before " +
			"any file is opened.",
		set: into(func(c *Config) *[]string { return &c.AllowedExternalPaths }),
	}}
}

func outputFields() []Field {
	return []Field{{
		Name: "batch_rows", Kind: Int, Default: 8192, Min: 1, Max: math.MaxInt32, Examples: []any{1000},
		Description: "The largest number of rows in a batch. A batch is complete when this or `batch_bytes` is reached. " +
			"Files are decoded in steps of as many rows, so that fewer take less memory, and below about 500 more time. " +
			"For outputs with interpolated fields, such as a Kafka key, about 500 is faster: the engine's work for each " +
			"message then grows with the batch.",
		set: into(func(c *Config) *int64 { return &c.BatchRows }),
	}, {
		Name: "batch_bytes", Kind: Size, Default: "8MiB", Min: 1, Max: math.MaxInt64, Examples: []any{"1MiB", 500000},
		Description: "The largest size of a batch, in bytes of encoded rows. One larger row is a batch of its own. With `structured` it " +
			"is what the values are estimated to take in memory, with `arrow_ipc` the size of the values without schema and headers.",
		set: into(func(c *Config) *int64 { return &c.BatchBytes }),
	}, {
		Name: "format", Kind: Enum, Default: "json", Examples: []any{"json_lines"},
		Description: "What a message holds.",
		Options: []Option{
			{"json", "One message a row: a JSON object as bytes. The fastest form for outputs that take rows as they are."},
			{"json_lines", "One message a batch: its rows as JSON objects, joined by newlines."},
			{"arrow_ipc", "One message a batch: an Arrow IPC stream with the schema and one record batch."},
			{"structured", "One message a row: a structured value, ready for mappings. Its keys are sorted when it is encoded."},
		},
		set: into(func(c *Config) *string { return &c.Format }),
	}, {
		Name: "values", Kind: Object, Children: valueFields(), Examples: []any{map[string]any{"decimal": "number"}},
		Description: "How values are written in `json`, `json_lines` and `structured`.",
	}, {
		Name: "include_metadata", Kind: EnumList, Default: []any{}, Examples: []any{[]any{"file", "row"}}, Advanced: true,
		Description: "Metadata to add to each message, besides what is always there.",
		Options: []Option{
			{"file", "`delta_file`: the data file's path in the table. A batch then ends with its file."},
			{"row", "`delta_row`: the row's number in its file, from 0. A batch then ends with its file. Formats with one message a row only."},
			{"row_id", "`delta_row_id` and `delta_row_commit_version`: the row's stable id and the version that last changed it, in tables with " +
				"row tracking on. A batch then ends with its file. Formats with one message a row only."},
		},
		set: into(func(c *Config) *[]string { return &c.IncludeMetadata }),
	}, {
		Name: "key_columns", Kind: StringList, Default: []any{}, Examples: []any{[]any{"id"}},
		Description: "Columns whose values become the metadata `delta_key` of each row, so that an output needs not parse " +
			"the row for its key: the text of one column, or a JSON array of several. One column that is null makes no `delta_key`. They must be among `columns`. " +
			"Formats with one message a row only; it costs a metadata map a row.",
		set: into(func(c *Config) *[]string { return &c.KeyColumns }),
	}}
}

func valueFields() []Field {
	return []Field{{
		Name: "decimal", Kind: Enum, Default: "string", Examples: []any{"number"}, Description: "Decimals.",
		Options: []Option{
			{"string", "Text with the full scale: `\"12.50\"`."},
			{"number", "A JSON number with all digits: `12.50`. Many parsers round it."},
		},
		set: into(func(c *Config) *string { return &c.Values.Decimal }),
	}, {
		Name: "int64", Kind: Enum, Default: "number", Examples: []any{"string"}, Description: "64-bit integers.",
		Options: []Option{
			{"number", "A JSON number with all digits. JavaScript parsers round those beyond 2^53."},
			{"string", "Text: `\"9007199254740993\"`."},
		},
		set: into(func(c *Config) *string { return &c.Values.Int64 }),
	}, {
		Name: "timestamp", Kind: Enum, Default: "rfc3339", Examples: []any{"unix_micros"}, Description: "Timestamps.",
		Options: []Option{
			{"rfc3339", "UTC with six digits: `\"2024-05-01T12:00:00.000000Z\"`; timestamps without a time zone have no `Z`."},
			{"unix_micros", "The number of microseconds since 1970."},
		},
		set: into(func(c *Config) *string { return &c.Values.Timestamp }),
	}, {
		Name: "binary", Kind: Enum, Default: "base64", Examples: []any{"hex"}, Description: "Bytes.",
		Options: []Option{{"base64", "Standard base64 with padding."}, {"hex", "Lower-case hexadecimal digits."}},
		set:     into(func(c *Config) *string { return &c.Values.Binary }),
	}, {
		Name: "non_finite", Kind: Enum, Default: "string", Examples: []any{"null"},
		Description: "Floating point values that JSON has no number for.",
		Options: []Option{
			{"string", "Text: `\"NaN\"`, `\"Infinity\"`, `\"-Infinity\"`."},
			{"null", "Null."},
			{"fail", "The run ends with an error."},
		},
		set: into(func(c *Config) *string { return &c.Values.NonFinite }),
	}}
}

func deliveryFields() []Field {
	return []Field{{
		Name: "checkpoint_limit", Kind: Int, Default: 65536, Min: 1, Max: math.MaxInt32, Examples: []any{8192},
		Description: "The largest number of rows between the oldest one that is not acknowledged and the newest one that was sent. " +
			"Reading waits when it is reached. One batch goes at a time where it is not larger than `batch_rows`.",
		set: into(func(c *Config) *int64 { return &c.CheckpointLimit }),
	}, {
		Name: "checkpoint_limit_bytes", Kind: Size, Default: "64MiB", Min: 1, Max: math.MaxInt64, Examples: []any{"16MiB"},
		Description: "As `checkpoint_limit`, in bytes of encoded rows. One larger batch passes alone.",
		set:         into(func(c *Config) *int64 { return &c.CheckpointLimitBytes }),
	}, {
		Name: "auto_replay_nacks", Kind: Bool, Default: true, Examples: []any{false},
		Description: "Whether rows that an output rejects are sent again, for ever, with waits that grow to 10 s. Those that are due " +
			"go before new rows; new ones pass those that are not, as far as `checkpoint_limit` allows. " +
			"With `false` a rejected row is dropped, counted and passed.",
		set: into(func(c *Config) *bool { return &c.AutoReplayNacks }),
	}, {
		Name: "retry_max_elapsed", Kind: Duration, Default: "5m", Examples: []any{"30s"}, Advanced: true,
		Description: "How long one transient failure of the storage is retried before the run ends with an error. " +
			"A run that follows the table without an end never gives up.",
		set: into(func(c *Config) *time.Duration { return &c.RetryMaxElapsed }),
	}}
}
