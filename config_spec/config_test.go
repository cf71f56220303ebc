package configspec

import (
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/benthos-delta/benthos-delta/pruning"
)

func everyHalfMinute(t *testing.T) Interval {
	t.Helper()
	interval, err := ParseInterval("30s")
	if err != nil {
		t.Fatal(err)
	}
	return interval
}

func TestDecodeFillsDefaults(t *testing.T) {
	interval := everyHalfMinute(t)
	want := Config{
		OnMissingFile: "fail",
		Follow:        Follow{StreamSnapshot: true, Until: "forever", OnRewrite: "fail", OnDelete: "fail", OnSchemaChange: "additive"},
		Trigger:       Trigger{Interval: interval}, Checkpoint: Checkpoint{Interval: 5 * time.Second, OnUnresumable: "fail"},
		URI: "table", Mode: "snapshot", Columns: []string{}, BatchRows: 8192, BatchBytes: 8 << 20, Format: "json",
		Values:          Values{Decimal: "string", Int64: "number", Timestamp: "rfc3339", Binary: "base64", NonFinite: "string"},
		IncludeMetadata: []string{}, KeyColumns: []string{}, AllowedExternalPaths: []string{}, CheckpointLimit: 65536, CheckpointLimitBytes: 64 << 20,
		AutoReplayNacks: true, RetryMaxElapsed: 5 * time.Minute,
		Partitions: Partitions{
			Repartitioning: "when_below_target", RepartitionMinSize: 10 << 20, DescriptorsPerPartition: 16, MemoryPerPartition: 256 << 20,
		},
		Scan: Scan{MemoryLimit: 64 << 20, FileReadsPerPartition: 3, PrefetchFilesPerPartition: 2, FooterReadSize: 64 << 10},
	}
	got, err := Decode(map[string]any{"uri": "table"})
	if err != nil || !reflect.DeepEqual(want, got) {
		t.Fatalf("want %+v\ngot  %+v, %v", want, got, err)
	}
}

func TestDecodeReadsEveryField(t *testing.T) {
	version, limit, interval := int64(3), int64(10), everyHalfMinute(t)
	where, err := pruning.Parse("country = 'NL'")
	if err != nil {
		t.Fatal(err)
	}
	want := Config{
		URI: "file:///t", Version: &version, Mode: "snapshot", Columns: []string{"id", "Amount"}, Limit: &limit,
		BatchRows: 100, BatchBytes: 1 << 20, Format: "structured",
		Values:          Values{Decimal: "number", Int64: "string", Timestamp: "unix_micros", Binary: "hex", NonFinite: "fail"},
		IncludeMetadata: []string{"row", "file"}, KeyColumns: []string{"ID"}, CheckpointLimit: 7, CheckpointLimitBytes: 64000,
		RetryMaxElapsed: 90 * time.Second, Where: where,
		Partitions: Partitions{
			Target: 7, Repartitioning: "off", RepartitionMinSize: 1 << 20, DescriptorsPerPartition: 8, MemoryPerPartition: 1 << 30,
		},
		Scan:                 Scan{MemoryLimit: 1000, FileReadsPerPartition: 4, FooterReadSize: 4096},
		Checkpoint:           Checkpoint{Cache: "positions", Key: "k", OnUnresumable: "reset"},
		AllowedExternalPaths: []string{"s3://bucket/other"},
		OnMissingFile:        "skip",
		Follow:               Follow{StreamSnapshot: true, Until: "forever", OnRewrite: "fail", OnDelete: "fail", OnSchemaChange: "additive"},
		Trigger:              Trigger{Interval: interval}, // others are refused in this mode
	}
	raw := map[string]any{
		"uri": "file:///t", "version": 3, "mode": "snapshot", "columns": []any{"id", "Amount"}, "limit": float64(10),
		"allowed_external_paths": []any{"s3://bucket/other"}, "on_missing_file": "skip",
		"batch_rows": int64(100), "batch_bytes": "1MiB", "format": "structured",
		"values": map[string]any{
			"decimal": "number", "int64": "string", "timestamp": "unix_micros", "binary": "hex", "non_finite": "fail",
		},
		"include_metadata": []any{"row", "file"}, "key_columns": []string{"ID"}, "checkpoint_limit": uint64(7),
		"checkpoint_limit_bytes": "64 kB", "auto_replay_nacks": false, "retry_max_elapsed": "1m30s",
		"where": "country = 'NL'", "target_partitions": "7", "intra_file_repartitioning": "off", "repartition_file_min_size": "1MiB",
		"file_descriptors_per_partition": 8, "memory_per_partition": "1GiB",
		"scan": map[string]any{
			"memory_limit": 1000, "file_reads_per_partition": 4, "prefetch_files_per_partition": 0, "footer_read_size": "4KiB",
		},
		"checkpoint_cache": "positions", "checkpoint_cache_key": "k", "checkpoint_interval": 0, "on_unresumable_position": "reset",
	}
	got, err := Decode(raw)
	if err != nil || !reflect.DeepEqual(want, got) {
		t.Fatalf("want %+v\ngot  %+v, %v", want, got, err)
	}
}

func TestDecodeReadsATimestampAsUTC(t *testing.T) {
	want := time.Date(2024, 5, 1, 10, 0, 0, 0, time.UTC)
	got, err := Decode(map[string]any{"uri": "t", "timestamp": "2024-05-01T12:00:00+02:00"})
	if err != nil || got.Timestamp == nil || *got.Timestamp != want {
		t.Errorf("want %v, got %v, %v", want, got.Timestamp, err)
	}
}

func TestDecodeOfAssignmentsEqualsDecodeOfValues(t *testing.T) {
	raw, err := Assign([]string{
		"uri=t", "batch_rows=5", "batch_rows=6", "scan.memory_limit=1MiB", "columns= a, b", `key_columns=["a","b"]`,
		"auto_replay_nacks=false", "values.decimal=number", "include_metadata=",
	})
	if err != nil {
		t.Fatal(err)
	}
	got, err := Decode(raw)
	if err != nil {
		t.Fatal(err)
	}
	want, err := Decode(map[string]any{
		"uri": "t", "batch_rows": 6, "scan": map[string]any{"memory_limit": 1 << 20}, "columns": []any{"a", "b"},
		"key_columns": []any{"a", "b"}, "auto_replay_nacks": false, "values": map[string]any{"decimal": "number"},
	})
	if err != nil || !reflect.DeepEqual(want, got) {
		t.Fatalf("want %+v\ngot  %+v, %v", want, got, err)
	}
}

func TestDecodeTakesTheTextOfAJSONArrayForAList(t *testing.T) {
	want := []string{"id", "a,b"}
	got, err := Decode(map[string]any{"uri": "t", "columns": `["id","a,b"]`})
	if err != nil || !reflect.DeepEqual(want, got.Columns) {
		t.Errorf("want %q, got %q, %v", want, got.Columns, err)
	}
	for _, text := range []string{"id", `["id"`, `[1]`, `{"a":1}`, ""} {
		if _, err := Decode(map[string]any{"uri": "t", "columns": text}); err == nil {
			t.Errorf("%s: want an error", text)
		}
	}
}

func TestAssignRefusesWhatIsNoField(t *testing.T) {
	for text, want := range map[string]string{
		"uri":      `"uri" is not an assignment: write field=value`,
		"colums=a": "delta_lake.colums: is not a field",
		"values=x": "delta_lake.values: is not a field: did you mean values.decimal, values.int64, values.timestamp, " +
			"values.binary, values.non_finite?",
		"decimal=number": "delta_lake.decimal: is not a field: did you mean values.decimal?",
		"uri.deep=x":     "delta_lake.uri.deep: is not a field",
		`columns=["a"x`:  `delta_lake.columns: must be a JSON array of strings, or elements joined by commas, got "[\"a\"x"`,
	} {
		_, err := Assign([]string{text})
		if err == nil || err.Error() != want {
			t.Errorf("%s: want %s, got %v", text, want, err)
		}
	}
}

func TestDecodeReportsEveryProblemWithItsPath(t *testing.T) {
	_, err := Decode(map[string]any{
		"batch_rows": 0, "batch_bytes": "1.5MiB", "colums": []any{"a"}, "version": -1, "limit": 1.5, "format": "xml",
		"values": map[string]any{"decimal": "float", "deep": 1}, "scan": "big", "columns": []any{"a", 1},
		"include_metadata": []any{"file", "line"}, "retry_max_elapsed": "5", "auto_replay_nacks": "yes",
		"checkpoint_limit": "many", "mode": nil,
	})
	want := []string{
		"delta_lake.uri: is required",
		"delta_lake.version: must be at least 0, got -1",
		"delta_lake.columns: element 2 must be text, got 1 (quote what is not meant as a number or boolean)",
		"delta_lake.limit: must be a whole number, got 1.5",
		"delta_lake.batch_rows: must be at least 1, got 0",
		`delta_lake.batch_bytes: must be a number of bytes, or text such as 64KiB or 8MiB, got "1.5MiB"`,
		`delta_lake.format: must be one of json, json_lines, arrow_ipc, structured, got "xml"`,
		`delta_lake.values.decimal: must be one of string, number, got "float"`,
		"delta_lake.values.deep: is not a field; there are decimal, int64, timestamp, binary, non_finite",
		`delta_lake.include_metadata: element 2 must be one of file, row, row_id, got "line"`,
		`delta_lake.checkpoint_limit: must be a whole number, got "many"`,
		`delta_lake.auto_replay_nacks: must be true or false, got "yes"`,
		`delta_lake.retry_max_elapsed: must be a duration such as 30s or 5m, got "5"`,
		"delta_lake.scan: must be an object with the fields memory_limit, file_reads_per_partition, prefetch_files_per_partition, footer_read_size",
		"delta_lake.colums: is not a field; there are uri, mode, version, timestamp, columns, where, limit, on_missing_file, allowed_external_paths, " +
			"stream_snapshot, start_version, start_timestamp, end_version, until, on_rewrite, on_delete, on_schema_change, trigger, batch_rows, batch_bytes, format, " +
			"values, include_metadata, key_columns, checkpoint_cache, checkpoint_cache_key, checkpoint_interval, " +
			"on_unresumable_position, checkpoint_limit, checkpoint_limit_bytes, auto_replay_nacks, retry_max_elapsed, target_partitions, " +
			"intra_file_repartitioning, repartition_file_min_size, file_descriptors_per_partition, memory_per_partition, scan",
	}
	if got := strings.Split(err.Error(), "\n"); !reflect.DeepEqual(want, got) {
		t.Errorf("want\n%s\ngot\n%s", strings.Join(want, "\n"), err)
	}
	if got := len(Problems(err)); got != len(want) {
		t.Errorf("want %d problems, got %d", len(want), got)
	}
}

func TestFieldsThatDoNotGoTogether(t *testing.T) {
	for name, c := range map[string]struct {
		raw  map[string]any
		want []string
	}{
		"a key in a format without row messages": {
			map[string]any{"format": "json_lines", "key_columns": []any{"id"}},
			[]string{"delta_lake.key_columns: needs one message a row: set delta_lake.format to json or structured"},
		},
		"row numbers in a format without row messages": {
			map[string]any{"format": "arrow_ipc", "include_metadata": []any{"file", "row"}},
			[]string{"delta_lake.include_metadata: row needs one message a row: set delta_lake.format to json or structured"},
		},
		"row ids in a format without row messages": {
			map[string]any{"format": "json_lines", "include_metadata": []any{"row_id"}},
			[]string{"delta_lake.include_metadata: row_id needs one message a row: set delta_lake.format to json or structured"},
		},
		"a version and a time": {
			map[string]any{"version": 3, "timestamp": "2024-05-01"},
			[]string{"delta_lake.timestamp: cannot go together with delta_lake.version: leave one of them out"},
		},
		"a key of no cache": {
			map[string]any{"checkpoint_cache_key": "k"},
			[]string{"delta_lake.checkpoint_cache_key: needs a cache: set delta_lake.checkpoint_cache"},
		},
		"a key that is not read": {
			map[string]any{"columns": []any{"id", "b"}, "key_columns": []any{"ID", "c"}},
			[]string{`delta_lake.key_columns: column "c" must be among delta_lake.columns`},
		},
		"a trigger where nothing is followed": {
			map[string]any{"trigger": map[string]any{"interval": "1m"}},
			[]string{"delta_lake.trigger: is for modes that follow the table: leave it out in mode snapshot"},
		},
		"fields of a snapshot in a mode that follows": {
			map[string]any{"mode": "append", "version": 3, "limit": 1},
			[]string{
				"delta_lake.version: is for mode snapshot: leave it out in mode append",
				"delta_lake.limit: is for mode snapshot: leave it out in mode append",
			},
		},
		"fields of append in mode reload": {
			map[string]any{"mode": "reload", "start_version": 3, "on_rewrite": "skip", "on_delete": "fail"},
			[]string{
				"delta_lake.start_version: is for mode append: leave it out in mode reload",
				"delta_lake.on_rewrite: is for mode append: leave it out in mode reload",
			},
		},
		"policies in mode snapshot": {
			map[string]any{"until": "caught_up", "stream_snapshot": true},
			[]string{"delta_lake.until: is for modes that follow the table: leave it out in mode snapshot"},
		},
		"two starts, and an end before them": {
			map[string]any{"mode": "append", "start_version": 3, "start_timestamp": "2024-05-01", "end_version": 2},
			[]string{
				"delta_lake.start_timestamp: cannot go together with delta_lake.start_version: leave one of them out",
				"delta_lake.end_version: is lower than delta_lake.start_version",
			},
		},
		"no trigger": {
			map[string]any{"mode": "reload", "trigger": map[string]any{"interval": ""}},
			[]string{"delta_lake.trigger.interval: is off, and there is no trigger.input: nothing would ever look for a new version; " +
				"set one of them, or delta_lake.until: caught_up"},
		},
		"no trigger in a run that ends": {map[string]any{"mode": "append", "until": "caught_up", "trigger": map[string]any{"interval": ""}}, nil},
		"a trigger and a bad mode":      {map[string]any{"mode": "always", "trigger": map[string]any{"interval": "1m"}}, nil},
		"a key of all columns":          {map[string]any{"key_columns": []any{"c"}}, nil},
		"a bad format and a key":        {map[string]any{"format": "xml", "key_columns": []any{"c"}}, nil},
		"the file in any format":        {map[string]any{"format": "json_lines", "include_metadata": []any{"file"}}, nil},
		"nothing but what it must":      {map[string]any{}, nil},
	} {
		if got := LintConfig(c.raw); !reflect.DeepEqual(c.want, got) {
			t.Errorf("%s: want %q, got %q", name, c.want, got)
		}
	}
}

func TestLintOfAConditionNamesTheFieldAndThePlaceInTheText(t *testing.T) {
	for _, text := range []string{"a =", "a = 1 OR", "(a = 1", "a = b", "a ~ 1", "   "} {
		_, err := pruning.Parse(text)
		if err == nil {
			t.Errorf("%s: want an error of the parser", text)
			continue
		}
		want := []string{"delta_lake.where: " + err.Error()}
		if got := LintField("where", text); !reflect.DeepEqual(want, got) {
			t.Errorf("%s: want %q, got %q", text, want, got)
		}
	}
}

func TestLintFieldNamesTheField(t *testing.T) {
	const notYet = "S3 is not supported yet: copy the table to a local directory, or mount it as one"
	for _, c := range []struct {
		path  string
		value any
		want  []string
	}{
		{"batch_rows", 0, []string{"delta_lake.batch_rows: must be at least 1, got 0"}},
		{"batch_rows", 1, nil},
		{"batch_rows", nil, nil},
		{"batch_rows", map[string]any{}, []string{"delta_lake.batch_rows: must be a whole number, got an object"}},
		{"values.binary", "octal", []string{`delta_lake.values.binary: must be one of base64, hex, got "octal"`}},
		{"columns", "id", []string{`delta_lake.columns: must be a list, got "id"`}},
		{"columns", []any{"a", "b", "a"}, []string{`delta_lake.columns: "a" is there twice`}},
		{"retry_max_elapsed", "-1s", []string{"delta_lake.retry_max_elapsed: must be longer than 0s, got -1s"}},
		{"retry_max_elapsed", 0, []string{"delta_lake.retry_max_elapsed: must be longer than 0s, got 0s"}},
		{"checkpoint_interval", 0, nil},
		{"checkpoint_interval", "0", nil},
		{"checkpoint_interval", 5, []string{"delta_lake.checkpoint_interval: must be a duration such as 30s or 5m, got 5"}},
		{"checkpoint_interval", "-1s", []string{"delta_lake.checkpoint_interval: must be 0s or longer, got -1s"}},
		{"uri", "", []string{"delta_lake.uri: must not be empty"}},
		{"uri", "s3://lake/orders", []string{"delta_lake.uri: " + notYet}},
		{"uri", "S3a://lake/orders", []string{"delta_lake.uri: " + notYet}},
		{"uri", "./s3/orders", nil},
		{"allowed_external_paths", []any{"s3://lake/orders"}, nil},
		{"timestamp", "2024-05-01 12:00:00", nil},
		{"timestamp", time.Date(2024, 5, 1, 0, 0, 0, 0, time.UTC), nil}, // as YAML reads it
		{"timestamp", 5, []string{"delta_lake.timestamp: must be a point in time such as 2024-05-01T12:00:00Z, got 5"}},
		{"timestamp", "noon", []string{`delta_lake.timestamp: "noon" is not a point in time: ` +
			"write 2024-05-01T12:00:00Z, 2024-05-01 12:00:00 (UTC) or 2024-05-01"}},
		{"trigger.interval", 5, []string{"delta_lake.trigger.interval: must be a duration such as 30s, or a cron expression, got 5"}},
		{"trigger.interval", "0 0 30 2 *", []string{
			`delta_lake.trigger.interval: must be a duration or a cron expression: "0 0 30 2 *" is neither: there is no such day`,
		}},
		{"trigger.interval", "", nil},
		{"trigger.interval", "@every 5m", nil},
		{"trigger.input", "kafka", []string{`delta_lake.trigger.input: must be an input, got "kafka"`}},
		{"trigger.input", []any{}, []string{"delta_lake.trigger.input: must be an input, got a list"}},
		{"trigger.input", map[string]any{"stdin": map[string]any{}}, nil},
		{"values", 1, nil},
		{"nothing", 1, nil},
		{"target_partitions", 0, []string{"delta_lake.target_partitions: must be at least 1, got 0"}},
		{"target_partitions", 1 << 17, nil},
		{"target_partitions", 1<<17 + 1, []string{"delta_lake.target_partitions: must be at most 131072, got 131073"}},
		{"target_partitions", "-3", []string{"delta_lake.target_partitions: must be at least 1, got -3"}},
		{"target_partitions", "auto", []string{`delta_lake.target_partitions: must be a whole number, got "auto"`}},
		{"repartition_file_min_size", 0, []string{"delta_lake.repartition_file_min_size: must be at least 1, got 0"}},
		{"repartition_file_min_size", -1, []string{"delta_lake.repartition_file_min_size: must be at least 1, got -1"}},
		{"file_descriptors_per_partition", 0, []string{"delta_lake.file_descriptors_per_partition: must be at least 1, got 0"}},
		{"memory_per_partition", "0MiB", []string{"delta_lake.memory_per_partition: must be at least 1, got 0"}},
		{"scan.file_reads_per_partition", 0, []string{"delta_lake.scan.file_reads_per_partition: must be at least 1, got 0"}},
		{"scan.prefetch_files_per_partition", 0, nil},
		{"scan.prefetch_files_per_partition", -1, []string{"delta_lake.scan.prefetch_files_per_partition: must be at least 0, got -1"}},
		{"scan.footer_read_size", 0, []string{"delta_lake.scan.footer_read_size: must be at least 1, got 0"}},
		{"scan.footer_read_size", "65MiB", []string{"delta_lake.scan.footer_read_size: must be at most 67108864, got 68157440"}},
		{"intra_file_repartitioning", "never", []string{
			`delta_lake.intra_file_repartitioning: must be one of when_below_target, always, off, got "never"`,
		}},
		{"where", "a = 1 AND `b c` IN ('x')", nil},
		{"where", "", []string{"delta_lake.where: must not be empty"}},
		{"where", 1, []string{"delta_lake.where: must be text, got 1 (quote what is not meant as a number or boolean)"}},
	} {
		if got := LintField(c.path, c.value); !reflect.DeepEqual(c.want, got) {
			t.Errorf("%s = %v: want %q, got %q", c.path, c.value, c.want, got)
		}
	}
}
