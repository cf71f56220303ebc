package main

import (
	"bytes"
	"os/exec"
	"reflect"
	"regexp"
	"slices"
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
		{[]string{"-c", "a.yaml", "b.yaml"}, "run takes its file as an argument: leave -c out"},
		{[]string{"--config=a.yaml", "b.yaml"}, "run takes its file as an argument: leave -c out"},
	} {
		if _, err := engineArguments(c.args); err == nil || err.Error() != c.want {
			t.Errorf("%q: want %q, got %v", c.args, c.want, err)
		}
	}
}

func TestRootFlagsAreChecked(t *testing.T) {
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
	} {
		got := ""
		if err := checkRootFlags(c.args); err != nil {
			got = err.Error()
		}
		if got != c.want {
			t.Errorf("%q: want %q, got %q", c.args, c.want, got)
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
}

func TestWrongDeltaArgumentsHaveStatusTwo(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, "delta needs a command: scan, inspect, history, position or docs"},
		{[]string{"dance"}, "there is no command delta dance"},
		{[]string{"scan"}, "delta scan takes one table URI, got 0"},
		{[]string{"scan", "a", "b"}, "delta scan takes one table URI, got 2"},
		{[]string{"scan", "a", "--format", "xml"}, `--format must be one of [json arrow count], got "xml"`},
		{[]string{"scan", "a", "--limit", "-1"}, "delta_lake.limit: must be at least 0, got -1"},
		{[]string{"scan", "a", "--version", "x"}, `delta_lake.version: must be a whole number, got "x"`},
		{[]string{"scan", "a", "--timestamp", "noon"}, `delta_lake.timestamp: "noon" is not a point in time: ` +
			"write 2024-05-01T12:00:00Z, 2024-05-01 12:00:00 (UTC) or 2024-05-01"},
		{[]string{"history", "a", "--timestamp", "2024-05-01", "--version", "1"}, "delta_lake.timestamp: cannot go together with " +
			"delta_lake.version: leave one of them out"},
		{[]string{"history", "a", "--format", "count"}, `--format must be one of [text json], got "count"`},
		{[]string{"scan", "a", "--set", "batch_rows"}, `"batch_rows" is not an assignment: write field=value`},
		{[]string{"scan", "a", "--fast"}, "there is no flag --fast"},
		{[]string{"inspect", "a", "--columns", "b"}, "there is no flag --columns"},
		{[]string{"docs", "x"}, "delta docs takes no arguments, got x"},
	} {
		var out, errs bytes.Buffer
		status := runDelta(append([]string{"delta"}, c.args...), streams{out: &out, err: &errs})
		want := c.want + "\nSee benthos-delta delta --help.\n"
		if status != exitUsage || errs.String() != want || out.Len() > 0 {
			t.Errorf("%q: want status 2 and %q\ngot status %d, %q and output %q", c.args, want, status, errs.String(), out.String())
		}
	}
}
