package input

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	configspec "github.com/benthos-delta/benthos-delta/config_spec"
	"github.com/benthos-delta/benthos-delta/input/feed"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// TestPositionStoredForOtherRowsIsGoneOnFrom, and that is logged: once the position has moved it is the new one's.
func TestPositionStoredForOtherRowsIsGoneOnFrom(t *testing.T) {
	t.Parallel()
	_, dir := grown(t)
	k := newKept()
	with := func(config string, log *logged) pipelineOptions {
		o := k.options("batch_rows: 2\ncheckpoint_limit: 2\n" + config)
		o.config, o.open, o.log = "uri: "+dir+"\n"+o.config, feed.Open, log
		return o
	}
	const notice = "The position was stored with"
	var first, second, third logged
	rows := interrupted(t, 2, with("where: id <> 1 and id < 29", &first))
	behind := k.position(t)
	rest := interrupted(t, 1, with("columns: [ id ]\nwhere: id <> 1 and id < 29", &second))
	between := k.position(t)
	last := finished(t, with("where: id IN (1, 2, 3, 28, 29)", &third))
	if got := ids(t, slices.Concat(rows, rest)); !slices.Equal(got, []int{0, 2, 3, 4, 5}) || behind.Row != 3 || between.Row != 5 {
		t.Errorf("want five rows of two runs, got %v to %s and %s", got, behind, between)
	}
	if got := ids(t, last); !slices.Equal(got, []int{28, 29}) {
		t.Errorf("want the rows behind them that the new predicate wants, got %v", got)
	}
	if lines := first.with(notice); len(lines) > 0 {
		t.Errorf("want nothing about a first run, got %q", lines)
	}
	for log, want := range map[*logged]string{
		&second: notice + " all columns where id != 1 AND id < 29; it goes on with the columns id where id != 1 AND id < 29",
		&third:  notice + " the columns id where id != 1 AND id < 29; it goes on with all columns where id IN (1, 2, 3, 28, 29)",
	} {
		if lines := log.with(notice); len(lines) != 1 || !strings.Contains(lines[0], want) {
			t.Errorf("want %q once, got %q", want, lines)
		}
	}
}

func TestReadingIsTheSameForTheSameRows(t *testing.T) {
	read := func(where string, columns ...string) string {
		t.Helper()
		c := configspec.Config{Columns: columns}
		if where != "" {
			p, err := pruning.Parse(where)
			check(t, err)
			c.Where = p
		}
		return readingOf(c)
	}
	for want, got := range map[string]string{
		"all columns":                  read(""),
		"the columns a, b":             read("", "a", "b"),
		"all columns where a = 1":      read("( a=1 )"),
		"the columns b where a = 'é1'": read("a = 'é1'", "b"),
	} {
		if want != got {
			t.Errorf("want %q, got %q", want, got)
		}
	}
	a := configspec.Config{Columns: []string{"a"}}
	for stored, other := range map[string]bool{
		"": false, "the columns a": false, "the columns a where b = 1": false, "all columns": true, "the columns a, b": true,
		"the columns ab where b = 1": true, "all columns where " + strings.Repeat("x", longestReading): false,
	} {
		if got := readsOtherColumns(stored, a); got != other {
			t.Errorf("%q is one of other columns than a: want %v, got %v", stored, other, got)
		}
	}
	var values []string
	for i := range 1000 {
		values = append(values, fmt.Sprintf("'é%d'", i))
	}
	long := func() string { return read("a IN (" + strings.Join(values, ", ") + ")") }
	before := long()
	values[999] = "'ö'"
	if after := long(); len(before) > longestReading || before == after || before[:900] != after[:900] {
		t.Errorf("want short texts that tell long predicates apart, got %q and %q", before, after)
	}
}

// TestMissingDirectoryOfAFileCacheIsToldOnce, with what to do, and the run begins when it is there.
func TestMissingDirectoryOfAFileCacheIsToldOnce(t *testing.T) {
	t.Parallel()
	_, dir := grown(t)
	state := filepath.Join(t.TempDir(), "state")
	var log logged
	o := pipelineOptions{
		config: "uri: " + dir + "\ncheckpoint_cache: positions\ncheckpoint_interval: 0s", open: feed.Open, log: &log,
		caches: "label: positions\nfile: { directory: " + state + " }",
	}
	time.AfterFunc(900*time.Millisecond, func() { _ = os.Mkdir(state, 0o755) })
	got := ids(t, finished(t, o))
	lines := log.with("did not take it")
	if len(lines) != 1 || !strings.Contains(lines[0], "(the directory of a file cache must exist") {
		t.Errorf("want one warning that says what to do, got %q", lines)
	}
	if slices.Sort(got); len(got) != 30 || got[29] != 29 {
		t.Errorf("want all rows when it does, got %v", got)
	}
}
