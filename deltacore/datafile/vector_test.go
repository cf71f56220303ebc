package datafile_test

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/benthos-delta/benthos-delta/deltacore/action"
	"github.com/benthos-delta/benthos-delta/deltacore/deltaerr"
	"github.com/benthos-delta/benthos-delta/deltacore/deltatest"
)

const vectorID = "61d16c75-6994-46b7-a15b-8b538852e50e"

// numbered is a file whose column id is the physical row.
func numbered(rows int, p deltatest.Parquet) []byte {
	lines := make([]string, rows)
	for i := range lines {
		lines[i] = fmt.Sprintf(`{"id": %d, "name": "n%d", "l": [%d, null]}`, i, i, i)
	}
	return p.File(deltatest.Rows(numberedColumns, lines...))
}

var numberedColumns = deltatest.Columns("id long", "name string", "l array<long>")

// withVector is a read of a numbered file under a vector in a file of the table.
func withVector(r reading, b deltatest.Bitmap, rows ...int64) reading {
	f := deltatest.NewVectorFile("", vectorID)
	d := f.Add(b, rows...)
	r.vector, r.others = &d, map[string][]byte{f.Path: f.Content}
	r.columns = numberedColumns
	return r
}

// ids reads the physical rows of a numbered file and checks that the batches call them so.
func (r reading) ids(t testing.TB) []int64 {
	t.Helper()
	var got []int64
	for batch, err := range r.reader(t).Read(t.Context(), r.task()) {
		if err != nil {
			t.Fatal(err)
		}
		r.checkNumbers(t, batch, 0)
		for i, line := range jsonRows(batch.Record) {
			row := batch.FirstRow + int64(i)
			if batch.Index != nil {
				row = batch.Index[i]
			}
			if want := fmt.Sprintf(`{"id":%d,"l":[%d,null],"name":"n%d"}`, row, row, row); want != line {
				t.Fatalf("row %d: want %s, got %s", row, want, line)
			}
			got = append(got, row)
		}
		batch.Record.Release()
	}
	return got
}

func (r reading) wantIDs(t testing.TB, want ...int64) {
	t.Helper()
	if got := r.ids(t); !slices.Equal(want, got) {
		t.Errorf("want rows %v, got %v", want, got)
	}
}

// except lists 0 to n-1 without some.
func except(n int64, deleted ...int64) []int64 {
	var rows []int64
	for row := range n {
		if !slices.Contains(deleted, row) {
			rows = append(rows, row)
		}
	}
	return rows
}

// D8: positions count over row groups, whatever the batches and wherever the read begins.
func TestVectorCountsRowsAcrossRowGroups(t *testing.T) {
	deleted := []int64{0, 6, 7, 8, 13, 14, 15, 16, 17, 18, 19, 20, 39}
	want := except(40, deleted...)
	content := numbered(40, deltatest.Parquet{RowGroupRows: 7})
	for _, batchRows := range []int64{0, 1, 3, 7} {
		for from := range int64(42) {
			r := withVector(reading{content: content, batchRows: batchRows, from: from}, deltatest.Bitmap{}, deleted...)
			at, _ := slices.BinarySearch(want, from)
			r.wantIDs(t, want[at:]...)
		}
	}
}

func TestEveryLayoutOfAVectorDeletesTheSameRows(t *testing.T) {
	content := numbered(20, deltatest.Parquet{})
	deleted := []int64{3, 4, 7, 11, 18, 19}
	for _, b := range []deltatest.Bitmap{{}, {Runs: true}, {Native: true}, {Native: true, Runs: true}, {Native: true, Swapped: true}} {
		t.Run(fmt.Sprintf("%+v", b), func(t *testing.T) {
			withVector(reading{content: content}, b, deleted...).wantIDs(t, except(20, deleted...)...)
			inline := deltatest.InlineVector(b, deleted...)
			reading{content: content, columns: numberedColumns, vector: &inline}.wantIDs(t, except(20, deleted...)...)
		})
	}
}

func TestVectorOverEveryRowLeavesNone(t *testing.T) {
	content := numbered(30, deltatest.Parquet{RowGroupRows: 8})
	for _, b := range []deltatest.Bitmap{{}, {Runs: true}} {
		withVector(reading{content: content}, b, except(30)...).wantIDs(t)
	}
}

func TestEmptyVectorLeavesEveryRow(t *testing.T) {
	withVector(reading{content: numbered(5, deltatest.Parquet{})}, deltatest.Bitmap{}).wantIDs(t, except(5)...)
}

func TestVectorsInADirectoryAndBehindOthersAreFound(t *testing.T) {
	f := deltatest.NewVectorFile("a b/%41", vectorID)
	var vectors []action.DeletionVector
	for row := range int64(1000) {
		vectors = append(vectors, f.Add(deltatest.Bitmap{}, row%20))
	}
	content := numbered(20, deltatest.Parquet{})
	for _, i := range []int64{0, 1, 499, 999} {
		r := reading{content: content, columns: numberedColumns, vector: &vectors[i], others: map[string][]byte{f.Path: f.Content}}
		r.wantIDs(t, except(20, i%20)...)
	}
}

func TestVectorWithARowBeyondTheFileIsRefused(t *testing.T) {
	content := numbered(5, deltatest.Parquet{})
	for _, row := range []int64{5, 2_000_000_000, 1 << 40} {
		withVector(reading{content: content}, deltatest.Bitmap{}, 1, row).
			wantError(t, fmt.Sprintf("invalid row index: the deletion vector deletes row %d of a file of 5 rows", row))
	}
}

func TestVectorOfMoreRowsThanItsFileIsRefusedUnread(t *testing.T) {
	r := withVector(reading{content: numbered(5, deltatest.Parquet{})}, deltatest.Bitmap{}, except(6)...)
	clear(r.others)
	r.wantError(t, "invalid cardinality: the deletion vector deletes 6 rows of a file of 5")
}

// D5: what does not hold exactly what its descriptor says is refused with the names of both files.
func TestDamagedVectorsAreRefused(t *testing.T) {
	content := numbered(9, deltatest.Parquet{})
	change := func(at int) func(*action.DeletionVector, []byte) {
		return func(_ *action.DeletionVector, file []byte) { file[at] ^= 1 }
	}
	tests := map[string]struct {
		damage func(d *action.DeletionVector, file []byte)
		text   string
	}{
		"version":     {change(0), "unknown format version 0"},
		"size":        {change(4), "size mismatch: the descriptor states"},
		"data":        {change(9), "checksum mismatch"},
		"checksum":    {func(_ *action.DeletionVector, file []byte) { file[len(file)-1]++ }, "checksum mismatch"},
		"cardinality": {func(d *action.DeletionVector, _ []byte) { d.Cardinality = 4 }, "cardinality mismatch: the descriptor states 4 deleted rows, the bitmap holds 3"},
		"letter":      {func(d *action.DeletionVector, _ []byte) { d.StorageType = "x" }, `unknown storage type "x"`},
		"offset":      {func(d *action.DeletionVector, _ []byte) { *d.Offset = 1 << 33 }, "the file ends at byte"},
		"descriptor":  {func(d *action.DeletionVector, _ []byte) { d.SizeInBytes = 1 << 28 }, "the file ends at byte"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			r := withVector(reading{content: content}, deltatest.Bitmap{}, 1, 2, 3)
			for name, file := range r.others {
				file = bytes.Clone(file)
				test.damage(r.vector, file)
				r.others[name] = file
			}
			r.wantVectorError(t, test.text)
		})
	}
}

func TestPortableMagicInTheOtherByteOrderIsRefused(t *testing.T) {
	data := deltatest.Bitmap{}.Data(1)
	slices.Reverse(data[:4])
	f := deltatest.NewVectorFile("", vectorID)
	d := f.AddData(data, 1)
	reading{
		content: numbered(3, deltatest.Parquet{}), columns: numberedColumns,
		vector: &d, others: map[string][]byte{f.Path: f.Content},
	}.wantVectorError(t, fmt.Sprintf("unknown bitmap layout %d", binary.LittleEndian.Uint32(data)))
}

// wantVectorError wants a message that names the data file, and whatever file its vector is in.
func (r reading) wantVectorError(t *testing.T, text string) {
	t.Helper()
	rows, err := r.rows(t)
	if deltaerr.KindOf(err) != deltaerr.Corrupt || len(rows) > 0 {
		t.Errorf("want a corrupt error and no rows, got %v and %v", err, rows)
	}
	want := []string{"version 7", "deletion vector of \"" + path + "\" at byte", text}
	if r.vector.StorageType == "u" {
		want = append(want, "deletion_vector_"+vectorID+".bin")
	}
	for _, text := range want {
		if !strings.Contains(fmt.Sprint(err), text) {
			t.Errorf("want %q in %v", text, err)
		}
	}
}

func TestMissingVectorIsNotFound(t *testing.T) {
	r := withVector(reading{content: numbered(3, deltatest.Parquet{})}, deltatest.Bitmap{}, 1)
	clear(r.others)
	_, err := r.rows(t)
	if deltaerr.KindOf(err) != deltaerr.NotFound || !strings.Contains(err.Error(), "deletion_vector_"+vectorID+".bin") {
		t.Errorf("want not found, got %v", err)
	}
}

// TestAnyVectorOverAnyNesting compares a read under a vector with a read of everything.
func TestAnyVectorOverAnyNesting(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		columns := drawStruct(rt, 2)
		rows := make([]string, rapid.IntRange(1, 40).Draw(rt, "rows"))
		for i := range rows {
			rows[i] = drawRow(rt, columns)
		}
		all := jsonRows(deltatest.Rows(columns, rows...))
		deleted := rapid.SliceOfDistinct(rapid.Int64Range(0, int64(len(rows)-1)), rapid.ID[int64]).Draw(rt, "deleted")
		var want []string
		for i, row := range all {
			if !slices.Contains(deleted, int64(i)) {
				want = append(want, row)
			}
		}
		inline := deltatest.InlineVector(deltatest.Bitmap{Runs: rapid.Bool().Draw(rt, "runs")}, deleted...)
		r := reading{
			content: deltatest.Parquet{RowGroupRows: rapid.Int64Range(1, 41).Draw(rt, "group")}.File(deltatest.Rows(columns, rows...)),
			columns: columns, vector: &inline, batchRows: rapid.Int64Range(1, 41).Draw(rt, "batch"),
		}
		got, err := r.rows(t)
		if err != nil {
			rt.Fatal(err)
		}
		if fmt.Sprint(want) != fmt.Sprint(got) {
			rt.Fatalf("without %v of %s:\nwant %s\ngot  %s", deleted, columns, strings.Join(want, "\n"), strings.Join(got, "\n"))
		}
	})
}
