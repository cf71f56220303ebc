package scanplan

import (
	"reflect"
	"slices"
	"testing"

	"github.com/go-json-experiment/json"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
)

func TestKeysSortByTimeThenByPathBytes(t *testing.T) {
	want := []Key{{-5, "z"}, {0, ""}, {10, "A"}, {10, "a"}, {10, "a/b"}, {10, "ä"}, {11, "A"}}
	got := slices.Clone(want)
	slices.Reverse(got)
	slices.SortFunc(got, Key.Compare)
	if !slices.Equal(want, got) {
		t.Errorf("want %v, got %v", want, got)
	}
	if c := (Key{1, "p"}).Compare(Key{1, "p"}); c != 0 {
		t.Errorf("equal keys: want 0, got %d", c)
	}
}

func TestFileTaskSurvivesJSON(t *testing.T) {
	country, offset := "NL", int64(1)
	tasks := []FileTask{
		{},
		{
			TableID: "id", Version: 1<<60 + 1, SchemaHash: "h",
			Key:  Key{ModificationTime: 1 << 53, Path: "a%20b/ä.parquet"},
			File: "a b/ä.parquet", Size: 1<<40 + 1,
			PartitionValues: map[string]*string{"country": &country, "day": nil},
			DeletionVector:  &action.DeletionVector{StorageType: "u", PathOrInlineDv: "x", Offset: &offset, Cardinality: 3},
			StartRow:        1 << 33, BaseRowID: &offset, DefaultRowCommitVersion: &offset,
			Range: &ByteRange{Start: 1 << 39, End: 1<<40 + 1},
		},
	}
	for _, want := range tasks {
		text, err := json.Marshal(want)
		if err != nil {
			t.Fatal(err)
		}
		var got FileTask
		if err := json.Unmarshal(text, &got); err != nil {
			t.Fatal(err)
		}
		if want.PartitionValues == nil {
			want.PartitionValues = map[string]*string{} // nil is written as {}
		}
		if !reflect.DeepEqual(want, got) {
			t.Errorf("want %+v, got %+v from %s", want, got, text)
		}
	}
}

// TestFileTaskLeavesOutWhatItDoesNotHave: null and 0 mean something in other fields.
func TestFileTaskLeavesOutWhatItDoesNotHave(t *testing.T) {
	text, err := json.Marshal(FileTask{Range: &ByteRange{}, BaseRowID: new(int64)}, json.Deterministic(true))
	want := `{"table_id":"","version":0,"schema_hash":"","key":{"modification_time":0,"path":""},"file":"","size":0,` +
		`"partition_values":{},"range":{"start":0,"end":0},"base_row_id":0}`
	if err != nil || string(text) != want {
		t.Errorf("want %s, got %s, %v", want, text, err)
	}
}
