package datafile_test

import (
	"encoding/base64"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/benthos-delta/benthos-delta/deltacore/datafile"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
	"github.com/benthos-delta/benthos-delta/deltacore/schema"
)

// badRow is a file of three rows, of which the second cannot be read as the table's column.
type badRow struct {
	content []byte
	column  string // as deltatest.Columns has it
	rows    []string
}

// badRows are what a row may have that no row of the table may.
func badRows() map[string]badRow {
	decimals := func(leaf string, values any) badRow {
		column := deltatest.RawColumn{Values: values, Def: []int16{1, 1, 1}}
		return badRow{deltatest.Parquet{}.RawFile("message m { optional "+leaf+"; }", deltatest.RawGroup{column}), "", nil}
	}
	with := func(b badRow, column string, rows ...string) badRow {
		b.column, b.rows = column, rows
		return b
	}
	lines := func(columns string, rows ...string) badRow {
		return badRow{deltatest.Parquet{}.File(deltatest.Rows(deltatest.Columns(columns), rows...)), "", nil}
	}
	big := strings.Repeat("\xff", 15)
	return map[string]badRow{
		"a null":        with(lines("c long", `{"c": 1}`, `{}`, `{"c": 3}`), "c long not null", `{"c":1}`, `{"c":3}`),
		"a null member": with(lines("c struct<x: long>", `{"c": {"x": 1}}`, `{"c": {}}`, `{}`), "c struct<x: long>", `{"c":{"x":1}}`, `{"c":null}`),
		"a null element": with(lines("c array<long>", `{"c": [1]}`, `{"c": [null, 2]}`, `{"c": [3, 4]}`),
			"c array<long>", `{"c":[1]}`, `{"c":[3,4]}`),
		"a wide integer": with(decimals("int32 c", []int32{1, 300, 3}), "c byte", `{"c":1}`, `{"c":3}`),
		"milliseconds":   with(decimals("int64 c (TIMESTAMP(MILLIS,true))", []int64{0, 1 << 62, 1}), "c timestamp", `{"c":"1970-01-01T00:00:00Z"}`, `{"c":"1970-01-01T00:00:00.001Z"}`),
		"an old INT96":   with(decimals("int96 c", [][12]byte{deltatest.INT96(0, 2440588), deltatest.INT96(0, -1<<31), deltatest.INT96(0, 2440589)}), "c timestamp", `{"c":"1970-01-01T00:00:00Z"}`, `{"c":"1970-01-02T00:00:00Z"}`),

		"digits of an INT32": with(decimals("int32 c (DECIMAL(3,1))", []int32{999, -1000, -999}), "c decimal(3,1)", `{"c":"99.9"}`, `{"c":"-99.9"}`),
		"digits of an INT64": with(decimals("int64 c (DECIMAL(18,0))", []int64{1, 1_000_000_000_000_000_000, 2}), "c decimal(20,0)", `{"c":"1"}`, `{"c":"2"}`),
		"digits of bytes":    with(decimals("binary c (DECIMAL(5,0))", []string{"\x01", "\xfe\x79\x60", "\xfe\x79\x61"}), "c decimal(7,2)", `{"c":"1"}`, `{"c":"-99999"}`),
		"38 digits":          with(decimals("fixed_len_byte_array(16) c (DECIMAL(30,0))", []string{"\xff" + big, "\x7f" + big, "\xff" + big}), "c decimal(30,0)", `{"c":"-1"}`, `{"c":"-1"}`),
		"the lowest number":  with(decimals("fixed_len_byte_array(16) c (DECIMAL(38,0))", []string{"\xff" + big, "\x80" + strings.Repeat("\x00", 15), "\xff" + big}), "c decimal(38,0)", `{"c":"-1"}`, `{"c":"-1"}`),
		"a broken variant": with(badRow{content: deltatest.Parquet{}.RawFile(
			"message m { optional group c { required binary metadata; optional binary value; } }", deltatest.RawGroup{
				{Values: []string{"\x01\x00\x00", "\x01\x00\x00", "\x01\x00\x00"}, Def: []int16{1, 1, 1}},
				{Values: []string{"\x0c\x01", "\x0c", "\x0c\x03"}, Def: []int16{2, 2, 2}},
			})}, "c variant", `{"c":"1"}`, `{"c":"3"}`),
	}
}

// columns are those of the table. What is in a struct or list is never null.
func (b badRow) columns() *schema.Struct {
	columns := deltatest.Columns(b.column)
	switch t := columns.Fields[0].Type.(type) {
	case *schema.Struct:
		t.Fields[0].Nullable = false
	case *schema.Array:
		t.ContainsNull = false
	}
	return columns
}

func TestRowsThatCannotBeReadAreRefused(t *testing.T) {
	for name, test := range badRows() {
		t.Run(name, func(t *testing.T) {
			got, err := reading{content: test.content, columns: test.columns()}.rows(t)
			if deltaerr.KindOf(err) != deltaerr.Corrupt || !strings.Contains(err.Error(), "column c") {
				t.Errorf("want corrupt with the column, got %v and %v", err, got)
			}
		})
	}
}

func TestDeletedRowsAreNotLookedAt(t *testing.T) {
	vector := deltatest.InlineVector(deltatest.Bitmap{}, 1)
	for name, test := range badRows() {
		t.Run(name, func(t *testing.T) {
			got, err := reading{content: test.content, columns: test.columns(), vector: &vector}.rows(t)
			if err != nil || !slices.Equal(test.rows, got) {
				t.Errorf("want %v, got %v, %v", test.rows, got, err)
			}
		})
	}
}

func TestRowsBeforeTheStartAreNotLookedAt(t *testing.T) {
	for name, test := range badRows() {
		t.Run(name, func(t *testing.T) {
			got, err := reading{content: test.content, columns: test.columns(), from: 2}.rows(t)
			if err != nil || !slices.Equal(test.rows[1:], got) {
				t.Errorf("want %v, got %v, %v", test.rows[1:], got, err)
			}
		})
	}
}

// TestDeletedRowsKeepTheNumbersOfTheOthers reads a file with stored row ids under a vector.
func TestDeletedRowsKeepTheNumbersOfTheOthers(t *testing.T) {
	content := deltatest.Parquet{}.File(deltatest.Rows(deltatest.Columns("id long", "_id long", "_v long"),
		`{"id": 0, "_id": 70}`, `{"id": 1, "_id": 71, "_v": 4}`, `{"id": 2}`, `{"id": 3, "_id": 73, "_v": 5}`))
	vector := deltatest.InlineVector(deltatest.Bitmap{}, 1)
	base, version := int64(100), int64(9)
	r := reading{
		content: content, columns: deltatest.Columns("id long"), vector: &vector, baseRowID: &base, commitVersion: &version,
		tracking: &datafile.RowTracking{IDColumn: "_id", VersionColumn: "_v"},
	}
	var got []string
	for batch, err := range r.reader(t).Read(t.Context(), r.task()) {
		if err != nil {
			t.Fatal(err)
		}
		got = append(got, fmt.Sprint(batch.Index, batch.RowIDs, batch.RowCommitVersions))
		batch.Record.Release()
	}
	if want := []string{"[0 2 3] [70 102 73] [9 9 5]"}; !slices.Equal(want, got) {
		t.Errorf("want %v, got %v", want, got)
	}
}

func TestValuesTooLongForABatchComeInSeveral(t *testing.T) {
	defer datafile.LimitBatchValues(50)()
	var values []string
	var def []int16
	for i := range 20 {
		values, def = append(values, fmt.Sprintf("%016d", i)), append(def, 1)
	}
	content := deltatest.Parquet{}.RawFile("message m { optional fixed_len_byte_array(16) c; }", deltatest.RawGroup{{Values: values, Def: def}})
	vector := deltatest.InlineVector(deltatest.Bitmap{}, 3, 4)
	for i, want := range []int{20, 18, 18} {
		r := []reading{{}, {vector: &vector}, {from: 2}}[i]
		r.content, r.columns = content, deltatest.Columns("c binary")
		next := 0
		for batch, err := range r.reader(t).Read(t.Context(), r.task()) {
			if err != nil {
				t.Fatal(err)
			}
			if batch.Record.NumRows() > 3 {
				t.Errorf("a batch has %d rows", batch.Record.NumRows())
			}
			for i, line := range jsonRows(batch.Record) {
				row := batch.FirstRow + int64(i)
				if batch.Index != nil {
					row = batch.Index[i]
				}
				if want := fmt.Sprintf(`{"c":%q}`, base64.StdEncoding.EncodeToString([]byte(values[row]))); want != line {
					t.Errorf("row %d: want %s, got %s", row, want, line)
				}
				next++
			}
			batch.Record.Release()
		}
		if next != want {
			t.Errorf("want %d rows, got %d", want, next)
		}
	}
}
