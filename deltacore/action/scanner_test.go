package action

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"reflect"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
)

// scan returns the actions of a commit and the error that ended it, nil for its end.
func scan(t *testing.T, text string, kinds ...Kind) ([]Action, error) {
	t.Helper()
	s := NewScanner(strings.NewReader(text), kinds...)
	var actions []Action
	for {
		a, err := s.Next()
		if errors.Is(err, io.EOF) {
			return actions, nil
		}
		if err != nil {
			if _, again := s.Next(); again == nil || again.Error() != err.Error() {
				t.Errorf("after an error: want the same error, got %v", again)
			}
			return actions, err
		}
		actions = append(actions, a)
	}
}

func ptr[T any](v T) *T { return &v }

func TestScannerDecodesEachAction(t *testing.T) {
	cases := []struct {
		name, line string
		want       Action
	}{
		{
			"add with everything",
			`{"add":{"path":"p=a%20b/f.parquet","partitionValues":{"p":"a b","q":null},"size":9007199254740993,"modificationTime":-9223372036854775808,` +
				`"dataChange":true,"stats":"{\"numRecords\":1,\"x\":\"\u00e9\\n\"}","tags":{"a":1},"deletionVector":{"storageType":"u","pathOrInlineDv":"ab",` +
				`"offset":1,"sizeInBytes":36,"cardinality":2,"maxRowIndex":null},"baseRowId":0,"defaultRowCommitVersion":9223372036854775807,"clusteringProvider":"x"}}`,
			Action{Add: &Add{
				Path: "p=a%20b/f.parquet", PartitionValues: map[string]*string{"p": ptr("a b"), "q": nil}, Size: 1<<53 + 1,
				ModificationTime: math.MinInt64, DataChange: true, Stats: `{"numRecords":1,"x":"é\n"}`,
				DeletionVector: &DeletionVector{StorageType: "u", PathOrInlineDv: "ab", Offset: ptr(int64(1)), SizeInBytes: 36, Cardinality: 2},
				BaseRowID:      ptr(int64(0)), DefaultRowCommitVersion: ptr(int64(math.MaxInt64)),
			}},
		},
		{
			"add of nulls, in another order",
			`{"add":{"stats":null,"partitionValues":{},"deletionVector":null,"size":null,"baseRowId":null,"dataChange":false,"path":"f"}}`,
			Action{Add: &Add{Path: "f"}},
		},
		{
			"remove",
			`{"remove":{"path":"f","deletionTimestamp":5,"dataChange":true,"extendedFileMetadata":true,"partitionValues":{"p":""},"size":7,` +
				`"deletionVector":{"storageType":"i","pathOrInlineDv":"x","offset":null,"sizeInBytes":1,"cardinality":1}}}`,
			Action{Remove: &Remove{
				Path: "f", DeletionTimestamp: 5, DataChange: true, ExtendedFileMetadata: true, PartitionValues: map[string]*string{"p": ptr("")},
				Size: 7, DeletionVector: &DeletionVector{StorageType: "i", PathOrInlineDv: "x", SizeInBytes: 1, Cardinality: 1},
			}},
		},
		{
			"cdc",
			`{"cdc":{"path":"_change_data/f","partitionValues":{"p":"1"},"size":3,"dataChange":false}}`,
			Action{CDC: &CDC{Path: "_change_data/f", PartitionValues: map[string]*string{"p": ptr("1")}, Size: 3}},
		},
		{
			"protocol",
			`{"protocol":{"minReaderVersion":3,"minWriterVersion":7,"readerFeatures":[],"writerFeatures":["a","b"]}}`,
			Action{Protocol: &Protocol{MinReaderVersion: 3, MinWriterVersion: 7, ReaderFeatures: []string{}, WriterFeatures: []string{"a", "b"}}},
		},
		{
			"metadata",
			`{"metaData":{"id":"i","name":"n","description":null,"format":{"provider":"parquet","options":{"a":"b"}},"schemaString":"{}",` +
				`"partitionColumns":["p"],"createdTime":1,"configuration":{"a":"b","n":5,"t":true,"gone":null}}}`,
			Action{Metadata: &Metadata{
				ID: "i", Name: "n", Format: Format{Provider: "parquet", Options: map[string]string{"a": "b"}}, SchemaString: "{}",
				PartitionColumns: []string{"p"}, CreatedTime: 1, Configuration: map[string]string{"a": "b", "n": "5", "t": "true"},
			}},
		},
		{"txn", `{"txn":{"appId":"a","version":3,"lastUpdated":4}}`, Action{Txn: &Txn{AppID: "a", Version: 3, LastUpdated: ptr(int64(4))}}},
		{
			"domain",
			`{"domainMetadata":{"domain":"d","configuration":"{}","removed":true}}`,
			Action{DomainMetadata: &DomainMetadata{Domain: "d", Configuration: "{}", Removed: true}},
		},
		{"checkpoint metadata", `{"checkpointMetadata":{"version":4,"tags":{}}}`, Action{CheckpointMetadata: &CheckpointMetadata{Version: 4}}},
		{
			"sidecar",
			`{"sidecar":{"path":"s.parquet","sizeInBytes":4,"modificationTime":5,"tags":null}}`,
			Action{Sidecar: &Sidecar{Path: "s.parquet", SizeInBytes: 4, ModificationTime: 5}},
		},
		{"actions without a value are absent", `{"remove":null,"add":{"path":"f"},"cdc":null}`, Action{Add: &Add{Path: "f"}}},
		{"unknown action beside a known one", `{"future":{"add":[1]},"add":{"path":"f"}}`, Action{Add: &Add{Path: "f"}}},
		{"statistics that are no text are none", `{"add":{"path":"f","stats":{"numRecords":1}}}`, Action{Add: &Add{Path: "f"}}},
		{"statistics of empty text", `{"add":{"path":"f","stats":""}}`, Action{Add: &Add{Path: "f"}}},
		{"path with a surrogate pair", `{"add":{"path":"a\ud83d\ude00\/b"}}`, Action{Add: &Add{Path: "a😀/b"}}},
		{"partition values unquoted", `{"add":{"path":"f","partitionValues":{"a":12,"b":false}}}`, Action{Add: &Add{Path: "f", PartitionValues: map[string]*string{"a": ptr("12"), "b": ptr("false")}}}},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := scan(t, c.line)
			if err != nil {
				t.Fatal(err)
			}
			if want := []Action{c.want}; !reflect.DeepEqual(want, got) {
				t.Errorf("want %s\ngot  %s", show(want), show(got))
			}
		})
	}
}

func show(v any) string {
	b, _ := json.Marshal(v)
	return string(b)
}

func TestScannerPassesOverBlankAndUnknownLines(t *testing.T) {
	text := "\n \t\r\n{}\n" + `{"future":{"x":1}}` + "\r\n" + `{"add":null}` + "\n" + `{"txn":{"appId":"a","version":1}}` + "\r\n\n" + `{"add":{"path":"f"}}`
	s := NewScanner(strings.NewReader(text))
	for _, want := range []int64{6, 8} {
		if _, err := s.Next(); err != nil || s.line != want {
			t.Errorf("want an action in line %d, got line %d, %v", want, s.line, err)
		}
	}
	if _, err := s.Next(); !errors.Is(err, io.EOF) {
		t.Errorf("want the end, got %v", err)
	}
}

func TestScannerOfEmptyCommitEndsAtOnce(t *testing.T) {
	if got, err := scan(t, ""); err != nil || len(got) != 0 {
		t.Errorf("want no actions, got %v, %v", got, err)
	}
}

func TestScannerRefusesBrokenLinesByNumber(t *testing.T) {
	const first = `{"add":{"path":"f"}}` + "\n\n"
	cases := []struct{ name, line, want string }{
		{"cut", `{"add":{"path":"f","si`, "line 3 is cut (restore the file: what the line said cannot be known)"},
		{"cut after the value", `{"add":{"path":"f"}`, "line 3 is cut (restore the file: what the line said cannot be known)"},
		{"cut in an unknown action", `{"future":{"a":[1,`, "line 3 is cut (restore the file: what the line said cannot be known)"},
		{"two objects", `{"add":{"path":"f"}}{"add":{"path":"g"}}`, "line 3 goes on after the end of its object"},
		{"two actions", `{"add":{"path":"f"},"remove":{"path":"g"}}`, "line 3 holds two actions, add and remove"},
		{"a list", `[1]`, "line 3 is not a JSON object"},
		{"a text", `"add"`, "line 3 is not a JSON object"},
		{"no JSON", `hello`, "line 3 is not a JSON object"},
		{"zero bytes", "\x00\x00", "line 3 is not a JSON object"},
		{"action that is no object", `{"add":5}`, "line 3 has 5 in add where an object belongs"},
		{"size of text", `{"add":{"path":"f","size":"1"}}`, `line 3 has "1" in add.size where a number belongs`},
		{"size with a fraction", `{"add":{"path":"f","size":1.5}}`, "line 3 has 1.5 in add.size where an integer of 64 bits belongs"},
		{"size too large", `{"add":{"path":"f","size":9223372036854775808}}`, "line 3 has 9223372036854775808 in add.size where an integer of 64 bits belongs"},
		{"flag of text", `{"add":{"path":"f","dataChange":"true"}}`, `line 3 has "true" in add.dataChange where true or false belongs`},
		{"partition value of a list", `{"add":{"path":"f","partitionValues":{"p":[1]}}}`, "line 3 has [1] in add.partitionValues where a map of texts belongs"},
		{"features of numbers", `{"protocol":{"readerFeatures":[1]}}`, "line 3 has 1 in protocol.readerFeatures where a list of texts belongs"},
		{"no path", `{"remove":{"dataChange":true}}`, "line 3 has no path in remove"},
		{"long value", `{"txn":{"appId":[` + strings.Repeat("1,", 200) + `1]}}`, "line 3 has [" + strings.Repeat("1,", 49) + "1… in txn.appId where a text belongs"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			got, err := scan(t, first+c.line)
			if len(got) != 1 || err == nil || err.Error() != c.want || deltaerr.KindOf(err) != deltaerr.Corrupt {
				t.Errorf("want one action, then %q\ngot %d, then %q", c.want, len(got), err)
			}
		})
	}
}

func TestScannerRefusesJSONThatIsNotStrict(t *testing.T) {
	for name, line := range map[string]string{
		"duplicate action":          `{"add":null,"add":{"path":"f"}}`,
		"duplicate member":          `{"add":{"path":"f","path":"g"}}`,
		"duplicate unknown member":  `{"add":{"path":"f","x":{"a":1,"a":2}}}`,
		"duplicate escaped member":  `{"add":{"path":"f","p\u0061th":"g"}}`,
		"duplicate partition":       `{"add":{"path":"f","partitionValues":{"p":"1","p":"2"}}}`,
		"duplicate in a commitInfo": `{"commitInfo":{"a":1,"a":2}}`,
		"invalid UTF-8":             "{\"add\":{\"path\":\"\xff\"}}",
		"lone surrogate":            `{"add":{"path":"\ud800"}}`,
		"trailing comma":            `{"add":{"path":"f",}}`,
		"bare word":                 `{"add":{"path":f}}`,
	} {
		t.Run(name, func(t *testing.T) {
			got, err := scan(t, line)
			if len(got) > 0 || err == nil || !strings.HasPrefix(err.Error(), "line 1 is not valid JSON: ") || deltaerr.KindOf(err) != deltaerr.Corrupt {
				t.Errorf("want line 1 refused, got %v, %v", got, err)
			}
		})
	}
}

func TestScannerReadsCommitInfoLeniently(t *testing.T) {
	cases := []struct {
		raw  string
		want CommitInfo
	}{
		{
			`{"timestamp":1700000000001,"inCommitTimestamp":1700000000002,"operation":"WRITE","operationParameters":{"a":[1,{}],"b":2.5}}`,
			CommitInfo{Timestamp: ptr(int64(1700000000001)), InCommitTimestamp: ptr(int64(1700000000002)), Operation: "WRITE"},
		},
		{`{"timestamp":"yesterday","inCommitTimestamp":1.5,"operation":{"name":"WRITE"}}`, CommitInfo{}},
		{`{"timestamp":null,"operation":"x","userMetadata":7}`, CommitInfo{Operation: "x"}},
		{`{}`, CommitInfo{}},
		{`5`, CommitInfo{}},
		{`["WRITE"]`, CommitInfo{}},
	}
	for _, c := range cases {
		c.want.Raw = []byte(c.raw)
		got, err := scan(t, `{"commitInfo":`+c.raw+`}`)
		if err != nil || len(got) != 1 || !reflect.DeepEqual(&c.want, got[0].CommitInfo) {
			t.Errorf("%s: want %s, got %s, %v", c.raw, show(c.want), show(got), err)
		}
	}
}

func TestScannerYieldsOnlyTheWantedKinds(t *testing.T) {
	text := strings.Join([]string{
		`{"commitInfo":{"operation":"WRITE"}}`, `{"add":{"size":"not decoded"}}`, `{"protocol":{"minReaderVersion":1,"minWriterVersion":2}}`,
		`{"remove":{"path":"f"}}`, `{"metaData":{"id":"i"}}`,
	}, "\n")
	got, err := scan(t, text, KindProtocol, KindMetadata|KindTxn)
	if err != nil || len(got) != 2 || got[0].Protocol == nil || got[1].Metadata == nil {
		t.Errorf("want protocol and metadata, got %s, %v", show(got), err)
	}
	if _, err := scan(t, text); err == nil {
		t.Error("want the add refused when it is wanted, got no error")
	}
	if _, err := scan(t, text+`{"add":{`, KindTxn); err == nil {
		t.Error("want a broken line refused although its kind is not wanted, got no error")
	}
}

func TestScannerReadsLinesOfAnyLength(t *testing.T) {
	path := strings.Repeat("long/", 8<<20/5)
	text := `{"add":{"path":"` + path + `"}}` + "\n" + `{"add":{"path":"short"}}` + "\n"
	for name, r := range map[string]io.Reader{"at once": strings.NewReader(text), "in pieces": iotest.HalfReader(strings.NewReader(text))} {
		s := NewScanner(r)
		for _, want := range []string{path, "short"} {
			if a, err := s.Next(); err != nil || a.Add == nil || a.Add.Path != want {
				t.Errorf("%s: want an add with a path of %d bytes, got %v", name, len(want), err)
			}
		}
	}
}

func TestScannerRefusesALineAboveItsBound(t *testing.T) {
	s := NewScanner(strings.NewReader(`{"add":{"path":"f"}}` + "\n" + `{"add":{"path":"` + strings.Repeat("x", 200_000) + `"}}`))
	s.limit = 100_000
	if _, err := s.Next(); err != nil {
		t.Fatal(err)
	}
	_, err := s.Next()
	if want := "line 2 is longer than 100000 bytes"; err == nil || err.Error() != want {
		t.Errorf("want %q, got %v", want, err)
	}
	if len(s.long) > s.limit {
		t.Errorf("want at most %d bytes held, got %d", s.limit, len(s.long))
	}
}

// TestALongLineTakesAFewTimesItsLength: most of it are statistics, whose quotes are escaped. What is allocated in all is a
// bound of what is held.
func TestALongLineTakesAFewTimesItsLength(t *testing.T) {
	const size = 12 << 20
	stats := strings.Repeat(`\"a\":1,`, size/10)
	lines := map[string]string{
		"decoded":     `{"add":{"path":"f","stats":"` + stats + `"}}`,
		"passed over": `{"commitInfo":{"x":"` + stats + `"}}`,
	}
	for name, most := range map[string]uint64{"decoded": 6, "passed over": 4} {
		s := NewScanner(strings.NewReader(lines[name]), KindAdd)
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := s.Next(); err != nil && err != io.EOF { //nolint:errorlint // the end itself
			t.Fatal(err)
		}
		runtime.ReadMemStats(&after)
		if got, length := after.TotalAlloc-before.TotalAlloc, uint64(len(lines[name])); got > most*length {
			t.Errorf("%s: want at most %d times the line, got %d bytes for %d", name, most, got, length)
		}
		if _, err := s.readLine(); err != io.EOF || s.long != nil { //nolint:errorlint // the end itself
			t.Errorf("%s: want nothing kept of the line, got %d bytes, %v", name, cap(s.long), err)
		}
	}
}

func TestScannerReturnsTheErrorOfItsReader(t *testing.T) {
	for _, broken := range []error{errors.New("connection reset"), fmt.Errorf("the stream was cut: %w", io.EOF)} {
		text := `{"add":{"path":"f"}}` + "\n" + `{"add":{"path":"g"}}`
		s := NewScanner(io.MultiReader(strings.NewReader(text), iotest.ErrReader(broken)))
		if _, err := s.Next(); err != nil {
			t.Fatal(err)
		}
		if _, err := s.Next(); err != broken { //nolint:errorlint // this very error
			t.Errorf("want the reader's error, got %v", err)
		}
	}
}

func TestScannerSharesPartitionTexts(t *testing.T) {
	got, err := scan(t, strings.Repeat(`{"add":{"path":"f","partitionValues":{"country":"NL"}}}`+"\n", 2))
	if err != nil || len(got) != 2 {
		t.Fatal(got, err)
	}
	if a, b := got[0].Add.PartitionValues["country"], got[1].Add.PartitionValues["country"]; a != b {
		t.Errorf("want one text, got two: %p and %p", a, b)
	}
}

func TestScannerWithoutStatsStillChecksThem(t *testing.T) {
	s := NewScanner(strings.NewReader(`{"add":{"path":"f","stats":"{\"numRecords\":1}"}}` + "\n" + `{"add":{"path":"f","stats":"\x"}}`))
	s.OmitStats()
	if a, err := s.Next(); err != nil || a.Add.Stats != "" {
		t.Errorf("want an add without statistics, got %v", err)
	}
	if _, err := s.Next(); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("want broken statistics refused, got %v", err)
	}
}

func TestScannerAgreesWithEncodingJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := Add{
			Path: rapid.StringN(1, -1, 40).Draw(t, "path"), Size: rapid.Int64().Draw(t, "size"),
			ModificationTime: rapid.Int64().Draw(t, "time"), DataChange: rapid.Bool().Draw(t, "change"),
			Stats: rapid.String().Draw(t, "stats"), BaseRowID: rapid.Ptr(rapid.Int64(), true).Draw(t, "row"),
			PartitionValues: rapid.MapOfN(rapid.String(), rapid.Ptr(rapid.String(), true), 1, 4).Draw(t, "values"),
		}
		line, err := json.Marshal(Action{Add: &want})
		if err != nil {
			t.Fatal(err)
		}
		a, err := NewScanner(strings.NewReader(string(line))).Next()
		if err != nil || !reflect.DeepEqual(&want, a.Add) {
			t.Fatalf("want %s, got %s, %v", line, show(a), err)
		}
	})
}

func TestKindNamesAreThoseOfTheLog(t *testing.T) {
	for i, name := range kindNames {
		if got := kindNamed([]byte(name)); got != 1<<i || got.String() != name {
			t.Errorf("%s: got kind %d, %s", name, got, got)
		}
	}
	if want, got := "add|cdc", (KindAdd | KindCDC).String(); want != got {
		t.Errorf("want %s, got %s", want, got)
	}
	if kindNamed([]byte("future")) != 0 {
		t.Error("want no kind for an unknown name")
	}
}

func TestUniqueIDOfAVector(t *testing.T) {
	cases := []struct {
		dv   *DeletionVector
		want string
	}{
		{nil, ""},
		{&DeletionVector{StorageType: "u", PathOrInlineDv: "abc", SizeInBytes: 4}, "uabc"},
		{&DeletionVector{StorageType: "u", PathOrInlineDv: "abc", Offset: ptr(int64(0))}, "uabc@0"},
		{&DeletionVector{StorageType: "p", PathOrInlineDv: "s3://b/x", Offset: ptr(int64(42))}, "ps3://b/x@42"},
	}
	for _, c := range cases {
		if got := c.dv.UniqueID(); c.want != got {
			t.Errorf("want %q, got %q", c.want, got)
		}
	}
}
