package main

import (
	"bytes"
	"maps"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
)

func TestRunIsTranslatedForTheEngine(t *testing.T) {
	for _, c := range []struct{ args, want []string }{
		{[]string{"p.yaml"}, []string{"-c", "p.yaml"}},
		{[]string{"--log.level", "debug", "p.yaml"}, []string{"--log.level", "debug", "-c", "p.yaml"}},
		{[]string{"p.yaml", "--chilled"}, []string{"--chilled", "-c", "p.yaml"}},
		{[]string{"-s", "a=b", "--set=c=d", "p.yaml", "-r", "x.yaml"}, []string{"-s", "a=b", "--set=c=d", "-r", "x.yaml", "-c", "p.yaml"}},
		{[]string{"--", "-p.yaml"}, []string{"-c", "-p.yaml"}},
		{[]string{"-w", "--", "p.yaml"}, []string{"-w", "-c", "p.yaml"}},
		{[]string{"p.yaml", "--help"}, nil},
	} {
		got, err := engineArguments(c.args)
		if err != nil || !reflect.DeepEqual(c.want, got) {
			t.Errorf("%q: want %q, got %q, %v", c.args, c.want, got, err)
		}
	}
}

func TestRunRefusesWhatItCannotTranslate(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "run takes one file, got 0: "},
		{[]string{"a.yaml", "b.yaml"}, "run takes one file, got 2: a.yaml b.yaml"},
		{[]string{"a.yaml", "--", "b.yaml"}, "run takes one file, got 2: a.yaml b.yaml"},
		{[]string{"--fast", "a.yaml"}, "there is no flag --fast"},
		{[]string{"a.yaml", "--set"}, "flag --set needs a value"},
		{[]string{""}, "run needs the name of a file, got an empty one"},
		{[]string{"-c", "a.yaml", "b.yaml"}, "run takes its file as an argument: leave -c out"},
		{[]string{"--config=a.yaml", "b.yaml"}, "run takes its file as an argument: leave -c out"},
	} {
		if _, err := engineArguments(c.args); err == nil || err.Error() != c.want {
			t.Errorf("%q: want %q, got %v", c.args, c.want, err)
		}
	}
}

func TestRootArgumentsAreChecked(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, ""},
		{[]string{"lint", "--labels", "a.yaml"}, ""},
		{[]string{"-c", "a.yaml", "echo"}, ""},
		{[]string{"--version"}, ""},
		{[]string{"-c", "a.yaml", "--chilled", "-s=a=b"}, ""},
		{[]string{"--fast"}, "there is no flag --fast"},
		{[]string{"-w", "-c"}, "flag -c needs a value"},
		{[]string{"-h"}, errHelp.Error()},
		{[]string{"dance"}, `there is no command "dance"`},
		{[]string{"--chilled", "a.yaml"}, `there is no command "a.yaml"`},
	} {
		got := ""
		if _, err := parseRoot(c.args); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q: want %q, got %q", c.args, c.want, got)
		}
	}
}

func TestVersionIsARootFlagAlone(t *testing.T) {
	for _, c := range []struct {
		args []string
		want bool
	}{
		{[]string{"--version"}, true},
		{[]string{"-c", "a.yaml", "-v"}, true},
		{[]string{"-c", "--version"}, false},
		{[]string{"lint", "--version"}, false},
	} {
		if got, err := parseRoot(c.args); err != nil || got.version != c.want {
			t.Errorf("%q: want %t, got %t, %v", c.args, c.want, got.version, err)
		}
	}
}

func TestFlagsOfDeltaCommandsMayStandAnywhere(t *testing.T) {
	for _, c := range []struct{ args, want []string }{
		{[]string{"delta"}, []string{"delta"}},
		{[]string{"delta", "scan", "t", "--limit", "3"}, []string{"delta", "scan", "--limit", "3", "--", "t"}},
		{[]string{"delta", "scan", "--set", "a=b", "t"}, []string{"delta", "scan", "--set", "a=b", "--", "t"}},
		{[]string{"delta", "scan", "t", "--help"}, []string{"delta", "scan", "--help"}},
		{[]string{"delta", "unknown", "t", "-x"}, []string{"delta", "unknown", "t", "-x"}},
	} {
		if got, err := flagsFirst(c.args); err != nil || !reflect.DeepEqual(c.want, got) {
			t.Errorf("%q: want %q, got %q, %v", c.args, c.want, got, err)
		}
	}
}

// The engine's own help lists its flags: what it has must be what run translates.
func TestEngineFlagsAreThoseOfTheEngine(t *testing.T) {
	out, err := exec.Command("benthos-delta", "--help").CombinedOutput()
	if err != nil {
		t.Fatal(err)
	}
	found := regexp.MustCompile(`(?m)^   --([a-z.-]+)`).FindAllStringSubmatch(string(out), -1)
	var want, got []string
	for _, match := range found {
		if match[1] != "help" {
			want = append(want, match[1])
		}
	}
	for _, f := range engineFlags {
		got = append(got, f.Names()[0])
	}
	slices.Sort(want)
	slices.Sort(got)
	if !slices.Equal(want, got) {
		t.Errorf("want the engine's flags %q, got %q", want, got)
	}
	commands := map[string]bool{}
	for _, match := range regexp.MustCompile(`(?m)^   ([a-z]+)(?:, ([a-z]+))?  `).FindAllStringSubmatch(string(out), -1) {
		commands[match[1]], commands[match[2]] = true, true
	}
	delete(commands, "")
	want = slices.Sorted(maps.Keys(commands))
	if got := slices.Sorted(slices.Values(engineCommands)); !slices.Equal(want, got) {
		t.Errorf("want the engine's commands %q, got %q", want, got)
	}
}

func TestUsageErrorsNameTheHelpOfTheirCommand(t *testing.T) {
	for _, c := range []struct{ args, want []string }{
		{[]string{"delta"}, []string{"delta"}},
		{[]string{"delta", "dance"}, []string{"delta"}},
		{[]string{"delta", "scan", "x"}, []string{"delta", "scan"}},
		{[]string{"delta", "position", "show", "x"}, []string{"delta", "position", "show"}},
	} {
		if got := commandOf(c.args); !slices.Equal(c.want, got) {
			t.Errorf("%q: want %q, got %q", c.args, c.want, got)
		}
	}
}

func TestWrongDeltaArgumentsHaveStatusTwo(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "delta needs a command: scan, plan, inspect, history, limits, position or docs"},
		{[]string{"dance"}, "there is no command delta dance"},
		{[]string{"scan"}, "delta scan takes one table URI, got 0"},
		{[]string{"scan", "a", "b"}, "delta scan takes one table URI, got 2"},
		{[]string{"scan", "a", "--format", "csv"}, `--format must be one of json, arrow, count, got "csv"`},
		{[]string{"scan", "a", "--limit", "-1"}, "--limit: must be at least 0, got -1"},
		{[]string{"scan", "a", "--version", "-1"}, "--version: must be at least 0, got -1"},
		{[]string{"scan", "a", "--version", "x"}, `--version: must be a whole number, got "x"`},
		{[]string{"scan", "a", "--version", "1", "--version", "2"}, "flag --version is given twice"},
		{[]string{"scan", "a", "--version", "1", "--set", "version=2"}, "version is given twice: leave out --version or --set version"},
		{[]string{"scan", "a", "--timestamp", "noon"}, `--timestamp: "noon" is not a point in time: ` +
			"write 2024-05-01T12:00:00Z, 2024-05-01 12:00:00 (UTC) or 2024-05-01"},
		{[]string{"history", "a", "--timestamp", "2024-05-01", "--version", "1"}, "--version and --timestamp cannot go together: " +
			"leave one of them out"},
		{[]string{"scan", "a", "--columns", ""}, "--columns names no column: leave it out for all of them"},
		{[]string{"scan", "a", "--columns", "a,"}, "--columns: element 2 must not be empty"},
		{[]string{"scan", "a", "--columns", "a", "--columns", "a"}, `--columns: "a" is there twice`},
		{[]string{"scan", "a", "--columns", "a", "--columns", `["b"]`}, `a JSON array of --columns stands alone: name all of them in ["b"]`},
		{[]string{"history", "a", "--format", "count"}, `--format must be one of text, json, got "count"`},
		{[]string{"scan", "a", "--set", "batch_rows"}, `"batch_rows" is not an assignment: write field=value`},
		{[]string{"scan", "a", "--set", "batch_rows=0"}, "delta_lake.batch_rows: must be at least 1, got 0"},
		{[]string{"scan", "a", "--set", "decimal=number"}, "delta_lake.decimal: is not a field: did you mean values.decimal?"},
		{[]string{"scan", "a", "--set", "uri=b"}, "the URI is an argument: leave --set uri out"},
		{[]string{"scan", "a", "--set", "format=structured"}, "delta scan does not use format: it takes version, timestamp, " +
			"allowed_external_paths, scan.memory_limit, columns, where, limit, target_partitions, file_descriptors_per_partition, " +
			"memory_per_partition, intra_file_repartitioning, repartition_file_min_size, scan.file_reads_per_partition, " +
			"scan.prefetch_files_per_partition, scan.footer_read_size, batch_rows, values.decimal, values.int64, values.timestamp, " +
			"values.binary, values.non_finite"},
		{[]string{"scan", "a", "--where", "b ="}, "--where: at character 4: expected a value, found the end"},
		{[]string{"plan", "a", "--set", "target_partitions=0"}, "delta_lake.target_partitions: must be at least 1, got 0"},
		{[]string{"limits", "a"}, "delta limits takes no arguments, got a"},
		{[]string{"inspect", "a", "--set", "limit=1"}, "delta inspect does not use limit: it takes version, timestamp, " +
			"allowed_external_paths, scan.memory_limit"},
		{[]string{"scan", "a", "--fast"}, "there is no flag --fast"},
		{[]string{"inspect", "a", "--columns", "b"}, "there is no flag --columns"},
		{[]string{"position", "show"}, "delta position show takes one pipeline file, got 0 arguments"},
		{[]string{"docs", "x"}, "delta docs takes no arguments, got x"},
	} {
		var out, errs bytes.Buffer
		status := runDelta(append([]string{"delta"}, c.args...), streams{out: &out, err: &errs})
		command := strings.Join(commandOf(append([]string{"delta"}, c.args...)), " ")
		want := c.want + "\nSee benthos-delta " + command + " --help.\n"
		if status != exitUsage || errs.String() != want || out.Len() > 0 {
			t.Errorf("%q: want status 2 and %q\ngot status %d, %q and output %q", c.args, want, status, errs.String(), out.String())
		}
	}
}
