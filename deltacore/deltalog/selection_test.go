package deltalog

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/pruning"
)

// statLeaves are leaves of every type that has bounds, wider than what the statistics of the tests were written as (TW4).
var statLeaves = []Leaf{
	{Path: []string{"id"}, Type: longType},
	{Path: []string{"x"}, Type: doubleType},
	{Path: []string{"price"}, Type: decimalType(12, 3)},
	{Path: []string{"count"}, Type: decimalType(12, 2)},
	{Path: []string{"day"}, Type: dateType},
	{Path: []string{"at"}, Type: instantType},
	{Path: []string{"local"}, Type: localType},
	{Path: []string{"name"}, Type: textType},
	{Path: []string{"s", "in.ner"}, Type: longType},
	{Path: []string{"list"}, Type: pruning.Type{Kind: pruning.Opaque}},
}

const (
	statValues = "struct<id:integer,x:float,price:decimal(9,2),count:integer,day:date,at:timestamp,local:date,name:string,s:struct<in.ner:byte>>"
	statNulls  = "struct<id:long,x:long,price:long,count:long,day:long,at:long,local:long,name:long,s:struct<in.ner:long>,list:long>"
)

// statTexts are statistics of three files; decimals stand in quotes in columns.
func statTexts(quote string) []string {
	value := func(n int) string {
		return fmt.Sprintf(`{"id":%d,"x":%d.5,"price":%s%d.25%s,"count":%d,"day":"2024-05-%02d","at":"2024-05-%02dT12:00:00.123Z",`+
			`"local":"2024-05-%02d","name":"n%d","s":{"in.ner":%d}}`, n, n, quote, n, quote, n, n, n, n, n, n)
	}
	nulls := `{"id":0,"x":0,"price":0,"count":0,"day":0,"at":0,"local":0,"name":1,"s":{"in.ner":0},"list":2}`
	var texts []string
	for n := range 3 {
		texts = append(texts, fmt.Sprintf(`{"numRecords":%d,"tightBounds":true,"minValues":%s,"maxValues":%s,"nullCount":%s}`, 10+n, value(1+n), value(7+n), nulls))
	}
	return texts
}

// parsedColumns is the form of a sidecar with parsed statistics.
func parsedColumns(more string) string {
	return "add struct<path:string,partitionValues:map<string,string>,size:long,modificationTime:long,dataChange:boolean," + more +
		"stats_parsed:struct<numRecords:long,tightBounds:boolean,minValues:" + statValues + ",maxValues:" + statValues + ",nullCount:" + statNulls + ">>"
}

// statLogs are logs of the same three files: in a commit, in a checkpoint as text, as columns, and as both with text that is wrong.
func statLogs() map[string]*testLog {
	texts, parsed := statTexts(""), statTexts(`"`)
	var adds []deltatest.Action
	var asColumns, asBoth []string
	for i, text := range texts {
		f := file(fmt.Sprint("f", i))
		f.Stats = text
		adds = append(adds, deltatest.Add(f))
		line := `{"add":{"path":"` + f.Path + `","partitionValues":{},"size":2,"modificationTime":7,"dataChange":true,"stats_parsed":` + parsed[i]
		asColumns, asBoth = append(asColumns, line+"}}"), append(asBoth, line+`,"stats":"{"}}`)
	}
	commits, checkpoint := newTable(), newTable()
	for _, t := range []*deltatest.Table{commits, checkpoint} {
		t.Commit(adds...)
		t.Commit(deltatest.Add(file("gone")))
		t.Commit(remove("gone"))
	}
	checkpoint.Checkpoint()
	logs := map[string]*testLog{"commits": logOf(commits), "text": logOf(checkpoint)}
	for name, content := range map[string][]byte{
		"columns": deltatest.Parquet{}.File(deltatest.Rows(deltatest.Columns(parsedColumns("")), asColumns...)),
		"both":    deltatest.Parquet{}.File(deltatest.Rows(deltatest.Columns(parsedColumns("stats:string,")), asBoth...)),
	} {
		logs[name] = newLog(map[string][]byte{
			uuidPath(3, "json"): []byte(protocolLine + "\n" + metadataLine + "\n" + sidecarLine("s.parquet", len(content))), sidecarDir + "/s.parquet": content,
		})
	}
	return logs
}

// TestStatisticsAreTheSameFromEveryKindOfLog covers ST1, C5, TW4: text and columns say the same.
func TestStatisticsAreTheSameFromEveryKindOfLog(t *testing.T) {
	var want []string
	for n := range 3 {
		var b strings.Builder
		fmt.Fprintf(&b, "f%d %d", n, 10+n)
		day := 19844 + n // 2024-05-01
		bounds := func(add int, loose int64) string {
			at := int64(day+add)*86_400_000_000 + 43_200_123_000
			return fmt.Sprintf("%d %d.5 0 %d 0 %d %d %d %d %q %d -", 1+n+add, 1+n+add, (1+n+add)*1000+250, (1+n+add)*100, day+add, at+loose,
				int64(day+add)*86_400_000_000+loose, fmt.Sprint("n", 1+n+add), 1+n+add)
		}
		fmt.Fprintf(&b, " [%s] [%s] 0 0 0 0 0 0 0 1 0 2", bounds(0, 0), bounds(6, 999))
		want = append(want, b.String())
	}
	for name, l := range statLogs() {
		var mu sync.Mutex
		var got []string
		_ = collected(t, l, Selection{Leaves: statLeaves, Keep: func(f ActiveFile) (bool, error) {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, f.Add.Path+" "+describeStats(f.Statistics))
			if f.Statistics.Odd() {
				t.Errorf("%s: %s has odd statistics", name, f.Add.Path)
			}
			return false, nil
		}})
		slices.Sort(got)
		if !slices.Equal(want, got) {
			t.Errorf("%s:\nwant %q\ngot  %q", name, want, got)
		}
	}
}

func describeStats(s *Statistics) string {
	var least, greatest, nulls []string
	for i := range statLeaves {
		b := s.Bounds(i)
		least, greatest = append(least, show(b.Min)), append(greatest, show(b.Max))
		nulls = append(nulls, countText(b.Nulls))
	}
	return fmt.Sprint(countText(s.Bounds(0).Rows), " ", least, " ", greatest, " ", strings.Join(nulls, " "))
}

// collected lists the files of a selection.
func collected(t *testing.T, l *testLog, s Selection) (paths []string) {
	t.Helper()
	snapshot, err := l.load(latest)
	if err != nil {
		t.Fatal(err)
	}
	for f, err := range snapshot.AddsFor(context.Background(), s) {
		if err != nil {
			t.Fatal(err)
		}
		if f.Statistics != nil || f.Add.Stats != "" {
			t.Errorf("want no statistics with %s, which is kept", f.Add.Path)
		}
		paths = append(paths, f.Add.Path)
	}
	slices.Sort(paths)
	return paths
}

func TestSelectionDropsFilesFromEveryKindOfLog(t *testing.T) {
	for name, l := range statLogs() {
		got := collected(t, l, Selection{Leaves: statLeaves[:1], Keep: func(f ActiveFile) (bool, error) {
			return f.Statistics.Bounds(0).Max.Int > 7, nil
		}})
		if want := []string{"f1", "f2"}; !slices.Equal(want, got) {
			t.Errorf("%s: want %v, got %v", name, want, got)
		}
	}
}

// TestSelectionIsAskedForLiveFilesOnly: what a newer commit hides is not decided about, and counts nowhere.
func TestSelectionIsAskedForLiveFilesOnly(t *testing.T) {
	table := newTable()
	table.Commit(add("a"), add("b"), add("c"))
	table.Checkpoint()
	table.Commit(remove("a"), add("d"))
	table.Commit(remove("d"), remove("b"), add("e"))
	var mu sync.Mutex
	var asked []string
	collected(t, logOf(table), Selection{Keep: func(f ActiveFile) (bool, error) {
		mu.Lock()
		defer mu.Unlock()
		asked = append(asked, strings.Clone(f.Add.Path))
		if f.Statistics != nil {
			t.Error("want no statistics: no leaf is asked for")
		}
		return true, nil
	}})
	slices.Sort(asked)
	if want := []string{"c", "e"}; !slices.Equal(want, asked) {
		t.Errorf("want %v, got %v", want, asked)
	}
}

func TestSelectionEndsWithTheFirstError(t *testing.T) {
	want := errors.New("not this one")
	for name, l := range statLogs() {
		s, err := l.load(latest)
		if err != nil {
			t.Fatal(err)
		}
		_, err = Collect(context.Background(), s.AddsFor(context.Background(), Selection{Keep: func(ActiveFile) (bool, error) { return true, want }}))
		if !errors.Is(err, want) {
			t.Errorf("%s: want %v, got %v", name, want, err)
		}
	}
}

// TestKeptFilesDoNotDependOnTheBatch: the texts that Keep is lent are copied when a file is kept.
func TestKeptFilesDoNotDependOnTheBatch(t *testing.T) {
	s, err := newLog(sidecarTable(sidecar(10_000), 1)).load(latest)
	if err != nil {
		t.Fatal(err)
	}
	all, err := Collect(context.Background(), s.AddsWithoutStats(context.Background()))
	if err != nil {
		t.Fatal(err)
	}
	kept, err := Collect(context.Background(), s.AddsFor(context.Background(), Selection{Leaves: statLeaves, Keep: func(f ActiveFile) (bool, error) {
		return !f.Statistics.Odd() && len(f.Add.Path) > 0, nil
	}}))
	if err != nil || kept.Len() != all.Len() {
		t.Fatalf("want %d files, got %d, %v", all.Len(), kept.Len(), err)
	}
	for i := range all.Len() {
		if describe(all.At(i)) != describe(kept.At(i)) {
			t.Fatalf("want %s, got %s", describe(all.At(i)), describe(kept.At(i)))
		}
	}
}

// TestOnlyTheLeavesThatAreNeededAreRead: a leaf without columns of its own makes the text be read, and nothing else does.
func TestOnlyTheLeavesThatAreNeededAreRead(t *testing.T) {
	content := deltatest.Parquet{}.File(deltatest.Rows(deltatest.Columns(parsedColumns("stats:string,"))))
	l := newLog(map[string][]byte{"s.parquet": content})
	f := parquetFile{path: "s.parquet", size: int64(len(content))}
	opened, err := l.open(context.Background(), &f)
	if err != nil {
		t.Fatal(err)
	}
	defer opened.Close()
	for _, c := range []struct {
		leaves []Leaf
		more   int // columns beside those of every add
		text   bool
	}{
		{nil, 0, false},
		{statLeaves[:1], 5, false},
		{statLeaves[:2], 8, false},
		{statLeaves[9:], 3, false}, // a list has no bounds
		{append(slices.Clone(statLeaves[:1]), Leaf{Path: []string{"other"}, Type: longType}), 1, true},
	} {
		r := addReader{reading: reading{omitStats: len(c.leaves) == 0, statistics: newStatsForm(c.leaves)}}
		got := r.leavesOf(opened.Fields())
		text := leavesOf(opened.Fields(), "add.stats")[0]
		if base := len(leavesOf(opened.Fields(), addPaths[1:]...)); len(got) != base+c.more || slices.Contains(got, text) != c.text {
			t.Errorf("%v: want %d columns, text %t, got %v", c.leaves, base+c.more, c.text, got)
		}
	}
}

// TestStatisticsOfColumnsOfOtherTypesSayNothing covers ST1 for columns: the rest stays usable.
func TestStatisticsOfColumnsOfOtherTypesSayNothing(t *testing.T) {
	values := "struct<id:string,x:boolean,price:decimal(9,5),count:double,day:long,at:long,local:timestamp,name:long,s:integer>"
	form := deltatest.Columns("add struct<path:string,stats_parsed:struct<numRecords:integer,tightBounds:string,minValues:" + values +
		",maxValues:" + values + ",nullCount:struct<id:string,x:long,s:long,list:long>>>")
	value := `{"id":"1","x":true,"price":"1.00001","count":1,"day":1,"at":1,"local":"2024-05-01T00:00:00Z","name":7,"s":1}`
	record := deltatest.Rows(form, `{"add":{"path":"a","stats_parsed":{"numRecords":3,"tightBounds":"true","minValues":`+value+`,"maxValues":`+value+
		`,"nullCount":{"id":"0","x":0,"s":0,"list":1}}}}`, `{"add":{"path":"b"}}`)
	columns, err := bindAdds(record)
	if err != nil {
		t.Fatal(err)
	}
	wanted := newStatsForm(statLeaves)
	s := newStatistics(wanted)
	for row, want := range []string{
		"3 [- - - - - - - - - -] [- - - - - - - - - -] ? 0 ? ? ? ? ? ? ? ?", "? [- - - - - - - - - -] [- - - - - - - - - -] ? ? ? ? ? ? ? ? ? ?",
	} {
		s.at(wanted.bindStats(columns.add), row, false)
		if got := describeStats(s); got != want || s.Odd() != (row == 0) {
			t.Errorf("row %d: want %s, got %s, odd %t", row, want, got, s.Odd())
		}
	}
}
