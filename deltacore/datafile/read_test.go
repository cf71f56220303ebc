package datafile_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/apache/arrow-go/v18/arrow"
	"github.com/apache/arrow-go/v18/arrow/array"
	"github.com/apache/arrow-go/v18/arrow/memory"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/datafile"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/parquetio"
	"github.com/benthos-delta/benthos-delta/deltacore/scanplan"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
	"github.com/benthos-delta/benthos-delta/deltacore/storage"
	"github.com/benthos-delta/benthos-delta/pruning"
)

const path = "country=NL/part-0.parquet"

// reading is one read of one file.
type reading struct {
	content   []byte
	columns   *schema.Struct
	partition []string
	values    map[string]*string
	from      int64
	batchRows int64
	mapping   schema.Mapping
	vector    *action.DeletionVector
	others    map[string][]byte // files of the table besides the data file

	where   *pruning.Bound
	table   *schema.Struct
	without datafile.Levels
	skipped *scanplan.Skipped
	explain func(scanplan.Explanation)

	tracking                 *datafile.RowTracking
	baseRowID, commitVersion *int64
}

func (r reading) task() scanplan.FileTask {
	return scanplan.FileTask{
		Version: 7, File: path, Size: int64(len(r.content)), PartitionValues: r.values, StartRow: r.from, DeletionVector: r.vector,
		BaseRowID: r.baseRowID, DefaultRowCommitVersion: r.commitVersion,
	}
}

func (r reading) reader(t testing.TB) *datafile.Reader {
	t.Helper()
	store := storage.NewMemory()
	store.Put(path, r.content)
	for name, content := range r.others {
		store.Put(name, content)
	}
	mem := memory.NewCheckedAllocator(deltatest.Overwriting{Allocator: memory.NewGoAllocator()})
	t.Cleanup(func() { mem.AssertSize(t, 0) })
	layout := datafile.Layout{
		Columns: r.columns, PartitionColumns: r.partition, Mapping: r.mapping, RowTracking: r.tracking,
		Where: r.where, Table: r.table, Without: r.without, Skipped: r.skipped, Explain: r.explain,
	}
	reader, err := datafile.NewReader(store, layout, parquetio.Options{Allocator: mem, BatchRows: r.batchRows})
	if err != nil {
		t.Fatal(err)
	}
	return reader
}

// rows returns a JSON object for each row, and checks what every batch promises.
func (r reading) rows(t testing.TB) ([]string, error) {
	t.Helper()
	want, err := schema.ArrowSchema(r.columns)
	if err != nil {
		t.Fatal(err)
	}
	rows := []string{}
	for batch, err := range r.reader(t).Read(context.Background(), r.task()) {
		if err != nil {
			return rows, err
		}
		if !want.Equal(batch.Record.Schema()) {
			t.Errorf("want schema %s, got %s", want, batch.Record.Schema())
		}
		for i, c := range batch.Record.Columns() {
			if !arrow.TypeEqual(want.Field(i).Type, c.DataType(), arrow.CheckMetadata()) {
				t.Errorf("want type %s, got %s", want.Field(i).Type, c.DataType())
			}
			if err := valid(c); err != nil {
				t.Errorf("column %s: %v", want.Field(i).Name, err)
			}
		}
		r.checkNumbers(t, batch, int64(len(rows)))
		rows = append(rows, jsonRows(batch.Record)...)
		batch.Record.Release()
	}
	return rows, nil
}

// checkNumbers checks the physical rows of a batch, the first one of which is the n-th of the read.
func (r reading) checkNumbers(t testing.TB, batch datafile.Batch, n int64) {
	t.Helper()
	switch {
	case batch.Index == nil && r.vector == nil && batch.FirstRow != r.from+n:
		t.Errorf("want first row %d, got %d", r.from+n, batch.FirstRow)
	case batch.Index != nil && (int64(len(batch.Index)) != batch.Record.NumRows() || batch.Index[0] != batch.FirstRow):
		t.Errorf("%d rows from %d on have the numbers %v", batch.Record.NumRows(), batch.FirstRow, batch.Index)
	}
}

func valid(a arrow.Array) error {
	if v, ok := a.(interface{ ValidateFull() error }); ok {
		return v.ValidateFull()
	}
	return nil
}

func (r reading) want(t testing.TB, want ...string) {
	t.Helper()
	got, err := r.rows(t)
	if err != nil {
		t.Fatal(err)
	}
	compareRows(t, want, got)
}

func (r reading) wantError(t testing.TB, text string) {
	t.Helper()
	rows, err := r.rows(t)
	if err == nil || deltaerr.KindOf(err) != deltaerr.Corrupt || !strings.Contains(err.Error(), text) {
		t.Errorf("want a corrupt error with %q, got %v and rows %v", text, err, rows)
	}
	if err != nil && !strings.HasPrefix(err.Error(), "version 7, file "+path) {
		t.Errorf("the message does not name version and file: %v", err)
	}
}

func jsonRows(batch arrow.RecordBatch) []string {
	if batch.NumCols() == 0 {
		return make([]string, batch.NumRows())
	}
	var out bytes.Buffer
	if err := array.RecordToJSON(batch, &out); err != nil {
		panic(err)
	}
	return strings.Split(strings.TrimSuffix(out.String(), "\n"), "\n")
}

func compareRows(t testing.TB, want, got []string) {
	t.Helper()
	if fmt.Sprint(want) == fmt.Sprint(got) {
		return
	}
	t.Errorf("want\n%s\ngot\n%s", strings.Join(want, "\n"), strings.Join(got, "\n"))
}

func file(columns *schema.Struct, rows ...string) []byte {
	return deltatest.Parquet{}.File(deltatest.Rows(columns, rows...))
}

func TestColumnsAreMatchedByName(t *testing.T) {
	held := deltatest.Columns("b string", "extra long", "a long", "Case string")
	content := file(held, `{"a": 1, "b": "x", "Case": "c", "extra": 5}`)
	reading{content: content, columns: deltatest.Columns("a long", "case string", "missing decimal(5,2)", "b string")}.
		want(t, `{"a":1,"b":"x","case":"c","missing":null}`)
}

func TestAnExactNameWinsOverOtherCase(t *testing.T) {
	content := file(deltatest.Columns("ID long", "id long"), `{"ID": 1, "id": 2}`)
	reading{content: content, columns: deltatest.Columns("id long")}.want(t, `{"id":2}`)
	reading{content: content, columns: deltatest.Columns("Id long")}.
		wantError(t, `column Id: several columns of the file could be meant: "ID", "id"`)
}

func TestSameNameTwiceIsRefused(t *testing.T) {
	content := deltatest.Parquet{}.RawFile(`message m { required int64 a; required int64 a; }`,
		deltatest.RawGroup{{Values: []int64{1}}, {Values: []int64{2}}})
	reading{content: content, columns: deltatest.Columns("a long")}.wantError(t, `column a: several columns of the file could be meant`)
	reading{content: content, columns: deltatest.Columns("b long")}.want(t, `{"b":null}`)
}

func TestNestedColumnsAreMatchedByNameAtEveryLevel(t *testing.T) {
	held := deltatest.Columns("s struct<z:long,inner:struct<a:long,b:string>>", "l array<struct<q:long,p:string>>",
		"m map<string,struct<y:long,x:long>>")
	content := file(held,
		`{"s": {"z": 1, "inner": {"a": 2, "b": "t"}}, "l": [{"q": 1, "p": "u"}, null], "m": [{"key": "k", "value": {"y": 1, "x": 2}}]}`,
		`{"s": {}, "l": [], "m": []}`,
		`{}`)
	wanted := deltatest.Columns("m map<string,struct<x:long,new:long>>", "l array<struct<new:long,p:string>>",
		"s struct<new:struct<c:long>,inner:struct<B:string,new:array<long>>>")
	reading{content: content, columns: wanted}.want(t,
		`{"l":[{"new":null,"p":"u"},null],"m":[{"key":"k","value":{"new":null,"x":2}}],"s":{"inner":{"B":"t","new":null},"new":null}}`,
		`{"l":[],"m":[],"s":{"inner":null,"new":null}}`,
		`{"l":null,"m":null,"s":null}`)
}

func TestAStructWithNoneOfItsWantedMembersIsStillNullOrNot(t *testing.T) {
	held := deltatest.Columns("s struct<l:array<string>,a:string,b:struct<c:long>>", "t struct<l:array<struct<x:long>>>")
	content := file(held,
		`{"s": {"a": "x"}, "t": {"l": [{"x": 1}]}}`, `{"s": {}, "t": {}}`, `{}`, `{"s": {"b": {}}, "t": {"l": [null]}}`)
	reading{content: content, columns: deltatest.Columns("s struct<z:long,b:struct<y:long>>", "t struct<q:string>")}.want(t,
		`{"s":{"b":null,"z":null},"t":{"q":null}}`, `{"s":{"b":null,"z":null},"t":{"q":null}}`,
		`{"s":null,"t":null}`, `{"s":{"b":{"y":null},"z":null},"t":{"q":null}}`)
}

func TestPartitionColumnsComeFromTheLog(t *testing.T) {
	country, amount, day := "NL", "1.50", "2024-05-01"
	r := reading{
		content:   file(deltatest.Columns("country string", "id long"), `{"id": 1, "country": "from the file"}`, `{"id": 2}`),
		columns:   deltatest.Columns("country string", "amount decimal(10,2)", "id long", "day date", "gone string"),
		partition: []string{"country", "amount", "day", "gone"},
		values:    map[string]*string{"country": &country, "amount": &amount, "day": &day},
	}
	r.want(t, `{"amount":"1.5","country":"NL","day":"2024-05-01","gone":null,"id":1}`,
		`{"amount":"1.5","country":"NL","day":"2024-05-01","gone":null,"id":2}`)
	r.columns = deltatest.Columns("country string") // no column of the file
	r.want(t, `{"country":"NL"}`, `{"country":"NL"}`)
	r.columns = &schema.Struct{}
	r.want(t, "", "")
	r.columns = deltatest.Columns("country string not null")
	r.values = nil
	r.wantError(t, "column country: the partition value is null, but the table says that the column is never null")
	wrong := "x"
	r.columns, r.values = deltatest.Columns("amount decimal(10,2)"), map[string]*string{"amount": &wrong}
	r.wantError(t, "column amount: partition value 'x'")
}

func TestPartitionValuesAreFoundInOtherCase(t *testing.T) {
	nl, de := "NL", "DE"
	r := reading{content: file(deltatest.Columns("id long"), `{"id": 1}`), columns: deltatest.Columns("id long", "Country string"), partition: []string{"Country"}}
	for want, values := range map[string]map[string]*string{
		`{"Country":"NL","id":1}`: {"country": &nl}, `{"Country":"DE","id":1}`: {"country": &nl, "Country": &de}, `{"Country":null,"id":1}`: {},
	} {
		r.values = values
		r.want(t, want)
	}
	r.mapping = schema.MapByName
	if got, err := r.rows(t); err == nil && strings.Contains(fmt.Sprint(got), "NL") {
		t.Errorf("a mapped table has exact names, got %v", got)
	}
}

func TestVoidColumnsAreNullAndNotLookedFor(t *testing.T) {
	content := file(deltatest.Columns("v long", "id long", "s struct<v:long>", "l array<long>"),
		`{"id": 1, "v": 5, "s": {"v": 1}, "l": [1, 2]}`)
	reading{content: content, columns: deltatest.Columns("v void", "id long", "s struct<v:void>", "l array<void>")}.
		want(t, `{"id":1,"l":[null,null],"s":{"v":null},"v":null}`)
}

func TestNullsInColumnsThatAreNeverNullAreReported(t *testing.T) {
	held := deltatest.Columns("id long", "s struct<a:long>", "l array<long>", "m map<string,long>")
	content := file(held, `{"id": 1, "s": {"a": 1}, "l": [1], "m": [{"key": "k", "value": 1}]}`,
		`{"s": {}, "l": [null], "m": [{"key": "k", "value": null}]}`, `{"s": null}`)
	strict := func(change func(s *schema.Struct)) *schema.Struct {
		s := deltatest.Columns("id long", "s struct<a:long>", "l array<long>", "m map<string,long>")
		change(s)
		return s
	}
	tests := map[string]struct {
		columns *schema.Struct
		text    string
	}{
		"column": {
			strict(func(s *schema.Struct) { s.Fields[0].Nullable = false }),
			"column id: 2 values are null, but the table says that the column is never null",
		},
		"member": {
			strict(func(s *schema.Struct) { s.Fields[1].Type.(*schema.Struct).Fields[0].Nullable = false }),
			"column s.a: 1 values are null",
		},
		"element": {
			strict(func(s *schema.Struct) { s.Fields[2].Type.(*schema.Array).ContainsNull = false }),
			"column l.element: 1 values are null",
		},
		"value": {
			strict(func(s *schema.Struct) { s.Fields[3].Type.(*schema.Map).ValueContainsNull = false }),
			"column m.value: 1 values are null",
		},
		"missing": {deltatest.Columns("gone long not null"), "column gone: the file does not have the column"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			reading{content: content, columns: test.columns}.wantError(t, test.text)
		})
	}
}

func TestOtherNullabilityOfTheFileIsFine(t *testing.T) {
	content := file(deltatest.Columns("a long not null", "b long"), `{"a": 1, "b": 2}`)
	reading{content: content, columns: deltatest.Columns("a long", "b long not null")}.want(t, `{"a":1,"b":2}`)
}

func TestReadBeginsAtTheStartRow(t *testing.T) {
	columns := deltatest.Columns("id long", "name string", "l array<long>")
	lines, want := make([]string, 100), make([]string, 100)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"id": %d, "name": "n%d", "l": [%d, null]}`, i, i, i)
		want[i] = fmt.Sprintf(`{"id":%d,"l":[%d,null],"name":"n%d"}`, i, i, i)
	}
	content := deltatest.Parquet{RowGroupRows: 30}.File(deltatest.Rows(columns, lines...))
	for _, from := range []int64{0, 1, 7, 29, 30, 31, 60, 99} {
		reading{content: content, columns: columns, from: from, batchRows: 8}.want(t, want[from:]...)
	}
	for _, from := range []int64{100, 101, 1 << 60} {
		reading{content: content, columns: columns, from: from}.want(t)
	}
}

func TestFilesAndRowGroupsWithoutRows(t *testing.T) {
	columns := deltatest.Columns("id long", "s struct<a:long>")
	none := deltatest.Rows(columns)
	reading{content: deltatest.Parquet{}.File(none), columns: columns}.want(t)
	content := deltatest.Parquet{}.File(none, deltatest.Rows(columns, `{"id": 1}`), none)
	reading{content: content, columns: columns}.want(t, `{"id":1,"s":null}`)
	reading{content: deltatest.Parquet{}.RawFile(`message m { required int64 id; }`), columns: columns}.want(t)
	reading{content: deltatest.Parquet{}.RawFile(`message m { }`), columns: columns}.want(t)
}

func TestWhatCannotBeAFileWasNotVacuumed(t *testing.T) {
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, "a.parquet"), 0o700); err != nil {
		t.Fatal(err)
	}
	root, err := storage.ParseURI(dir)
	if err != nil {
		t.Fatal(err)
	}
	store, err := storage.NewLocal(root)
	if err != nil {
		t.Fatal(err)
	}
	reader, err := datafile.NewReader(store, datafile.Layout{Columns: deltatest.Columns("id long")}, parquetio.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{"a.parquet", "a\x00.parquet"} {
		for _, err := range reader.Read(t.Context(), scanplan.FileTask{File: name}) {
			if deltaerr.KindOf(err) != deltaerr.NotFound || strings.Contains(err.Error(), "VACUUM") {
				t.Errorf("%q: want not found and no guess, got %v", name, err)
			}
		}
	}
}

func TestAMissingFileMayHaveBeenVacuumed(t *testing.T) {
	r := reading{columns: deltatest.Columns("id long")}
	task := r.task()
	task.File, task.Size = "gone dir/x.parquet", 100
	for _, err := range r.reader(t).Read(context.Background(), task) {
		if deltaerr.KindOf(err) != deltaerr.NotFound || !errors.Is(err, fs.ErrNotExist) {
			t.Errorf("want not found, got %v", err)
		}
		for _, text := range []string{"version 7, file gone dir/x.parquet", "VACUUM", "deleted manually"} {
			if !strings.Contains(err.Error(), text) {
				t.Errorf("want %q in %q", text, err)
			}
		}
	}
}

func TestAnUnreadableTypeIsRefusedBeforeAnyFileIsOpened(t *testing.T) {
	columns := &schema.Struct{Fields: []schema.Field{{Name: "v", Type: schema.Unknown("interval year")}}}
	_, err := datafile.NewReader(storage.NewMemory(), datafile.Layout{Columns: columns}, parquetio.Options{})
	if deltaerr.KindOf(err) != deltaerr.Unsupported || !strings.Contains(err.Error(), "column v") {
		t.Errorf("want unsupported, got %v", err)
	}
}

func TestStoppingEarlyReleasesEverything(t *testing.T) {
	columns := deltatest.Columns("id long", "name string", "l array<string>", "p string")
	content := file(columns, `{"id": 1, "name": "a", "l": ["x"]}`, `{"id": 2}`, `{"id": 3}`)
	value := "v"
	r := reading{content: content, columns: columns, partition: []string{"p"}, values: map[string]*string{"p": &value}, batchRows: 1}
	for batch, err := range r.reader(t).Read(context.Background(), r.task()) {
		if err != nil {
			t.Fatal(err)
		}
		batch.Record.Release()
		break
	}
}

func TestACancelledReadEndsWithTheContextsError(t *testing.T) {
	columns := deltatest.Columns("id long")
	r := reading{content: file(columns, `{"id": 1}`), columns: columns}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	for _, err := range r.reader(t).Read(ctx, r.task()) {
		if !errors.Is(err, context.Canceled) {
			t.Errorf("want canceled, got %v", err)
		}
	}
}
